// Classes of k rows or more in small balls: the widest gives rows away until all balls fit; then rows move to save loss.
#pragma once

#include "core.hpp"
#include "enclosing_ball.hpp"
#include "shares.hpp"

namespace kech {

// A row that leaves a class goes to a near one, where it may push out another row; a class that lacks rows takes some of a
// near one, which may take some of others.  Such a chain is undone unless it ends with k rows in every class.
class BallSearch {
  public:
    // Balls are measured on `metric`, plain lines; the loss on `widths`.
    BallSearch(const Code* codes, const Widths& metric, const Widths& widths, std::int64_t k, bool split, const Shares& start)
        : widths_(widths), axes_(metric.axes()), k_(k) {
        for (const Class& members : classes_of(start)) {
            std::size_t at = add_class();
            for (const Member& member : members) add_units(codes, metric, member, split, at);
        }
    }

    // Classes shrink, the widest first, until all fit into balls of the limit or one does not; the radius of the widest.
    double narrow(double limit) {
        limit_ = limit;
        for (std::size_t at : by_radius())
            if (ball(at).radius > limit && !shrink(at)) break;
        double widest = 0;
        for (std::size_t at = 0; at < classes_.size(); ++at) widest = std::max(widest, ball(at).radius);
        return widest;
    }

    // Rows move, classes exchange rows and are parted where that saves loss and all balls stay within the limit.
    void cheapen(double limit) {
        limit_ = limit;
        for (std::size_t at = 0; at < classes_.size(); ++at) part_cheaply(at);
        for (std::size_t u = 0; u < units_.size(); ++u) move_cheaply(u);
    }

    Shares shares() const {
        std::vector<Class> found;
        for (const Group& group : classes_) {
            if (group.units.empty()) continue;
            found.emplace_back();
            for (std::size_t u : group.units) found.back().push_back({units_[u].point, units_[u].rows});
        }
        Shares apart = shares_of(found);
        return merge_shares(apart.point.data(), apart.group.data(), apart.rows.data(), apart.point.size());
    }

  private:
    static constexpr std::size_t neighbours = constants::ball_neighbours, nowhere = -1;

    // Rows of one point that move together.
    struct Unit {
        std::int64_t point, rows;
        std::size_t at;  // its class
    };
    struct Ball {
        std::vector<double> centre;
        double radius = 0;
        std::vector<std::size_t> held;  // units on its sphere
    };
    struct Group {
        std::vector<std::size_t> units;
        std::int64_t rows = 0;
        Ball ball = {};
        bool is_measured = false;
    };
    struct Move {
        std::size_t unit, from;
    };

    // -- units and classes ------------------------------------------------------------------------------------

    std::size_t add_class() {
        classes_.emplace_back();
        return classes_.size() - 1;
    }

    // Rows of a point are units of their own, or of a few rows, as many as two classes can use; the others stay together.
    void add_units(const Code* codes, const Widths& metric, const Member& member, bool split, std::size_t at) {
        constexpr std::int64_t most = constants::ball_units;
        std::int64_t useful = k_ < member.rows / 2 ? 2 * k_ : member.rows - 1, each = useful / most + 1;
        std::int64_t alone = split ? useful / each : 0;
        for (std::int64_t i = 0; i <= alone; ++i) {
            const Code* code = codes + member.point * axes_;
            for (std::size_t j = 0; j < axes_; ++j)
                places_.push_back((metric.line(j).left[code[j]] - metric.line(j).left[0]) / metric.line(j).length);
            codes_.insert(codes_.end(), code, code + axes_);
            units_.push_back({member.point, i < alone ? each : member.rows - alone * each, nowhere});
            put(units_.size() - 1, at);
        }
    }

    const double* place(std::size_t u) const { return places_.data() + u * axes_; }
    const Code* code(std::size_t u) const { return codes_.data() + u * axes_; }

