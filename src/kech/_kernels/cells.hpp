// Cells of a lattice: nested levels on each axis, rows by cell, and peeling, which turns full cells into classes.
#pragma once

#include "core.hpp"
#include "random_numbers.hpp"

namespace kech {

// On each axis nested ways to put codes into cells, from fine to coarse; the last has one cell.
class Levels {
  public:
    struct Axis {
        std::size_t count, codes;
        std::vector<std::uint64_t> name;  // [level][code] a random number for the cell; equal cells, equal numbers
        std::vector<double> width;        // [level][code] of the cell
    };

    void add(const Code* cells, std::size_t count, std::size_t codes, const Widths& widths) {
        std::size_t j = axes_.size();
        Axis axis{count, codes, std::vector<std::uint64_t>(count * codes), std::vector<double>(count * codes)};
        for (std::size_t level = 0; level < count; ++level) {
            const Code* cell = cells + level * codes;
            std::vector<Code> first(codes, -1), last(codes, -1);
            for (std::size_t c = 0; c < codes; ++c) {
                if (first[cell[c]] < 0) first[cell[c]] = static_cast<Code>(c);
                last[cell[c]] = static_cast<Code>(c);
            }
            for (std::size_t c = 0; c < codes; ++c) {
                axis.name[level * codes + c] = scramble(scramble(j << 8 | level) + cell[c]);
                axis.width[level * codes + c] = widths.width(j, first[cell[c]], last[cell[c]]);
            }
        }
        axes_.push_back(std::move(axis));
    }

    std::size_t axes() const { return axes_.size(); }
    const Axis& operator[](std::size_t axis) const { return axes_[axis]; }

  private:
    std::vector<Axis> axes_;
};

// Rows by cell.  The name of a cell is the sum of its names on the axes.
class CellTable {
  public:
    struct Cell {
        std::uint64_t name = 0;
        std::int64_t rows = 0, number = -1;  // the number is for whoever asks
        std::uint64_t round = 0;
    };

    // Forgets all cells; there is room for those of so many points.
    void start(std::size_t points) {
        mask_ = std::bit_ceil(2 * points + 1) - 1;
        if (cells_.size() <= mask_) cells_.resize(mask_ + 1);
        ++round_;
        count_ = 0;
    }

    // The place of the cell, which has these rows more.
    std::size_t add(std::uint64_t name, std::int64_t rows) {
        std::size_t at = name & mask_;
        while (cells_[at].round == round_ && cells_[at].name != name) at = (at + 1) & mask_;
        if (cells_[at].round != round_) cells_[at] = {name, 0, -1, round_}, ++count_;
        cells_[at].rows += rows;
        return at;
    }

    Cell& operator[](std::size_t place) { return cells_[place]; }
    std::size_t count() const { return count_; }

  private:
    std::vector<Cell> cells_;
    std::size_t mask_ = 0, count_ = 0;
    std::uint64_t round_ = 0;
};

// Peeling: node by node of a lattice, every cell that still holds k rows becomes a class with all of them.
class Peel {
  public:
    std::vector<std::uint32_t> left;  // points without a class, ascending

    void start(std::size_t points) {
        left.resize(points);
        std::iota(left.begin(), left.end(), 0u);
        place_.resize(points);
    }

    // Counts the rows left in each cell of a node; whether some cell has k.  name(i) is of the i-th point that is left.
    template <class Name, class Rows>
    bool count(const Name& name, const Rows& rows, std::int64_t k) {
        table_.start(left.size());
        bool full = false;
        for (std::size_t i = 0; i < left.size(); ++i) {
            std::size_t at = table_.add(name(i), rows(left[i]));
            place_[i] = static_cast<std::uint32_t>(at);
            full |= table_[at].rows >= k;
        }
        return full;
    }

    // Gives each point of a full cell to give(point, cell), where cell.number is -1 at first; the others are left.
    template <class Give>
    void take(std::int64_t k, const Give& give) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < left.size(); ++i) {
            CellTable::Cell& cell = table_[place_[i]];
            if (cell.rows < k) left[kept++] = left[i];
            else give(left[i], cell);
        }
        left.resize(kept);
    }

    // The same, but all points are left.
    template <class Give>
    void visit(std::int64_t k, const Give& give) {
        for (std::size_t i = 0; i < left.size(); ++i)
            if (CellTable::Cell& cell = table_[place_[i]]; cell.rows >= k) give(left[i], cell);
    }

  private:
    std::vector<std::uint32_t> place_;  // of the cell of each point that is left
    CellTable table_;
};

}  // namespace kech
