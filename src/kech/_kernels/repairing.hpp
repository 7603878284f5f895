// Goals beyond k: a class that breaks one trades rows with its neighbours or is merged with one, whichever costs less;
// then what has become too large is parted again.
#pragma once

#include <cmath>
#include <queue>
#include <tuple>

#include "cutting.hpp"
#include "logarithm.hpp"
#include "ordering.hpp"

namespace kech {

// What every class must keep for every sensitive column; l = 0, t and alpha = infinity ask nothing.
struct Aims {
    enum Kind { distinct, entropy, recursive };
    Kind kind;
    double l, c, t, alpha;
    std::vector<bool> ordered;  // columns whose distance is along a line
};

// Rows of each value of one column in one class, values ascending.
using Counts = std::vector<std::pair<Code, std::int64_t>>;

// How far a class is from the goals.
class Judge {
  public:
    Judge(const Aims& aims, const std::vector<Counts>& totals) : aims_(aims) {
        for (auto& column : totals) columns_.emplace_back(column);
    }

    // 0 where all goals hold.
    double lack(const std::vector<Counts>& counts, std::int64_t rows) const {
        double total = 0;
        for (std::size_t s = 0; s < counts.size(); ++s) total += lack_of(s, counts[s], static_cast<double>(rows));
        return total;
    }

  private:
    static constexpr double rounding = 1e-9;

    // Shares of the whole table by value, and for the distance along a line their sums and the sums of these.
    struct Column {
        std::vector<Code> value;
        std::vector<double> share, up_to, sums;

        explicit Column(const Counts& totals) {
            double rows = 0, sum = 0;
            for (auto& [v, n] : totals) rows += static_cast<double>(n);
            sums.push_back(0);
            for (auto& [v, n] : totals) {
                value.push_back(v);
                share.push_back(static_cast<double>(n) / rows);
                up_to.push_back(sum += share.back());
                sums.push_back(sums.back() + sum);
            }
        }

        std::size_t place(Code v) const { return std::lower_bound(value.begin(), value.end(), v) - value.begin(); }

        // sum of |level - Q(i)| for i in [start, stop)
        double area(double level, std::size_t start, std::size_t stop) const {
            if (start >= stop) return 0;
            std::size_t cross = std::upper_bound(up_to.begin() + start, up_to.begin() + stop, level) - up_to.begin();
            double below = level * static_cast<double>(cross - start) - (sums[cross] - sums[start]);
            return below + (sums[stop] - sums[cross]) - level * static_cast<double>(stop - cross);
        }
    };

    double lack_of(std::size_t s, const Counts& counts, double rows) const {
        double total = 0;
        if (aims_.l > 0) total += lack_of_l(counts, rows);
        if (aims_.t < infinity) total += over(distance(s, counts, rows), aims_.t);
        if (aims_.alpha < infinity) total += over(largest(counts) / rows, aims_.alpha);
        return total;
    }

    static double over(double found, double most) { return found > most + rounding ? found - most : 0; }

    double lack_of_l(const Counts& counts, double rows) const {
        if (aims_.kind == Aims::distinct) return std::max(0.0, aims_.l - static_cast<double>(counts.size())) / aims_.l;
        if (aims_.kind == Aims::entropy) {
            double sum = 0;
            for (auto& [v, n] : counts) sum -= static_cast<double>(n) / rows * logarithm(static_cast<double>(n) / rows);
            return over(aims_.l, exponential(sum)) / aims_.l;
        }
        return lack_of_tail(counts, rows);
    }

    // r_1 / (r_l + r_(l+1) + ...) < c, the counts descending; divided as whoever checks it does, so that both round alike
    double lack_of_tail(const Counts& counts, double rows) const {
        std::vector<std::int64_t> by_rows;
        for (auto& entry : counts) by_rows.push_back(entry.second);
        std::sort(by_rows.rbegin(), by_rows.rend());
        std::int64_t tail = 0;
        for (std::size_t i = static_cast<std::size_t>(aims_.l) - 1; i < by_rows.size(); ++i) tail += by_rows[i];
        double most = static_cast<double>(by_rows[0]), rest = static_cast<double>(tail);
        return tail > 0 && most / rest < aims_.c ? 0 : std::max(0.0, most - aims_.c * rest) / rows + rounding;
    }

    static double largest(const Counts& counts) {
        std::int64_t most = 0;
        for (auto& entry : counts) most = std::max(most, entry.second);
        return static_cast<double>(most);
    }

