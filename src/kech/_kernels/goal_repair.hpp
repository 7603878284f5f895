// Repair of goals: a class that breaks one trades rows with its neighbours or is merged with one, whichever costs less;
// then what has become too large is parted again.  Where rows have people, every class keeps k people, and the goals hold
// by rows and by people.  Merging two classes that share a person can break a goal by people, so what was merged is
// judged again; it ends, because every merger leaves one class less.  Where even the last class breaks a goal by people,
// the classes of the start trade until none lowers what is broken.
#pragma once

#include <queue>
#include <tuple>

#include "goals.hpp"
#include "kd_order.hpp"
#include "shares.hpp"

namespace kech {

class GoalRepair {
  public:
    GoalRepair(const Code* codes, const Code* secrets, std::size_t columns, const Widths& widths, std::int64_t k,
               const Aims& aims, bool split, std::span<const Person> person)
        : codes_(codes), secrets_(secrets), columns_(columns), axes_(widths.axes()), widths_(widths), k_(k), aims_(aims),
          split_(split), person_(person) {}

    // Shares ascend by group.  With `part_all` every class is parted again, not only those that were merged.
    Shares run(const Shares& start, bool part_all) {
        Class everybody;
        read(start);
        for (auto& one : classes_) everybody.insert(everybody.end(), one.members.begin(), one.members.end());
        std::vector<Counts> totals;
        for (std::size_t s = 0; s < columns_; ++s) totals.push_back(count(everybody, s));
        Judge judge(aims_, totals);
        judge_ = &judge;
        std::vector<Counts> people;
        for (std::size_t s = 0; s < columns_ && by_people(); ++s) people.push_back(count_people(hold(everybody, s)));
        Judge judge_of_people(aims_, people);
        judge_of_people_ = &judge_of_people;
        merge();
        if (breaks_a_goal_by_people_only()) {
            read(start);
            lower_violations();
        }
        std::vector<Class> done;
        for (auto& one : classes_)
            if (!one.members.empty()) part(std::move(one), part_all, done);
        return shares_of(done);
    }

  private:
    struct JudgedClass {
        Class members;
        std::vector<Counts> counts;
        std::vector<Holders> holders;  // of each column, and last of no column: people; empty where rows are people
        Box box;
        std::int64_t rows = 0;
        double cost = 0;  // rows times the width of the box
        bool merged = false;

        explicit JudgedClass(std::size_t axes) : box(axes) {}
    };
    struct Cut {
        double cost;
        std::size_t axis;
        Code last;  // highest code of the lower part
        bool operator<(const Cut& other) const {
            return std::tie(cost, axis, last) < std::tie(other.cost, other.axis, other.last);
        }
    };
    static constexpr std::size_t nobody_given = ~std::size_t{0};

    void read(const Shares& start) {
        classes_.clear();
        for (Class& members : classes_of(start)) {
            classes_.emplace_back(axes_).members = std::move(members);
            measure(classes_.back());
        }
    }

    const Code* at(const Member& member) const { return codes_ + member.point * axes_; }
    const Code* secret(const Member& member) const { return secrets_ + member.point * columns_; }
    bool same_secret(const Member& a, const Member& b) const {
        return std::equal(secret(a), secret(a) + columns_, secret(b));
    }

    bool by_people() const { return !person_.empty(); }
    bool same_person(const Member& a, const Member& b) const {
        return !by_people() || person_[a.point] == person_[b.point];
    }

    void measure(JudgedClass& one) const {
        one.box.clear();
        one.counts.assign(columns_, {});
        for (auto& member : one.members) one.box.cover(at(member));
        for (std::size_t s = 0; s < columns_; ++s) one.counts[s] = count(one.members, s);
        one.rows = count_rows(one.members);
        one.cost = cost(one.box, one.rows);
        if (!by_people()) return;
        one.holders.assign(columns_ + 1, {});
        for (std::size_t s = 0; s <= columns_; ++s) one.holders[s] = hold(one.members, s);
    }

    double cost(const Box& box, std::int64_t rows) const { return static_cast<double>(rows) * box.width(widths_); }

    Counts count(const Class& members, std::size_t s) const {
        Counts found;
        for (auto& member : members) found.push_back({secret(member)[s], member.rows});
        return add_equal(std::move(found));
    }

