// Classes of k rows or more with little variance: MDAV, then exchanges of rows, then neighbours made anew.
#pragma once

#include <tuple>
#include <utility>

#include "random_numbers.hpp"
#include "shares.hpp"
#include "spread.hpp"

namespace kech {

using Numbers = std::vector<std::uint32_t>;  // numbers of members that move whole

// MDAV (Domingo-Ferrer, Mateo-Sanz 2002): the row farthest from the centre with its nearest rows, then the one farthest
// from that row with its nearest, until fewer than 2k rows are left.
class Mdav {
  public:
    Mdav(const Spread& spread, const Class& units, std::int64_t k) : spread_(spread), units_(units), k_(k) {}

    std::vector<Numbers> run(Numbers left) {
        std::vector<Numbers> classes;
        left_ = std::move(left);
        rows_ = 0;
        for (std::uint32_t u : left_) rows_ += units_[u].rows;
        find_places();
        while (rows_ >= 2 * k_) {
            std::uint32_t first = farthest_from_centre(), second = farthest_from(first);
            bool both = rows_ >= 3 * k_;
            classes.push_back(take_nearest(first));
            if (both && rows_ >= 2 * k_ && !is_taken_[second]) classes.push_back(take_nearest(second));
        }
        if (rows_ >= k_ || classes.empty()) classes.push_back(left_);
        else classes.back().insert(classes.back().end(), left_.begin(), left_.end());
        return classes;
    }

  private:
    // Where the centre is; on other axes, how far each code is from all rows that are left.
    void find_places() {
        sum_.assign(spread_.lines(), 0.0);
        far_.assign(spread_.others(), {});
        code_.assign(spread_.others(), {});
        is_taken_.assign(units_.size(), 0);
        for (std::size_t j = 0; j < far_.size(); ++j) {
            for (std::uint32_t u : left_) code_[j].push_back(spread_.code(units_[u].point, j));
            std::sort(code_[j].begin(), code_[j].end());
            code_[j].erase(std::unique(code_[j].begin(), code_[j].end()), code_[j].end());
            far_[j].assign(code_[j].size(), 0.0);
        }
        for (std::uint32_t u : left_) count(u, 1);
    }

    void count(std::uint32_t u, double sign) {
        double rows = sign * static_cast<double>(units_[u].rows);
        const double* at = spread_.place(units_[u].point);
        for (std::size_t j = 0; j < sum_.size(); ++j) sum_[j] += rows * at[j];
        for (std::size_t j = 0; j < far_.size(); ++j) {
            Code own = spread_.code(units_[u].point, j);
            for (std::size_t c = 0; c < code_[j].size(); ++c) far_[j][c] += rows * spread_.square(j, own, code_[j][c]);
        }
    }

    std::uint32_t farthest_from_centre() const {
        std::vector<double> centre(sum_);
        for (double& x : centre) x /= static_cast<double>(rows_);
        return farthest([&](std::uint32_t u) {
            double square = spread_.square(spread_.place(units_[u].point), centre.data());
            for (std::size_t j = 0; j < far_.size(); ++j) {
                auto at = std::lower_bound(code_[j].begin(), code_[j].end(), spread_.code(units_[u].point, j));
                square += far_[j][at - code_[j].begin()] / static_cast<double>(rows_);
            }
            return square;
        });
    }

    std::uint32_t farthest_from(std::uint32_t other) const {
        return farthest([&](std::uint32_t u) { return spread_.square(units_[u].point, units_[other].point); });
    }

    template <class Distance>
    std::uint32_t farthest(const Distance& distance) const {
        std::uint32_t found = left_[0];
        double most = -1;
        for (std::uint32_t u : left_)
            if (double here = distance(u); here > most) most = here, found = u;
        return found;
    }