    // Puts a unit into a class, or nowhere.
    void put(std::size_t u, std::size_t to) {
        if (std::size_t from = std::exchange(units_[u].at, to); from != nowhere) {
            Group& group = classes_[from];
            group.units.erase(std::find(group.units.begin(), group.units.end(), u));
            group.rows -= units_[u].rows;
            group.is_measured = false;
        }
        if (to == nowhere) return;
        Group& group = classes_[to];
        group.units.insert(std::lower_bound(group.units.begin(), group.units.end(), u), u);
        group.rows += units_[u].rows;
        group.is_measured = false;
    }

    void move(std::size_t u, std::size_t to) {
        moves_.push_back({u, units_[u].at});
        put(u, to);
    }

    void undo(std::size_t kept) {
        for (; moves_.size() > kept; moves_.pop_back()) put(moves_.back().unit, moves_.back().from);
    }

    // -- balls ------------------------------------------------------------------------------------------------

    Ball enclose(const std::vector<std::size_t>& units) const {
        if (units.empty()) return {std::vector<double>(axes_, 0.0), 0, {}};
        std::vector<double> places;
        for (std::size_t u : units) places.insert(places.end(), place(u), place(u) + axes_);
        EnclosingBall found(places.data(), units.size(), axes_);
        Ball ball{found.centre(), found.radius(), {}};
        for (std::size_t j = 0; j < axes_; ++j) ball.centre[j] += places[j];
        for (std::size_t i : found.support()) ball.held.push_back(units[i]);
        return ball;
    }

    const Ball& ball(std::size_t at) {
        Group& group = classes_[at];
        if (!group.is_measured) group.ball = enclose(group.units), group.is_measured = true;
        return group.ball;
    }

    double distance(const double* a, const double* b) const {
        double sum = 0;
        for (std::size_t j = 0; j < axes_; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
        return std::sqrt(sum);
    }

    // Whether a class with one more unit has a ball within the limit.  A ball (c, r) and a point at distance D from c are in
    // a ball of radius (D + r) / 2 together, and in none smaller than (D^2 + r^2) / (2 D).
    bool fits(std::size_t at, std::size_t u, double limit) {
        if (classes_[at].units.empty()) return true;
        const Ball& own = ball(at);
        double r = own.radius, far = distance(own.centre.data(), place(u));
        if (r > limit) return false;
        if (far <= r || far + r <= 2 * limit) return true;
        if (far * far + r * r > 2 * far * limit) return false;
        return with(at, u).radius <= limit;
    }

    Ball with(std::size_t at, std::size_t u) const {
        auto units = classes_[at].units;
        units.push_back(u);
        return enclose(units);
    }

    std::vector<std::size_t> by_radius() {
        auto order = count_up<std::size_t>(classes_.size());
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return ball(a).radius > ball(b).radius; });
        return order;
    }

    // The classes whose balls are nearest to a place.
    std::vector<std::size_t> find_near(const double* from) {
        std::vector<std::pair<double, std::size_t>> best;
        for (std::size_t c = 0; c < classes_.size(); ++c) {
            if (classes_[c].units.empty()) continue;
            std::pair candidate{distance(ball(c).centre.data(), from) - ball(c).radius, c};
            if (best.size() == neighbours && candidate >= best.back()) continue;
            if (best.size() == neighbours) best.pop_back();
            best.insert(std::upper_bound(best.begin(), best.end(), candidate), candidate);
        }
        std::vector<std::size_t> found;
        for (auto [_, c] : best) found.push_back(c);
        return found;
    }

    // -- narrower ---------------------------------------------------------------------------------------------

    // Units leave the sphere of a class one by one until it is within the limit; or it is parted, or given up.
    bool shrink(std::size_t at) {
        shrinking_ = at;
        if (classes_[at].rows >= 2 * k_ && part_narrowly(at)) return true;
        while (ball(at).radius > limit_)
            if (!release_one(at)) return dissolve(at);
        return true;
    }

