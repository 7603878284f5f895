// Recreating: the rows of a few neighbouring classes in new classes, by one of several recipes.
#pragma once

#include <array>
#include <span>

#include "parting.hpp"

namespace kech {

enum class Recipe { peel, part, grow, exact, borrow };
constexpr std::size_t recipes = 5;

constexpr std::uint32_t no_donor = ~0u;

// A class that has more rows than it needs, and may take others in.
struct Donor {
    std::size_t place;  // in its block
    std::int64_t rows;
    const Code *lo, *hi;
    Class taken, given;
};

// The rows of some classes, freed; each with the width it is published with now.
struct Region {
    Class held;
    std::vector<double> paid;        // width of the class each came from
    std::vector<std::uint32_t> from;  // which class it was
    std::int64_t rows = 0;
    // Rows that may be borrowed stand behind the freed ones.
    std::vector<std::uint32_t> donor;  // whose they are, or nobody's
    std::vector<Donor> donors;
};

class Recreator {
  public:
    explicit Recreator(const Ground& ground) : ground_(ground), parter_(ground), whole_(ground) {}

    static bool fits_exact(const Ground& ground, const Region& region) {
        std::size_t units = ground.part ? static_cast<std::size_t>(region.rows) : region.held.size();
        return units <= most_units;
    }

    // The price of the new classes, left in `fresh`; never, when it would be more than `bound`.
    double run(Recipe recipe, Region& region, double bound, Chance& chance) {
        used_ = 0;
        switch (recipe) {
            case Recipe::peel: return peel(region, bound, chance);
            case Recipe::part: return part(region, bound, chance);
            case Recipe::grow: return grow(region, bound, chance);
            case Recipe::borrow: return borrow(region, bound, chance);
            default: return exact(region, bound);
        }
    }

    std::vector<Class> take() {
        fresh_.resize(used_);
        return std::move(fresh_);
    }

    std::uint64_t work = 0;

  private:
    static constexpr std::size_t most_units = 10, most_nodes = 1024, buckets = 2048, trials = 30;
    static constexpr double restless = 0.4;
    static constexpr std::size_t more_rows = 4;  // that classes may grow beyond k

    // New classes

    std::size_t open() {
        if (used_ >= fresh_.size()) fresh_.resize(used_ + 1);
        if (used_ >= hulls_.size()) hulls_.emplace_back(ground_), rows_.push_back(0);
        fresh_[used_].clear();
        rows_[used_] = 0;
        return used_++;
    }

    void put(std::size_t at, const Held& held) {
        const Code* point = ground_.at(held.point);
        if (rows_[at] == 0) hulls_[at].start(point);
        else hulls_[at].cover(point);
        fresh_[at].push_back(held);
        rows_[at] += held.rows;
    }

    double price() const {
        double total = 0;
        for (std::size_t c = 0; c < used_; ++c) total += hulls_[c].price(rows_[c]);
        return total;
    }

    // What is left, fewer than k rows, goes where it widens least.
    double attach(const Class& left, double bound) { return used_ ? attach_open(left, bound) : never; }

    double attach_open(const Class& left, double bound) {
        double total = price();
        for (const Held& held : left) {
            std::size_t best = 0;
            double cheapest = never;
            for (std::size_t c = 0; c < used_; ++c) {
                double after = hulls_[c].growth(rows_[c], held);
                if (after < cheapest) cheapest = after, best = c;
            }
            work += used_;
            total += cheapest;
            if (total > bound) return never;
            put(best, held);
        }
        return total;
    }

    // Peeling the region's own lattice

    struct Axis {
        std::vector<std::uint8_t> levels;  // those that differ in this region
        std::vector<std::uint64_t> name;   // [level][held]
        std::vector<double> width;         // [level][held]
        std::vector<double> mean, key;     // [level]
    };