    // Past the last column every value is 0, so that its holders are the people of the class.
    Holders hold(const Class& members, std::size_t s) const {
        Holders found;
        found.reserve(members.size());
        for (auto& member : members) found.push_back({holder(member.point, s), member.rows});
        return add_equal(std::move(found));
    }

    Holder holder(std::int64_t point, std::size_t s) const {
        return pack_holder(s < columns_ ? secrets_[point * columns_ + s] : 0, person_[point]);
    }

    template <class Entries>
    static Entries add_equal(Entries found) {
        std::sort(found.begin(), found.end());
        std::size_t last = 0;
        for (std::size_t i = 1; i < found.size(); ++i)
            if (found[i].first == found[last].first) found[last].second += found[i].second;
            else found[++last] = found[i];
        if (!found.empty()) found.resize(last + 1);
        return found;
    }

    template <class Entries>
    static Entries sum(const Entries& a, const Entries& b) {
        Entries out;
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
    void close_ring() {
        std::size_t n = classes_.size();
        auto order = order_classes();
        before_.resize(n);
        after_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            after_[order[i]] = order[(i + 1) % n];
            before_[order[(i + 1) % n]] = order[i];
        }
        alive_ = n;
    }

    void merge() {
        close_ring();
        std::size_t n = classes_.size();
        using Entry = std::pair<std::int64_t, std::int64_t>;  // rows, class: the smallest first
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> bad;
        for (std::size_t i = 0; i < n; ++i)
            if (violation(classes_[i]) > 0) bad.push({classes_[i].rows, i});
        while (!bad.empty() && alive_ > 1) {
            auto [rows, at] = bad.top();
            bad.pop();
            if (classes_[at].rows != rows || violation(classes_[at]) == 0) continue;  // it was merged or mended since
            auto near = neighbours(at);
            std::int64_t other = partner(at, near);
            for (auto touched : trade(at, near, other))
                if (violation(classes_[touched]) > 0) bad.push({classes_[touched].rows, touched});
        }
    }

    // What the last class breaks by rows, no partition keeps.
    bool breaks_a_goal_by_people_only() const {
        if (alive_ != 1 || !by_people()) return false;
        auto last = std::find_if(classes_.begin(), classes_.end(), [](auto& one) { return !one.members.empty(); });
        return judge_->violation(last->counts, last->rows) == 0 && violation_by_people(last->holders) > 0;
    }

    // Every class that breaks a goal trades or is merged where that lowers the violations of both classes together.
    void lower_violations() {
        close_ring();
        bool lowered = true;
        for (std::size_t round = 0; round < constants::goal_rounds && lowered; ++round) {
            lowered = false;
            for (std::size_t c = 0; c < classes_.size(); ++c)
                if (!classes_[c].members.empty() && violation(classes_[c]) > 0 && lower_violation(c)) lowered = true;
        }
    }

    bool lower_violation(std::int64_t at) {
        auto near = neighbours(at);
        Trade best = find_trade(at, near);
        if (best.other >= 0) {
            exchange(classes_[at], classes_[best.other], best);
            return true;
        }
        for (auto& [cost, other] : near) {
            double apart = violation(classes_[at]) + violation(classes_[other]);
            if (joint_violation(classes_[at], classes_[other]) >= apart - constants::goal_tie) continue;
            absorb(at, other);
            return true;
        }
        return false;
    }

    // kd order of the middles of the boxes; it knows distinct points only.
    std::vector<std::int64_t> order_classes() const {
        std::vector<std::int64_t> middle, order;
        for (auto& one : classes_)
            for (std::size_t j = 0; j < axes_; ++j)
                middle.push_back(one.box.lo[j] + (one.box.hi[j] - one.box.lo[j]) / 2);
        Distinct distinct = distinct_rows(middle.data(), classes_.size(), axes_);
        std::vector<Code> codes;
        for (auto first : distinct.first)
            for (std::size_t j = 0; j < axes_; ++j) codes.push_back(static_cast<Code>(middle[first * axes_ + j]));
        std::vector<std::int64_t> rows(distinct.first.size(), 0);
        std::vector<std::vector<std::int64_t>> equal(distinct.first.size());
        for (std::size_t c = 0; c < classes_.size(); ++c) {
            rows[distinct.name[c]] += classes_[c].rows;
            equal[distinct.name[c]].push_back(static_cast<std::int64_t>(c));
        }
        for (auto d : KdOrder({codes.data(), rows.data(), rows.size(), axes_}, widths_).run(1))
            order.insert(order.end(), equal[d].begin(), equal[d].end());
        return order;
    }

