// r-gather: classes of k rows or more, each within the reach of a centre, where the narrowest partition allows it.
#pragma once

#include <cmath>

#include "core.hpp"

namespace kech {

// The 2-approximation of r-gather (Aggarwal et al., Achieving anonymity via clustering).  Centres lie farther apart than
// the reach, so no class of sides within the reach holds two of them; each is to have k rows within the reach.  With balls,
// the reach is a Euclidean distance: of two rows in a ball of half of it.
class RGather {
  public:
    RGather(const Points& points, const Widths& widths, bool ball, std::int64_t k)
        : points_(points), widths_(widths), ball_(ball), k_(k) {}

    // False where no partition has classes whose sides are all within the reach.  True where one may: then the classes
    // are in `made`, unless more pairs than told had to be compared.
    bool run(double reach, double most_pairs, Shares& made) {
        double pairs = 0;
        ends_.assign(1, 0);
        for (std::size_t p = 0; p < points_.count; ++p) {
            if (side(p, p, reach) > reach) return false;
            for (std::uint32_t c = 0; c < centres_.size(); ++c)
                if (side(p, centres_[c], reach) <= reach) arms_.push_back({static_cast<std::uint32_t>(p), c, 0});
            pairs += centres_.size();
            if (pairs > most_pairs) return true;
            if (arms_.size() == ends_.back()) {
                arms_.push_back({static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(centres_.size()), 0});
                centres_.push_back(p);
            }
            ends_.push_back(arms_.size());
        }
        if (!complete_arms(reach, most_pairs, pairs)) return true;
        put_nearest();
        for (std::uint32_t c = 0; c < centres_.size(); ++c)
            while (rows_[c] < k_)
                if (!augment(c)) return false;
        made = shares();
        return true;
    }

  private:
    // A point within the reach of a centre, and how many of its rows are there.
    struct Arm {
        std::uint32_t point, centre;
        std::int64_t rows;
    };

    double side(std::size_t a, std::size_t b, double limit) const {
        return ball_ ? distance(points_[a], points_[b]) : widest_side(widths_, points_[a], points_[b], limit);
    }

    double distance(const Code* a, const Code* b) const {
        double square = 0;
        for (std::size_t j = 0; j < widths_.axes(); ++j) {
            const Line& line = widths_.line(j);
            double side = (line.left[a[j]] - line.left[b[j]]) / line.length;
            square += side * side;
        }
        return std::sqrt(square);
    }

    // A point that came before a centre has not met it yet.
    bool complete_arms(double reach, double most_pairs, double& pairs) {
        std::vector<Arm> all;
        std::vector<std::size_t> ends(1, 0);
        for (std::size_t p = 0, late = 0; p < points_.count; ++p) {
            all.insert(all.end(), arms_.begin() + ends_[p], arms_.begin() + ends_[p + 1]);
            while (late < centres_.size() && centres_[late] <= p) ++late;
            for (std::size_t c = late; c < centres_.size(); ++c)
                if (side(p, centres_[c], reach) <= reach)
                    all.push_back({static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(c), 0});
            pairs += centres_.size() - late;
            if (pairs > most_pairs) return false;
            ends.push_back(all.size());
        }
        arms_ = std::move(all), ends_ = std::move(ends);
        return true;
    }

    void put_nearest() {
        rows_.assign(centres_.size(), 0);
        of_.assign(centres_.size(), {});
        for (std::size_t p = 0; p < points_.count; ++p) {
            std::size_t best = ends_[p];
            double near = infinity;
            for (std::size_t a = ends_[p]; a < ends_[p + 1]; ++a) {
                of_[arms_[a].centre].push_back(a);
                double far = side(p, centres_[arms_[a].centre], infinity);
                if (far < near) near = far, best = a;
            }
            arms_[best].rows = points_.weights[p];
            rows_[arms_[best].centre] += points_.weights[p];
        }
    }

    // Rows for a centre that lacks some, from one that has too many, through others.  If there is none, the centres that
    // were asked have fewer than k rows each within their reach, all together.
    bool augment(std::uint32_t lacking) {
        struct Step {
            std::size_t take, give;  // arms of one point: whose rows go, and where
        };
        std::vector<Step> came(centres_.size());
        std::vector<char> asked(centres_.size(), 0);
        std::vector<std::uint32_t> open{lacking};
        asked[lacking] = 1;
        for (std::size_t next = 0; next < open.size(); ++next)
            for (std::size_t give : of_[open[next]])
                for (std::size_t take = ends_[arms_[give].point]; take < ends_[arms_[give].point + 1]; ++take) {
                    std::uint32_t other = arms_[take].centre;
                    if (asked[other] || arms_[take].rows == 0) continue;
                    asked[other] = 1;
                    came[other] = {take, give};
                    open.push_back(other);
                    if (rows_[other] <= k_) continue;
                    std::int64_t some = std::min(rows_[other] - k_, k_ - rows_[lacking]);
                    for (std::uint32_t at = other; at != lacking; at = arms_[came[at].give].centre)
                        some = std::min(some, arms_[came[at].take].rows);
                    for (std::uint32_t at = other; at != lacking; at = arms_[came[at].give].centre)
                        arms_[came[at].take].rows -= some, arms_[came[at].give].rows += some;
                    rows_[other] -= some, rows_[lacking] += some;
                    return true;
                }
        return false;
    }

    Shares shares() const {
        std::vector<Class> classes(centres_.size());
        for (const Arm& arm : arms_)
            if (arm.rows > 0) classes[arm.centre].push_back({static_cast<std::int64_t>(arm.point), arm.rows});
        return shares_of(classes);
    }

    Points points_;
    const Widths& widths_;
    bool ball_;
    std::int64_t k_;
    std::vector<std::size_t> centres_, ends_;  // arms of point p: from ends_[p] on
    std::vector<Arm> arms_;
    std::vector<std::vector<std::size_t>> of_;  // arms of each centre
    std::vector<std::int64_t> rows_;
};

}  // namespace kech
