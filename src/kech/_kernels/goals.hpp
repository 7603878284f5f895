// Goals beyond k for the sensitive columns: l-diversity, t-closeness, alpha; and how far a class is from them.
#pragma once

#include "core.hpp"
#include "logarithm.hpp"

namespace kech {

// What every class must keep for every sensitive column; l = 0, t and alpha = infinity ask nothing.
struct Aims {
    enum Kind { distinct, entropy, recursive };
    Kind kind;
    double l, c, t, alpha;
    std::vector<bool> ordered;  // columns whose distance is along a line
};

// Rows of each value of one column in one class, values ascending; or the different people who hold it.
using Counts = std::vector<std::pair<Code, std::int64_t>>;

// How often each person of a class holds each value of one column, by value and then by person.  Unlike people these
// numbers add up, so classes can be merged and can trade.
using Holder = std::int64_t;  // a value and a person or -1, packed so that holders are sorted fast
using Holders = std::vector<std::pair<Holder, std::int64_t>>;

inline Holder pack_holder(Code value, Person person) {
    return std::int64_t{value} * (std::int64_t{1} << 32) + person + 1;
}
inline Code value_of(Holder holder) { return static_cast<Code>(holder >> 32); }
inline bool is_known(Holder holder) { return static_cast<std::uint32_t>(holder) != 0; }

// A person counts once for each value they hold; rows of nobody known count one by one.
inline Counts count_people(const Holders& holders) {
    Counts counts;
    for (auto& [holder, rows] : holders) {
        Code value = value_of(holder);
        if (counts.empty() || counts.back().first != value) counts.push_back({value, 0});
        counts.back().second += is_known(holder) ? 1 : rows;
    }
    return counts;
}

inline std::int64_t sum_counts(const Counts& counts) {
    std::int64_t total = 0;
    for (auto& entry : counts) total += entry.second;
    return total;
}

// How far a class is from the goals.
class Judge {
  public:
    Judge(const Aims& aims, const std::vector<Counts>& totals) : aims_(aims) {
        for (auto& column : totals) columns_.emplace_back(column);
    }

    // 0 where all goals hold.
    double violation(const std::vector<Counts>& counts, std::int64_t rows) const {
        double total = 0, all = static_cast<double>(rows);
        for (std::size_t s = 0; s < counts.size(); ++s) total += column_violation(s, counts[s], all, all);
        return total;
    }

    // Of one column by people.  Who holds two values counts for both, so shares are of all that is counted; alpha is what
    // is known of one person, and so a share of the people.
    double violation_by_people(std::size_t s, const Counts& counts, std::int64_t people) const {
        return column_violation(s, counts, static_cast<double>(sum_counts(counts)), static_cast<double>(people));
    }

  private:
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

    double column_violation(std::size_t s, const Counts& counts, double rows, double people) const {
        double total = 0;
        if (aims_.l > 0) total += diversity_violation(counts, rows);
        if (aims_.t < infinity) total += over(distance(s, counts, rows), aims_.t);
        if (aims_.alpha < infinity) total += over(largest(counts) / people, aims_.alpha);
        return total;
    }

    static double over(double found, double most) { return found > most + rounding ? found - most : 0; }

    double diversity_violation(const Counts& counts, double rows) const {
        if (aims_.kind == Aims::distinct) return std::max(0.0, aims_.l - static_cast<double>(counts.size())) / aims_.l;
        if (aims_.kind == Aims::entropy) {
            double sum = 0;
            for (auto& [v, n] : counts) sum -= static_cast<double>(n) / rows * logarithm(static_cast<double>(n) / rows);
            return over(aims_.l, exponential(sum)) / aims_.l;
        }
        return recursive_violation(counts, rows);
    }

    // r_1 / (r_l + r_(l+1) + ...) < c, the counts descending; divided as whoever checks it does, so that both round alike
    double recursive_violation(const Counts& counts, double rows) const {
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

    const Aims& aims_;
    std::vector<Column> columns_;
};

}  // namespace kech
