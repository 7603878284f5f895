// Partitions as arrays: equal boxes become one class, the rows of a point in one class one share.
#pragma once

#include "core.hpp"

namespace kech {

// Different rows of a table of numbers, in their order.
struct Distinct {
    std::vector<std::int64_t> first, name;  // where each is met first; which of them each row is
};

inline Distinct distinct_rows(const std::int64_t* table, std::size_t rows, std::size_t columns) {
    auto row = [&](std::int64_t i) { return table + i * columns; };
    auto order = count_up<std::int64_t>(rows);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        auto [x, y] = std::mismatch(row(a), row(a) + columns, row(b));
        return x != row(a) + columns ? *x < *y : a < b;
    });
    Distinct found{{}, std::vector<std::int64_t>(rows)};
    for (std::int64_t i : order) {
        if (found.first.empty() || !std::equal(row(i), row(i) + columns, row(found.first.back()))) found.first.push_back(i);
        found.name[i] = static_cast<std::int64_t>(found.first.size()) - 1;
    }
    return found;
}

// One share for each point and class, by class and then by point.
inline Shares merge_shares(const std::int64_t* point, const std::int64_t* group, const std::int64_t* rows,
                           std::size_t shares) {
    std::int64_t groups = shares ? *std::max_element(group, group + shares) + 1 : 0;
    std::vector<std::size_t> start(groups + 1, 0);
    for (std::size_t i = 0; i < shares; ++i) ++start[group[i] + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::pair<std::int64_t, std::int64_t>> held(shares);
    for (std::size_t i = 0; i < shares; ++i) held[start[group[i]]++] = {point[i], rows[i]};
    Shares out;
    for (std::int64_t g = 0; g < groups; ++g) {  // the start of each class has moved to its end
        auto begin = held.begin() + (g ? start[g - 1] : 0), end = held.begin() + start[g];
        std::sort(begin, end);
        for (auto at = begin; at != end; ++at) {
            if (at != begin && at->first == out.point.back()) {
                out.rows.back() += at->second;
                continue;
            }
            out.add(at->first, g, at->second);
        }
    }
    return out;
}

// What all rows pay: the rows of each class times the width of its box.  Shares of a class stand together.
inline double price_shares(const Code* codes, const Widths& widths, const std::int64_t* point, const std::int64_t* group,
                           const std::int64_t* rows, std::size_t shares) {
    double total = 0;
    Box box(widths.axes());
    std::int64_t held = 0;
    for (std::size_t i = 0; i < shares; ++i) {
        box.cover(codes + point[i] * widths.axes());
        held += rows[i];
        if (i + 1 < shares && group[i + 1] == group[i]) continue;
        total += held * box.width(widths);
        box.clear();
        held = 0;
    }
    return total;
}

}  // namespace kech