    // One unit of the sphere goes to another class, such that the ball becomes smaller; or nothing changes.
    bool release_one(std::size_t at) {
        double before = ball(at).radius;
        most_ = before * (1 - rounding);
        auto sphere = ball(at).held.empty() ? classes_[at].units : ball(at).held;
        for (std::size_t u : sphere) {
            moves_.clear();
            move(u, nowhere);
            if (rehouse(u, at, constants::ball_chain) && (classes_[at].rows >= k_ || fill(at, constants::ball_chain)) &&
                ball(at).radius <= most_)
                return true;
            undo(0);
        }
        return false;
    }

    // The class that is being shrunk may stay above the limit, if its ball becomes smaller.
    double limit_of(std::size_t at) const { return at == shrinking_ ? std::max(limit_, most_) : limit_; }

    // A near class for a unit that has none, other than the one it left; others of that class may have to go on.
    bool rehouse(std::size_t u, std::size_t left, std::size_t depth) {
        auto targets = find_near(place(u));
        std::erase(targets, left);
        std::erase(targets, dissolving_);
        for (std::size_t to : targets)
            if (fits(to, u, limit_of(to))) return move(u, to), true;
        if (depth == 0) return false;
        for (std::size_t to : targets) {
            Ball ball = with(to, u);
            for (std::size_t out : ball.held) {
                if (out == u || units_[out].rows > units_[u].rows) continue;
                std::size_t kept = moves_.size();
                move(out, nowhere);
                if (fits(to, u, limit_of(to))) {
                    move(u, to);
                    if (rehouse(out, to, depth - 1)) return true;
                }
                undo(kept);
            }
        }
        return false;
    }

    // Units for a class that has fewer than k rows, from near classes.
    bool fill(std::size_t at, std::size_t depth) {
        auto sources = find_near(ball(at).centre.data());
        std::erase(sources, at);
        std::vector<std::pair<double, std::size_t>> open;
        for (std::size_t from : sources)
            for (std::size_t u : classes_[from].units) open.push_back({distance(ball(at).centre.data(), place(u)), u});
        std::size_t tried = std::min(open.size(), 2 * neighbours);
        std::partial_sort(open.begin(), open.begin() + tried, open.end());
        for (bool lends : {true, false})
            for (std::size_t i = 0; i < tried; ++i) {
                std::size_t u = open[i].second, from = units_[u].at, kept = moves_.size();
                if (from == at || (classes_[from].rows - units_[u].rows >= k_) != lends || !fits(at, u, limit_of(at))) continue;
                if (!lends && depth == 0) return false;
                move(u, at);
                if ((lends || fill(from, depth - 1)) && (classes_[at].rows >= k_ || fill(at, depth))) return true;
                undo(kept);
            }
        return false;
    }

    // All units of a class go to others; none comes back to it.
    bool dissolve(std::size_t at) {
        moves_.clear();
        shrinking_ = nowhere;
        dissolving_ = at;
        for (std::size_t u : std::vector(classes_[at].units)) {
            move(u, nowhere);
            if (rehouse(u, at, 1)) continue;
            undo(0);
            break;
        }
        dissolving_ = nowhere;
        return classes_[at].units.empty();
    }

    // Two classes of k rows in smaller balls, around two units that are far apart.
    bool part_narrowly(std::size_t at) {
        auto units = classes_[at].units;
        auto farthest = [&](std::size_t from) {
            return *std::max_element(units.begin(), units.end(), [&](auto a, auto b) {
                return distance(place(from), place(a)) < distance(place(from), place(b));
            });
        };
        std::size_t one = farthest(units[0]), other = farthest(one);
        std::stable_sort(units.begin(), units.end(), [&](auto a, auto b) {
            return distance(place(a), place(one)) - distance(place(a), place(other)) <
                   distance(place(b), place(one)) - distance(place(b), place(other));
        });
        return part(at, units, [&](const auto& left, const auto& right) {
            double radius = std::max(enclose(left).radius, enclose(right).radius);
            return radius <= limit_ ? radius : infinity;
        });
    }

