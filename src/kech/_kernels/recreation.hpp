// Recreation: the rows of a region in new classes, by one of several recipes.
#pragma once

#include <cmath>

#include "bisection.hpp"
#include "exact_partition.hpp"
#include "region.hpp"

namespace kech {

enum class Recipe { peel, part, grow, exact, borrow };
constexpr std::size_t recipes = 5;

class Recreation {
  public:
    Recreation(const Problem& problem, const Levels& levels)
        : problem_(problem), cells_(problem, levels), bisection_(problem), exact_(problem), far_box_(problem.widths),
          people_(problem.person) {}

    static bool fits_exact(const Problem& problem, const Region& region) {
        return ExactPartition::count_units(problem, region.members) <= constants::exact_units;
    }

    // The cost of the new classes, for `take`; infinity, when it would be more than `bound`.
    double run(Recipe recipe, Region& region, double bound, Random& random) {
        used_ = 0;
        switch (recipe) {
            case Recipe::peel: return peel(region, bound, random);
            case Recipe::part: return part(region, bound, random);
            case Recipe::grow: return grow(region, bound, random);
            case Recipe::borrow: return borrow(region, bound, random);
            default: return partition_exactly(region, bound);
        }
    }

    std::vector<Class> take() {
        std::vector<Class> made;
        for (std::size_t c = 0; c < used_; ++c) made.push_back(std::move(fresh_[c].members));
        return made;
    }

    std::uint64_t work() const { return work_ + cells_.work + bisection_.work + exact_.work; }

  private:
    // New classes

    std::size_t open() {
        if (used_ == fresh_.size()) fresh_.emplace_back(problem_.widths);
        fresh_[used_].members.clear();
        fresh_[used_].rows = 0;
        return used_++;
    }

    void put(std::size_t at, const Member& member) { fresh_[at].add(member, problem_.at(member.point)); }

    void put_all(const Class& members) {
        std::size_t at = open();
        for (const Member& member : members) put(at, member);
    }

    double cost() const {
        double total = 0;
        for (std::size_t c = 0; c < used_; ++c) total += fresh_[c].cost();
        return total;
    }

    // What is left, rows of fewer than k people, goes where it adds least.
    double attach(const Class& left, double bound) {
        if (used_ == 0) return infinity;
        double total = cost();
        auto class_at = [&](std::size_t c) -> const MeasuredClass& { return fresh_[c]; };
        for (const Member& member : left) {
            Home home = cheapest_home(used_, class_at, problem_.at(member.point), member.rows);
            work_ += used_;
            total += home.cost;
            if (total > bound) return infinity;
            put(home.place, member);
        }
        return total;
    }

    // The people of members without a class, of whom there are so many rows.
    std::int64_t people_left(const Region& region, std::int64_t rows) {
        if (!problem_.has_persons()) return rows;
        people_.start();
        for (auto t : peel_.left)
            if (region.donor.empty() || region.donor[t] == no_donor) people_.add(region.members[t]);
        return people_.people();
    }

    // Peeling the region's own lattice

    double peel(const Region& region, double bound, Random& random) {
        cells_.open(region, random);
        peel_.start(region.members.size());
        std::int64_t rows = region.rows;
        double paid = 0;
        if (random.uniform() < constants::forced_cell_share) force_cell(region, random, rows, paid);
        std::int64_t people = people_left(region, rows);
        const auto& nodes = cells_.order_nodes();
        for (std::size_t q = 0; q < nodes.size() && people >= problem_.k; ++q) {
            double mean = cells_.go_to(nodes[q]);
            if (q % 8 == 0 && paid + constants::peel_patience * mean * rows > bound) return infinity;
            if (!cells_.count_cells(region, nodes[q], peel_)) continue;
            peel_.take(problem_.k, [&](std::uint32_t t, CellTable::Cell& cell) {
                if (cell.number < 0) cell.number = static_cast<std::int64_t>(open());
                put(cell.number, region.members[t]);
                rows -= region.members[t].rows;
                paid += cells_.width(t) * region.members[t].rows;
            });
            people = people_left(region, rows);
        }
        Class rest;
        for (auto t : peel_.left) rest.push_back(region.members[t]);
        return attach(rest, bound);
    }

