// Minimum enclosing ball: the eps at which rows form one simplex in the ball metric.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "constants.hpp"

namespace kech {

// The farthest point from the centre joins the support until nobody is outside; supports hold at most axes + 1 points.
// The ball of a few points is found by trying the centres of all of their subsets, so grids, duplicates and cospherical
// points are no trouble: the right centre is the one whose farthest point is nearest.
class EnclosingBall {
  public:
    EnclosingBall(const double* points, std::size_t count, std::size_t axes)
        : points_(points, points + count * axes), count_(count), axes_(axes), centre_(axes, 0.0), support_{points_.data()} {
        for (std::size_t i = 0; i < count; ++i)  // rounding is relative to the ball then, not to where it lies
            for (std::size_t j = 0; j < axes; ++j) points_[i * axes + j] -= points[j];
        double most = 0, least = infinity;
        for (int stalled = 0; stalled < constants::ball_patience;) {  // near the end the ball grows by less than a float can tell
            const double* outside = farthest();
            double reach = square_distance(centre_.data(), outside);
            if (reach <= square_ * (1 + constants::ball_tolerance)) return;
            least = std::min(least, reach);
            support_.push_back(outside);
            solve(std::exchange(support_, {}));
            stalled = square_ > most ? 0 : stalled + 1;
            most = std::max(most, square_);
        }
        square_ = least;
        support_.clear();
    }

    double radius() const { return std::sqrt(square_); }

    // Seen from the first point.
    const std::vector<double>& centre() const { return centre_; }

    // Positions of the points on the sphere that hold the ball; none where rounding hides them.
    std::vector<std::size_t> support() const {
        std::vector<std::size_t> at;
        for (auto point : support_) at.push_back((point - points_.data()) / axes_);
        return at;
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    double square_distance(const double* a, const double* b) const {
        double sum = 0;
        for (std::size_t j = 0; j < axes_; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
        return sum;
    }

    const double* farthest() const {
        const double* found = points_.data();
        double reach = -1;
        for (std::size_t i = 0; i < count_; ++i) {
            const double* point = points_.data() + i * axes_;
            if (double d = square_distance(centre_.data(), point); d > reach) reach = d, found = point;
        }
        return found;
    }

    // The newest point was outside the ball of the others, so it is on the sphere: only subsets that hold it count.
    void solve(const std::vector<const double*>& few) {
        std::size_t others = few.size() - 1;
        square_ = infinity;
        for (std::size_t size = 1; size <= std::min(others, axes_); ++size)
            for (std::size_t mask = 1; mask < std::size_t{1} << others; ++mask)
                if (std::popcount(mask) == static_cast<int>(size)) attempt(few, mask);
    }

    // A larger subset must be better by more than rounding.
    void attempt(const std::vector<const double*>& few, std::size_t mask) {
        std::vector<const double*> through{few.back()};
        for (std::size_t i = 0; i + 1 < few.size(); ++i)
            if (mask >> i & 1) through.push_back(few[i]);
        std::vector<double> centre;
        if (!circumscribe(through, centre)) return;
        double reach = 0;
        for (auto point : few) reach = std::max(reach, square_distance(centre.data(), point));
        if (reach >= square_ * (1 - constants::ball_rounding)) return;
        square_ = reach;
        centre_ = std::move(centre);
        support_ = std::move(through);
    }

    // Centre of the sphere through all of these, in their own plane: (u_i . u_j) lambda = |u_i|^2 / 2.
    bool circumscribe(const std::vector<const double*>& through, std::vector<double>& centre) const {
        std::size_t size = through.size() - 1;
        std::vector<double> gram(size * (size + 1));
        for (std::size_t a = 0; a < size; ++a) {
            for (std::size_t b = 0; b < size; ++b) gram[a * (size + 1) + b] = dot(through, a + 1, b + 1);
            gram[a * (size + 1) + size] = gram[a * (size + 1) + a] / 2;
        }
        if (!eliminate(gram, size)) return false;
        centre.assign(through[0], through[0] + axes_);
        for (std::size_t a = 0; a < size; ++a)
            for (std::size_t j = 0; j < axes_; ++j)
                centre[j] += gram[a * (size + 1) + size] * (through[a + 1][j] - through[0][j]);
        return true;
    }

    double dot(const std::vector<const double*>& through, std::size_t a, std::size_t b) const {
        double sum = 0;
        for (std::size_t j = 0; j < axes_; ++j) sum += (through[a][j] - through[0][j]) * (through[b][j] - through[0][j]);
        return sum;
    }

    // Gauss-Jordan with pivots; false where the points lie in a lower plane.
    static bool eliminate(std::vector<double>& m, std::size_t size) {
        std::size_t width = size + 1;
        double largest = 0;
        for (std::size_t i = 0; i < size; ++i) largest = std::max(largest, m[i * width + i]);
        for (std::size_t c = 0; c < size; ++c) {
            std::size_t pivot = c;
            for (std::size_t r = c + 1; r < size; ++r)
                if (std::abs(m[r * width + c]) > std::abs(m[pivot * width + c])) pivot = r;
            if (std::abs(m[pivot * width + c]) <= largest * 1e-14) return false;
            for (std::size_t k = 0; k < width; ++k) std::swap(m[c * width + k], m[pivot * width + k]);
            for (std::size_t r = 0; r < size; ++r) {
                if (r == c) continue;
                double factor = m[r * width + c] / m[c * width + c];
                for (std::size_t k = c; k < width; ++k) m[r * width + k] -= factor * m[c * width + k];
            }
        }
        for (std::size_t c = 0; c < size; ++c) m[c * width + size] /= m[c * width + c];
        return true;
    }

    std::vector<double> points_;  // the first one is the origin
    std::size_t count_, axes_;
    std::vector<double> centre_;
    double square_ = 0;
    std::vector<const double*> support_;
};

}  // namespace kech