    double distance(std::size_t s, const Counts& counts, double rows) const {
        const Column& column = columns_[s];
        double total = 0, level = 0;
        if (!aims_.ordered[s]) {
            for (auto& [v, n] : counts) total += std::max(0.0, static_cast<double>(n) / rows - column.share[column.place(v)]);
            return total;
        }
        std::size_t steps = column.value.size() - 1, start = 0;
        if (steps == 0) return 0;
        for (auto& [v, n] : counts) {
            std::size_t here = column.place(v);
            total += column.area(level, start, here);
            level += static_cast<double>(n) / rows;
            start = here;
        }
        return (total + column.area(level, start, steps)) / static_cast<double>(steps);
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    const Aims& aims_;
    std::vector<Column> columns_;
};

class Repair {
  public:
    Repair(const Code* codes, const Code* secrets, std::size_t columns, const Widths& widths, std::int64_t k, const Aims& aims,
           bool split)
        : codes_(codes), secrets_(secrets), columns_(columns), axes_(widths.axes()), widths_(widths), k_(k), aims_(aims),
          split_(split) {}

    // Shares ascend by group.  With `apart` every class is parted again, not only those that were merged.
    Share run(const std::int64_t* point, const std::int64_t* group, const std::int64_t* rows, std::size_t shares, bool apart) {
        for (std::size_t i = 0; i < shares; ++i) {
            if (i == 0 || group[i] != group[i - 1]) classes_.emplace_back(axes_);
            classes_.back().members.push_back({point[i], rows[i]});
        }
        for (auto& one : classes_) measure(one);
        std::vector<Member> everybody;
        for (auto& one : classes_) everybody.insert(everybody.end(), one.members.begin(), one.members.end());
        std::vector<Counts> totals;
        for (std::size_t s = 0; s < columns_; ++s) totals.push_back(count(everybody, s));
        Judge judge(aims_, totals);
        judge_ = &judge;
        merge();
        std::vector<Class> done;
        for (auto& one : classes_)
            if (!one.members.empty()) part(std::move(one), apart, done);
        return share(done);
    }

  private:
    struct Member {
        std::int64_t point, rows;
    };
    struct Class {
        std::vector<Member> members;
        std::vector<Counts> counts;
        Box box;
        std::int64_t rows = 0;
        double cost = 0;  // rows times the width of the box
        bool merged = false;

        explicit Class(std::size_t axes) : box(axes) {}
    };
    struct Cut {
        double cost;
        std::size_t axis;
        Code last;  // highest code of the lower part
        bool operator<(const Cut& other) const {
            return std::tie(cost, axis, last) < std::tie(other.cost, other.axis, other.last);
        }
    };
    static constexpr std::size_t reach = 32;   // neighbours looked at on either side
    static constexpr std::size_t few = 256;    // so many classes are all looked at
    static constexpr std::size_t marks = 64;   // cuts tried on an axis
    static constexpr std::size_t trials = 48;  // cuts judged for a class
    static constexpr std::size_t trades = 4;   // rows a class may trade
    static constexpr std::size_t traders = 12; // neighbours it may trade with
    static constexpr std::size_t crowd = 48;   // classes of more members do not trade
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    static constexpr double rounding = 1e-12;

    void measure(Class& one) const {
        one.box.clear();
        one.rows = 0;
        one.counts.assign(columns_, {});
        for (auto& member : one.members) {
            one.box.cover(codes_ + member.point * axes_);
            one.rows += member.rows;
        }
        for (std::size_t s = 0; s < columns_; ++s) one.counts[s] = count(one.members, s);
        one.cost = static_cast<double>(one.rows) * widths_.sum(one.box.lo.data(), one.box.hi.data());
    }

    Counts count(const std::vector<Member>& members, std::size_t s) const {
        Counts found;
        for (auto& member : members) found.push_back({secrets_[member.point * columns_ + s], member.rows});
        std::sort(found.begin(), found.end());
        std::size_t last = 0;
        for (std::size_t i = 1; i < found.size(); ++i)
            if (found[i].first == found[last].first) found[last].second += found[i].second;
            else found[++last] = found[i];
        if (!found.empty()) found.resize(last + 1);
        return found;
    }