    // First of all the cell, near that of a present class, that saves its rows most.
    void force_cell(const Region& region, Random& random, std::int64_t& rows, double& paid) {
        std::size_t n = region.members.size();
        std::vector<std::size_t> at(cells_.axes()), chosen;
        double most = -infinity;
        std::size_t seed = 0;
        for (std::size_t trial = 0; trial < constants::forced_cell_trials; ++trial) {
            std::size_t t = random.below(n);
            for (std::size_t j = 0; j < at.size(); ++j) at[j] = near_level(region, j, t, random.uniform());
            cells_.go_to(at);
            double width = cells_.width(t), saved = 0;
            std::int64_t inside = 0;
            for (std::size_t i = 0; i < n; ++i) {
                if (!cells_.same_cell(i, t)) continue;
                inside += region.members[i].rows;
                saved += region.members[i].rows * (region.paid[i] - width);
            }
            if (inside >= problem_.k && saved > most && people_beside(region, t, inside) >= problem_.k)
                most = saved, chosen = at, seed = t;
        }
        work_ += constants::forced_cell_trials * n / 4;
        if (chosen.empty()) return;
        cells_.go_to(chosen);
        std::size_t group = open();
        std::erase_if(peel_.left, [&](std::uint32_t t) {
            if (!cells_.same_cell(t, seed)) return false;
            put(group, region.members[t]);
            rows -= region.members[t].rows;
            return true;
        });
        paid += fresh_[group].cost();
    }

    // The people in the cell of a member, which has so many rows.
    std::int64_t people_beside(const Region& region, std::size_t t, std::int64_t rows) {
        if (!problem_.has_persons()) return rows;
        people_.start();
        for (std::size_t i = 0; i < region.members.size(); ++i)
            if (cells_.same_cell(i, t)) people_.add(region.members[i]);
        return people_.people();
    }

    // The level of the member's class on an axis, or now and then the one below or above.
    std::size_t near_level(const Region& region, std::size_t j, std::size_t t, double random) const {
        std::size_t level = 0, top = cells_.count(j) - 1;
        for (std::size_t i = 0; i < region.members.size(); ++i)
            if (region.from[i] == region.from[t])
                while (cells_.name(j, level, i) != cells_.name(j, level, t)) ++level;
        if (random < constants::other_level_share && level > 0) return level - 1;
        if (random > 1 - constants::other_level_share && level < top) return level + 1;
        return level;
    }

    // Peeling where few people of a cell are enough, because others lend theirs

    double borrow(Region& region, double bound, Random& random) {
        cells_.open(region, random);
        peel_.start(region.members.size());
        double share = constants::own_share + (1 - constants::own_share) * random.uniform();
        std::int64_t rows = 0, fewest = static_cast<std::int64_t>(std::ceil(problem_.k * share));
        for (std::size_t i = 0; i < region.members.size(); ++i)
            if (region.donor[i] == no_donor) rows += region.members[i].rows;
        double paid = 0;
        std::int64_t people = people_left(region, rows);
        const auto& nodes = cells_.order_nodes();
        for (std::size_t q = 0; q < nodes.size() && people >= fewest; ++q) {
            double mean = cells_.go_to(nodes[q]);
            if (q % 8 == 0 && paid + constants::borrow_patience * mean * rows > bound) return infinity;
            if (cells_.count_cells(region, nodes[q], peel_) && open_cells(region, fewest, rows, paid))
                people = people_left(region, rows);
        }
        return place_left_over(region, bound, paid);
    }

    // Whether there was one to open.
    bool open_cells(Region& region, std::int64_t fewest, std::int64_t& rows, double& paid) {
        std::size_t cells = 0;
        peel_.visit(problem_.k, [&](std::uint32_t t, CellTable::Cell& cell) {
            if (cell.number < 0) {
                cell.number = static_cast<std::int64_t>(cells++);
                if (inside_.size() < cells) inside_.emplace_back();
                inside_[cell.number].clear();
            }
            inside_[cell.number].push_back(t);
        });
        gone_.assign(region.members.size(), 0);
        bool any = false;
        for (std::size_t c = 0; c < cells; ++c) any |= open_cell(region, inside_[c], fewest, rows, paid);
        if (any) std::erase_if(peel_.left, [&](std::uint32_t t) { return gone_[t]; });
        return any;
    }