    // A unit with its nearest ones, k rows or more; they are no longer left.
    Numbers take_nearest(std::uint32_t seed) {
        std::vector<std::pair<double, std::uint32_t>> near;
        for (std::uint32_t u : left_) near.push_back({u == seed ? -1 : spread_.square(units_[u].point, units_[seed].point), u});
        std::size_t enough = std::min(near.size(), static_cast<std::size_t>(k_));
        std::partial_sort(near.begin(), near.begin() + enough, near.end());
        Numbers taken;
        std::int64_t rows = 0;
        for (std::size_t i = 0; i < enough && rows < k_; ++i) {
            std::uint32_t u = near[i].second;
            taken.push_back(u);
            is_taken_[u] = 1;
            rows += units_[u].rows;
            count(u, -1);
        }
        rows_ -= rows;
        std::erase_if(left_, [&](std::uint32_t u) { return is_taken_[u]; });
        return taken;
    }

    const Spread& spread_;
    const Class& units_;
    std::int64_t k_, rows_ = 0;
    Numbers left_;
    std::vector<char> is_taken_;
    std::vector<double> sum_;
    std::vector<std::vector<double>> far_;
    std::vector<std::vector<Code>> code_;
};

// Classes of one block: rows are moved and exchanged between neighbours, and neighbours are made anew, where that lowers
// their squares.  Nothing else of the table is looked at, so blocks can be searched at the same time.
class ExchangeSearch {
  public:
    ExchangeSearch(const Spread& spread, const Class& units, std::int64_t k, const std::vector<Numbers>& classes,
                   std::uint64_t seed)
        : spread_(spread), units_(units), k_(k), random_(seed) {
        for (const Numbers& members : classes) put_class(members);
    }

    // Every unit once, with the classes that are near its own.
    void exchange() {
        near_.assign(classes_.size(), {});
        for (std::size_t at = 0; at < classes_.size(); ++at) {
            if (classes_[at].members.empty()) continue;
            if (count_rows(at) >= 2 * k_) recreate({at});
            for (std::uint32_t u : Numbers(classes_[at].members))
                if (place(u).at == at) improve(u, near(at));
        }
    }

    // So many times, a class and a few of its neighbours are made anew.
    void recreate_some(std::size_t times) {
        for (std::size_t i = 0; i < times; ++i) {
            std::size_t at = random_.below(classes_.size());
            if (classes_[at].members.empty()) continue;
            std::vector<std::size_t> region{at};
            std::size_t most = 1 + random_.below(constants::variance_region);
            for (std::size_t other : near(at))
                if (region.size() <= most && !classes_[other].members.empty()) region.push_back(other);
            recreate(region);
        }
    }

    std::vector<Numbers> classes() const {
        std::vector<Numbers> found;
        for (const Group& group : classes_)
            if (!group.members.empty()) found.push_back(group.members);
        return found;
    }

    double squares() const {
        double total = 0;
        for (const Group& group : classes_) total += group.cloud.squares();
        return total;
    }

    std::uint64_t work() const { return work_; }

  private:
    struct Group {
        Numbers members;
        Cloud cloud;
    };
    struct Place {
        std::size_t at = 0;
        double from = 0;  // squared distances from all rows of its class
    };

    // -- classes ----------------------------------------------------------------------------------------------

    void put_class(const Numbers& members) {
        classes_.push_back({{}, Cloud(spread_)});
        near_.emplace_back();
        set_members(classes_.size() - 1, members);
    }

    void set_members(std::size_t at, Numbers members) {
        Group& group = classes_[at];
        std::sort(members.begin(), members.end());
        group.members = std::move(members);
        group.cloud.clear();
        for (std::uint32_t u : group.members) group.cloud.add(units_[u].point, units_[u].rows);
        for (std::uint32_t u : group.members) place(u) = {at, group.cloud.from(units_[u].point)};
        work_ += 2 * group.members.size() * group.cloud.effort();
    }

    std::int64_t count_rows(std::size_t at) const { return static_cast<std::int64_t>(classes_[at].cloud.rows()); }

    Place& place(std::uint32_t u) { return places_[u]; }

    // The nearest classes, as they were when somebody asked first.
    const std::vector<std::size_t>& near(std::size_t at) {
        if (!near_[at].empty()) return near_[at];
        std::vector<std::pair<double, std::size_t>> open;
        for (std::size_t other = 0; other < classes_.size(); ++other)
            if (other != at && !classes_[other].members.empty())
                open.push_back({classes_[at].cloud.apart(classes_[other].cloud), other});
        work_ += open.size() * classes_[at].cloud.effort();
        std::size_t most = std::min(open.size(), constants::variance_neighbours);
        std::partial_sort(open.begin(), open.begin() + most, open.end());
        for (std::size_t i = 0; i < most; ++i) near_[at].push_back(open[i].second);
        return near_[at];
    }