    static Counts sum(const Counts& a, const Counts& b) {
        Counts out;
        out.reserve(a.size() + b.size());
        auto x = a.begin(), y = b.begin();
        while (x != a.end() && y != b.end()) {
            if (x->first == y->first) out.push_back({x->first, x++->second + y++->second});
            else out.push_back(x->first < y->first ? *x++ : *y++);
        }
        out.insert(out.end(), x, a.end());
        out.insert(out.end(), y, b.end());
        return out;
    }

    // -- merging -------------------------------------------------------------------------------------------

    // Classes in kd order, as a ring; those that are merged into another leave it.
    void merge() {
        std::size_t n = classes_.size();
        auto order = line_up();
        before_.resize(n);
        after_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            after_[order[i]] = order[(i + 1) % n];
            before_[order[(i + 1) % n]] = order[i];
        }
        alive_ = n;
        using Entry = std::pair<std::int64_t, std::int64_t>;  // rows, class: the smallest first
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> bad;
        for (std::size_t i = 0; i < n; ++i)
            if (lack(classes_[i]) > 0) bad.push({classes_[i].rows, i});
        while (!bad.empty() && alive_ > 1) {
            auto [rows, at] = bad.top();
            bad.pop();
            if (classes_[at].rows != rows || lack(classes_[at]) == 0) continue;  // it was merged or mended since
            auto near = neighbours(at);
            std::int64_t other = partner(at, near);
            for (auto touched : trade(at, near, other))
                if (lack(classes_[touched]) > 0) bad.push({classes_[touched].rows, touched});
        }
    }

    // kd order of the middles of the boxes; it knows distinct points only.
    std::vector<std::int64_t> line_up() const {
        std::vector<Code> middle;
        for (auto& one : classes_)
            for (std::size_t j = 0; j < axes_; ++j) middle.push_back(one.box.lo[j] + (one.box.hi[j] - one.box.lo[j]) / 2);
        auto at = [&](std::int64_t i) { return middle.begin() + i * static_cast<std::int64_t>(axes_); };
        auto end = static_cast<std::int64_t>(axes_);
        std::vector<std::int64_t> sorted(classes_.size()), first, rows, order;
        std::iota(sorted.begin(), sorted.end(), std::int64_t{0});
        std::stable_sort(sorted.begin(), sorted.end(), [&](auto a, auto b) {
            return std::lexicographical_compare(at(a), at(a) + end, at(b), at(b) + end);
        });
        std::vector<Code> distinct;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            if (i == 0 || !std::equal(at(sorted[i]), at(sorted[i]) + end, at(sorted[i - 1]))) {
                first.push_back(static_cast<std::int64_t>(i));
                rows.push_back(0);
                distinct.insert(distinct.end(), at(sorted[i]), at(sorted[i]) + end);
            }
            rows.back() += classes_[sorted[i]].rows;
        }
        first.push_back(static_cast<std::int64_t>(sorted.size()));
        for (auto d : KdOrder(distinct.data(), rows.data(), rows.size(), widths_).run(1))
            order.insert(order.end(), sorted.begin() + first[d], sorted.begin() + first[d + 1]);
        return order;
    }

    double lack(const Class& one) const { return judge_->lack(one.counts, one.rows); }

    double lack_together(const Class& a, const Class& b) const {
        std::vector<Counts> both(columns_);
        for (std::size_t s = 0; s < columns_; ++s) both[s] = sum(a.counts[s], b.counts[s]);
        return judge_->lack(both, a.rows + b.rows);
    }

    double price(const Class& a, const Class& b) const {
        Box box = a.box;
        box.cover(b.box.lo.data(), b.box.hi.data());
        return static_cast<double>(a.rows + b.rows) * widths_.sum(box.lo.data(), box.hi.data()) - a.cost - b.cost;
    }

    using Near = std::vector<std::pair<double, std::int64_t>>;  // price of merging, class; the cheapest first

    Near neighbours(std::int64_t at) const {
        Near near;
        std::size_t look = alive_ <= few ? alive_ : reach;
        std::int64_t back = before_[at], on = after_[at];
        for (std::size_t i = 0; i < look && near.size() + 1 < alive_; ++i) {
            near.push_back({price(classes_[at], classes_[on]), on});
            on = after_[on];
            if (near.size() + 1 >= alive_) break;
            near.push_back({price(classes_[at], classes_[back]), back});
            back = before_[back];
        }
        std::sort(near.begin(), near.end());
        return near;
    }