    double violation(const JudgedClass& one) const {
        return judge_->violation(one.counts, one.rows) + violation_by_people(one.holders);
    }

    // 0 where rows are people.
    double violation_by_people(const std::vector<Holders>& holders) const {
        if (holders.empty()) return 0;
        double total = 0;
        std::int64_t people = people_of(holders);
        for (std::size_t s = 0; s < columns_; ++s)
            total += judge_of_people_->violation_by_people(s, count_people(holders[s]), people);
        return total;
    }

    static std::int64_t people_of(const std::vector<Holders>& holders) { return sum_counts(count_people(holders.back())); }

    // Rows where rows are people.
    static std::int64_t people_of(const JudgedClass& one) { return one.holders.empty() ? one.rows : people_of(one.holders); }

    double joint_violation(const JudgedClass& a, const JudgedClass& b) const {
        std::vector<Counts> both(columns_);
        for (std::size_t s = 0; s < columns_; ++s) both[s] = sum(a.counts[s], b.counts[s]);
        return judge_->violation(both, a.rows + b.rows) + violation_by_people(sum_holders(a.holders, b.holders));
    }

    static std::vector<Holders> sum_holders(const std::vector<Holders>& a, const std::vector<Holders>& b) {
        std::vector<Holders> both(a.size());
        for (std::size_t s = 0; s < a.size(); ++s) both[s] = sum(a[s], b[s]);
        return both;
    }

    double price(const JudgedClass& a, const JudgedClass& b) const {
        Box box = a.box;
        box.cover(b.box);
        return cost(box, a.rows + b.rows) - a.cost - b.cost;
    }

    using Near = std::vector<std::pair<double, std::int64_t>>;  // price of merging, class; the cheapest first