    // -- moves and exchanges ----------------------------------------------------------------------------------

    struct Change {
        double gain = 0;
        std::size_t to = 0;
        std::int64_t with = -1;  // the unit that comes back; -1: none
    };

    // The best move of a unit to one of some classes, or exchange with a unit there, if it lowers the squares.
    bool improve(std::uint32_t u, const std::vector<std::size_t>& others) {
        std::size_t from = place(u).at;
        Change best{least_gain};
        for (std::size_t to : others)
            if (to != from && !classes_[to].members.empty()) consider(u, from, to, best);
        if (best.gain <= least_gain) return false;
        Numbers left = classes_[from].members, right = classes_[best.to].members;
        std::erase(left, u);
        right.push_back(u);
        if (best.with >= 0) {
            auto back = static_cast<std::uint32_t>(best.with);
            std::erase(right, back);
            left.push_back(back);
        }
        set_members(from, std::move(left));
        set_members(best.to, std::move(right));
        return true;
    }

    void consider(std::uint32_t u, std::size_t from, std::size_t to, Change& best) {
        const Cloud &own = classes_[from].cloud, &other = classes_[to].cloud;
        auto rows = static_cast<double>(units_[u].rows), k = static_cast<double>(k_);
        double n = own.rows(), m = other.rows(), before = own.squares() + other.squares();
        double out = rows * place(u).from, in = rows * other.from(units_[u].point);
        work_ += other.effort();
        if (n - rows >= k) {
            double gain = before - (own.pairs() - out) / (n - rows) - (other.pairs() + in) / (m + rows);
            if (gain > best.gain) best = {gain, to, -1};
        }
        for (std::uint32_t v : classes_[to].members) {
            auto back = static_cast<double>(units_[v].rows);
            double fewer = n - rows + back, more = m + rows - back;
            if (fewer < k || more < k) continue;
            double theirs = back * place(v).from, comes = back * own.from(units_[v].point);
            double both = rows * back * spread_.square(units_[u].point, units_[v].point);
            double gain = before - (own.pairs() - out + comes - both) / fewer - (other.pairs() + in - theirs - both) / more;
            if (gain > best.gain) best = {gain, to, v};
        }
        work_ += classes_[to].members.size() * (own.effort() + spread_.axes());
    }

    // -- made anew --------------------------------------------------------------------------------------------

    // The classes of a region are freed and made anew; they stay as they were unless their squares become lower.
    void recreate(const std::vector<std::size_t>& region) {
        std::vector<Numbers> before;
        Numbers pool;
        double squares = 0;
        for (std::size_t at : region) {
            before.push_back(classes_[at].members);
            pool.insert(pool.end(), before.back().begin(), before.back().end());
            squares += classes_[at].cloud.squares();
        }
        auto fresh = grow_classes(pool);
        std::vector<std::size_t> places(region);
        while (places.size() < fresh.size()) {
            put_class({});
            places.push_back(classes_.size() - 1);
        }
        for (std::size_t i = 0; i < places.size(); ++i) set_members(places[i], i < fresh.size() ? fresh[i] : Numbers{});
        for (std::size_t pass = 0; pass < constants::variance_passes; ++pass) {
            bool changed = false;
            for (std::uint32_t u : pool) changed |= improve(u, places);
            if (!changed) break;
        }
        double after = 0;
        for (std::size_t at : places) after += classes_[at].cloud.squares();
        if (after < squares - least_gain) return;
        for (std::size_t i = 0; i < places.size(); ++i) set_members(places[i], i < before.size() ? before[i] : Numbers{});
        std::size_t count = classes_.size();
        while (!classes_.empty() && classes_.size() > region_end(region) && classes_.back().members.empty()) {
            classes_.pop_back();
            near_.pop_back();
        }
        if (classes_.size() < count) forget_missing();
    }