    // The cheapest neighbour with which all goals hold; else the cheapest with which less is lacking; else the cheapest.
    std::int64_t partner(std::int64_t at, const Near& near) const {
        double own = lack(classes_[at]);
        std::int64_t better = -1;
        for (auto& [cost, other] : near) {
            double left = lack_together(classes_[at], classes_[other]);
            if (left == 0) return other;
            if (better < 0 && left < own - rounding) better = other;
        }
        return better < 0 ? near[0].second : better;
    }

    // -- trading -------------------------------------------------------------------------------------------

    // A class takes one row of another, and gives one of its own in return unless the other can spare it.
    struct Trade {
        double score = std::numeric_limits<double>::infinity(), cost = 0;
        std::int64_t other = -1;
        std::size_t take = 0, give = none;  // members
    };

    // A few trades that mend the class for less than merging it would cost, or else the merger; the classes it touched.
    std::vector<std::int64_t> trade(std::int64_t at, const Near& near, std::int64_t other) {
        double most = price(classes_[at], classes_[other]), cost = 0;
        std::vector<std::pair<std::int64_t, Class>> old{{at, classes_[at]}};
        for (std::size_t i = 0; i < trades && lack(classes_[at]) > 0; ++i) {
            Trade best = find_trade(at, near);
            if (best.other < 0 || (cost += best.cost) >= most) break;
            old.push_back({best.other, classes_[best.other]});
            exchange(classes_[at], classes_[best.other], best);
        }
        std::vector<std::int64_t> touched;
        if (lack(classes_[at]) == 0 && cost < most) {
            for (auto& entry : old) touched.push_back(entry.first);
            return touched;
        }
        for (auto entry = old.rbegin(); entry != old.rend(); ++entry) classes_[entry->first] = std::move(entry->second);
        absorb(at, other);
        return {at};
    }

    Trade find_trade(std::int64_t at, const Near& near) const {
        const Class& one = classes_[at];
        Trade best;
        if (!split_ || one.members.size() > crowd) return best;
        double own = lack(one);
        auto without_one = boxes_without(one);
        for (std::size_t i = 0; i < near.size() && i < traders; ++i) {
            const Class& other = classes_[near[i].second];
            if (other.members.size() > crowd) continue;
            double theirs = lack(other);
            auto without_other = boxes_without(other);
            for (std::size_t take = 0; take < other.members.size(); ++take)
                for (std::size_t give = other.rows > k_ ? none : 0; give == none || give < one.members.size(); ++give) {
                    double cost = price(one, other, take, give, without_one, without_other);
                    if (std::max(cost, 0.0) / own >= best.score || same_secrets(one, other, take, give)) continue;
                    auto x = other.members[take].point, y = give == none ? -1 : one.members[give].point;
                    std::int64_t more = give == none;
                    double left = judge_->lack(changed(one.counts, y, x), one.rows + more);
                    double score = std::max(cost, 0.0) / (own - left);
                    if (left >= own - rounding || score >= best.score) continue;
                    if (judge_->lack(changed(other.counts, x, y), other.rows - more) > theirs) continue;
                    best = {score, cost, near[i].second, take, give};
                }
        }
        return best;
    }

