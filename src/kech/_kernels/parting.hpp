// Parting: a set of held rows into two classes, or anew into as many as it takes.
#pragma once

#include <numeric>

#include "chance.hpp"
#include "peeling.hpp"
#include "widths.hpp"

namespace kech {

// Some rows of one point.
struct Held {
    std::int64_t point, rows;
};
using Class = std::vector<Held>;

// The rows of all classes, which are numbered from 0; empty ones are left out.
inline Share shares_of(const std::vector<Class>& classes) {
    Share out;
    std::int64_t group = 0;
    for (const Class& held : classes) {
        for (const Held& h : held) {
            out.point.push_back(h.point);
            out.group.push_back(group);
            out.rows.push_back(h.rows);
        }
        group += !held.empty();
    }
    return out;
}

inline std::int64_t count_rows(const Class& held) {
    std::int64_t rows = 0;
    for (const Held& h : held) rows += h.rows;
    return rows;
}

// Rows of equal points become one.
inline void join_equal(Class& held) {
    std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) { return a.point < b.point; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < held.size(); ++i) {
        if (held[kept].point == held[i].point) held[kept].rows += held[i].rows;
        else held[++kept] = held[i];
    }
    if (!held.empty()) held.resize(kept + 1);
}

// What the search works on; nothing of it changes.
struct Ground {
    std::vector<Code> codes;
    std::size_t axes;
    Widths widths;
    Levels levels;
    std::int64_t k;
    bool part;  // may the rows of one point go to several classes

    const Code* at(std::int64_t point) const { return codes.data() + point * axes; }
};

// A box that grows point by point and knows how wide it is.
class Hull {
  public:
    explicit Hull(const Ground& ground) : ground_(ground), lo_(ground.axes), hi_(ground.axes), each_(ground.axes) {}

    void start(const Code* point) { start(point, point); }

    void start(const Code* lo, const Code* hi) {
        total_ = 0;
        for (std::size_t j = 0; j < lo_.size(); ++j) {
            lo_[j] = lo[j], hi_[j] = hi[j];
            total_ += each_[j] = ground_.widths.width(j, lo[j], hi[j]);
        }
    }

    void start(const Class& held) {
        start(ground_.at(held[0].point));
        for (std::size_t i = 1; i < held.size(); ++i) cover(ground_.at(held[i].point));
    }

    double cover(const Code* point) {
        for (std::size_t j = 0; j < lo_.size(); ++j) {
            if (point[j] >= lo_[j] && point[j] <= hi_[j]) continue;
            lo_[j] = std::min(lo_[j], point[j]);
            hi_[j] = std::max(hi_[j], point[j]);
            double wider = ground_.widths.width(j, lo_[j], hi_[j]);
            total_ += wider - each_[j];
            each_[j] = wider;
        }
        return total_;
    }

    double with(const Code* point) const {
        double total = total_;
        for (std::size_t j = 0; j < lo_.size(); ++j) {
            if (point[j] >= lo_[j] && point[j] <= hi_[j]) continue;
            total += ground_.widths.width(j, std::min(lo_[j], point[j]), std::max(hi_[j], point[j])) - each_[j];
        }
        return total;
    }

    // What it costs if it has so many rows, and how much more with others.
    double price(std::int64_t rows) const { return ground_.widths.weigh(rows) * total_; }
    double growth(std::int64_t rows, const Held& more) const {
        return ground_.widths.weigh(rows + more.rows) * with(ground_.at(more.point)) - price(rows);
    }

    double width() const { return total_; }
    const std::vector<Code>& lo() const { return lo_; }
    const std::vector<Code>& hi() const { return hi_; }

  private:
    const Ground& ground_;
    std::vector<Code> lo_, hi_;
    std::vector<double> each_;
    double total_ = 0;
};

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double least = 1e-9;  // a gain smaller than this is rounding

// The cheapest way to part held rows in two classes of k rows or more, along a number of orders.
class Parter {
  public:
    explicit Parter(const Ground& ground) : ground_(ground), hull_(ground), other_(ground) {}

    // Parts `held` if that costs less than `price`; the first class is left in `held`, the second in `second`.
    // `noise` makes the choice among axes a little random.
    double part(Class& held, Class& second, double price, Chance* noise = nullptr, double spread = 0) {
        rows_ = count_rows(held);
        best_ = {price - least, 0};
        if (rows_ < 2 * ground_.k) return never;
        pull_from_ends(held);
        if (!noise) consider(held, 1.0);
        return part_along_axes(held, second, noise, spread);
    }

    // The rows of two classes anew, if that costs less than `price`.
    double part_again(Class& held, Class& second, double price) {
        hull_.start(held);
        other_.start(second);
        held.insert(held.end(), second.begin(), second.end());
        if (ground_.part) join_equal(held);
        rows_ = count_rows(held);
        best_ = {price - least, 0};
        order_by_pull(held);
        consider(held, 1.0);
        pull_from_ends(held);
        consider(held, 1.0);
        return part_along_axes(held, second, nullptr, 0);
    }