    Near neighbours(std::int64_t at) const {
        Near near;
        std::size_t look = alive_ <= constants::goal_few_classes ? alive_ : constants::goal_neighbours;
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

    // The cheapest neighbour with which all goals hold; else the cheapest that mends something; else the cheapest.
    std::int64_t partner(std::int64_t at, const Near& near) const {
        double own = violation(classes_[at]);
        std::int64_t better = -1;
        for (auto& [cost, other] : near) {
            double left = joint_violation(classes_[at], classes_[other]);
            if (left == 0) return other;
            if (better < 0 && left < own - constants::goal_tie) better = other;
        }
        return better < 0 ? near[0].second : better;
    }

    // -- trading -------------------------------------------------------------------------------------------

    // A class takes one row of another, and gives one of its own in return unless the other can spare it.
    struct Trade {
        double score = infinity, cost = 0;
        std::int64_t other = -1;
        std::size_t take = 0, give = nobody_given;  // members
    };

    // A few trades that mend the class for less than merging it would cost, or else the merger; the classes it touched.
    std::vector<std::int64_t> trade(std::int64_t at, const Near& near, std::int64_t other) {
        double most = price(classes_[at], classes_[other]), cost = 0;
        std::vector<std::pair<std::int64_t, JudgedClass>> old{{at, classes_[at]}};
        for (std::size_t i = 0; i < constants::goal_trades && violation(classes_[at]) > 0; ++i) {
            Trade best = find_trade(at, near);
            if (best.other < 0 || (cost += best.cost) >= most) break;
            old.push_back({best.other, classes_[best.other]});
            exchange(classes_[at], classes_[best.other], best);
        }
        std::vector<std::int64_t> touched;
        if (violation(classes_[at]) == 0 && cost < most) {
            for (auto& entry : old) touched.push_back(entry.first);
            return touched;
        }
        for (auto entry = old.rbegin(); entry != old.rend(); ++entry) classes_[entry->first] = std::move(entry->second);
        absorb(at, other);
        return {at};
    }

    // A class that may trade.
    struct Trader {
        const JudgedClass& held;
        double violation;
        std::vector<Box> without;  // the box without one row of each member
    };

    Trader trader(const JudgedClass& held) const { return {held, violation(held), boxes_without_each(held)}; }

    Trade find_trade(std::int64_t at, const Near& near) const {
        Trade best;
        if (!split_ || classes_[at].members.size() > constants::goal_trade_members) return best;
        Trader one = trader(classes_[at]);
        for (std::size_t i = 0; i < near.size() && i < constants::goal_traders; ++i) {
            if (classes_[near[i].second].members.size() > constants::goal_trade_members) continue;
            Trader other = trader(classes_[near[i].second]);
            for (std::size_t take = 0; take < other.held.members.size(); ++take) {
                Trade trade{0, 0, near[i].second, take, nobody_given};
                if (other.held.rows > k_) consider(one, other, trade, best);
                for (trade.give = 0; trade.give < one.held.members.size(); ++trade.give)
                    if (changes_something(other.held.members[take], one.held.members[trade.give]))
                        consider(one, other, trade, best);
            }
        }
        return best;
    }

    bool changes_something(const Member& a, const Member& b) const { return !same_secret(a, b) || !same_person(a, b); }

    // A trade is as good as it is cheap for what it mends, and breaks nothing on the other side.
    void consider(const Trader& one, const Trader& other, Trade trade, Trade& best) const {
        trade.cost = price(one, other, trade);
        double price = std::max(trade.cost, 0.0);
        if (price / one.violation >= best.score) return;
        bool gives = trade.give != nobody_given;
        std::int64_t taken = other.held.members[trade.take].point;
        std::int64_t given = gives ? one.held.members[trade.give].point : -1;
        double left = judge_->violation(counts_with(one.held.counts, given, taken), one.held.rows + !gives);
        if (by_people() && left < one.violation - constants::goal_tie) left += violation_with(one.held.holders, given, taken);
        trade.score = price / (one.violation - left);
        if (left >= one.violation - constants::goal_tie || trade.score >= best.score) return;
        double theirs = judge_->violation(counts_with(other.held.counts, taken, given), other.held.rows - !gives);
        if (by_people() && theirs <= other.violation) theirs += violation_with(other.held.holders, taken, given);
        if (theirs <= other.violation) best = trade;
    }

    // By people, with one row of a point less and one of another more; too few people are never mended.
    double violation_with(std::vector<Holders> holders, std::int64_t less, std::int64_t more) const {
        for (std::size_t s = 0; s <= columns_; ++s) {
            if (more >= 0) change_rows(holders[s], holder(more, s), 1);
            if (less >= 0) change_rows(holders[s], holder(less, s), -1);
        }
        return people_of(holders) < k_ ? infinity : violation_by_people(holders);
    }

    static void change_rows(Holders& holders, Holder who, std::int64_t rows) {
        auto below = [](const auto& entry, Holder key) { return entry.first < key; };
        auto found = std::lower_bound(holders.begin(), holders.end(), who, below);
        if (found == holders.end() || found->first != who) holders.insert(found, {who, rows});
        else if ((found->second += rows) == 0) holders.erase(found);
    }

    std::vector<Box> boxes_without_each(const JudgedClass& one) const {
        std::vector<Box> boxes(one.members.size(), one.box);
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            if (one.members[i].rows > 1) continue;
            boxes[i].clear();
            for (std::size_t j = 0; j < boxes.size(); ++j)
                if (j != i) boxes[i].cover(at(one.members[j]));
        }
        return boxes;
    }

    double price(const Trader& one, const Trader& other, const Trade& trade) const {
        bool gives = trade.give != nobody_given;
        Box mine = gives ? one.without[trade.give] : one.held.box, theirs = other.without[trade.take];
        mine.cover(at(other.held.members[trade.take]));
        if (gives) theirs.cover(at(one.held.members[trade.give]));
        double after = cost(mine, one.held.rows + !gives) + cost(theirs, other.held.rows - !gives);
        return after - one.held.cost - other.held.cost;
    }

    // Counts with one row of a point less and one of another more; -1 is no point.
    std::vector<Counts> counts_with(std::vector<Counts> counts, std::int64_t less, std::int64_t more) const {
        for (std::size_t s = 0; s < columns_; ++s) {
            if (more >= 0) counts[s] = sum(counts[s], Counts{{secrets_[more * columns_ + s], 1}});
            if (less >= 0) counts[s] = sum(counts[s], Counts{{secrets_[less * columns_ + s], -1}});
            std::erase_if(counts[s], [](auto& entry) { return entry.second == 0; });
        }
        return counts;
    }

