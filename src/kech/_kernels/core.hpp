// The core of the kernels: points, boxes and classes; the nearest classes; the class that rows widen least.
#pragma once

#include <numeric>
#include <span>

#include "widths.hpp"

namespace kech {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-9;  // a gain smaller than this is rounding

// 0, 1, 2, ...
template <class T>
std::vector<T> count_up(std::size_t size) {
    std::vector<T> numbers(size);
    std::iota(numbers.begin(), numbers.end(), T{0});
    return numbers;
}

// Whose the rows of a point are: all of this person, or -1, each of another person who has no further row.
using Person = std::int32_t;

// Distinct code tuples, each with its number of rows.  The arrays belong to the caller.  With persons, tuples are
// distinct for each person; without (an empty span), every row is another person.
struct Points {
    const Code* codes;
    const std::int64_t* weights;
    std::size_t count, axes;
    std::span<const Person> person = {};

    const Code* operator[](std::size_t point) const { return codes + point * axes; }
    std::int64_t rows() const { return std::accumulate(weights, weights + count, std::int64_t{0}); }
};

// -- boxes ----------------------------------------------------------------------------------------------------

// The smallest box of codes around some points.
struct Box {
    std::vector<Code> lo, hi;

    explicit Box(std::size_t axes) : lo(axes), hi(axes) { clear(); }

    void clear() {
        std::fill(lo.begin(), lo.end(), std::numeric_limits<Code>::max());
        std::fill(hi.begin(), hi.end(), std::numeric_limits<Code>::min());
    }

    void cover(const Code* low, const Code* high) {
        for (std::size_t j = 0; j < lo.size(); ++j) {
            lo[j] = std::min(lo[j], low[j]);
            hi[j] = std::max(hi[j], high[j]);
        }
    }

    void cover(const Code* point) { cover(point, point); }
    void cover(const Box& other) { cover(other.lo.data(), other.hi.data()); }

    double width(const Widths& widths) const { return widths.sum(lo.data(), hi.data()); }
};

// A box that knows its width and measures only the sides that grow.
class MeasuredBox {
  public:
    explicit MeasuredBox(const Widths& widths) : widths_(&widths), box_(widths.axes()), sides_(widths.axes()) {}

    void start(const Code* lo, const Code* hi) {
        width_ = 0;
        for (std::size_t j = 0; j < sides_.size(); ++j) {
            box_.lo[j] = lo[j], box_.hi[j] = hi[j];
            width_ += sides_[j] = widths_->width(j, lo[j], hi[j]);
        }
    }

    void start(const Code* point) { start(point, point); }

    void clear() {
        box_.clear();
        std::fill(sides_.begin(), sides_.end(), 0.0);
        width_ = 0;
    }

    // Whether the box grew.  Inlined everywhere: otherwise a search by rows takes 1.2 % more instructions.
    [[gnu::always_inline]] bool cover(const Code* lo, const Code* hi) {
        bool grew = false;
        for (std::size_t j = 0; j < sides_.size(); ++j) {
            if (lo[j] >= box_.lo[j] && hi[j] <= box_.hi[j]) continue;
            stretch(j, lo[j], hi[j]);
            grew = true;
        }
        return grew;
    }

    void cover(const Code* point) {
        for (std::size_t j = 0; j < sides_.size(); ++j)
            if (Code code = point[j]; code < box_.lo[j] || code > box_.hi[j]) stretch(j, code, code);
    }

    double width() const { return width_; }

    double width_with(const Code* point) const {
        double total = width_;
        for (std::size_t j = 0; j < sides_.size(); ++j) {
            if (point[j] >= box_.lo[j] && point[j] <= box_.hi[j]) continue;
            total += widths_->width(j, std::min(box_.lo[j], point[j]), std::max(box_.hi[j], point[j])) - sides_[j];
        }
        return total;
    }

    // The sides added anew: `width` also holds what rounding left each time the box grew.
    double sum_of_sides() const { return std::accumulate(sides_.begin(), sides_.end(), 0.0); }

    const Code* lo() const { return box_.lo.data(); }
    const Code* hi() const { return box_.hi.data(); }

  private:
    void stretch(std::size_t j, Code lo, Code hi) {
        box_.lo[j] = std::min(box_.lo[j], lo);
        box_.hi[j] = std::max(box_.hi[j], hi);
        double wider = widths_->width(j, box_.lo[j], box_.hi[j]);
        width_ += wider - sides_[j];
        sides_[j] = wider;
    }