    // All freed rows of a cell, and of others just as many people as are missing.
    bool open_cell(Region& region, std::vector<std::uint32_t>& inside, std::int64_t fewest, std::int64_t& rows,
                   double& paid) {
        std::int64_t own = 0;
        double gain = 0, width = cells_.width(inside[0]);
        for (auto t : inside) {
            if (region.donor[t] != no_donor) continue;
            own += region.members[t].rows;
            gain += region.members[t].rows * (region.paid[t] - width);
        }
        lent_.clear();
        if (problem_.has_persons()) own = count_own(region, inside);
        if (own < fewest || (own < problem_.k && !lend(region, inside, problem_.k - own, width, gain))) return false;
        std::size_t group = open();
        for (auto t : inside) {
            if (region.donor[t] != no_donor) continue;
            put(group, region.members[t]);
            rows -= region.members[t].rows;
            gone_[t] = 1;
        }
        for (auto [t, some] : lent_) {
            Member member{region.members[t].point, some};
            put(group, member);
            region.donors[region.donor[t]].taken.push_back(member);
            paid -= some * region.paid[t];
            if ((region.members[t].rows -= some) == 0) gone_[t] = 1;
        }
        paid += fresh_[group].cost();
        return true;
    }

    std::int64_t count_own(const Region& region, const std::vector<std::uint32_t>& inside) {
        people_.start();
        for (auto t : inside)
            if (region.donor[t] == no_donor) people_.add(region.members[t]);
        return people_.people();
    }

    // Rows of a member that the cell can use, which lacks so many people, and its donor can do without.
    std::int64_t count_spare(const Region& region, std::uint32_t t, std::int64_t missing) const {
        const Donor& donor = region.donors[region.donor[t]];
        std::int64_t some = region.members[t].rows;
        Person who = people_.person_of(region.members[t].point);
        if (who < 0) {
            if (problem_.split_points) some = std::min({some, missing, donor.people - problem_.k});
            return donor.people - some < problem_.k ? 0 : some;
        }
        if (people_.rows(who) > 0) return 0;
        if (problem_.split_points) some = 1;
        return donor.people - (region.held[region.holding[t]] == some) < problem_.k ? 0 : some;
    }

    // Rows leave the donor of a member, or return if there are less than none.
    void move_lent(Region& region, std::uint32_t t, std::int64_t some) {
        Donor& donor = region.donors[region.donor[t]];
        donor.rows -= some;
        if (people_.person_of(region.members[t].point) < 0) {
            donor.people -= some;
            return;
        }
        std::int64_t& held = region.held[region.holding[t]];
        donor.people -= held > 0;
        donor.people += (held -= some) > 0;
    }

    // Donors lend what a cell lacks, those who pay most first; false, and nothing is lent, where it does not pay.
    bool lend(Region& region, std::vector<std::uint32_t>& inside, std::int64_t missing, double width, double gain) {
        std::stable_sort(inside.begin(), inside.end(), [&](auto a, auto b) { return region.paid[a] > region.paid[b]; });
        for (auto t : inside) {
            if (region.donor[t] == no_donor || missing <= 0) continue;
            std::int64_t some = count_spare(region, t, missing);
            if (some <= 0) continue;
            move_lent(region, t, some);
            missing -= lend_people(region.members[t].point, some);
            gain += some * (region.paid[t] - width);
            lent_.push_back({t, some});
        }
        if (missing <= 0 && gain > 0) return true;
        for (auto [t, some] : lent_) move_lent(region, t, -some);
        return false;
    }

    // The people that rows add to the cell.
    std::int64_t lend_people(std::int64_t point, std::int64_t rows) {
        if (!problem_.has_persons()) return rows;
        std::int64_t before = people_.people();
        people_.add({point, rows});
        return people_.people() - before;
    }