    void exchange(JudgedClass& one, JudgedClass& other, const Trade& trade) const {
        std::int64_t taken = other.members[trade.take].point;
        std::int64_t given = trade.give == nobody_given ? -1 : one.members[trade.give].point;
        pass(other.members, one.members, taken);
        if (given >= 0) pass(one.members, other.members, given);
        measure(one);
        measure(other);
        one.merged = other.merged = true;
    }

    static void pass(Class& from, Class& to, std::int64_t point) {
        auto is_it = [&](const Member& member) { return member.point == point; };
        auto found = std::find_if(from.begin(), from.end(), is_it);
        if (--found->rows == 0) from.erase(found);
        found = std::find_if(to.begin(), to.end(), is_it);
        if (found != to.end()) ++found->rows;
        else to.push_back({point, 1});
    }

    void absorb(std::int64_t at, std::int64_t other) {
        JudgedClass &one = classes_[at], &gone = classes_[other];
        one.cost += gone.cost + price(one, gone);
        one.box.cover(gone.box);
        one.rows += gone.rows;
        for (std::size_t s = 0; s < columns_; ++s) one.counts[s] = sum(one.counts[s], gone.counts[s]);
        one.holders = sum_holders(one.holders, gone.holders);
        one.members.insert(one.members.end(), gone.members.begin(), gone.members.end());
        one.merged = true;
        gone = JudgedClass(axes_);
        after_[before_[other]] = after_[other];
        before_[after_[other]] = before_[other];
        --alive_;
    }

    // -- parting -------------------------------------------------------------------------------------------

    // Cut a class again and again where it pays most and both parts hold.
    void part(JudgedClass&& whole, bool part_all, std::vector<Class>& done) const {
        std::vector<JudgedClass> open;
        open.push_back(std::move(whole));
        while (!open.empty()) {
            JudgedClass one = std::move(open.back());
            open.pop_back();
            JudgedClass low(axes_), high(axes_);
            if ((part_all || one.merged) && one.rows >= 2 * k_ && divide(one, low, high)) {
                low.merged = high.merged = true;
                open.push_back(std::move(low));
                open.push_back(std::move(high));
            } else {
                done.push_back(std::move(one.members));
            }
        }
    }

    bool divide(const JudgedClass& one, JudgedClass& low, JudgedClass& high) const {
        std::vector<Cut> cuts;
        Class members = one.members;
        for (std::size_t j = 0; j < axes_; ++j)
            if (one.box.lo[j] < one.box.hi[j]) find_cuts(members, one, j, cuts);
        std::sort(cuts.begin(), cuts.end());
        for (std::size_t i = 0; i < cuts.size() && i < constants::goal_cuts_judged; ++i) {
            low.members.clear();
            high.members.clear();
            for (auto& member : one.members)
                (at(member)[cuts[i].axis] <= cuts[i].last ? low : high).members.push_back(member);
            measure(low);
            if (violation(low) > 0) continue;
            measure(high);
            if (violation(high) == 0) return true;
        }
        return split_ && halve(one, low, high);
    }

    // Where no straight cut holds: every value is halved on its own, at its own middle of the axis.  The parts then have
    // the values of the whole in proportion, and their boxes overlap; the cheapest axis on which both hold.
    bool halve(const JudgedClass& one, JudgedClass& low, JudgedClass& high) const {
        double least = one.cost - constants::goal_tie;
        bool found = false;
        for (std::size_t j = 0; j < axes_; ++j) {
            if (one.box.lo[j] == one.box.hi[j]) continue;
            JudgedClass below(axes_), above(axes_);
            deal_halves(one, j, below.members, above.members);
            measure(below);
            measure(above);
            if (below.cost + above.cost >= least || std::min(people_of(below), people_of(above)) < k_) continue;
            if (violation(below) > 0 || violation(above) > 0) continue;
            least = below.cost + above.cost;
            low = std::move(below);
            high = std::move(above);
            found = true;
        }
        return found;
    }

