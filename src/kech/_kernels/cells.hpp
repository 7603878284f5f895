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

    // Counts so many points anew; the number of cells.  The i-th is in the cell name(i) and adds rows(i, name) to it;
    // see(i, place, rows) gets the rows of the cell so far and says whether to go on.
    template <class Name, class Rows, class See>
    std::size_t count(std::size_t points, const Name& name, const Rows& rows, const See& see) {
        std::size_t mask = std::bit_ceil(2 * points + 1) - 1, found = 0;
        if (cells_.size() <= mask) cells_.resize(mask + 1);
        std::uint64_t round = ++round_;
        Cell* cells = cells_.data();
        for (std::size_t i = 0; i < points; ++i) {
            std::uint64_t here = name(i);
            std::size_t at = here & mask;
            while (cells[at].round == round && cells[at].name != here) at = (at + 1) & mask;
            if (cells[at].round != round) cells[at] = {here, 0, -1, round}, ++found;
            if (!see(i, at, cells[at].rows += rows(i, here))) break;
        }
        return found;
    }

    Cell& operator[](std::size_t place) { return cells_[place]; }

  private:
    std::vector<Cell> cells_;
    std::uint64_t round_ = 0;
};

// A random number for a person; 0 where each row is another person.
inline std::uint64_t name_person(Person who) { return who < 0 ? 0 : scramble(static_cast<std::uint64_t>(who)) | 1; }

// Who has been in which cell: a person counts once in each.
class PeopleByCell {
  public:
    // Forgets everybody; there is room for so many points.
    void start(std::size_t points) {
        mask_ = std::bit_ceil(2 * points + 1) - 1;
        if (pairs_.size() <= mask_) pairs_.resize(mask_ + 1);
        ++round_;
    }

    // By how many people the cell grows with rows of a person, who is named by `name_person`.
    std::int64_t add(std::uint64_t cell, std::int64_t rows, std::uint64_t who) {
        if (who == 0) return rows;
        std::uint64_t name = cell + who;
        std::size_t at = name & mask_;
        while (pairs_[at].round == round_ && pairs_[at].name != name) at = (at + 1) & mask_;
        if (pairs_[at].round == round_) return 0;
        pairs_[at] = {name, round_};
        return 1;
    }

  private:
    struct Pair {
        std::uint64_t name = 0, round = 0;
    };

    std::vector<Pair> pairs_;
    std::size_t mask_ = 0;
    std::uint64_t round_ = 0;
};

// Peeling: node by node of a lattice, every cell that still holds k people becomes a class with all of them.
class Peel {
  public:
    std::vector<std::uint32_t> left;  // points without a class, ascending

    void start(std::size_t points) {
        left.resize(points);
        std::iota(left.begin(), left.end(), 0u);
        place_.resize(points);
    }

    // Counts what is left in each cell of a node; whether some cell has k.  A point is in the cell name(point).
    template <class Name, class Rows>
    bool count(const Name& name, const Rows& rows, std::int64_t k) {
        return count_by(name, [&](std::uint32_t point, std::uint64_t) { return rows(point); }, k);
    }

    // The same, but people count: who(point) is the name of the person.
    template <class Name, class Rows, class Who>
    bool count_people(const Name& name, const Rows& rows, const Who& who, std::int64_t k) {
        people_.start(left.size());
        auto add = [&](std::uint32_t point, std::uint64_t cell) { return people_.add(cell, rows(point), who(point)); };
        return count_by(name, add, k);
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
    template <class Name, class Add>
    bool count_by(const Name& name, const Add& add, std::int64_t k) {
        const std::uint32_t* point = left.data();
        std::uint32_t* place = place_.data();
        bool full = false;
        table_.count(
            left.size(), [&](std::size_t i) { return name(point[i]); },
            [&](std::size_t i, std::uint64_t cell) { return add(point[i], cell); },
            [&](std::size_t i, std::size_t at, std::int64_t rows) {
                place[i] = static_cast<std::uint32_t>(at);
                full |= rows >= k;
                return true;
            });
        return full;
    }

    std::vector<std::uint32_t> place_;  // of the cell of each point that is left
    CellTable table_;                   // people or rows by cell
    PeopleByCell people_;
};

}  // namespace kech
