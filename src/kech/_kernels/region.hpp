// The rows of a few neighbouring classes, freed; and their own small lattice of cells, ordered by random weights.
#pragma once

#include <array>
#include <span>

#include "cells.hpp"

namespace kech {

constexpr std::uint32_t no_donor = ~0u;

// A class that has more rows than it needs, and may take others in.
struct Donor {
    std::size_t place;  // in its block
    std::int64_t rows, people;
    const Code *lo, *hi;
    Class taken, given;
};

struct Region {
    Class members;
    std::vector<double> paid;         // width of the class each came from
    std::vector<std::uint32_t> from;  // which class it was
    std::int64_t rows = 0;
    // Rows that may be borrowed stand behind the freed ones.
    std::vector<std::uint32_t> donor;  // whose they are, or nobody's
    std::vector<Donor> donors;
    // With persons, the rows that a donor has of a person, and where they stand for each member; of freed ones nowhere.
    std::vector<std::int64_t> held;
    std::vector<std::size_t> holding;
};

// Only levels at which the region's cells differ; of equal ones the narrowest.
class RegionLattice {
  public:
    RegionLattice(const Problem& problem, const Levels& levels) : problem_(problem), levels_(levels) {}

    void open(const Region& region, Random& random) {
        size_ = region.members.size();
        if (problem_.has_persons()) name_persons(region);
        std::size_t open = 0;
        fixed_ = 0;
        if (pool_.size() < problem_.axes) pool_.resize(problem_.axes);
        for (std::size_t j = 0; j < problem_.axes; ++j) {
            Axis& axis = pool_[open];
            fill(axis, region, j);
            if (axis.count() == 1) {
                fixed_ += axis.mean[0];
                continue;
            }
            double factor = random.factor(constants::recipe_noise);
            axis.key.clear();
            for (double mean : axis.mean) axis.key.push_back(mean * factor);
            ++open;
        }
        while (has_many_nodes(open)) drop_level(open, random);
        axes_ = {pool_.data(), open};
        open_halves();
        at_.assign(open, 0);
    }

    std::size_t axes() const { return axes_.size(); }
    std::size_t count(std::size_t axis) const { return axes_[axis].count(); }
    std::uint64_t name(std::size_t axis, std::size_t level, std::size_t t) const {
        return axes_[axis].name[level * size_ + t];
    }