    std::uint64_t work = 0;

  private:
    struct Cut {
        double price;
        std::int64_t rows;  // in the first class
        double true_price = 0;
    };

    double part_along_axes(Class& held, Class& second, Chance* noise, double spread) {
        base_ = line_;
        hull_.start(held);
        auto lo = hull_.lo(), hi = hull_.hi();
        for (std::size_t j = 0; j < ground_.axes; ++j) {
            if (lo[j] == hi[j]) continue;
            order_by_axis(held, j);
            consider(held, noise ? noise->factor(spread) : 1.0);
        }
        if (best_.rows == 0) return never;
        return carry_out(held, second);
    }

    // From the point that is farthest from the first to the point farthest from that one.
    void pull_from_ends(const Class& held) {
        std::size_t far = farthest(held, 0), end = farthest(held, far);
        hull_.start(ground_.at(held[far].point));
        other_.start(ground_.at(held[end].point));
        order_by_pull(held);
    }

    // By how much more a point widens the one box than the other.
    void order_by_pull(const Class& held) {
        keys_.resize(held.size());
        line_.resize(held.size());
        std::iota(line_.begin(), line_.end(), 0u);
        for (std::size_t i = 0; i < held.size(); ++i) {
            const Code* point = ground_.at(held[i].point);
            keys_[i] = hull_.with(point) - other_.with(point);
        }
        work += held.size() * 4;
        sort();
    }

    std::size_t farthest(const Class& held, std::size_t from) {
        hull_.start(ground_.at(held[from].point));
        std::size_t found = from;
        double width = -1;
        for (std::size_t i = 0; i < held.size(); ++i) {
            double here = hull_.with(ground_.at(held[i].point));
            if (here > width) width = here, found = i;
        }
        return found;
    }

    void order_by_axis(const Class& held, std::size_t axis) {
        line_ = base_;
        for (std::size_t i = 0; i < held.size(); ++i) keys_[i] = ground_.at(held[i].point)[axis];
        sort();
    }

    void sort() {
        if (line_.size() > 32) {
            std::stable_sort(line_.begin(), line_.end(), [&](auto a, auto b) { return keys_[a] < keys_[b]; });
            return;
        }
        for (std::size_t i = 1; i < line_.size(); ++i) {
            auto moved = line_[i];
            std::size_t at = i;
            for (; at > 0 && keys_[line_[at - 1]] > keys_[moved]; --at) line_[at] = line_[at - 1];
            line_[at] = moved;
        }
    }

    // Between two points, or inside one: there the price is linear in the rows, so an end of the range is best.
    void consider(const Class& held, double factor) {
        std::size_t n = line_.size();
        work += 2 * n;
        after_.resize(n);
        hull_.start(ground_.at(held[line_[n - 1]].point));
        std::int64_t behind = 0;
        for (std::size_t i = n; i-- > 0;) {
            after_[i] = hull_.cover(ground_.at(held[line_[i]].point));
            behind += held[line_[i]].rows;
            if (behind > rows_ - ground_.k) break;
        }
        std::int64_t before = 0, last = rows_ - ground_.k;
        hull_.start(ground_.at(held[line_[0]].point));
        for (std::size_t i = 0; i < n && before < last; ++i) {
            double front = hull_.cover(ground_.at(held[line_[i]].point));
            std::int64_t upto = before + held[line_[i]].rows;
            if (upto >= ground_.k) {
                if (upto <= last) offer(upto, front, after_[i + 1], factor);
                if (ground_.part) {
                    std::int64_t low = std::max(ground_.k, before + 1), high = std::min(last, upto - 1);
                    if (low <= high) offer(front <= after_[i] ? high : low, front, after_[i], factor);
                }
            }
            before = upto;
        }
    }

    void offer(std::int64_t rows, double front, double back, double factor) {
        double price = ground_.widths.weigh(rows) * front + ground_.widths.weigh(rows_ - rows) * back;
        if (price * factor >= best_.price) return;
        best_ = {price * factor, rows, price};
        chosen_ = line_;
    }

    double carry_out(Class& held, Class& second) {
        Class first;
        second.clear();
        std::int64_t room = best_.rows;
        for (auto i : chosen_) {
            std::int64_t here = std::min(room, held[i].rows);
            if (here > 0) first.push_back({held[i].point, here});
            if (held[i].rows > here) second.push_back({held[i].point, held[i].rows - here});
            room -= here;
        }
        held.swap(first);
        return best_.true_price;
    }

    const Ground& ground_;
    Hull hull_, other_;
    std::int64_t rows_ = 0;
    Cut best_{};
    std::vector<std::uint32_t> line_, base_, chosen_;
    std::vector<double> keys_, after_;
};

}  // namespace kech
