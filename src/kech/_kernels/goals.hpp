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

// Rows of each value of one column in one class, values ascending.
using Counts = std::vector<std::pair<Code, std::int64_t>>;

// How far a class is from the goals.
class Judge {
  public:
    Judge(const Aims& aims, const std::vector<Counts>& totals) : aims_(aims) {
        for (auto& column : totals) columns_.emplace_back(column);
    }

    // 0 where all goals hold.
    double violation(const std::vector<Counts>& counts, std::int64_t rows) const {
        double total = 0;
        for (std::size_t s = 0; s < counts.size(); ++s) total += column_violation(s, counts[s], static_cast<double>(rows));
        return total;
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

    double column_violation(std::size_t s, const Counts& counts, double rows) const {
        double total = 0;
        if (aims_.l > 0) total += diversity_violation(counts, rows);
        if (aims_.t < infinity) total += over(distance(s, counts, rows), aims_.t);
        if (aims_.alpha < infinity) total += over(largest(counts) / rows, aims_.alpha);
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