    // By their mean width with the region's random weights; near enough is good enough.
    const std::vector<std::uint32_t>& order_nodes() {
        std::vector<double>& key = keys_;
        key.assign(1, 0.0);
        for (const Axis& axis : axes_) {
            std::size_t have = key.size();
            for (std::size_t l = 1; l < axis.key.size(); ++l)
                for (std::size_t q = 0; q < have; ++q) key.push_back(key[q] + axis.key[l]);
            for (std::size_t q = 0; q < have; ++q) key[q] += axis.key[0];
        }
        work += key.size() / 4;
        auto [low, high] = std::minmax_element(key.begin(), key.end());
        double from = *low, scale = (constants::region_buckets - 1) / std::max(*high - from, 1e-12);
        auto bucket = [&](double value) { return static_cast<std::size_t>((value - from) * scale); };
        starts_.assign(constants::region_buckets + 1, 0);
        for (double value : key) ++starts_[bucket(value) + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        nodes_.resize(key.size());
        for (std::size_t q = 0; q < key.size(); ++q) nodes_[starts_[bucket(key[q])]++] = static_cast<std::uint32_t>(q);
        return nodes_;
    }

    // From here on, widths are those of this node; what its cells lose, on the mean.
    double go_to(std::size_t node) {
        double mean = fixed_;
        for (std::size_t j = 0; j < axes_.size(); ++j) {
            at_[j] = node % axes_[j].count();
            node /= axes_[j].count();
            mean += axes_[j].mean[at_[j]];
        }
        return mean;
    }

    void go_to(const std::vector<std::size_t>& levels) { at_ = levels; }

    // The width of the cell of a member.
    double width(std::size_t t) const {
        double width = fixed_;
        for (std::size_t j = 0; j < axes_.size(); ++j) width += axes_[j].width[at_[j] * size_ + t];
        return width;
    }

    bool same_cell(std::size_t a, std::size_t b) const {
        for (std::size_t j = 0; j < axes_.size(); ++j)
            if (name(j, at_[j], a) != name(j, at_[j], b)) return false;
        return true;
    }

    // People left in each cell of a node; whether any cell has k.
    bool count_cells(const Region& region, std::size_t node, Peel& peel) {
        const Half& low = half(region, 0, node % halves_[0].size());
        const Half& high = half(region, 1, node / halves_[0].size());
        if (!low.full || !high.full) return false;
        work += peel.left.size() / 3;
        auto name = [a = low.sums.data(), b = high.sums.data()](std::uint32_t t) { return a[t] + b[t]; };
        auto rows = [members = region.members.data()](std::uint32_t t) { return members[t].rows; };
        if (!problem_.has_persons()) return peel.count(name, rows, problem_.k);
        return peel.count_people(name, rows, [who = who_.data()](std::uint32_t t) { return who[t]; }, problem_.k);
    }

    std::uint64_t work = 0;

  private:
    struct Axis {
        std::vector<std::uint64_t> name;  // [level][member]
        std::vector<double> width;        // [level][member]
        std::vector<double> mean, key;    // [level]

        std::size_t count() const { return mean.size(); }
    };

    void fill(Axis& axis, const Region& region, std::size_t j) {
        const auto& levels = levels_[j];
        axis.name.clear(), axis.width.clear(), axis.mean.clear();
        std::size_t before = size_ + 1;
        for (std::size_t level = 0; level < levels.count && before > 1; ++level) {
            const std::uint64_t* name = levels.name.data() + level * levels.codes;
            const double* width = levels.width.data() + level * levels.codes;
            std::size_t start = axis.name.size();
            double sum = 0;
            for (const Member& member : region.members) {
                Code code = problem_.at(member.point)[j];
                axis.name.push_back(name[code]);
                axis.width.push_back(width[code]);
                sum += width[code] * member.rows;
            }
            std::size_t cells = count_cells_of(axis.name.data() + start);
            if (cells == before) {
                axis.name.resize(start), axis.width.resize(start);
                continue;
            }
            before = cells;
            axis.mean.push_back(sum / region.rows);
        }
        work += size_ * levels.count;
    }

    void name_persons(const Region& region) {
        who_.clear();
        for (const Member& member : region.members) who_.push_back(name_person(problem_.person[member.point]));
    }

    // Whether a cell has k people.
    bool has_full_cell(const Region& region, const std::uint64_t* name) {
        const Member* members = region.members.data();
        if (!problem_.has_persons()) return is_some_full(name, [&](std::size_t t, auto) { return members[t].rows; });
        people_.start(size_);
        const std::uint64_t* who = who_.data();
        return is_some_full(name, [&](std::size_t t, auto cell) { return people_.add(cell, members[t].rows, who[t]); });
    }

    template <class Rows>
    bool is_some_full(const std::uint64_t* name, const Rows& rows) {
        bool full = false;
        auto see = [&, k = problem_.k](auto, auto, std::int64_t here) { return !(full = here >= k); };
        table_.count(size_, [&](std::size_t t) { return name[t]; }, rows, see);
        return full;
    }

    std::size_t count_cells_of(const std::uint64_t* name) {
        auto none = [](auto, auto) { return 0; };
        return table_.count(size_, [&](std::size_t t) { return name[t]; }, none, [](auto...) { return true; });
    }

    // Whether levels must be dropped; the product of all levels of many axes would not fit into 64 bits.
    bool has_many_nodes(std::size_t open) const {
        std::size_t nodes = 1;
        for (std::size_t j = 0; j < open && nodes <= constants::region_nodes; ++j) nodes *= pool_[j].count();
        return nodes > constants::region_nodes;
    }

    // One level fewer on an axis that has most, an inner one while there is one.
    void drop_level(std::size_t open, Random& random) {
        std::size_t most = 0;
        for (std::size_t j = 0; j < open; ++j) most = std::max(most, pool_[j].count());
        std::size_t pick = random.below(open);
        while (pool_[pick].count() < most) pick = (pick + 1) % open;
        Axis& axis = pool_[pick];
        std::size_t level = most > 2 ? 1 + random.below(most - 2) : 0;
        axis.mean.erase(axis.mean.begin() + level);
        axis.key.erase(axis.key.begin() + level);
        axis.name.erase(axis.name.begin() + level * size_, axis.name.begin() + (level + 1) * size_);
        axis.width.erase(axis.width.begin() + level * size_, axis.width.begin() + (level + 1) * size_);
    }

    // What the nodes with equal levels on half of the axes have in common, looked at when the first of them comes.
    struct Half {
        bool known = false, full = false;  // has a cell k people, whatever the other half
        std::vector<std::uint64_t> sums;   // of the names on these axes
    };

    void open_halves() {
        std::size_t all = 1, low = 1;
        for (const Axis& axis : axes_) all *= axis.count();
        for (split_ = 0; split_ < axes_.size() && low * low < all; ++split_) low *= axes_[split_].count();
        halves_[0].resize(low);
        halves_[1].resize(all / low);
        for (auto& half : halves_)
            for (Half& one : half) one.known = false;
    }

    const Half& half(const Region& region, std::size_t side, std::size_t which) {
        Half& found = halves_[side][which];
        if (found.known) return found;
        found.known = true;
        found.sums.assign(size_, 0);
        for (std::size_t j = side ? split_ : 0; j < (side ? axes_.size() : split_); ++j) {
            const std::uint64_t* name = axes_[j].name.data() + which % axes_[j].count() * size_;
            for (std::size_t t = 0; t < size_; ++t) found.sums[t] += name[t];
            which /= axes_[j].count();
        }
        found.full = has_full_cell(region, found.sums.data());
        work += size_ / 2;
        return found;
    }

    const Problem& problem_;
    const Levels& levels_;
    std::size_t size_ = 0;  // members of the region
    double fixed_ = 0;      // mean width of the axes on which all members share a cell
    std::vector<Axis> pool_;
    std::span<Axis> axes_;
    std::vector<std::size_t> at_, starts_;
    std::array<std::vector<Half>, 2> halves_;
    std::size_t split_ = 0;  // axes before it are in the first half
    std::vector<double> keys_;
    std::vector<std::uint32_t> nodes_;
    CellTable table_;
    PeopleByCell people_;
    std::vector<std::uint64_t> who_;  // a random number for the person of each member
};

}  // namespace kech
