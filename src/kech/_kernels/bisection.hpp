// Bisection: the rows of one class, or of two, in two classes of k people or more, along several orders of the members.
#pragma once

#include <utility>

#include "core.hpp"
#include "random_numbers.hpp"

namespace kech {

class Bisection {
  public:
    explicit Bisection(const Problem& problem)
        : problem_(problem), box_(problem.widths), other_(problem.widths), people_(problem.person) {}

    // Splits `first` if that costs less than `price`; one class is left in `first`, the other in `second`.
    // `noise` makes the choice among axes a little random.
    double split(Class& first, Class& second, double price, Random* noise = nullptr) {
        rows_ = count_rows(first);
        best_ = {price - rounding, 0};
        if (rows_ < 2 * problem_.k) return infinity;
        if (problem_.has_persons() && !deal(first)) return infinity;
        order_from_ends(first);
        if (!noise) consider(first, 1.0);
        return split_along_axes(first, second, noise);
    }

    // The rows of two classes anew, if that costs less than `price`.
    double split_again(Class& first, Class& second, double price) {
        problem_.enclose(first, box_);
        problem_.enclose(second, other_);
        first.insert(first.end(), second.begin(), second.end());
        if (problem_.split_points) merge_equal(first);
        rows_ = count_rows(first);
        best_ = {price - rounding, 0};
        if (problem_.has_persons()) deal(first);
        order_by_pull(first);
        consider(first, 1.0);
        order_from_ends(first);
        consider(first, 1.0);
        return split_along_axes(first, second, nullptr);
    }

    std::uint64_t work = 0;

  private:
    struct Cut {
        double price;
        std::int64_t rows;  // in the first class
        double true_price = 0;
    };

    double split_along_axes(Class& first, Class& second, Random* noise) {
        base_ = line_;
        problem_.enclose(first, box_);
        std::vector<bool> differ;
        for (std::size_t j = 0; j < problem_.axes; ++j) differ.push_back(box_.lo()[j] < box_.hi()[j]);
        for (std::size_t j = 0; j < problem_.axes; ++j) {
            if (!differ[j]) continue;
            order_by_axis(first, j);
            consider(first, noise ? noise->factor(constants::recipe_noise) : 1.0);
        }
        if (best_.rows == 0) return infinity;
        return carry_out(first, second);
    }

    // From the point that is farthest from the first to the point farthest from that one.
    void order_from_ends(const Class& members) {
        std::size_t far = farthest(members, 0), end = farthest(members, far);
        box_.start(problem_.at(members[far].point));
        other_.start(problem_.at(members[end].point));
        order_by_pull(members);
    }

    // By how much more a point widens the one box than the other.
    void order_by_pull(const Class& members) {
        keys_.resize(members.size());
        line_.resize(members.size());
        std::iota(line_.begin(), line_.end(), 0u);
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Code* point = problem_.at(members[i].point);
            keys_[i] = box_.width_with(point) - other_.width_with(point);
        }
        work += members.size() * 4;
        sort();
    }

    std::size_t farthest(const Class& members, std::size_t from) {
        box_.start(problem_.at(members[from].point));
        return problem_.farthest(members, box_);
    }

    void order_by_axis(const Class& members, std::size_t axis) {
        line_ = base_;
        for (std::size_t i = 0; i < members.size(); ++i) keys_[i] = problem_.at(members[i].point)[axis];
        sort();
    }

