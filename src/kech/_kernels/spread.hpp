// How far rows lie apart, for variance: squared distances, each axis scaled by the variance of the whole table.
#pragma once

#include <cmath>

#include "core.hpp"
#include "threads.hpp"
#include "union_find.hpp"

namespace kech {

// Places of points.  A line is a coordinate, the middle of each code; where values are missing, a missing one lies at the
// mean and one length aside.  On any other axis two codes are as far apart as the metric says.  The variance of n rows is
// the sum of d(a, b)^2 over all pairs, over n^2; that of the whole table is the weight of the axis.
class Spread {
  public:
    Spread(const Points& points, const Widths& metric, std::span<const double> weight)
        : metric_(metric), axes_(points.axes), codes_(points.codes, points.codes + points.count * points.axes) {
        std::vector<std::vector<double>> coordinates;
        for (std::size_t j = 0; j < axes_; ++j) {
            if (metric.is_line(j)) add_line(points, j, weight[j], coordinates);
            else add_other(points, j, weight[j]);
        }
        lines_ = coordinates.size();
        places_.resize(points.count * lines_);
        for (std::size_t j = 0; j < lines_; ++j)
            for (std::size_t i = 0; i < points.count; ++i) places_[i * lines_ + j] = coordinates[j][i];
    }

    std::size_t lines() const { return lines_; }
    std::size_t others() const { return others_.size(); }
    std::size_t axes() const { return axes_; }
    std::size_t axis_of_line(std::size_t line) const { return axis_of_line_[line]; }
    std::size_t axis_of_other(std::size_t other) const { return others_[other].axis; }

    const double* place(std::int64_t point) const { return places_.data() + point * lines_; }
    Code code(std::int64_t point, std::size_t other) const { return codes_[point * axes_ + others_[other].axis]; }

    double square(std::size_t other, Code a, Code b) const {
        if (a == b) return 0;
        double apart = metric_.between(others_[other].axis, a, b);
        return others_[other].scale * apart * apart;
    }

    double square(std::int64_t a, std::int64_t b) const {
        double total = square(place(a), place(b));
        for (std::size_t j = 0; j < others_.size(); ++j) total += square(j, code(a, j), code(b, j));
        return total;
    }

    double square(const double* a, const double* b) const {
        double total = 0;
        for (std::size_t j = 0; j < lines_; ++j) total += (a[j] - b[j]) * (a[j] - b[j]);
        return total;
    }

  private:
    struct Other {
        std::size_t axis;
        double scale;
    };

    void add_line(const Points& points, std::size_t j, double weight, std::vector<std::vector<double>>& coordinates) {
        const Line& line = metric_.line(j);
        double sum = 0, known = 0, missing = 0;
        auto middle = [&](Code code) { return (line.left[code] / 2 + line.right[code] / 2 - line.left[0]) / line.length; };
        std::vector<double> middles(points.count);
        for (std::size_t i = 0; i < points.count; ++i) {
            Code code = points[i][j];
            auto rows = static_cast<double>(points.weights[i]);
            if (code == line.null) {
                missing += rows;
                continue;
            }
            middles[i] = middle(code);
            sum += rows * middles[i], known += rows;
        }
        double mean = known > 0 ? sum / known : 0, total = missing * known / std::max(missing + known, 1.0);
        for (std::size_t i = 0; i < points.count; ++i) {
            middles[i] = points[i][j] == line.null ? 0 : middles[i] - mean;
            total += static_cast<double>(points.weights[i]) * middles[i] * middles[i];
        }
        double scale = total > 0 ? std::sqrt(weight * (missing + known) / total) : 0;
        for (double& x : middles) x *= scale;
        coordinates.push_back(std::move(middles));
        axis_of_line_.push_back(j);
        if (missing == 0) return;
        coordinates.emplace_back(points.count, 0.0);
        for (std::size_t i = 0; i < points.count; ++i)
            if (points[i][j] == line.null) coordinates.back()[i] = scale;
        axis_of_line_.push_back(j);
    }

    // The codes of a tree join where their gap is passed, the smallest first: all pairs on both sides are that far apart.
    void add_other(const Points& points, std::size_t j, double weight) {
        std::size_t codes = metric_.codes(j);
        std::vector<double> rows(codes, 0.0), gaps(codes ? codes - 1 : 0);
        for (std::size_t i = 0; i < points.count; ++i) rows[points[i][j]] += static_cast<double>(points.weights[i]);
        for (std::size_t c = 0; c + 1 < codes; ++c) gaps[c] = metric_.width(j, c, c + 1);
        auto order = count_up<std::size_t>(gaps.size());
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return gaps[a] < gaps[b]; });
        UnionFind<> joined(codes);
        double pairs = 0, all = std::accumulate(rows.begin(), rows.end(), 0.0);
        for (std::size_t c : order) {
            auto left = joined.find(c), right = joined.find(c + 1);
            double both = rows[left] + rows[right];
            pairs += rows[left] * rows[right] * gaps[c] * gaps[c];
            joined.join(left, right);
            rows[joined.find(left)] = both;
        }
        others_.push_back({j, pairs > 0 ? weight * all * all / pairs : 0});
    }

    Widths metric_;
    std::size_t axes_, lines_ = 0;
    std::vector<Code> codes_;
    std::vector<double> places_;
    std::vector<std::size_t> axis_of_line_;
    std::vector<Other> others_;
};