    double peel(const Region& region, double bound, Chance& chance) {
        std::size_t n = region.held.size();
        open_axes(region, chance);
        mask_ = std::bit_ceil(2 * n + 1) - 1;
        if (slots_.size() <= mask_) slots_.resize(mask_ + 1);
        left_.resize(n);
        std::iota(left_.begin(), left_.end(), 0u);
        std::int64_t rows = region.rows;
        double paid = 0;
        if (chance.share() < 0.5) force(region, chance, rows, paid);
        order_nodes();
        std::vector<std::size_t> at(axes_.size());
        for (std::size_t q = 0; q < nodes_.size() && rows >= ground_.k; ++q) {
            double mean = unpack(nodes_[q], at);
            if (q % 8 == 0 && paid + 0.9 * mean * rows > bound) return never;
            if (count(region, nodes_[q], n)) take_cells(region, at, n, rows, paid);
        }
        Class rest;
        for (auto t : left_) rest.push_back(region.held[t]);
        return attach(rest, bound);
    }

    // Only levels at which the region's cells differ; of equal ones the narrowest.
    void open_axes(const Region& region, Chance& chance) {
        std::size_t n = region.held.size(), nodes = 1, open = 0;
        fixed_ = 0;
        if (pool_.size() < ground_.axes) pool_.resize(ground_.axes);
        for (std::size_t j = 0; j < ground_.axes; ++j) {
            Axis& axis = pool_[open];
            fill(axis, region, j, n);
            if (axis.levels.size() == 1) {
                fixed_ += axis.mean[0];
                continue;
            }
            double factor = chance.factor(restless);
            axis.key.clear();
            for (double mean : axis.mean) axis.key.push_back(mean * factor);
            nodes *= axis.levels.size();
            ++open;
        }
        while (nodes > most_nodes) nodes = thin(open, chance);
        axes_ = {pool_.data(), open};
        open_halves();
    }

    // The level of each axis at a node; what its cells lose, on the mean.
    double unpack(std::size_t node, std::vector<std::size_t>& at) const {
        double mean = fixed_;
        for (std::size_t j = 0; j < axes_.size(); ++j) {
            at[j] = node % axes_[j].levels.size();
            node /= axes_[j].levels.size();
            mean += axes_[j].mean[at[j]];
        }
        return mean;
    }

    void fill(Axis& axis, const Region& region, std::size_t j, std::size_t n) {
        const auto& levels = ground_.levels[j];
        axis.levels.clear(), axis.name.clear(), axis.width.clear(), axis.mean.clear();
        std::size_t before = n + 1;
        for (std::size_t level = 0; level < levels.count; ++level) {
            const std::uint64_t* name = levels.name.data() + level * levels.codes;
            const double* width = levels.width.data() + level * levels.codes;
            std::size_t start = axis.name.size();
            double sum = 0;
            for (const Held& held : region.held) {
                Code code = ground_.at(held.point)[j];
                axis.name.push_back(name[code]);
                axis.width.push_back(width[code]);
                sum += width[code] * held.rows;
            }
            std::size_t cells = count_cells(region, axis.name.data() + start).first;
            if (cells == before) {
                axis.name.resize(start), axis.width.resize(start);
                continue;
            }
            before = cells;
            axis.levels.push_back(static_cast<std::uint8_t>(level));
            axis.mean.push_back(sum / region.rows);
            if (cells == 1) break;
        }
        work += n * levels.count;
    }

    // How many cells there are, and the rows in the fullest.
    std::pair<std::size_t, std::int64_t> count_cells(const Region& region, const std::uint64_t* name) {
        std::size_t n = region.held.size(), mask = std::bit_ceil(2 * n + 1) - 1, cells = 0;
        std::int64_t most = 0;
        if (slots_.size() <= mask) slots_.resize(mask + 1);
        ++stamp_;
        for (std::size_t t = 0; t < n; ++t) {
            std::size_t at = name[t] & mask;
            while (slots_[at].stamp == stamp_ && slots_[at].key != name[t]) at = (at + 1) & mask;
            if (slots_[at].stamp != stamp_) slots_[at] = {name[t], 0, 0, stamp_}, ++cells;
            most = std::max(most, slots_[at].rows += region.held[t].rows);
        }
        return {cells, most};
    }