    // Lists of near classes name no class that is gone.
    void forget_missing() {
        for (auto& near : near_) std::erase_if(near, [&](std::size_t at) { return at >= classes_.size(); });
    }

    static std::size_t region_end(const std::vector<std::size_t>& region) {
        return *std::max_element(region.begin(), region.end()) + 1;
    }

    // Classes grown from seeds, each time by the unit that adds least; the last one takes what is left.
    std::vector<Numbers> grow_classes(Numbers pool) {
        std::vector<Numbers> classes;
        Cloud cloud(spread_);
        std::int64_t rows = 0;
        for (std::uint32_t u : pool) rows += units_[u].rows;
        bool is_random = random_.below(2) == 0;
        while (rows >= 2 * k_) {
            std::size_t seed = random_.below(pool.size());
            if (!is_random || classes.empty()) {
                cloud.clear();
                for (std::uint32_t u : pool) cloud.add(units_[u].point, units_[u].rows);
                if (!is_random) seed = pick(pool, [&](std::uint32_t u) { return -cloud.from(units_[u].point); });
            }
            classes.emplace_back();
            cloud.clear();
            std::int64_t held = 0;
            for (std::size_t next = seed; ; next = pick(pool, [&](std::uint32_t u) { return cloud.from(units_[u].point); })) {
                std::uint32_t u = pool[next];
                classes.back().push_back(u);
                cloud.add(units_[u].point, units_[u].rows);
                held += units_[u].rows;
                pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(next));
                if (held >= k_ || pool.empty()) break;
            }
            rows -= held;
        }
        if (rows >= k_ || classes.empty()) classes.push_back(pool);
        else classes.back().insert(classes.back().end(), pool.begin(), pool.end());
        return classes;
    }

    template <class Price>
    std::size_t pick(const Numbers& pool, const Price& price) {
        std::size_t found = 0;
        double least = infinity;
        for (std::size_t i = 0; i < pool.size(); ++i)
            if (double here = price(pool[i]); here < least) least = here, found = i;
        work_ += pool.size() * (spread_.axes() + 1);
        return found;
    }

    static constexpr double least_gain = rounding;

    const Spread& spread_;
    const Class& units_;
    std::int64_t k_;
    Random random_;
    std::vector<Group> classes_;
    std::vector<std::vector<std::size_t>> near_;
    std::vector<Place> places_ = std::vector<Place>(units_.size());
    std::uint64_t work_ = 0;
};

// The whole table, in blocks along an order in which neighbours stay close; other blocks at every step.
class VarianceSearch {
  public:
    // `orders`: the points, as a kd tree and as the Hilbert curve put them on a line.
    VarianceSearch(const Points& points, const Widths& metric, std::span<const double> weight, std::int64_t k, bool split,
                   const std::vector<std::vector<std::int64_t>>& orders, std::uint64_t seed)
        : spread_(points, metric, weight), points_(points.count), k_(k), seed_(seed) {
        for (std::int64_t point : orders[0]) add_units(point, points.weights[point], split);
        for (const auto& order : orders) {
            ranks_.emplace_back(order.size());
            for (std::size_t i = 0; i < order.size(); ++i) ranks_.back()[order[i]] = i;
        }
    }

    // The first step makes classes, each further one improves them.
    void step(std::size_t threads) {
        auto blocks = rounds_ ? deal_classes() : deal_units();
        std::vector<double> squares(blocks.size());
        std::vector<std::uint64_t> work(blocks.size());
        for_each(blocks.size(), threads, [&](std::size_t i, std::size_t) {
            std::tie(squares[i], work[i]) = search_block(blocks[i], seed_ ^ scramble(rounds_ << 32 | i));
        });
        classes_.clear();
        for (auto& block : blocks)
            for (Numbers& members : block) classes_.push_back(std::move(members));
        squares_ = std::accumulate(squares.begin(), squares.end(), 0.0);
        work_ = std::accumulate(work.begin(), work.end(), work_);
        ++rounds_;
    }

    double price() const { return squares_; }
    std::uint64_t work() const { return work_; }
    std::uint64_t rounds() const { return rounds_; }
    std::int64_t k() const { return k_; }
    std::size_t points() const { return points_; }

