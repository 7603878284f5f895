// Order and cut: along one order of the points, the cheapest cut into runs of at least k people, for many k at once.
#pragma once

#include "shares.hpp"
#include "threads.hpp"

namespace kech {

// Some rows of one point, or of a few neighbours, that are never parted.
struct Piece {
    std::size_t first, last;  // units of the line
    std::int64_t weight;
};

class OrderCut {
  public:
    OrderCut(const Points& points, const std::int64_t* order, const Widths& widths, bool split_points)
        : points_(points), widths_(widths), split_points_(split_points) {
        line_.reserve(points.count);
        if (points.person.empty() || !split_points) {
            for (std::size_t p = 0; p < points.count; ++p) line_.push_back({order[p], points.weights[order[p]]});
        } else {
            deal(order);
        }
        if (!points.person.empty()) find_next();
    }

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

    // A person with several rows at one place serves the run before it and the run behind it: one row stands first,
    // one last, and others with fewer rows in between.
    void deal(const std::int64_t* order) {
        auto equal = [&](std::int64_t a, std::int64_t b) { return std::equal(points_[a], points_[a] + points_.axes, points_[b]); };
        for (std::size_t begin = 0, end = 0; begin < points_.count; begin = end) {
            while (end < points_.count && equal(order[begin], order[end])) ++end;
            auto each = [&](const auto& count) {
                for (std::size_t p = begin; p < end; ++p) {
                    std::int64_t rows = points_.weights[order[p]];
                    bool dealt = points_.person[order[p]] >= 0 && rows > 1;
                    if (std::int64_t some = count(dealt, rows); some > 0) line_.push_back({order[p], some});
                }
            };
            each([](bool dealt, std::int64_t) { return std::int64_t{dealt}; });
            each([](bool dealt, std::int64_t rows) { return dealt ? 0 : rows; });
            each([](bool dealt, std::int64_t rows) { return dealt ? rows - 2 : 0; });
            each([](bool dealt, std::int64_t) { return std::int64_t{dealt}; });
        }
    }

    // Where the person of a unit comes next.
    void find_next() {
        PeopleCounter people(points_.person);
        std::vector<std::size_t> last;
        next_.assign(line_.size(), line_.size());
        for (std::size_t left = line_.size(); left > 0; --left) {
            Person who = points_.person[line_[left - 1].point];
            if (who < 0) continue;
            std::size_t number = people.number(who);
            if (number == last.size()) last.push_back(line_.size());
            next_[left - 1] = std::exchange(last[number], left - 1);
        }
    }

    // People of a piece that are not met again up to a unit behind it.
    std::int64_t count_people(const Piece& piece, std::size_t upto) const {
        std::int64_t people = 0;
        for (std::size_t u = piece.first; u <= piece.last; ++u) {
            if (points_.person[line_[u].point] >= 0) people += next_[u] > upto;
            else people += piece.first == piece.last ? piece.weight : line_[u].rows;
        }
        return people;
    }

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
        if (next_.empty()) sweep(pieces, lo, hi, ks, cost, length);
        else sweep_people(pieces, lo, hi, ks, cost, length);
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
        for (std::size_t p = 0; p < line_.size(); ++p) {
            std::int64_t rows = line_[p].rows;
            if (pending == 0) from = p;
            if (pending + rows < step) {
                pending += rows;
                continue;
            }
            if (pending > 0) flush(p - 1);
            std::int64_t side = (k - 2) / unit + 1;
            if (!split_points_ || (!next_.empty() && points_.person[line_[p].point] >= 0)) {
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
        flush(line_.size() - 1);
        return pieces;
    }

    void box_pieces(const std::vector<Piece>& pieces, std::vector<Code>& lo, std::vector<Code>& hi) const {
        Box box(points_.axes);
        for (std::size_t e = 0; e < pieces.size(); ++e) {
            box.clear();
            for (std::size_t p = pieces[e].first; p <= pieces[e].last; ++p) box.cover(points_[line_[p].point]);
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
            for (std::size_t q = 0; q < ks.size(); ++q) choose<true>(rows, price, ks[q], end, cost[q], length[q]);
        }
    }

    // The same by people: the part of a run behind the border has k people; once the part before it has them too, stop.
    void sweep_people(const std::vector<Piece>& pieces, const std::vector<Code>& lo, const std::vector<Code>& hi,
                      const std::vector<std::int64_t>& ks, std::vector<std::vector<double>>& cost,
                      std::vector<std::vector<std::uint32_t>>& length) const {
        std::int64_t largest = ks.back();
        std::vector<std::int64_t> people{0};
        std::vector<double> price{0};
        MeasuredBox box(widths_);
        for (std::size_t end = 1; end <= pieces.size(); ++end) {
            box.clear();
            people.resize(1);
            price.resize(1);
            std::int64_t rows = 0, before = 0;
            std::size_t border = 0;
            double width = 0;
            for (std::size_t at = end; at > 0; --at) {
                const Piece& piece = pieces[at - 1];
                if (border > 0) before += count_people(piece, pieces[border - 1].last);
                if (before >= largest) break;
                std::size_t corner = (at - 1) * points_.axes;
                if (box.cover(lo.data() + corner, hi.data() + corner)) width = box.sum_of_sides();
                rows += piece.weight;
                people.push_back(people.back() + count_people(piece, pieces[end - 1].last));
                price.push_back(rows * width);
                if (border == 0 && people.back() >= largest) border = at - 1;
            }
            for (std::size_t q = 0; q < ks.size(); ++q) choose<false>(people, price, ks[q], end, cost[q], length[q]);
        }
    }

    // Among all runs of k rows, those that cannot be parted into two of k rows; among runs of k people, all.
    template <bool additive>
    static void choose(const std::vector<std::int64_t>& rows, const std::vector<double>& price, std::int64_t k,
                       std::size_t end, std::vector<double>& cost, std::vector<std::uint32_t>& length) {
        std::size_t s = std::lower_bound(rows.begin(), rows.end(), k) - rows.begin();
        if (s == rows.size()) return;
        std::int64_t enough = rows[s];
        for (; s < rows.size() && (!additive || rows[s] - enough < k); ++s) {
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
        if (line_.size() > points_.count) return merge_shares(out.point.data(), out.group.data(), out.rows.data(), out.size());
        return out;
    }

    void give(Shares& out, const Piece& piece, std::int64_t group) const {
        bool several = piece.first != piece.last;
        for (std::size_t p = piece.first; p <= piece.last; ++p) {
            std::int64_t point = line_[p].point, rows = several ? line_[p].rows : piece.weight;
            if (!out.point.empty() && out.point.back() == point && out.group.back() == group) {
                out.rows.back() += rows;
                continue;
            }
            out.add(point, group, rows);
        }
    }

    Points points_;
    const Widths& widths_;
    bool split_points_;
    Class line_;                     // units: some rows of one point, along the order
    std::vector<std::size_t> next_;  // with persons: the next unit of the same person
};

}  // namespace kech