    // Freed rows without a class join a new one or a donor.
    double place_left_over(Region& region, double bound, double paid) {
        std::size_t made = used_;
        double lent = cost() - paid, before = 0;
        for (Donor& donor : region.donors) {
            MeasuredClass& home = fresh_[open()];
            home.box.start(donor.lo, donor.hi);
            home.rows = donor.rows;
            before += home.cost();
        }
        Class rest;
        for (auto t : peel_.left)
            if (region.donor[t] == no_donor) rest.push_back(region.members[t]);
        double total = rest.empty() ? cost() : attach(rest, bound + before + lent);
        for (std::size_t d = 0; d < region.donors.size(); ++d) region.donors[d].given = fresh_[made + d].members;
        used_ = made;
        return total - before - lent;
    }

    // Bisection, again and again

    double part(const Region& region, double bound, Random& random) {
        std::vector<Class> open{region.members};
        double total = 0;
        while (!open.empty() && total <= bound) {
            Class first = std::move(open.back()), second;
            open.pop_back();
            if (bisection_.split(first, second, infinity, &random) < infinity) {
                open.push_back(std::move(first));
                open.push_back(std::move(second));
                continue;
            }
            put_all(first);
            total += fresh_[used_ - 1].cost();
        }
        return total > bound ? infinity : total;
    }

    // From a row far from the last one on, always the row of another person that widens least, until there are k people

    double grow(const Region& region, double bound, Random& random) {
        Class left = region.members;
        std::int64_t rows = region.rows;
        double total = 0;
        std::int64_t last = left[random.below(left.size())].point;
        while ((problem_.has_persons() ? people_.count(left) : rows) >= problem_.k) {
            std::size_t at = open();
            people_.start();
            far_box_.start(problem_.at(last));
            work_ += left.size();
            rows -= move(left, problem_.farthest(left, far_box_), at);
            while (grown_people(at) < problem_.k) {
                work_ += left.size();
                rows -= move(left, nearest_other(left, fresh_[at].box), at);
            }
            last = fresh_[at].members.back().point;
            total += fresh_[at].cost();
            if (total > bound) return infinity;
        }
        return attach(left, bound);
    }

    std::int64_t grown_people(std::size_t at) const {
        return problem_.has_persons() ? people_.people() : fresh_[at].rows;
    }

    // The first of the members that widen a box least, of those whose person is not in the class yet.
    std::size_t nearest_other(const Class& members, const MeasuredBox& box) const {
        if (!problem_.has_persons()) return problem_.nearest(members, box);
        return problem_.nearest(members, box, [&](const Member& member) {
            return people_.people_with(member) > people_.people();
        });
    }

    // A class that begins with many equal rows takes all but some for its neighbours; of one person it takes one row.
    std::int64_t move(Class& left, std::size_t which, std::size_t at) {
        Member member = left[which];
        std::int64_t here = grown_people(at), spare = here == 0 ? member.rows - 2 * problem_.k : 0;
        if (people_.person_of(member.point) >= 0) here = problem_.k - 1, spare = 0;
        if (problem_.split_points) member.rows = std::min(member.rows, std::max(problem_.k - here, spare));
        put(at, member);
        if (problem_.has_persons()) people_.add(member);
        left[which].rows -= member.rows;
        if (left[which].rows == 0) left[which] = left.back(), left.pop_back();
        return member.rows;
    }

    double partition_exactly(const Region& region, double bound) {
        std::vector<Class> classes;
        double cost = exact_.run(region.members, bound, classes);
        for (const Class& members : classes) put_all(members);
        return cost;
    }

    const Problem& problem_;
    RegionLattice cells_;
    Bisection bisection_;
    ExactPartition exact_;
    Peel peel_;
    MeasuredBox far_box_;
    PeopleCounter people_;
    std::vector<MeasuredClass> fresh_;
    std::size_t used_ = 0;
    std::vector<std::vector<std::uint32_t>> inside_;  // members in each cell
    std::vector<std::pair<std::uint32_t, std::int64_t>> lent_;
    std::vector<char> gone_;
    std::uint64_t work_ = 0;
};

}  // namespace kech