    Shares shares() const {
        std::vector<Class> found;
        for (const Numbers& members : classes_) {
            found.emplace_back();
            for (std::uint32_t u : members) found.back().push_back({units_[u].point, units_[u].rows});
        }
        Shares apart = shares_of(found);
        return merge_shares(apart.point.data(), apart.group.data(), apart.rows.data(), apart.point.size());
    }

  private:
    // Rows of a point are units of their own, or of a few rows, as many as two classes can use; the others stay together.
    void add_units(std::int64_t point, std::int64_t rows, bool split) {
        std::int64_t useful = k_ < rows / 2 ? 2 * k_ : rows - 1, each = useful / constants::variance_units + 1;
        std::int64_t alone = split ? useful / each : 0;
        for (std::int64_t i = 0; i < alone; ++i) units_.push_back({point, each});
        units_.push_back({point, rows - alone * each});
    }

    std::size_t block_size() const {
        return units_.size() <= constants::variance_whole ? units_.size() : constants::variance_block;
    }

    // One round of one block: its classes become others.  Their squares, and the work.
    std::pair<double, std::uint64_t> search_block(std::vector<Numbers>& block, std::uint64_t seed) const {
        Class units;  // numbered within the block
        Numbers number;
        for (Numbers& members : block)
            for (std::uint32_t& u : members) {
                units.push_back(units_[u]);
                number.push_back(std::exchange(u, static_cast<std::uint32_t>(units.size() - 1)));
            }
        std::uint64_t work = 0;
        if (rounds_ == 0) {
            block = Mdav(spread_, units, k_).run(std::move(block[0]));
            work = units.size() * block.size() * (spread_.axes() + 1);
        }
        ExchangeSearch search(spread_, units, k_, block, seed);
        if (rounds_ > 0 && rounds_ % constants::variance_every == 1) search.exchange();
        else if (rounds_ > 0) search.recreate_some(block.size());
        block = search.classes();
        for (Numbers& members : block)
            for (std::uint32_t& u : members) u = number[u];
        return {search.squares(), work + search.work()};
    }

    // Runs of units along the first order, of about equal size; each is one class of 2k rows or more, or all rows.
    std::vector<std::vector<Numbers>> deal_units() const {
        std::size_t blocks = std::max<std::size_t>(1, units_.size() / block_size());
        std::vector<std::vector<Numbers>> dealt(1, std::vector<Numbers>(1));
        std::int64_t rows = 0, left = 0;
        for (const Member& unit : units_) left += unit.rows;
        for (std::uint32_t u = 0; u < units_.size(); ++u) {
            if (dealt.back()[0].size() * blocks >= units_.size() && rows >= 2 * k_ && left >= 2 * k_) {
                dealt.emplace_back(1);
                rows = 0;
            }
            dealt.back()[0].push_back(u);
            rows += units_[u].rows, left -= units_[u].rows;
        }
        return dealt;
    }

    // Runs of classes along one order, that begin elsewhere each time.
    std::vector<std::vector<Numbers>> deal_classes() const {
        const auto& rank = ranks_[rounds_ % ranks_.size()];
        std::vector<std::pair<std::size_t, std::size_t>> line;
        for (std::size_t c = 0; c < classes_.size(); ++c)
            line.push_back({rank[units_[classes_[c][classes_[c].size() / 2]].point], c});
        std::sort(line.begin(), line.end());
        std::size_t size = block_size(), first = Random(seed_ + rounds_).below(size), held = size < units_.size() ? first : 0;
        std::vector<std::vector<Numbers>> blocks(1);
        for (auto [_, c] : line) {
            if (held >= size && size < units_.size()) blocks.emplace_back(), held = 0;
            blocks.back().push_back(classes_[c]);
            held += classes_[c].size();
        }
        return blocks;
    }

    Spread spread_;
    std::size_t points_;
    std::int64_t k_;
    std::uint64_t seed_, rounds_ = 0, work_ = 0;
    Class units_;
    std::vector<Numbers> classes_;
    std::vector<std::vector<std::size_t>> ranks_;
    double squares_ = 0;
};

}  // namespace kech