    // Parts a class along an order of its units where the cost is least, if any cost is finite.
    template <class Cost>
    bool part(std::size_t at, const std::vector<std::size_t>& units, const Cost& cost) {
        std::int64_t rows = 0;
        std::size_t best = 0;
        double least = infinity;
        for (std::size_t i = 1; i < units.size(); ++i) {
            rows += units_[units[i - 1]].rows;
            if (rows < k_ || classes_[at].rows - rows < k_) continue;
            double here = cost(std::vector(units.begin(), units.begin() + i), std::vector(units.begin() + i, units.end()));
            if (here < least) least = here, best = i;
        }
        if (best == 0) return false;
        std::size_t fresh = add_class();
        for (std::size_t i = best; i < units.size(); ++i) put(units[i], fresh);
        return true;
    }

    // -- cheaper ----------------------------------------------------------------------------------------------

    // The rows of some units times the width of their box; `out` is left out and `in` is added.
    double cost(const std::vector<std::size_t>& units, std::size_t out = nowhere, std::size_t in = nowhere) const {
        Box box(axes_);
        std::int64_t rows = 0;
        auto add = [&](std::size_t u) { box.cover(code(u)), rows += units_[u].rows; };
        for (std::size_t u : units)
            if (u != out) add(u);
        if (in != nowhere) add(in);
        return rows ? rows * box.width(widths_) : 0;
    }

    void part_cheaply(std::size_t at) {
        if (classes_[at].rows < 2 * k_) return;
        for (std::size_t j = 0; j < axes_; ++j) {
            auto units = classes_[at].units;
            std::stable_sort(units.begin(), units.end(), [&](auto a, auto b) { return code(a)[j] < code(b)[j]; });
            double before = cost(units);
            auto gain = [&](const auto& left, const auto& right) {
                double after = cost(left) + cost(right);
                return after < before - rounding ? after : infinity;
            };
            if (part(at, units, gain)) return part_cheaply(at);
        }
    }

    // Of all near classes, the one to which a unit moves, or with which it is exchanged, at the largest gain.
    void move_cheaply(std::size_t u) {
        std::size_t from = units_[u].at;
        const auto& own = classes_[from].units;
        double before = cost(own);
        bool is_free = classes_[from].rows - units_[u].rows >= k_, frees = cost(own, u) < before - before / own.size() - rounding;
        if (!is_free && !frees) return;
        for (std::size_t to : find_near(place(u))) {
            if (to == from) continue;
            const auto& others = classes_[to].units;
            double theirs = cost(others);
            if (is_free && cost(own, u) + cost(others, nowhere, u) < before + theirs - rounding && fits(to, u, limit_))
                return put(u, to);
            for (std::size_t v : others)
                if (units_[v].rows == units_[u].rows &&
                    cost(own, u, v) + cost(others, v, u) < before + theirs - rounding && exchange(u, v))
                    return;
        }
    }

    bool exchange(std::size_t u, std::size_t v) {
        std::size_t from = units_[u].at, to = units_[v].at;
        put(u, nowhere), put(v, nowhere);
        bool both = fits(to, u, limit_) && fits(from, v, limit_);
        put(u, both ? to : from), put(v, both ? from : to);
        return both;
    }

    Widths widths_;
    std::size_t axes_;
    std::int64_t k_;
    std::vector<double> places_;
    std::vector<Code> codes_;
    std::vector<Unit> units_;
    std::vector<Group> classes_;
    std::vector<Move> moves_;
    double limit_ = infinity, most_ = infinity;  // of all classes; of the one that is being shrunk
    std::size_t shrinking_ = nowhere, dissolving_ = nowhere;
};

}  // namespace kech
