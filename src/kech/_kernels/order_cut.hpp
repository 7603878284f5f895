// Order and cut: along one order of the points, the cheapest cut into runs of at least k rows, for many k at once.
#pragma once

#include "core.hpp"
#include "threads.hpp"

namespace kech {

// Some rows of one point, or of a few neighbours, that are never parted.
struct Piece {
    std::size_t first, last;  // positions in the order
    std::int64_t weight;
};

class OrderCut {
  public:
    OrderCut(const Points& points, const std::int64_t* order, const Widths& widths, bool part)
        : points_(points), order_(order), widths_(widths), part_(part) {}

    std::vector<Shares> run(const std::vector<std::int64_t>& ks, unsigned threads) const {
        std::vector<Shares> shares(ks.size());
        auto starts = batches(ks);
        for_each(starts.size() - 1, threads, [&](std::size_t b, std::size_t) {
            cut({ks.begin() + starts[b], ks.begin() + starts[b + 1]}, shares.data() + starts[b]);
        });
        return shares;
    }

  private:
    static constexpr std::int64_t batch = constants::cut_batch;

    // The k of one batch (0..7, 8..15, ...) share pieces and one scan of the order; ks ascend.
    static std::vector<std::size_t> batches(const std::vector<std::int64_t>& ks) {
        std::vector<std::size_t> starts{0};
        for (std::size_t q = 1; q < ks.size(); ++q)
            if (ks[q] / batch != ks[q - 1] / batch) starts.push_back(q);
        starts.push_back(ks.size());
        return starts;
    }

    // Pieces depend on the batch alone, so that a k is cut alike whether it is asked for alone or with others.
    void cut(const std::vector<std::int64_t>& ks, Shares* shares) const {
        std::int64_t first = ks.front() / batch * batch, step = std::max<std::int64_t>(1, first / constants::cut_steps);
        std::int64_t lent = first < constants::cut_small_k ? step : std::max(step, first / constants::cut_lent_steps);
        auto pieces = part_points(first + batch - 1, step, lent);
        std::vector<Code> lo, hi;
        box_pieces(pieces, lo, hi);
        std::vector<std::vector<double>> cost(ks.size(), std::vector<double>(pieces.size() + 1, infinity));
        std::vector<std::vector<std::uint32_t>> length(ks.size(), std::vector<std::uint32_t>(pieces.size() + 1, 0));
        for (auto& c : cost) c[0] = 0;
        sweep(pieces, lo, hi, ks, cost, length);
        for (std::size_t q = 0; q < ks.size(); ++q) shares[q] = collect(pieces, length[q]);
    }

    // A point of many rows keeps k - 1 of them on both sides for its neighbours, in pieces of `unit` rows; nobody ever
    // needs more.  So a point is few pieces, however many rows it has and however large k is.
    std::vector<Piece> part_points(std::int64_t k, std::int64_t step, std::int64_t unit) const {
        std::vector<Piece> pieces;
        std::int64_t pending = 0;
        std::size_t from = 0;
        auto flush = [&](std::size_t to) {
            if (pending > 0) pieces.push_back({from, to, pending});
            pending = 0;
        };
        for (std::size_t p = 0; p < points_.count; ++p) {
            std::int64_t rows = points_.weights[order_[p]];
            if (pending == 0) from = p;
            if (pending + rows < step) {
                pending += rows;
                continue;
            }
            if (pending > 0) flush(p - 1);
            std::int64_t side = (k - 2) / unit + 1;
            if (!part_) {
                pieces.push_back({p, p, rows});
            } else if (rows > 3 * side * unit) {
                for (std::int64_t i = 0; i < side; ++i) pieces.push_back({p, p, unit});
                pieces.push_back({p, p, rows - 2 * side * unit});
                for (std::int64_t i = 0; i < side; ++i) pieces.push_back({p, p, unit});
            } else {
                for (; rows >= unit; rows -= unit) pieces.push_back({p, p, unit});
                if (rows > 0) pieces.push_back({p, p, rows});
            }
        }
        flush(points_.count - 1);
        return pieces;
    }

    void box_pieces(const std::vector<Piece>& pieces, std::vector<Code>& lo, std::vector<Code>& hi) const {
        Box box(points_.axes);
        for (std::size_t e = 0; e < pieces.size(); ++e) {
            box.clear();
            for (std::size_t p = pieces[e].first; p <= pieces[e].last; ++p) box.cover(points_[order_[p]]);
            lo.insert(lo.end(), box.lo.begin(), box.lo.end());
            hi.insert(hi.end(), box.hi.begin(), box.hi.end());
        }
    }

    // A run that could be parted into two runs of k rows is never better than its parts: stop there.
    void sweep(const std::vector<Piece>& pieces, const std::vector<Code>& lo, const std::vector<Code>& hi,
               const std::vector<std::int64_t>& ks, std::vector<std::vector<double>>& cost,
               std::vector<std::vector<std::uint32_t>>& length) const {
        std::int64_t largest = ks.back();
        std::vector<std::int64_t> rows{0};
        std::vector<double> price{0};
        MeasuredBox box(widths_);
        for (std::size_t end = 1; end <= pieces.size(); ++end) {
            box.clear();
            rows.resize(1);
            price.resize(1);
            std::int64_t enough = 0;
            double width = 0;
            for (std::size_t at = end; at > 0; --at) {
                std::size_t corner = (at - 1) * points_.axes;
                if (box.cover(lo.data() + corner, hi.data() + corner)) width = box.sum_of_sides();
                rows.push_back(rows.back() + pieces[at - 1].weight);
                price.push_back(rows.back() * width);
                if (enough == 0 && rows.back() >= largest) enough = rows.back();
                if (enough > 0 && rows.back() - enough >= largest) break;
            }
            for (std::size_t q = 0; q < ks.size(); ++q) choose(rows, price, ks[q], end, cost[q], length[q]);
        }
    }

    static void choose(const std::vector<std::int64_t>& rows, const std::vector<double>& price, std::int64_t k,
                       std::size_t end, std::vector<double>& cost, std::vector<std::uint32_t>& length) {
        std::size_t s = std::lower_bound(rows.begin(), rows.end(), k) - rows.begin();
        if (s == rows.size()) return;
        std::int64_t enough = rows[s];
        for (; s < rows.size() && rows[s] - enough < k; ++s) {
            double total = cost[end - s] + price[s];
            if (total < cost[end]) {
                cost[end] = total;
                length[end] = static_cast<std::uint32_t>(s);
            }
        }
    }

    Shares collect(const std::vector<Piece>& pieces, const std::vector<std::uint32_t>& length) const {
        std::vector<std::size_t> ends;
        for (std::size_t end = pieces.size(); end > 0; end -= length[end]) ends.push_back(end);
        Shares out;
        std::size_t begin = 0;
        for (std::size_t g = 0; g < ends.size(); ++g) {
            std::size_t end = ends[ends.size() - 1 - g];
            for (; begin < end; ++begin) give(out, pieces[begin], static_cast<std::int64_t>(g));
        }
        return out;
    }

    void give(Shares& out, const Piece& piece, std::int64_t group) const {
        bool several = piece.first != piece.last;
        for (std::size_t p = piece.first; p <= piece.last; ++p) {
            std::int64_t point = order_[p], rows = several ? points_.weights[point] : piece.weight;
            if (!out.point.empty() && out.point.back() == point && out.group.back() == group) {
                out.rows.back() += rows;
                continue;
            }
            out.add(point, group, rows);
        }
    }

    Points points_;
    const std::int64_t* order_;
    const Widths& widths_;
    bool part_;
};

}  // namespace kech