    const Widths* widths_;
    Box box_;
    std::vector<double> sides_;
    double width_ = 0;
};

// The widest side of the box around two points; beyond the limit, something beyond it.
inline double widest_side(const Widths& widths, const Code* a, const Code* b, double limit) {
    double widest = 0;
    for (std::size_t j = 0; j < widths.axes() && widest <= limit; ++j)
        widest = std::max(widest, widths.between(j, a[j], b[j]));
    return widest;
}

// -- classes --------------------------------------------------------------------------------------------------

// Some rows of one point.
struct Member {
    std::int64_t point, rows;
};
using Class = std::vector<Member>;

inline std::int64_t count_rows(const Class& members) {
    std::int64_t rows = 0;
    for (const Member& member : members) rows += member.rows;
    return rows;
}

// People among members that come and go: a person counts once, however many rows they have.
class PeopleCounter {
  public:
    explicit PeopleCounter(std::span<const Person> person) : person_(person), slots_(32) {}

    // Forgets all members.
    void start() {
        ++round_;
        used_ = 0;
        people_ = 0;
    }

    void add(const Member& member) {
        Person who = person_of(member.point);
        if (who < 0) {
            people_ += member.rows;
            return;
        }
        Slot& slot = claim(who);
        people_ += slot.rows == 0;
        slot.rows += member.rows;
    }

    // Of rows that were added.
    void remove(const Member& member) {
        Person who = person_of(member.point);
        if (who < 0) people_ -= member.rows;
        else people_ -= (slots_[find(who)].rows -= member.rows) == 0;
    }

    std::int64_t people() const { return people_; }

    // People there would be with these rows.
    std::int64_t people_with(const Member& member) const {
        Person who = person_of(member.point);
        return people_ + (who < 0 ? member.rows : rows(who) == 0);
    }

    std::int64_t rows(Person who) const {
        const Slot& slot = slots_[find(who)];
        return slot.round == round_ ? slot.rows : 0;
    }

    // Persons are numbered from 0 on, as they come.
    std::size_t number(Person who) { return claim(who).number; }
    std::size_t persons() const { return used_; }

    Person person_of(std::int64_t point) const { return person_.empty() ? -1 : person_[point]; }

    std::int64_t count(const Class& members) {
        start();
        for (const Member& member : members) add(member);
        return people_;
    }

  private:
    struct Slot {
        std::uint64_t round = 0;
        Person who = -1;
        std::uint32_t number = 0;
        std::int64_t rows = 0;
    };

    // The slot of a person, or the free one where it would be.
    std::size_t find(Person who) const {
        std::size_t mask = slots_.size() - 1, at = (static_cast<std::uint32_t>(who) * 2654435769u >> 7) & mask;
        while (slots_[at].round == round_ && slots_[at].who != who) at = (at + 1) & mask;
        return at;
    }

    Slot& claim(Person who) {
        std::size_t at = find(who);
        if (slots_[at].round == round_) return slots_[at];
        if (2 * ++used_ > slots_.size()) {
            enlarge();
            at = find(who);
        }
        return slots_[at] = {round_, who, static_cast<std::uint32_t>(used_ - 1), 0};
    }

    void enlarge() {
        std::vector<Slot> smaller(2 * slots_.size());
        smaller.swap(slots_);
        for (const Slot& slot : smaller)
            if (slot.round == round_) slots_[find(slot.who)] = slot;
    }

    std::span<const Person> person_;
    std::vector<Slot> slots_;  // a power of two of them
    std::uint64_t round_ = 1;
    std::size_t used_ = 0;
    std::int64_t people_ = 0;
};

// Members of one point become one.
inline void merge_equal(Class& members) {
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.point < b.point; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < members.size(); ++i) {
        if (members[last].point == members[i].point) members[last].rows += members[i].rows;
        else members[++last] = members[i];
    }
    if (!members.empty()) members.resize(last + 1);
}

// A class with its box and its rows, while members come.
struct MeasuredClass {
    Class members = {};
    MeasuredBox box;
    std::int64_t rows = 0;

    explicit MeasuredClass(const Widths& widths) : box(widths) {}

    double cost() const { return rows * box.width(); }

    // By how much the class costs more with these rows of a point.
    double added_cost(const Code* point, std::int64_t more) const {
        return (rows + more) * box.width_with(point) - rows * box.width();
    }

    // Members are counted and covered, not listed.
    void grow(const Code* point, std::int64_t more) {
        if (rows == 0) box.start(point);
        else box.cover(point);
        rows += more;
    }

    void add(const Member& member, const Code* point) {
        grow(point, member.rows);
        members.push_back(member);
    }
};

// What a partition is sought for: every class has k people or more.
struct Problem {
    std::vector<Code> codes;
    std::size_t axes;
    Widths widths;
    std::int64_t k;
    bool split_points;  // may the rows of one point go to several classes
    std::vector<Person> person = {};  // of each point; empty: every row is another person

    bool has_persons() const { return !person.empty(); }
    const Code* at(std::int64_t point) const { return codes.data() + point * axes; }
    std::size_t points() const { return codes.size() / axes; }

    // The box around a class; it must have a member.
    void enclose(const Class& members, MeasuredBox& box) const {
        box.start(at(members[0].point));
        for (std::size_t i = 1; i < members.size(); ++i) box.cover(at(members[i].point));
    }