    // The box of a class without one row of each member.
    std::vector<Box> boxes_without(const Class& one) const {
        std::vector<Box> boxes(one.members.size(), one.box);
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            if (one.members[i].rows > 1) continue;
            boxes[i].clear();
            for (std::size_t j = 0; j < boxes.size(); ++j)
                if (j != i) boxes[i].cover(codes_ + one.members[j].point * axes_);
        }
        return boxes;
    }

    double price(const Class& one, const Class& other, std::size_t take, std::size_t give, const std::vector<Box>& without_one,
                 const std::vector<Box>& without_other) const {
        Box mine = give == none ? one.box : without_one[give], theirs = without_other[take];
        mine.cover(codes_ + other.members[take].point * axes_);
        if (give != none) theirs.cover(codes_ + one.members[give].point * axes_);
        std::int64_t more = give == none;
        return static_cast<double>(one.rows + more) * widths_.sum(mine.lo.data(), mine.hi.data()) +
               static_cast<double>(other.rows - more) * widths_.sum(theirs.lo.data(), theirs.hi.data()) - one.cost - other.cost;
    }

    bool same_secrets(const Class& one, const Class& other, std::size_t take, std::size_t give) const {
        if (give == none) return false;
        const Code *x = secrets_ + other.members[take].point * columns_, *y = secrets_ + one.members[give].point * columns_;
        return std::equal(x, x + columns_, y);
    }

    // Counts with one row of a point less and one of another more; -1 is no point.
    std::vector<Counts> changed(std::vector<Counts> counts, std::int64_t less, std::int64_t more) const {
        for (std::size_t s = 0; s < columns_; ++s) {
            if (more >= 0) counts[s] = sum(counts[s], {{secrets_[more * columns_ + s], 1}});
            if (less >= 0) counts[s] = sum(counts[s], {{secrets_[less * columns_ + s], -1}});
            std::erase_if(counts[s], [](auto& entry) { return entry.second == 0; });
        }
        return counts;
    }

    void exchange(Class& one, Class& other, const Trade& trade) const {
        std::int64_t x = other.members[trade.take].point, y = trade.give == none ? -1 : one.members[trade.give].point;
        pass(other, one, x);
        if (y >= 0) pass(one, other, y);
        measure(one);
        measure(other);
        one.merged = other.merged = true;
    }

    static void pass(Class& from, Class& to, std::int64_t point) {
        auto is_it = [&](const Member& member) { return member.point == point; };
        auto found = std::find_if(from.members.begin(), from.members.end(), is_it);
        if (--found->rows == 0) from.members.erase(found);
        found = std::find_if(to.members.begin(), to.members.end(), is_it);
        if (found != to.members.end()) ++found->rows;
        else to.members.push_back({point, 1});
    }

    void absorb(std::int64_t at, std::int64_t other) {
        Class &one = classes_[at], &gone = classes_[other];
        one.cost += gone.cost + price(one, gone);
        one.box.cover(gone.box.lo.data(), gone.box.hi.data());
        one.rows += gone.rows;
        for (std::size_t s = 0; s < columns_; ++s) one.counts[s] = sum(one.counts[s], gone.counts[s]);
        one.members.insert(one.members.end(), gone.members.begin(), gone.members.end());
        one.merged = true;
        gone = Class(axes_);
        after_[before_[other]] = after_[other];
        before_[after_[other]] = before_[other];
        --alive_;
    }

    // -- parting -------------------------------------------------------------------------------------------

    // Cut a class again and again where it pays most and both parts hold.
    void part(Class&& whole, bool apart, std::vector<Class>& done) const {
        std::vector<Class> open;
        open.push_back(std::move(whole));
        while (!open.empty()) {
            Class one = std::move(open.back());
            open.pop_back();
            Class low(axes_), high(axes_);
            if ((apart || one.merged) && one.rows >= 2 * k_ && divide(one, low, high)) {
                low.merged = high.merged = true;
                open.push_back(std::move(low));
                open.push_back(std::move(high));
            } else {
                done.push_back(std::move(one));
            }
        }
    }

    bool divide(const Class& one, Class& low, Class& high) const {
        std::vector<Cut> cuts;
        std::vector<Member> members = one.members;
        for (std::size_t j = 0; j < axes_; ++j)
            if (one.box.lo[j] < one.box.hi[j]) find_cuts(members, one, j, cuts);
        std::sort(cuts.begin(), cuts.end());
        for (std::size_t i = 0; i < cuts.size() && i < trials; ++i) {
            low.members.clear();
            high.members.clear();
            for (auto& member : one.members)
                (codes_[member.point * axes_ + cuts[i].axis] <= cuts[i].last ? low : high).members.push_back(member);
            measure(low);
            if (lack(low) > 0) continue;
            measure(high);
            if (lack(high) == 0) return true;
        }
        return split_ && halve(one, low, high);
    }

    // Where no straight cut holds: every value is halved on its own, at its own middle of the axis.  The parts then have
    // the values of the whole in proportion, and their boxes overlap; the cheapest axis on which both hold.
    bool halve(const Class& one, Class& low, Class& high) const {
        double least = one.cost - rounding;
        bool found = false;
        for (std::size_t j = 0; j < axes_; ++j) {
            if (one.box.lo[j] == one.box.hi[j]) continue;
            Class below(axes_), above(axes_);
            deal_halves(one, j, below.members, above.members);
            measure(below);
            measure(above);
            if (below.cost + above.cost >= least || std::min(below.rows, above.rows) < k_) continue;
            if (lack(below) > 0 || lack(above) > 0) continue;
            least = below.cost + above.cost;
            low = std::move(below);
            high = std::move(above);
            found = true;
        }
        return found;
    }

    // Members by value, then by code: of each value the first half goes below; halves of rows even out along the values.
    void deal_halves(const Class& one, std::size_t axis, std::vector<Member>& below, std::vector<Member>& above) const {
        auto members = one.members;
        auto secret = [&](const Member& member) { return secrets_ + member.point * columns_; };
        std::sort(members.begin(), members.end(), [&](auto& a, auto& b) {
            const Code *x = secret(a), *y = secret(b);
            if (!std::equal(x, x + columns_, y)) return std::lexicographical_compare(x, x + columns_, y, y + columns_);
            return before(a, b, axis);
        });
        std::int64_t seen = 0, given = 0;
        for (std::size_t i = 0, end = 0; i < members.size(); i = end) {
            std::int64_t rows = 0;
            for (end = i; end < members.size() && std::equal(secret(members[i]), secret(members[i]) + columns_, secret(members[end]));)
                rows += members[end++].rows;
            std::int64_t left = (seen + rows + 1) / 2 - given;
            seen += rows;
            given += left;
            for (; i < end; ++i) {
                std::int64_t mine = std::min(left, members[i].rows);
                if (mine > 0) below.push_back({members[i].point, mine});
                if (mine < members[i].rows) above.push_back({members[i].point, members[i].rows - mine});
                left -= mine;
            }
        }
    }

    // Cuts between two codes of an axis that leave k rows on both sides and cost less than the whole.
    void find_cuts(std::vector<Member>& members, const Class& one, std::size_t axis, std::vector<Cut>& cuts) const {
        auto code = [&](const Member& member) { return codes_[member.point * axes_ + axis]; };
        std::sort(members.begin(), members.end(), [&](auto& a, auto& b) { return before(a, b, axis); });
        auto ends = places(members, one.rows, code);
        std::vector<double> upper(ends.size());
        Box box(axes_);
        std::int64_t rows = 0;
        for (std::size_t e = ends.size(), i = members.size(); e-- > 0;) {
            for (; i > ends[e]; --i) rows += add(box, members[i - 1]);
            upper[e] = static_cast<double>(rows) * widths_.sum(box.lo.data(), box.hi.data());
        }
        box.clear();
        rows = 0;
        for (std::size_t e = 0, i = 0; e < ends.size(); ++e) {
            for (; i < ends[e]; ++i) rows += add(box, members[i]);
            double cost = upper[e] + static_cast<double>(rows) * widths_.sum(box.lo.data(), box.hi.data());
            if (cost < one.cost - rounding) cuts.push_back({cost, axis, code(members[ends[e] - 1])});
        }
    }

    // By code, then by point: no two different members are equal.
    bool before(const Member& a, const Member& b, std::size_t axis) const {
        Code x = codes_[a.point * axes_ + axis], y = codes_[b.point * axes_ + axis];
        return std::tie(x, a.point, a.rows) < std::tie(y, b.point, b.rows);
    }

    std::int64_t add(Box& box, const Member& member) const {
        box.cover(codes_ + member.point * axes_);
        return member.rows;
    }

    // Where to cut: every change of the code, thinned out evenly by rows where there are many.
    template <class CodeOf>
    std::vector<std::size_t> places(const std::vector<Member>& members, std::int64_t total, const CodeOf& code) const {
        std::vector<std::size_t> ends;
        std::int64_t rows = 0, next = k_, step = std::max<std::int64_t>(1, (total - 2 * k_) / static_cast<std::int64_t>(marks));
        for (std::size_t i = 1; i < members.size(); ++i) {
            rows += members[i - 1].rows;
            if (rows < next || total - rows < k_ || code(members[i]) == code(members[i - 1])) continue;
            ends.push_back(i);
            next = std::max(next + step, rows + 1);
        }
        return ends;
    }

    static Share share(const std::vector<Class>& done) {
        Share out;
        for (std::size_t g = 0; g < done.size(); ++g)
            for (auto& member : done[g].members) {
                out.point.push_back(member.point);
                out.group.push_back(static_cast<std::int64_t>(g));
                out.rows.push_back(member.rows);
            }
        return out;
    }

    const Code *codes_, *secrets_;
    std::size_t columns_, axes_;
    const Widths& widths_;
    std::int64_t k_;
    const Aims& aims_;
    bool split_;  // may rows that differ in nothing but sensitive values go to several classes
    const Judge* judge_ = nullptr;
    std::vector<Class> classes_;
    std::vector<std::int64_t> before_, after_;
    std::size_t alive_ = 0;
};

}  // namespace kech
