// Minimum enclosing ball: the eps at which rows form one simplex in the ball metric.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kech {

// The farthest point from the centre joins the support until nobody is outside; supports hold at most axes + 1 points.
// Each support is the exact ball of a few points, found by trying them all, so grids and cospherical points are no trouble.
class EnclosingBall {
  public:
    EnclosingBall(const double* points, std::size_t count, std::size_t axes)
        : points_(points), count_(count), axes_(axes), centre_(points, points + axes), support_{points} {
        while (true) {
            const double* outside = farthest();
            double reach = square_distance(centre_.data(), outside);
            if (reach <= square_ * (1 + tolerance)) break;
            std::vector<const double*> few = support_;
            few.push_back(outside);
            double before = square_;
            solve(few);
            if (square_ <= before) {  // only rounding is left
                square_ = std::max(before, reach);
                break;
            }
        }
    }

    double radius() const { return std::sqrt(square_); }

    // Positions of the points on the sphere that hold the ball.
    std::vector<std::size_t> support() const {
        std::vector<std::size_t> at;
        for (auto point : support_) at.push_back((point - points_) / axes_);
        return at;
    }

  private:
    static constexpr double tolerance = 1e-12;

    double square_distance(const double* a, const double* b) const {
        double sum = 0;
        for (std::size_t j = 0; j < axes_; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
        return sum;
    }

    const double* farthest() const {
        const double* found = points_;
        double reach = -1;
        for (std::size_t i = 0; i < count_; ++i)
            if (double d = square_distance(centre_.data(), points_ + i * axes_); d > reach) reach = d, found = points_ + i * axes_;
        return found;
    }

    // The smallest ball through some of the few (the newest always among them) that holds all of them.
    void solve(const std::vector<const double*>& few) {
        std::size_t others = few.size() - 1;
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t mask = 1; mask < std::size_t{1} << others; ++mask) {
            std::vector<const double*> through{few.back()};
            for (std::size_t i = 0; i < others; ++i)
                if (mask >> i & 1) through.push_back(few[i]);
            if (through.size() > axes_ + 1) continue;
            std::vector<double> centre;
            if (!circumscribe(through, centre)) continue;
            double square = square_distance(centre.data(), through[0]);
            if (square >= best || !holds(few, centre, square)) continue;
            best = square;
            centre_ = centre;
            support_ = through;
        }
        if (best < std::numeric_limits<double>::infinity()) square_ = best;
    }

    bool holds(const std::vector<const double*>& few, const std::vector<double>& centre, double square) const {
        for (auto point : few)
            if (square_distance(centre.data(), point) > square * (1 + 1e-10)) return false;
        return true;
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

    const double* points_;
    std::size_t count_, axes_;
    std::vector<double> centre_;
    double square_ = 0;
    std::vector<const double*> support_;
};

}  // namespace kech