    // The first of the members that widen a box most, and of those that widen it least.
    std::size_t farthest(const Class& members, const MeasuredBox& box) const {
        std::size_t found = 0;
        double width = -1;
        for (std::size_t i = 0; i < members.size(); ++i)
            if (double here = box.width_with(at(members[i].point)); here > width) width = here, found = i;
        return found;
    }

    std::size_t nearest(const Class& members, const MeasuredBox& box) const {
        return nearest(members, box, [](const Member&) { return true; });
    }

    template <class Accepts>
    std::size_t nearest(const Class& members, const MeasuredBox& box, const Accepts& accepts) const {
        std::size_t found = 0;
        double width = infinity;
        for (std::size_t i = 0; i < members.size(); ++i)
            if (double here = box.width_with(at(members[i].point)); here < width && accepts(members[i]))
                width = here, found = i;
        return found;
    }
};

// -- partitions as arrays -------------------------------------------------------------------------------------

// The rows of each point in each class, as they come in and go out.
struct Shares {
    std::vector<std::int64_t> point, group, rows;

    std::size_t size() const { return point.size(); }

    void add(std::int64_t point_, std::int64_t group_, std::int64_t rows_) {
        point.push_back(point_);
        group.push_back(group_);
        rows.push_back(rows_);
    }
};

// Classes are numbered from 0; empty ones are omitted.
inline Shares shares_of(const std::vector<Class>& classes) {
    Shares shares;
    std::int64_t group = 0;
    for (const Class& members : classes) {
        for (const Member& member : members) shares.add(member.point, group, member.rows);
        group += !members.empty();
    }
    return shares;
}

inline std::vector<Class> classes_of(const Shares& shares) {
    std::vector<Class> classes;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        auto group = static_cast<std::size_t>(shares.group[i]);
        if (group >= classes.size()) classes.resize(group + 1);
        classes[group].push_back({shares.point[i], shares.rows[i]});
    }
    return classes;
}

// -- the class that rows widen least --------------------------------------------------------------------------

struct Home {
    std::size_t place;  // as many as there are classes: none
    double cost;
};

// Among class_at(0), class_at(1), ... the first to which rows of a point add least cost, if that is below the limit.
template <class ClassAt>
Home cheapest_home(std::size_t classes, const ClassAt& class_at, const Code* point, std::int64_t rows,
                   double limit = infinity) {
    Home home{classes, limit};
    for (std::size_t c = 0; c < classes; ++c)
        if (double cost = class_at(c).added_cost(point, rows); cost < home.cost) home = {c, cost};
    return home;
}

// -- the nearest classes --------------------------------------------------------------------------------------

// The width of the box around two boxes.  Axes that tell most boxes apart come first: a limit is reached sooner.
class JointWidth {
  public:
    // `apart`: how far neighbouring boxes lie apart on each axis.
    JointWidth(const Widths& widths, const std::vector<double>& apart) : widths_(&widths) {
        for (std::size_t j = 0; j < widths.axes(); ++j) axes_.push_back({j, widths.codes(j), widths.table(j)});
        std::stable_sort(axes_.begin(), axes_.end(),
                         [&](const Axis& a, const Axis& b) { return apart[a.place] > apart[b.place]; });
    }

    // Beyond the limit, something beyond it.
    double operator()(const Code* lo, const Code* hi, const Code* other_lo, const Code* other_hi,
                      const std::vector<double>& weight, double limit) const {
        double total = 0;
        for (const Axis& axis : axes_) {
            std::size_t j = axis.place;
            Code from = std::min(lo[j], other_lo[j]), to = std::max(hi[j], other_hi[j]);
            total += weight[j] * (axis.table ? axis.table[from * axis.codes + to] : widths_->width(j, from, to));
            if (total >= limit) break;
        }
        return total;
    }

  private:
    struct Axis {
        std::size_t place, codes;
        const double* table;
    };

    const Widths* widths_;
    std::vector<Axis> axes_;
};

struct Neighbour {
    double distance;
    std::size_t place;
};

// The `most` nearest among candidate(0), candidate(1), ..., nearest first; of equal ones, those that come first.  Wide
// classes count as nearer: they grow by less.
template <class Candidate, class Joint, class Width>
void find_nearest(std::size_t candidates, const Candidate& candidate, std::size_t most, const Joint& joint_width,
                  const Width& width, std::vector<Neighbour>& near) {
    near.assign(most, {infinity, 0});
    if (most == 0) return;
    Neighbour* first = near.data();
    Neighbour* last = first + most - 1;
    for (std::size_t i = 0; i < candidates; ++i) {
        std::size_t place = candidate(i);
        double relief = constants::nearest_relief * width(place), limit = last->distance + relief;
        double joint = joint_width(place, limit);
        if (joint >= limit) continue;
        Neighbour* at = last;
        for (; at > first && at[-1].distance > joint - relief; --at) *at = at[-1];
        *at = {joint - relief, place};
    }
    while (!near.empty() && near.back().distance == infinity) near.pop_back();
}

}  // namespace kech
