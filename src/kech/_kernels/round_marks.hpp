// Which marks of a line may be published, and up to which k: cells are split at the roundest mark that hides well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kech {

// Marks 1, 2, ... with the rows and the distinct values below each; 0 and the last number are the ends of the line.
class RoundMarks {
  public:
    RoundMarks(std::span<const std::int64_t> rows, std::span<const std::int64_t> values, std::span<const std::int64_t> rank)
        : rows_(rows), values_(values), rank_(rank), previous_(rows.size(), 0), following_(rows.size(), rows.size() - 1),
          hiding_(rows.size(), 0) {
        find_neighbours();
    }

    // For each mark the largest k; 0: none.
    std::vector<std::int64_t> run() {
        std::vector<std::int64_t> largest(rank_.size(), 0);
        std::vector<Cell> open{{0, rows_.size() - 1, rows_.back()}};
        while (!open.empty()) {
            Cell cell = open.back();
            open.pop_back();
            if (cell.high - cell.low < 2 || rows_[cell.high] - rows_[cell.low] < 2) continue;
            std::int64_t best = 0;
            for (std::size_t at = cell.low + 1; at < cell.high; ++at) best = std::max(best, hiding_[at] = count_hiding(cell, at));
            if (std::min(best, cell.limit) < 2) continue;
            std::size_t roundest = find_roundest(cell, best), mark = find_middle(cell, roundest);
            std::int64_t limit = std::min(cell.limit, hiding_[roundest]);
            largest[mark - 1] = limit;
            open.push_back({cell.low, mark, limit});
            open.push_back({mark, cell.high, limit});
        }
        return largest;
    }

  private:
    struct Cell {
        std::size_t low, high;
        std::int64_t limit;
    };

    std::int64_t rank(std::size_t mark) const { return rank_[mark - 1]; }

    // On either side the nearest mark that is as round or rounder.
    void find_neighbours() {
        std::vector<std::size_t> rounder;
        for (std::size_t at = 1; at <= rank_.size(); ++at) {
            while (!rounder.empty() && rank(rounder.back()) > rank(at)) rounder.pop_back();
            previous_[at] = rounder.empty() ? 0 : rounder.back();
            rounder.push_back(at);
        }
        rounder.clear();
        for (std::size_t at = rank_.size(); at >= 1; --at) {
            while (!rounder.empty() && rank(rounder.back()) > rank(at)) rounder.pop_back();
            following_[at] = rounder.empty() ? rows_.size() - 1 : rounder.back();
            rounder.push_back(at);
        }
    }

    // Among how many rows a mark would hide if it split the cell: those of the smaller side, or, beside an empty side, those
    // of the neighbouring step of its own roundness.
    std::int64_t count_hiding(const Cell& cell, std::size_t at) const {
        if (values_[at] == values_[cell.low]) return rows_[std::min(following_[at], cell.high)] - rows_[at];
        if (values_[at] == values_[cell.high]) return rows_[at] - rows_[std::max(previous_[at], cell.low)];
        return std::min(rows_[at] - rows_[cell.low], rows_[cell.high] - rows_[at]);
    }

    // The roundest mark that hides among half as many rows as the best or more; of equal ones, the one that hides best.
    std::size_t find_roundest(const Cell& cell, std::int64_t best) const {
        std::size_t found = 0;
        for (std::size_t at = cell.low + 1; at < cell.high; ++at) {
            if (hiding_[at] < best - best / 2) continue;
            bool is_better = found == 0 || rank(at) < rank(found) || (rank(at) == rank(found) && hiding_[at] > hiding_[found]);
            if (is_better) found = at;
        }
        return found;
    }

    // The middle one of the marks that are as good as this one and lie between the same two values: the first of them would
    // follow a value at once, so that the end of a label would always be somebody's.
    std::size_t find_middle(const Cell& cell, std::size_t chosen) const {
        auto is_same = [&](std::size_t at) {
            return hiding_[at] == hiding_[chosen] && values_[at] == values_[chosen] && rank(at) == rank(chosen);
        };
        std::size_t first = chosen, last = chosen;
        for (std::size_t at = chosen; at > cell.low && values_[at] == values_[chosen]; --at)
            if (is_same(at)) first = at;
        for (std::size_t at = chosen; at < cell.high && values_[at] == values_[chosen]; ++at)
            if (is_same(at)) last = at;
        std::size_t middle = (first + last + first % 2) / 2;
        while (!is_same(middle)) ++middle;
        return middle;
    }

    std::span<const std::int64_t> rows_, values_, rank_;
    std::vector<std::size_t> previous_, following_;
    std::vector<std::int64_t> hiding_;
};

}  // namespace kech