    // One level fewer on one axis, an inner one while there is one.
    std::size_t thin(std::size_t open, Chance& chance) {
        std::size_t most = 0;
        for (std::size_t j = 0; j < open; ++j) most = std::max(most, pool_[j].levels.size());
        std::size_t pick = chance.below(open);
        while (pool_[pick].levels.size() < most) pick = (pick + 1) % open;
        Axis& axis = pool_[pick];
        std::size_t n = axis.name.size() / most, at = most > 2 ? 1 + chance.below(most - 2) : 0;
        axis.levels.erase(axis.levels.begin() + at);
        axis.mean.erase(axis.mean.begin() + at);
        axis.key.erase(axis.key.begin() + at);
        axis.name.erase(axis.name.begin() + at * n, axis.name.begin() + (at + 1) * n);
        axis.width.erase(axis.width.begin() + at * n, axis.width.begin() + (at + 1) * n);
        std::size_t nodes = 1;
        for (std::size_t j = 0; j < open; ++j) nodes *= pool_[j].levels.size();
        return nodes;
    }

    // By their mean width with the region's random weights; near enough is good enough.
    void order_nodes() {
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
        double from = *low, scale = (buckets - 1) / std::max(*high - from, 1e-12);
        starts_.assign(buckets + 1, 0);
        for (double value : key) ++starts_[static_cast<std::size_t>((value - from) * scale) + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        nodes_.resize(key.size());
        for (std::size_t q = 0; q < key.size(); ++q)
            nodes_[starts_[static_cast<std::size_t>((key[q] - from) * scale)]++] = static_cast<std::uint32_t>(q);
    }

    // Rows left in each cell of the node; whether any cell has k.
    bool count(const Region& region, std::size_t node, std::size_t n) {
        const Half &low = half(region, 0, node % halves_[0].size(), n), &high = half(region, 1, node / halves_[0].size(), n);
        if (!low.full || !high.full) return false;
        sums_.resize(left_.size());
        place_.resize(n);
        for (std::size_t i = 0; i < left_.size(); ++i) sums_[i] = low.sums[left_[i]] + high.sums[left_[i]];
        ++stamp_;
        work += left_.size() / 3;
        bool found = false;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            std::size_t where = sums_[i] & mask_;
            while (slots_[where].stamp == stamp_ && slots_[where].key != sums_[i]) where = (where + 1) & mask_;
            Slot& slot = slots_[where];
            if (slot.stamp != stamp_) slot = {sums_[i], 0, -1, stamp_};
            slot.rows += region.held[left_[i]].rows;
            place_[i] = static_cast<std::uint32_t>(where);
            found |= slot.rows >= ground_.k;
        }
        return found;
    }

    // What the nodes with equal levels on half of the axes have in common, looked at when the first of them comes.
    struct Half {
        bool known = false, full = false;  // has a cell k rows, whatever the other half
        std::vector<std::uint64_t> sums;   // of the names on these axes
    };

    void open_halves() {
        std::size_t all = 1, low = 1;
        for (const Axis& axis : axes_) all *= axis.levels.size();
        for (split_ = 0; split_ < axes_.size() && low * low < all; ++split_) low *= axes_[split_].levels.size();
        halves_[0].resize(low);
        halves_[1].resize(all / low);
        for (auto& half : halves_)
            for (Half& one : half) one.known = false;
    }

    const Half& half(const Region& region, std::size_t side, std::size_t which, std::size_t n) {
        Half& found = halves_[side][which];
        if (found.known) return found;
        found.known = true;
        found.sums.assign(n, 0);
        for (std::size_t j = side ? split_ : 0; j < (side ? axes_.size() : split_); ++j) {
            const std::uint64_t* name = axes_[j].name.data() + which % axes_[j].levels.size() * n;
            for (std::size_t t = 0; t < n; ++t) found.sums[t] += name[t];
            which /= axes_[j].levels.size();
        }
        found.full = count_cells(region, found.sums.data()).second >= ground_.k;
        work += n / 2;
        return found;
    }