    // Members by value, then by code: of each value the first half goes below; halves of rows even out along the values.
    void deal_halves(const JudgedClass& one, std::size_t axis, Class& below, Class& above) const {
        auto members = one.members;
        std::sort(members.begin(), members.end(), [&](auto& a, auto& b) {
            const Code *x = secret(a), *y = secret(b);
            if (!same_secret(a, b)) return std::lexicographical_compare(x, x + columns_, y, y + columns_);
            return before(a, b, axis);
        });
        std::int64_t seen = 0, given = 0;
        for (std::size_t i = 0, end = 0; i < members.size(); i = end) {
            std::int64_t rows = 0;
            for (end = i; end < members.size() && same_secret(members[i], members[end]); ++end)
                rows += members[end].rows;
            std::int64_t left = (seen + rows + 1) / 2 - given;
            seen += rows;
            given += left;
            for (std::size_t m = i; m < end; ++m) {
                std::int64_t mine = std::min(left, members[m].rows);
                if (mine > 0) below.push_back({members[m].point, mine});
                if (mine < members[m].rows) above.push_back({members[m].point, members[m].rows - mine});
                left -= mine;
            }
        }
    }

    // Cuts between two codes of an axis that leave k people on both sides and cost less than the whole.
    void find_cuts(Class& members, const JudgedClass& one, std::size_t axis, std::vector<Cut>& cuts) const {
        std::sort(members.begin(), members.end(), [&](auto& a, auto& b) { return before(a, b, axis); });
        auto ends = places(members, one.rows, axis);
        std::vector<double> upper(ends.size());
        Box box(axes_);
        std::int64_t rows = 0;
        for (std::size_t e = ends.size(), i = members.size(); e > 0; --e) {
            for (; i > ends[e - 1]; --i) rows += add(box, members[i - 1]);
            upper[e - 1] = cost(box, rows);
        }
        box.clear();
        rows = 0;
        for (std::size_t e = 0, i = 0; e < ends.size(); ++e) {
            for (; i < ends[e]; ++i) rows += add(box, members[i]);
            double both = upper[e] + cost(box, rows);
            if (both < one.cost - constants::goal_tie) cuts.push_back({both, axis, at(members[ends[e] - 1])[axis]});
        }
    }

    // By code, then by point: no two different members are equal.
    bool before(const Member& a, const Member& b, std::size_t axis) const {
        Code x = at(a)[axis], y = at(b)[axis];
        return std::tie(x, a.point, a.rows) < std::tie(y, b.point, b.rows);
    }

    std::int64_t add(Box& box, const Member& member) const {
        box.cover(at(member));
        return member.rows;
    }

    // Where to cut: every change of the code, thinned out evenly by rows where there are many.
    std::vector<std::size_t> places(const Class& members, std::int64_t total, std::size_t axis) const {
        std::vector<std::size_t> ends;
        std::int64_t step = std::max<std::int64_t>(1, (total - 2 * k_) / constants::goal_cuts_tried);
        std::int64_t rows = 0, next = k_;
        auto [first, last] = by_people() ? places_of_people(members) : std::pair(std::size_t{1}, members.size());
        for (std::size_t i = 1; i < members.size(); ++i) {
            rows += members[i - 1].rows;
            if (rows < next || total - rows < k_ || at(members[i])[axis] == at(members[i - 1])[axis]) continue;
            if (i < first || i > last) continue;
            ends.push_back(i);
            next = std::max(next + step, rows + 1);
        }
        return ends;
    }

    // The first and the last place that leave k people on both sides; where there is none, the first is past the last.
    std::pair<std::size_t, std::size_t> places_of_people(const Class& members) const {
        PeopleCounter below(person_), above(person_);
        std::size_t first = 0, last = members.size();
        while (first < members.size() && below.people() < k_) below.add(members[first++]);
        while (last > 0 && above.people() < k_) above.add(members[--last]);
        return {first, last};
    }

    const Code *codes_, *secrets_;
    std::size_t columns_, axes_;
    const Widths& widths_;
    std::int64_t k_;
    const Aims& aims_;
    bool split_;  // may rows that differ in nothing but sensitive values go to several classes
    std::span<const Person> person_;
    const Judge *judge_ = nullptr, *judge_of_people_ = nullptr;
    std::vector<JudgedClass> classes_;
    std::vector<std::int64_t> before_, after_;
    std::size_t alive_ = 0;
};

}  // namespace kech