    void sort() {
        if (line_.size() > constants::insertion_sort) {
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

    // Rows of a person at one point count on both sides: they become two members, the second behind all first ones.
    // Whether there are enough people for both sides, when everybody who can is in both.
    bool deal(Class& members) {
        std::size_t n = members.size();
        for (std::size_t i = 0; i < n && problem_.split_points; ++i) {
            std::int64_t half = problem_.person[members[i].point] < 0 ? 0 : members[i].rows / 2;
            if (half == 0) continue;
            members[i].rows -= half;
            members.push_back({members[i].point, half});
        }
        is_dealt_ = members.size() > n;
        return number_persons(members) >= 2 * problem_.k;
    }

    std::int64_t number_persons(const Class& members) {
        who_.clear();
        times_.clear();
        people_.start();
        std::int64_t both = 0;
        for (const Member& member : members) {
            Person person = problem_.person[member.point];
            if (person < 0) {
                who_.push_back(everybody);
                both += member.rows;
                continue;
            }
            who_.push_back(static_cast<std::uint32_t>(people_.number(person)));
            times_.resize(people_.persons());
            both += ++times_[who_.back()] <= 2;
        }
        seen_.assign(people_.persons(), 0);
        round_ = 0;
        return both;
    }

    // People that a member adds to those met in this round.
    std::int64_t meet(const Class& members, std::size_t i) {
        if (who_[i] == everybody) return members[i].rows;
        return std::exchange(seen_[who_[i]], round_) != round_;
    }

    void consider(const Class& members, double factor) {
        if (problem_.has_persons()) consider_people(members, factor);
        else consider_rows(members, factor);
    }

    // As by rows, but both sides are counted: people are not additive.
    void consider_people(const Class& members, double factor) {
        std::size_t n = line_.size();
        work += 2 * n;
        after_.resize(n);
        behind_.assign(n + 1, 0);
        ++round_;
        box_.start(problem_.at(members[line_[n - 1]].point));
        for (std::size_t left = n; left > 0; --left) {
            std::size_t i = left - 1;
            box_.cover(problem_.at(members[line_[i]].point));
            after_[i] = box_.width();
            behind_[i] = behind_[left] + meet(members, line_[i]);
        }
        std::int64_t before = 0, ahead = 0, k = problem_.k;
        ++round_;
        box_.start(problem_.at(members[line_[0]].point));
        for (std::size_t i = 0; i < n && behind_[i] >= k; ++i) {
            box_.cover(problem_.at(members[line_[i]].point));
            double front = box_.width();
            std::int64_t rows = members[line_[i]].rows, met = ahead + meet(members, line_[i]);
            if (met >= k && behind_[i + 1] >= k) offer(before + rows, front, after_[i + 1], factor);
            if (met >= k && problem_.split_points) {
                bool others = who_[line_[i]] == everybody;
                std::int64_t low = others ? std::max<std::int64_t>(1, k - ahead) : 1;
                std::int64_t high = rows - (others ? std::max<std::int64_t>(1, k - behind_[i + 1]) : 1);
                if (low <= high) offer(before + (front <= after_[i] ? high : low), front, after_[i], factor);
            }
            ahead = met;
            before += rows;
        }
    }

    // Between two points, or inside one: there the price is linear in the rows, so an end of the range is best.
    void consider_rows(const Class& members, double factor) {
        std::size_t n = line_.size();
        work += 2 * n;
        after_.resize(n);
        box_.start(problem_.at(members[line_[n - 1]].point));
        std::int64_t behind = 0;
        for (std::size_t left = n; left > 0; --left) {
            std::size_t i = left - 1;
            box_.cover(problem_.at(members[line_[i]].point));
            after_[i] = box_.width();
            behind += members[line_[i]].rows;
            if (behind > rows_ - problem_.k) break;
        }
        std::int64_t before = 0, last = rows_ - problem_.k;
        box_.start(problem_.at(members[line_[0]].point));
        for (std::size_t i = 0; i < n && before < last; ++i) {
            box_.cover(problem_.at(members[line_[i]].point));
            double front = box_.width();
            std::int64_t upto = before + members[line_[i]].rows;
            if (upto >= problem_.k) {
                if (upto <= last) offer(upto, front, after_[i + 1], factor);
                if (problem_.split_points) {
                    std::int64_t low = std::max(problem_.k, before + 1), high = std::min(last, upto - 1);
                    if (low <= high) offer(front <= after_[i] ? high : low, front, after_[i], factor);
                }
            }
            before = upto;
        }
    }

    void offer(std::int64_t rows, double front, double back, double factor) {
        double price = rows * front + (rows_ - rows) * back;
        if (price * factor >= best_.price) return;
        best_ = {price * factor, rows, price};
        chosen_ = line_;
    }

    double carry_out(Class& first, Class& second) {
        Class whole = std::move(first);
        first.clear();
        second.clear();
        std::int64_t room = best_.rows;
        for (auto i : chosen_) {
            std::int64_t here = std::min(room, whole[i].rows);
            if (here > 0) first.push_back({whole[i].point, here});
            if (whole[i].rows > here) second.push_back({whole[i].point, whole[i].rows - here});
            room -= here;
        }
        if (is_dealt_) merge_equal(first), merge_equal(second);
        return best_.true_price;
    }

    const Problem& problem_;
    MeasuredBox box_, other_;
    std::int64_t rows_ = 0;
    Cut best_{};
    std::vector<std::uint32_t> line_, base_, chosen_;
    std::vector<double> keys_, after_;
    static constexpr std::uint32_t everybody = ~0u;  // the rows of the member are of one person each
    PeopleCounter people_;
    bool is_dealt_ = false;
    std::vector<std::uint32_t> who_, times_;  // the number of each member's person; members of each person
    std::vector<std::uint64_t> seen_;         // the round in which each person was met last
    std::uint64_t round_ = 0;
    std::vector<std::int64_t> behind_;        // people from each place of the line on
};

}  // namespace kech