// Rows around their centre, as they come: the sum of squared distances from it, which is that of all pairs over the rows.
class Cloud {
  public:
    explicit Cloud(const Spread& spread) : spread_(&spread), sum_(spread.lines(), 0.0), centre_(spread.lines(), 0.0), counts_(spread.others()) {}

    void clear() {
        rows_ = lines_ = others_ = 0;
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (auto& counts : counts_) counts.clear();
    }

    void add(std::int64_t point, std::int64_t more) {
        auto w = static_cast<double>(more);
        const double* at = spread_->place(point);
        double pairs = others_ * rows_ + w * others_from(point);
        if (rows_ > 0) lines_ += rows_ * w / (rows_ + w) * spread_->square(at, centre_.data());
        rows_ += w;
        others_ = pairs / rows_;
        for (std::size_t j = 0; j < sum_.size(); ++j) centre_[j] = (sum_[j] += w * at[j]) / rows_;
        for (std::size_t j = 0; j < counts_.size(); ++j) count(j, spread_->code(point, j), w);
    }

    double rows() const { return rows_; }
    double squares() const { return lines_ + others_; }  // from the centre
    double pairs() const { return rows_ * squares(); }    // of all pairs

    // Squared distances of a point from all rows.
    double from(std::int64_t point) const {
        return rows_ * spread_->square(spread_->place(point), centre_.data()) + lines_ + others_from(point);
    }

    // The squared distance of two centres; on other axes, that of two rows on average.
    double apart(const Cloud& other) const {
        double total = spread_->square(centre_.data(), other.centre_.data());
        for (std::size_t j = 0; j < counts_.size(); ++j) {
            double pairs = 0;
            for (auto [a, n] : counts_[j])
                for (auto [b, m] : other.counts_[j]) pairs += n * m * spread_->square(j, a, b);
            total += pairs / (rows_ * other.rows_);
        }
        return total;
    }

    // How many look-ups a distance from all rows takes, about.
    std::size_t effort() const {
        std::size_t total = sum_.size() + 1;
        for (const auto& counts : counts_) total += counts.size();
        return total;
    }

  private:
    double others_from(std::int64_t point) const {
        double total = 0;
        for (std::size_t j = 0; j < counts_.size(); ++j) {
            Code own = spread_->code(point, j);
            for (auto [code, rows] : counts_[j]) total += rows * spread_->square(j, own, code);
        }
        return total;
    }

    void count(std::size_t other, Code code, double more) {
        for (auto& [known, rows] : counts_[other])
            if (known == code) {
                rows += more;
                return;
            }
        counts_[other].push_back({code, more});
    }

    const Spread* spread_;
    double rows_ = 0, lines_ = 0, others_ = 0;
    std::vector<double> sum_, centre_;
    std::vector<std::vector<std::pair<Code, double>>> counts_;
};

// Squares inside classes, for each row of the table.  Shares of a class stand together.
inline double measure_squares(const Points& points, const Spread& spread, const Shares& shares) {
    double total = 0;
    Cloud cloud(spread);
    for (std::size_t i = 0; i < shares.size(); ++i) {
        cloud.add(shares.point[i], shares.rows[i]);
        if (i + 1 < shares.size() && shares.group[i + 1] == shares.group[i]) continue;
        total += cloud.squares();
        cloud.clear();
    }
    return total / std::max(static_cast<double>(points.rows()), 1.0);
}

// For each k, what no partition into classes of k rows goes below.  The squares of a class of n rows are those of all its
// pairs, over n; a row and its n - 1 nearest are no farther apart, and their sum over n grows with n.  So they are at least
// half the sum over rows of their k - 1 smallest squared distances, over k.
inline std::vector<double> bound_squares(const Points& points, const Spread& spread, const std::vector<std::int64_t>& ks,
                                         std::size_t threads) {
    std::vector<std::vector<double>> of_point(points.count, std::vector<double>(ks.size(), 0.0));
    for_each(points.count, threads, [&](std::size_t i, std::size_t) {
        std::vector<std::pair<double, std::int64_t>> near;
        for (std::size_t other = 0; other < points.count; ++other)
            if (other != i) near.push_back({spread.square(i, other), points.weights[other]});
        std::int64_t most = *std::max_element(ks.begin(), ks.end());
        std::size_t enough = std::min(near.size(), static_cast<std::size_t>(most));
        std::partial_sort(near.begin(), near.begin() + enough, near.end());
        for (std::size_t q = 0; q < ks.size(); ++q) {
            std::int64_t wanted = ks[q] - points.weights[i];
            double total = 0;
            for (std::size_t n = 0; n < enough && wanted > 0; ++n) {
                std::int64_t taken = std::min(wanted, near[n].second);
                total += static_cast<double>(taken) * near[n].first;
                wanted -= taken;
            }
            of_point[i][q] = static_cast<double>(points.weights[i]) * total / (2.0 * static_cast<double>(ks[q]));
        }
    });
    std::vector<double> bounds(ks.size(), 0.0);
    for (const auto& squares : of_point)
        for (std::size_t q = 0; q < ks.size(); ++q) bounds[q] += squares[q];
    return bounds;
}

}  // namespace kech
