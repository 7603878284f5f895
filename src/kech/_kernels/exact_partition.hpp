// The best of all partitions of a handful of rows, by dynamic programming over subsets.
#pragma once

#include "core.hpp"

namespace kech {

class ExactPartition {
  public:
    explicit ExactPartition(const Problem& problem) : problem_(problem) {}

    // What is never parted: rows, or points where rows of one point stay together.
    static std::size_t count_units(const Problem& problem, const Class& members) {
        return problem.split_points ? static_cast<std::size_t>(count_rows(members)) : members.size();
    }

    // The cost of the best partition, and its classes; infinity, where all cost more than the bound.
    double run(const Class& members, double bound, std::vector<Class>& classes) {
        Class units;
        for (const Member& member : members) {
            if (!problem_.split_points) units.push_back(member);
            else units.insert(units.end(), member.rows, Member{member.point, 1});
        }
        std::size_t n = units.size(), all = std::size_t{1} << n;
        list_classes(units, bound);
        best_.assign(all, infinity);
        choice_.assign(all, 0);
        best_[0] = 0;
        for (std::size_t set = 0; set + 1 < all; ++set) extend(set, bound);
        work += all * (problem_.axes + 2) / 16;
        if (best_[all - 1] > bound) return infinity;
        for (std::size_t set = all - 1; set; set ^= choice_[set]) {
            Class made;
            for (std::size_t i = 0; i < n; ++i)
                if (choice_[set] >> i & 1) made.push_back(units[i]);
            merge_equal(made);
            classes.push_back(std::move(made));
        }
        return best_[all - 1];
    }

    std::uint64_t work = 0;

  private:
    // Every class that costs no more than the bound, by its first unit.  A class that can be parted is never needed:
    // one of 2k people, where those with two units or more count twice.
    void list_classes(const Class& units, double bound) {
        std::size_t n = units.size(), all = std::size_t{1} << n, axes = problem_.axes;
        rows_.assign(all, 0);
        if (problem_.has_persons()) count_people(units);
        const auto& people = problem_.has_persons() ? people_ : rows_;
        const auto& both = problem_.has_persons() ? both_ : rows_;
        lo_.resize(all * axes), hi_.resize(all * axes);
        if (listed_.size() < n) listed_.resize(n);
        for (auto& list : listed_) list.clear();
        std::int64_t most = problem_.split_points ? 2 * problem_.k - 1 : std::numeric_limits<std::int64_t>::max();
        for (std::size_t set = 1; set < all; ++set) {
            std::size_t rest = set & (set - 1), first = std::countr_zero(set);
            rows_[set] = rows_[rest] + units[first].rows;
            if (both[set] > most) continue;
            const Code* point = problem_.at(units[first].point);
            Code *lo = lo_.data() + set * axes, *hi = hi_.data() + set * axes;
            for (std::size_t j = 0; j < axes; ++j) {
                lo[j] = rest ? std::min(lo_[rest * axes + j], point[j]) : point[j];
                hi[j] = rest ? std::max(hi_[rest * axes + j], point[j]) : point[j];
            }
            if (people[set] < problem_.k) continue;
            double cost = rows_[set] * problem_.widths.sum(lo, hi);
            if (cost <= bound) listed_[first].push_back({set, cost});
        }
    }

    // People of each set, and people where those with several units count twice.
    void count_people(const Class& units) {
        std::vector<std::size_t> same(units.size(), 0);  // units of the same person
        for (std::size_t a = 0; a < units.size(); ++a)
            for (std::size_t b = 0; b < units.size(); ++b) {
                Person who = problem_.person[units[a].point];
                if (who >= 0 && who == problem_.person[units[b].point]) same[a] |= std::size_t{1} << b;
            }
        people_.assign(rows_.size(), 0);
        both_.assign(rows_.size(), 0);
        for (std::size_t set = 1; set < rows_.size(); ++set) {
            std::size_t rest = set & (set - 1), first = std::countr_zero(set);
            int times = std::popcount(rest & same[first]);
            std::int64_t alone = same[first] ? 1 : units[first].rows;
            people_[set] = people_[rest] + (times < 1 ? alone : 0);
            both_[set] = both_[rest] + (times < 2 ? alone : 0);
        }
    }

    // What is reached from a set by a class of the first unit that is not in it.
    void extend(std::size_t set, double bound) {
        if (best_[set] == infinity) return;
        const auto& list = listed_[std::countr_one(set)];
        for (const auto& [made, cost] : list) {
            double total = best_[set] + cost;
            if ((made & set) || total > bound || total >= best_[set | made]) continue;
            best_[set | made] = total, choice_[set | made] = made;
        }
        work += list.size() / 16;
    }

    const Problem& problem_;
    std::vector<std::vector<std::pair<std::size_t, double>>> listed_;  // (set of units, cost)
    std::vector<double> best_;                                        // cost of each set
    std::vector<std::size_t> choice_;                                 // the last class of each set
    std::vector<std::int64_t> rows_, people_, both_;                  // of each set
    std::vector<Code> lo_, hi_;
};

}  // namespace kech