    void take_cells(const Region& region, const std::vector<std::size_t>& at, std::size_t n, std::int64_t& rows,
                    double& paid) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            std::uint32_t t = left_[i];
            Slot& slot = slots_[place_[i]];
            if (slot.rows < ground_.k) {
                left_[kept++] = t;
                continue;
            }
            if (slot.group < 0) slot.group = static_cast<std::int64_t>(open());
            put(slot.group, region.held[t]);
            rows -= region.held[t].rows;
            double width = fixed_;
            for (std::size_t j = 0; j < axes_.size(); ++j) width += axes_[j].width[at[j] * n + t];
            paid += width * region.held[t].rows;
        }
        left_.resize(kept);
    }

    // First of all the cell, near that of a present class, that saves its rows most.
    void force(const Region& region, Chance& chance, std::int64_t& rows, double& paid) {
        std::size_t n = region.held.size();
        std::vector<std::size_t> at(axes_.size()), chosen;
        double most = -never;
        std::uint32_t seed = 0;
        for (std::size_t trial = 0; trial < trials; ++trial) {
            auto t = static_cast<std::uint32_t>(chance.below(n));
            double width = fixed_;
            for (std::size_t j = 0; j < axes_.size(); ++j) {
                at[j] = near_level(region, j, t, n, chance.share());
                width += axes_[j].width[at[j] * n + t];
            }
            std::int64_t inside = 0;
            double saved = 0;
            for (std::uint32_t i = 0; i < n; ++i) {
                if (!same_cell(at, i, t, n)) continue;
                inside += region.held[i].rows;
                saved += region.held[i].rows * (region.paid[i] - width);
            }
            if (inside >= ground_.k && saved > most) most = saved, chosen = at, seed = t;
        }
        work += trials * n / 4;
        if (chosen.empty()) return;
        std::size_t group = open(), kept = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            if (!same_cell(chosen, i, seed, n)) {
                left_[kept++] = i;
                continue;
            }
            put(group, region.held[i]);
            rows -= region.held[i].rows;
        }
        left_.resize(kept);
        paid += hulls_[group].price(rows_[group]);
    }

    bool same_cell(const std::vector<std::size_t>& at, std::uint32_t a, std::uint32_t b, std::size_t n) const {
        for (std::size_t j = 0; j < axes_.size(); ++j)
            if (axes_[j].name[at[j] * n + a] != axes_[j].name[at[j] * n + b]) return false;
        return true;
    }

    // The level of the held row's class on an axis, or now and then the one below or above.
    std::size_t near_level(const Region& region, std::size_t j, std::uint32_t t, std::size_t n, double chance) const {
        const Axis& axis = axes_[j];
        std::size_t level = 0, top = axis.levels.size() - 1;
        for (std::uint32_t i = 0; i < n; ++i)
            if (region.from[i] == region.from[t])
                while (axis.name[level * n + i] != axis.name[level * n + t]) ++level;
        if (chance < 0.2 && level > 0) return level - 1;
        if (chance > 0.8 && level < top) return level + 1;
        return level;
    }

    // Peeling where few rows of a cell are enough, because others lend theirs

    double borrow(Region& region, double bound, Chance& chance) {
        std::size_t n = region.held.size();
        open_axes(region, chance);
        mask_ = std::bit_ceil(2 * n + 1) - 1;
        if (slots_.size() <= mask_) slots_.resize(mask_ + 1);
        left_.resize(n);
        std::iota(left_.begin(), left_.end(), 0u);
        std::int64_t rows = 0, fewest = static_cast<std::int64_t>(std::ceil(ground_.k * (0.2 + 0.8 * chance.share())));
        for (std::size_t i = 0; i < n; ++i) rows += region.donor[i] == no_donor ? region.held[i].rows : 0;
        double paid = 0;
        order_nodes();
        std::vector<std::size_t> at(axes_.size());
        for (std::size_t q = 0; q < nodes_.size() && rows >= fewest; ++q) {
            double mean = unpack(nodes_[q], at);
            if (q % 8 == 0 && paid + 0.8 * mean * rows > bound) return never;
            if (count(region, nodes_[q], n)) open_cells(region, at, n, fewest, rows, paid);
        }
        return settle(region, bound);
    }

    void open_cells(Region& region, const std::vector<std::size_t>& at, std::size_t n, std::int64_t fewest,
                    std::int64_t& rows, double& paid) {
        std::size_t cells = 0;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            Slot& slot = slots_[place_[i]];
            if (slot.rows < ground_.k) continue;
            if (slot.group < 0) {
                slot.group = static_cast<std::int64_t>(cells++);
                if (members_.size() < cells) members_.emplace_back();
                members_[slot.group].clear();
            }
            members_[slot.group].push_back(left_[i]);
        }
        gone_.assign(n, 0);
        bool any = false;
        for (std::size_t c = 0; c < cells; ++c) any |= open_cell(region, members_[c], at, n, fewest, rows, paid);
        if (any) std::erase_if(left_, [&](std::uint32_t t) { return gone_[t]; });
    }

    // All freed rows of a cell, and of others just as many as are missing; those who pay most already come first.
    bool open_cell(Region& region, std::vector<std::uint32_t>& members, const std::vector<std::size_t>& at,
                   std::size_t n, std::int64_t fewest, std::int64_t& rows, double& paid) {
        std::int64_t own = 0;
        double gain = 0, width = fixed_;
        for (std::size_t j = 0; j < axes_.size(); ++j) width += axes_[j].width[at[j] * n + members[0]];
        for (auto t : members) {
            if (region.donor[t] != no_donor) continue;
            own += region.held[t].rows;
            gain += region.held[t].rows * (region.paid[t] - width);
        }
        if (own < fewest) return false;
        lent_.clear();
        std::int64_t missing = ground_.k - own;
        if (missing > 0) {
            std::stable_sort(members.begin(), members.end(),
                             [&](auto a, auto b) { return region.paid[a] > region.paid[b]; });
            for (auto t : members) {
                if (region.donor[t] == no_donor || missing <= 0) continue;
                Donor& donor = region.donors[region.donor[t]];
                std::int64_t some = region.held[t].rows;
                if (ground_.part) some = std::min({some, missing, donor.rows - ground_.k});
                if (some <= 0 || donor.rows - some < ground_.k) continue;
                donor.rows -= some;
                missing -= some;
                gain += some * (region.paid[t] - width);
                lent_.push_back({t, some});
            }
            if (missing > 0 || gain <= 0) {
                for (auto [t, some] : lent_) region.donors[region.donor[t]].rows += some;
                return false;
            }
        }
        std::size_t group = open();
        for (auto t : members) {
            if (region.donor[t] != no_donor) continue;
            put(group, region.held[t]);
            rows -= region.held[t].rows;
            gone_[t] = 1;
        }
        for (auto [t, some] : lent_) {
            Held held{region.held[t].point, some};
            put(group, held);
            region.donors[region.donor[t]].taken.push_back(held);
            paid -= some * region.paid[t];
            if ((region.held[t].rows -= some) == 0) gone_[t] = 1;
        }
        paid += hulls_[group].price(rows_[group]);
        return true;
    }

    // Freed rows without a class join a new one or a donor.
    double settle(Region& region, double bound) {
        std::size_t fresh = used_;
        double before = 0;
        for (Donor& donor : region.donors) {
            std::size_t at = open();
            hulls_[at].start(donor.lo, donor.hi);
            rows_[at] = donor.rows;
            before += hulls_[at].price(donor.rows + count_rows(donor.taken));
        }
        Class rest;
        for (auto t : left_)
            if (region.donor[t] == no_donor) rest.push_back(region.held[t]);
        double total = rest.empty() ? price() : attach_open(rest, bound + before);
        for (std::size_t d = 0; d < region.donors.size(); ++d) region.donors[d].given = fresh_[fresh + d];
        used_ = fresh;
        return total - before;
    }

    // Parting in two, and again

    double part(const Region& region, double bound, Chance& chance) {
        std::vector<Class> open{region.held};
        double total = 0;
        while (!open.empty()) {
            Class held = std::move(open.back()), second;
            open.pop_back();
            if (parter_.part(held, second, most_for(held), &chance, restless) < never) {
                open.push_back(std::move(held));
                open.push_back(std::move(second));
                continue;
            }
            std::size_t at = this->open();
            for (const Held& h : held) put(at, h);
            total += hulls_[at].price(rows_[at]);
            if (total > bound) break;
        }
        work += parter_.work;
        parter_.work = 0;
        return total > bound ? never : total;
    }

    // Parts may cost more than the whole only where small classes do.
    double most_for(const Class& held) {
        if (ground_.widths.even()) return never;
        whole_.start(held);
        return whole_.price(count_rows(held));
    }

    // From a row far from the last one on, always the row that widens least, until there are enough: k, or more where
    // small classes are dear

    double grow(const Region& region, double bound, Chance& chance) {
        Class left = region.held;
        std::int64_t rows = region.rows;
        double total = 0;
        std::int64_t last = left[chance.below(left.size())].point;
        while (rows >= ground_.k) {
            std::size_t at = open();
            rows -= move(left, outlier(left, last), at, ground_.k);
            for (std::int64_t enough = fill_up(chance); rows_[at] < enough && rows > 0;)
                rows -= move(left, nearest(left, at), at, enough);
            last = fresh_[at].back().point;
            total += hulls_[at].price(rows_[at]);
            if (total > bound) return never;
        }
        return attach(left, bound);
    }

    std::size_t outlier(const Class& left, std::int64_t from) {
        Hull& hull = hulls_[used_ - 1];
        hull.start(ground_.at(from));
        std::size_t found = 0;
        double width = -1;
        for (std::size_t i = 0; i < left.size(); ++i) {
            double here = hull.with(ground_.at(left[i].point));
            if (here > width) width = here, found = i;
        }
        work += left.size();
        return found;
    }

    std::size_t nearest(const Class& left, std::size_t at) {
        std::size_t found = 0;
        double width = never;
        for (std::size_t i = 0; i < left.size(); ++i) {
            double here = hulls_[at].with(ground_.at(left[i].point));
            if (here < width) width = here, found = i;
        }
        work += left.size();
        return found;
    }

    // A class that begins with many equal rows takes all but some for its neighbours.
    std::int64_t spare(std::int64_t rows, std::size_t at) const { return rows_[at] == 0 ? rows - 2 * ground_.k : 0; }

    std::int64_t fill_up(Chance& chance) const {
        return ground_.widths.even() ? ground_.k : ground_.k + static_cast<std::int64_t>(chance.below(more_rows));
    }

    std::int64_t move(Class& left, std::size_t which, std::size_t at, std::int64_t enough) {
        Held held = left[which];
        if (ground_.part) held.rows = std::min(held.rows, std::max(enough - rows_[at], spare(held.rows, at)));
        put(at, held);
        left[which].rows -= held.rows;
        if (left[which].rows == 0) left[which] = left.back(), left.pop_back();
        return held.rows;
    }

    // A handful of rows: the best of all partitions, by dynamic programming over subsets.  A class of 2k rows that can
    // be parted is never needed where all classes count as what they are.

    double exact(const Region& region, double bound) {
        Class units;
        for (const Held& h : region.held) {
            if (!ground_.part) units.push_back(h);
            else units.insert(units.end(), h.rows, Held{h.point, 1});
        }
        std::size_t n = units.size(), all = std::size_t{1} << n;
        list_classes(units, bound);
        best_.assign(all, never);
        choice_.assign(all, 0);
        best_[0] = 0;
        for (std::size_t set = 0; set + 1 < all; ++set) extend(set, bound);
        work += all * (ground_.axes + 2) / 16;
        if (best_[all - 1] > bound) return never;
        for (std::size_t set = all - 1; set; set ^= choice_[set]) {
            Class made;
            for (std::size_t i = 0; i < n; ++i)
                if (choice_[set] >> i & 1) made.push_back(units[i]);
            join_equal(made);
            std::size_t at = open();
            for (const Held& h : made) put(at, h);
        }
        return best_[all - 1];
    }

    // Every class that costs no more than the bound, by its first unit.
    void list_classes(const Class& units, double bound) {
        std::size_t n = units.size(), all = std::size_t{1} << n, axes = ground_.axes;
        rows_in_.assign(all, 0);
        low_.resize(all * axes), high_.resize(all * axes);
        if (listed_.size() < n) listed_.resize(n);
        for (auto& list : listed_) list.clear();
        bool parted = ground_.part && ground_.widths.even();
        std::int64_t most = parted ? 2 * ground_.k - 1 : std::numeric_limits<std::int64_t>::max();
        for (std::size_t set = 1; set < all; ++set) {
            std::size_t rest = set & (set - 1), first = std::countr_zero(set);
            rows_in_[set] = rows_in_[rest] + units[first].rows;
            if (rows_in_[set] > most) continue;
            const Code* point = ground_.at(units[first].point);
            Code *lo = low_.data() + set * axes, *hi = high_.data() + set * axes;
            for (std::size_t j = 0; j < axes; ++j) {
                lo[j] = rest ? std::min(low_[rest * axes + j], point[j]) : point[j];
                hi[j] = rest ? std::max(high_[rest * axes + j], point[j]) : point[j];
            }
            if (rows_in_[set] < ground_.k) continue;
            double cost = ground_.widths.weigh(rows_in_[set]) * ground_.widths.sum(lo, hi);
            if (cost <= bound) listed_[first].push_back({set, cost});
        }
    }

    // What is reached from a set by a class of the first unit that is not in it.
    void extend(std::size_t set, double bound) {
        if (best_[set] == never) return;
        const auto& list = listed_[std::countr_one(set)];
        for (const auto& [made, cost] : list) {
            double total = best_[set] + cost;
            if ((made & set) || total > bound || total >= best_[set | made]) continue;
            best_[set | made] = total, choice_[set | made] = made;
        }
        work += list.size() / 16;
    }

    struct Slot {
        std::uint64_t key = 0;
        std::int64_t rows = 0, group = -1;
        std::uint64_t stamp = 0;
    };

    const Ground& ground_;
    Parter parter_;
    Hull whole_;
    std::vector<Class> fresh_;
    std::vector<Hull> hulls_;
    std::vector<std::int64_t> rows_;
    std::size_t used_ = 0;
    double fixed_ = 0;
    std::vector<Axis> pool_;
    std::span<Axis> axes_;
    std::array<std::vector<Half>, 2> halves_;
    std::size_t split_ = 0;
    std::size_t mask_ = 0;
    std::vector<Slot> slots_;
    std::uint64_t stamp_ = 0;
    std::vector<std::vector<std::uint32_t>> members_;
    std::vector<std::pair<std::uint32_t, std::int64_t>> lent_;
    std::vector<char> gone_;
    std::vector<std::uint32_t> left_, place_, nodes_;
    std::vector<std::uint64_t> sums_;
    std::vector<double> keys_, best_;
    std::vector<std::vector<std::pair<std::size_t, double>>> listed_;
    std::vector<std::size_t> starts_, choice_;
    std::vector<std::int64_t> rows_in_;
    std::vector<Code> low_, high_;
};

}  // namespace kech
