// Searching: from one partition to cheaper ones, a block of neighbouring classes at a time.
#pragma once

#include <array>
#include <atomic>

#include "logarithm.hpp"
#include "recreating.hpp"
#include "splitting.hpp"
#include "threads.hpp"

namespace kech {

// Classes of one block, while one thread works on them.
class Block {
  public:
    Block(const Ground& ground, std::vector<Class> classes) : ground_(ground), hull_(ground) {
        for (auto& held : classes) add(std::move(held));
        order_axes();
    }

    std::size_t size() const { return classes_.size(); }
    const Class& operator[](std::size_t c) const { return classes_[c]; }
    const Code* lo(std::size_t c) const { return lo_.data() + c * ground_.axes; }
    const Code* hi(std::size_t c) const { return hi_.data() + c * ground_.axes; }
    double width(std::size_t c) const { return width_[c]; }
    std::int64_t rows(std::size_t c) const { return rows_[c]; }
    double price(std::size_t c) const { return rows_[c] * width_[c]; }
    std::uint32_t version(std::size_t c) const { return version_[c]; }
    bool changed(std::size_t c) const { return version_[c] > 1; }

    void add(Class held) {
        classes_.emplace_back();
        lo_.resize(lo_.size() + ground_.axes);
        hi_.resize(hi_.size() + ground_.axes);
        width_.push_back(0);
        rows_.push_back(0);
        version_.push_back(0);
        set(size() - 1, std::move(held));
    }

    void set(std::size_t c, Class held) {
        hull_.start(held);
        std::copy(hull_.lo().begin(), hull_.lo().end(), lo_.begin() + c * ground_.axes);
        std::copy(hull_.hi().begin(), hull_.hi().end(), hi_.begin() + c * ground_.axes);
        width_[c] = ground_.widths.sum(lo(c), hi(c));
        rows_[c] = count_rows(held);
        classes_[c] = std::move(held);
        ++version_[c];
    }

    void remove(std::size_t c) {
        std::size_t last = size() - 1;
        if (c != last) {
            std::copy(lo(last), lo(last) + ground_.axes, lo_.begin() + c * ground_.axes);
            std::copy(hi(last), hi(last) + ground_.axes, hi_.begin() + c * ground_.axes);
            width_[c] = width_[last], rows_[c] = rows_[last], version_[c] = version_[last] + 1;
            classes_[c] = std::move(classes_[last]);
        }
        classes_.pop_back();
        lo_.resize(last * ground_.axes);
        hi_.resize(last * ground_.axes);
        width_.pop_back(), rows_.pop_back(), version_.pop_back();
    }

    // Width of the box around two classes, with a weight for each axis; beyond the limit, something beyond it.
    double together(std::size_t a, std::size_t b, const std::vector<double>& weight, double limit) const {
        const Code *low = lo(a), *high = hi(a), *other_low = lo(b), *other_high = hi(b);
        double total = 0;
        for (const Ruler& ruler : rulers_) {
            std::size_t j = ruler.axis;
            Code from = std::min(low[j], other_low[j]), to = std::max(high[j], other_high[j]);
            total += weight[j] * (ruler.table ? ruler.table[from * ruler.codes + to] : ground_.widths.width(j, from, to));
            if (total >= limit) break;
        }
        return total;
    }

    double price() const {
        double total = 0;
        for (std::size_t c = 0; c < size(); ++c) total += price(c);
        return total;
    }

    std::vector<Class> take() { return std::move(classes_); }

  private:
    struct Ruler {
        std::size_t axis, codes;
        const double* table;
    };

    // Axes that tell neighbours apart come first: a limit is reached sooner.
    void order_axes() {
        std::vector<double> apart(ground_.axes, 0.0);
        for (std::size_t c = 0; c + 1 < size(); ++c)
            for (std::size_t j = 0; j < ground_.axes; ++j)
                apart[j] += ground_.widths.width(j, std::min(lo(c)[j], lo(c + 1)[j]), std::max(hi(c)[j], hi(c + 1)[j]));
        for (std::size_t j = 0; j < ground_.axes; ++j)
            rulers_.push_back({j, ground_.widths.codes(j), ground_.widths.table(j)});
        std::stable_sort(rulers_.begin(), rulers_.end(),
                         [&](const Ruler& a, const Ruler& b) { return apart[a.axis] > apart[b.axis]; });
    }

    const Ground& ground_;
    Hull hull_;
    std::vector<Ruler> rulers_;
    std::vector<Class> classes_;
    std::vector<Code> lo_, hi_;
    std::vector<double> width_;
    std::vector<std::int64_t> rows_;
    std::vector<std::uint32_t> version_;
};

// How well each recipe has done: what it saved, and the work it took.
struct Record {
    std::array<double, recipes> saved{}, work{};

    void add(const Record& other) {
        for (std::size_t r = 0; r < recipes; ++r) saved[r] += other.saved[r], work[r] += other.work[r];
    }

    bool empty() const { return std::accumulate(work.begin(), work.end(), 0.0) == 0; }

    void fade(double share) {
        for (std::size_t r = 0; r < recipes; ++r) saved[r] *= share, work[r] *= share;
    }
};

// The moves, on the classes of one block.
class Mover {
  public:
    Mover(const Ground& ground, Block& block, Chance chance, double heat, const Record& record)
        : ground_(ground), block_(block), chance_(chance), heat_(heat), record_(record), parter_(ground),
          recreator_(ground), even_(ground.axes, 1.0) {}

    void split_large() {
        for (std::size_t c = 0; c < block_.size(); ++c) {
            Class held, second;
            while (block_.rows(c) >= 2 * ground_.k && block_.width(c) > 0) {
                held = block_[c];
                if (parter_.part(held, second, block_.price(c)) == never) break;
                block_.set(c, std::move(held));
                block_.add(std::move(second));
            }
        }
    }

    // Every class, or only those that changed in this block, with its nearest ones: their rows parted again.
    void pair_up(std::size_t neighbours, bool all) {
        std::size_t count = block_.size();
        std::vector<std::uint32_t> seen(count * count, 0);
        for (std::size_t a = 0; a < count; ++a) {
            if (!all && !block_.changed(a)) continue;
            nearest(a, neighbours, even_);
            auto near = near_;
            for (std::size_t b : near) {
                if (b >= count || a == b) continue;
                std::uint32_t now = block_.version(a) + block_.version(b);
                std::uint32_t& last = seen[std::min(a, b) * count + std::max(a, b)];
                if (last == now) continue;
                part_again(a, b);
                last = block_.version(a) + block_.version(b);
            }
        }
    }

    // Every class with each two of its nearest: the best of all partitions of their rows.  Pairs of rows only: for
    // larger k this takes longer than it saves, and ruin chooses exact ones where they pay.
    void triple_up(std::size_t neighbours) {
        if (ground_.k != 2) return;
        for (std::size_t a = 0; a < block_.size(); ++a) {
            if (block_.width(a) <= 0) continue;
            nearest(a, neighbours, even_);
            auto near = near_;
            for (std::size_t last = 2; last < near.size(); ++last)
                for (std::size_t middle = 1; middle < last; ++middle) {
                    near_ = {a, near[middle], near[last]};
                    if (recreate(Recipe::exact) > 0) last = middle = near.size();
                }
        }
    }

    // A class whose rows cost less in its neighbours goes.
    void dissolve(std::size_t neighbours) {
        for (std::size_t a = 0; a < block_.size();) {
            if (block_.size() < 2 || block_.width(a) <= 0 || !dissolve_one(a, neighbours)) ++a;
        }
    }

    // Some neighbouring classes freed and made anew, as often as told; more of them, and wider ones, when `late`.
    void ruin(std::size_t times, bool late) {
        for (std::size_t i = 0; i < times && block_.size() > 1; ++i) ruin_one(late);
    }

    std::uint64_t work() const { return work_ + parter_.work + recreator_.work; }
    const Record& done() const { return done_; }

  private:
    // The class itself and its nearest, by the width they would have together; in `near_`, nearest first.
    void nearest(std::size_t a, std::size_t count, const std::vector<double>& weight) {
        std::size_t n = block_.size();
        count = std::min(count, n - 1);
        far_.assign(count + 1, never);
        near_.assign(count + 1, a);
        for (std::size_t b = 0; b < n && count > 0; ++b) {
            double relief = 0.5 * block_.width(b), limit = far_[count] + relief;
            double far = b == a ? never : block_.together(a, b, weight, limit);
            if (far >= limit) continue;
            std::size_t at = count;
            for (; at > 1 && far_[at - 1] > far - relief; --at) far_[at] = far_[at - 1], near_[at] = near_[at - 1];
            far_[at] = far - relief, near_[at] = b;
        }
        work_ += 2 * n;
    }

    void part_again(std::size_t a, std::size_t b) {
        double price = block_.price(a) + block_.price(b);
        if (price <= least) return;
        Class held = block_[a], second = block_[b];
        if (parter_.part_again(held, second, price) == never) return;
        block_.set(a, std::move(held));
        block_.set(b, std::move(second));
    }

    bool dissolve_one(std::size_t a, std::size_t neighbours) {
        nearest(a, neighbours, even_);
        std::vector<Hull> hulls;
        std::vector<double> rows;
        for (std::size_t i = 1; i < near_.size(); ++i) {
            hulls.emplace_back(ground_).start(block_.lo(near_[i]), block_.hi(near_[i]));
            rows.push_back(block_.rows(near_[i]));
        }
        std::vector<std::size_t> home;
        double total = 0, limit = block_.price(a) - least;
        for (const Held& held : block_[a]) {
            double cheapest = never;
            std::size_t best = 0;
            for (std::size_t i = 0; i < hulls.size(); ++i) {
                double more = (rows[i] + held.rows) * hulls[i].with(ground_.at(held.point)) - rows[i] * hulls[i].width();
                if (more < cheapest) cheapest = more, best = i;
            }
            work_ += hulls.size();
            total += cheapest;
            if (total >= limit) return false;
            hulls[best].cover(ground_.at(held.point));
            rows[best] += held.rows;
            home.push_back(near_[best + 1]);
        }
        give_away(a, home);
        return true;
    }

    void give_away(std::size_t a, const std::vector<std::size_t>& home) {
        Class leaving = block_[a];
        for (std::size_t i = 0; i < leaving.size(); ++i) {
            Class longer = block_[home[i]];
            longer.push_back(leaving[i]);
            if (ground_.part) join_equal(longer);
            block_.set(home[i], std::move(longer));
        }
        block_.remove(a);
    }

    void ruin_one(bool late) {
        std::size_t seed = chance_.below(block_.size());
        for (int i = 0; i < 1 + late; ++i) {
            std::size_t other = chance_.below(block_.size());
            if (block_.width(other) > block_.width(seed)) seed = other;
        }
        std::vector<double> weight(ground_.axes);
        for (double& w : weight) w = chance_.factor(0.4);
        Recipe recipe = choose_recipe();
        std::size_t count = recipe == Recipe::exact ? 1 + chance_.below(3) : 1 + late + chance_.below(5 + late);
        if (recipe == Recipe::borrow) count = chance_.below(5);
        nearest(seed, recipe == Recipe::borrow ? count + donors : count, weight);
        if (recipe == Recipe::borrow) call_donors(std::min(near_.size(), count + 1));
        std::uint64_t before = work();
        double saved = recreate(recipe);
        done_.saved[static_cast<std::size_t>(recipe)] += saved;
        done_.work[static_cast<std::size_t>(recipe)] += work() - before + block_.size();
    }

    // Each recipe as often as it has paid for its work, and none never.
    Recipe choose_recipe() {
        std::array<double, recipes> rate{};
        double sum = 0;
        for (std::size_t r = 0; r < recipes; ++r) sum += rate[r] = record_.saved[r] / (record_.work[r] + 1.0);
        double at = chance_.share(), even = 0.03;
        for (std::size_t r = 0; r < recipes; ++r) {
            at -= even + (1 - even * recipes) * (sum > 0 ? rate[r] / sum : 1.0 / recipes);
            if (at < 0) return static_cast<Recipe>(r);
        }
        return Recipe::peel;
    }

    // The nearest classes are freed; those behind them may lend.
    void call_donors(std::size_t freed) {
        lenders_.clear();
        for (std::size_t i = freed; i < near_.size(); ++i)
            if (block_.rows(near_[i]) > ground_.k) lenders_.push_back(near_[i]);
        near_.resize(freed);
    }

    // Rows of lenders that lie within what is freed.
    void borrow_rows(Region& region) {
        Hull hull(ground_);
        hull.start(region.held);
        region.donor.assign(region.held.size(), no_donor);
        std::size_t most = 2 * region.held.size() + 50;
        for (std::size_t c : lenders_) {
            bool any = false;
            for (const Held& held : block_[c]) {
                if (hull.with(ground_.at(held.point)) > hull.width()) continue;
                if (!any) region.donors.push_back({c, block_.rows(c), block_.lo(c), block_.hi(c), {}, {}});
                any = true;
                region.held.push_back(held);
                region.paid.push_back(block_.width(c));
                region.donor.push_back(static_cast<std::uint32_t>(region.donors.size() - 1));
                region.rows += held.rows;
            }
            if (region.held.size() > most) break;
        }
        work_ += region.held.size();
    }

    void settle_donors(const Region& region) {
        for (const Donor& donor : region.donors) {
            if (donor.taken.empty() && donor.given.empty()) continue;
            Class held = block_[donor.place];
            for (const Held& taken : donor.taken) {
                auto at = std::find_if(held.begin(), held.end(), [&](const Held& h) { return h.point == taken.point; });
                at->rows -= taken.rows;
                if (at->rows == 0) held.erase(at);
            }
            held.insert(held.end(), donor.given.begin(), donor.given.end());
            if (ground_.part) join_equal(held);
            block_.set(donor.place, std::move(held));
        }
    }

    double recreate(Recipe recipe) {
        Region region;
        double price = free_rows(region, recipe == Recipe::exact);
        if (near_.size() < (recipe == Recipe::borrow ? 1 : 2) || price <= least) return 0;
        if (recipe == Recipe::borrow) borrow_rows(region);
        double allowed = price * (1 + 4 * heat_) - least;
        double fresh = recreator_.run(recipe, region, allowed, chance_);
        if (fresh > price - least - heat_ * price * logarithm(chance_.share() + 1e-12)) return 0;
        if (std::abs(fresh - price) < least) return 0;
        auto classes = recreator_.take();
        if (recipe == Recipe::borrow) settle_donors(region);
        replace(std::move(classes));
        return price - fresh;
    }

    double free_rows(Region& region, bool small) {
        double price = 0;
        std::size_t kept = 0;
        for (std::size_t c : near_) {
            std::size_t units = region.held.size() + block_[c].size();
            if (kept > 0 && units > most_held) continue;
            if (small && kept > 0 && region.rows + block_.rows(c) > most_small) continue;
            for (const Held& held : block_[c]) {
                region.held.push_back(held);
                region.paid.push_back(block_.width(c));
                region.from.push_back(static_cast<std::uint32_t>(kept));
            }
            region.rows += block_.rows(c);
            price += block_.price(c);
            near_[kept++] = c;
        }
        near_.resize(kept);
        if (small && !Recreator::fits_exact(ground_, region)) near_.clear();
        return price;
    }

    void replace(std::vector<Class> fresh) {
        std::size_t both = std::min(fresh.size(), near_.size());
        for (auto& held : fresh)
            if (ground_.part) join_equal(held);
        for (std::size_t i = 0; i < both; ++i) block_.set(near_[i], std::move(fresh[i]));
        for (std::size_t i = both; i < fresh.size(); ++i) block_.add(std::move(fresh[i]));
        std::sort(near_.begin() + both, near_.end(), std::greater<>());
        for (std::size_t i = both; i < near_.size(); ++i) block_.remove(near_[i]);
    }

    static constexpr std::size_t most_held = 4096;
    static constexpr std::size_t donors = 40;  // classes that are asked to lend
    static constexpr std::int64_t most_small = 9;

    const Ground& ground_;
    Block& block_;
    Chance chance_;
    double heat_;
    const Record& record_;
    Record done_;
    Parter parter_;
    Recreator recreator_;
    std::vector<double> even_, far_;
    std::vector<std::size_t> near_, lenders_;
    std::uint64_t work_ = 0;
};

// A start: along an order of the points, stretch by stretch, classes grown from outlying rows.
inline Share grow_classes(const Ground& ground, const std::int64_t* weights, const std::int64_t* order,
                          std::size_t points, std::size_t stretch, std::uint64_t seed, unsigned threads) {
    std::vector<Region> regions(1);
    std::int64_t left = std::accumulate(weights, weights + points, std::int64_t{0});
    for (std::size_t i = 0; i < points; ++i) {
        if (regions.back().held.size() >= stretch && regions.back().rows >= ground.k && left >= ground.k)
            regions.emplace_back();
        regions.back().held.push_back({order[i], weights[order[i]]});
        regions.back().rows += weights[order[i]];
        left -= weights[order[i]];
    }
    std::vector<std::vector<Class>> made(regions.size());
    std::atomic<std::size_t> next{0};
    auto worker = [&] {
        Recreator recreator(ground);
        for (std::size_t r; (r = next.fetch_add(1)) < regions.size();) {
            Chance chance(scramble(seed) + r);
            recreator.run(Recipe::grow, regions[r], never, chance);
            made[r] = recreator.take();
        }
    };
    together(threads, [&](std::size_t) { worker(); });
    Share out;
    std::int64_t group = 0;
    for (auto& classes : made)
        for (auto& held : classes) {
            join_equal(held);
            for (const Held& h : held) {
                out.point.push_back(h.point);
                out.group.push_back(group);
                out.rows.push_back(h.rows);
            }
            ++group;
        }
    return out;
}

class Search {
  public:
    Search(Ground ground, const Share& start, std::uint64_t seed) : ground_(std::move(ground)), seed_(seed) {
        for (std::size_t i = 0; i < start.point.size(); ++i) {
            if (start.group[i] >= static_cast<std::int64_t>(classes_.size())) classes_.resize(start.group[i] + 1);
            classes_[start.group[i]].push_back({start.point[i], start.rows[i]});
        }
        best_ = classes_;
        cheapest_ = now_ = total(classes_);
    }

    // One batch of blocks; a round is over when all blocks are done.  `heat` lets dearer classes pass.
    void step(double heat, bool ruin, unsigned threads) {
        if (blocks_.empty()) begin_round();
        std::size_t end = std::min(next_ + batch, blocks_.size());
        std::vector<Improved> made(end - next_);
        std::atomic<std::size_t> open{next_};
        auto worker = [&] {
            for (std::size_t b; (b = open.fetch_add(1)) < end;) made[b - next_] = improve(b, heat, ruin);
        };
        together(std::min<std::size_t>(threads, made.size()), [&](std::size_t) { worker(); });
        for (auto& block : made) put_back(block, blocks_[next_++]);
        if (next_ == blocks_.size()) end_round();
    }

    double price() const { return std::min(cheapest_, now_); }
    std::uint64_t work() const { return work_; }
    std::size_t rounds() const { return rounds_; }

    Share best() const {
        return shares_of(now_ < cheapest_ ? classes_ : best_);
    }

  private:
    static constexpr std::size_t block_size = 400, batch = 16, neighbours = 8, nearest_few = 4, overhead = 100;
    static constexpr std::size_t many_rounds = 8;  // after these, few classes at a time have little left to gain

    struct Improved {
        std::vector<Class> classes;
        Record record;
        std::uint64_t work = 0;
        double saved = 0;
    };

    // Neighbouring classes in blocks: parted along random axes at random places.
    void begin_round() {
        Chance chance(scramble(seed_) + rounds_);
        std::vector<std::size_t> order(classes_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::vector<const Code*> place;
        for (const Class& held : classes_) place.push_back(ground_.at(held[chance.below(held.size())].point));
        std::vector<std::pair<std::size_t, std::size_t>> open{{0, order.size()}};
        while (!open.empty()) {
            auto [begin, end] = open.back();
            open.pop_back();
            if (end - begin <= block_size) {
                blocks_.emplace_back(order.begin() + begin, order.begin() + end);
                continue;
            }
            std::size_t cut = halve(order, place, begin, end, chance);
            open.push_back({begin, cut});
            open.push_back({cut, end});
        }
        next_ = 0;
    }

    std::size_t halve(std::vector<std::size_t>& order, const std::vector<const Code*>& place, std::size_t begin,
                      std::size_t end, Chance& chance) const {
        std::vector<double> spread(ground_.axes, 0.0);
        for (int i = 0; i < 24; ++i) {
            const Code* a = place[order[begin + chance.below(end - begin)]];
            const Code* b = place[order[begin + chance.below(end - begin)]];
            for (std::size_t j = 0; j < ground_.axes; ++j)
                spread[j] += ground_.widths.width(j, std::min(a[j], b[j]), std::max(a[j], b[j]));
        }
        for (double& s : spread) s *= chance.share();
        std::size_t axis = std::max_element(spread.begin(), spread.end()) - spread.begin();
        auto middle = begin + static_cast<std::size_t>((0.35 + 0.3 * chance.share()) * (end - begin));
        split_line(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](auto a, auto b) {
            return place[a][axis] != place[b][axis] ? place[a][axis] < place[b][axis] : a < b;
        });
        return middle;
    }

    Improved improve(std::size_t b, double heat, bool ruin) const {
        std::vector<Class> mine;
        for (std::size_t c : blocks_[b]) mine.push_back(classes_[c]);
        Block block(ground_, std::move(mine));
        double before = block.price();
        Mover mover(ground_, block, Chance(scramble(scramble(seed_) + rounds_) + b), heat, record_);
        bool late = rounds_ >= many_rounds;
        if (ruin) mover.ruin(record_.empty() ? block.size() / 2 + 1 : (1 + late) * block.size(), late);
        else if (rounds_ == 0) mover.dissolve(neighbours);
        mover.split_large();
        mover.pair_up(ruin ? neighbours : nearest_few, !ruin);
        if (!ruin) mover.triple_up(nearest_few);
        double saved = before - block.price();
        return {block.take(), mover.done(), mover.work(), saved};
    }

    // Places that are not needed stay empty until the round is over.
    void put_back(Improved& made, const std::vector<std::size_t>& places) {
        for (std::size_t i = 0; i < places.size(); ++i) classes_[places[i]].clear();
        for (std::size_t i = 0; i < made.classes.size(); ++i) {
            if (i < places.size()) classes_[places[i]] = std::move(made.classes[i]);
            else classes_.push_back(std::move(made.classes[i]));
        }
        now_ -= made.saved;
        work_ += made.work + overhead;
        fresh_record_.add(made.record);
    }

    void end_round() {
        std::erase_if(classes_, [](const Class& held) { return held.empty(); });
        now_ = total(classes_);
        if (now_ < cheapest_) cheapest_ = now_, best_ = classes_;
        record_.fade(0.5);
        record_.add(fresh_record_);
        fresh_record_ = {};
        blocks_.clear();
        ++rounds_;
    }

    double total(const std::vector<Class>& classes) const {
        double sum = 0;
        Hull hull(ground_);
        for (const Class& held : classes) {
            hull.start(held);
            sum += count_rows(held) * ground_.widths.sum(hull.lo().data(), hull.hi().data());
        }
        return sum;
    }

    Ground ground_;
    std::uint64_t seed_, work_ = 0;
    std::vector<Class> classes_, best_;
    double cheapest_ = 0, now_ = 0;
    std::vector<std::vector<std::size_t>> blocks_;
    std::size_t next_ = 0, rounds_ = 0;
    Record record_, fresh_record_;
};

}  // namespace kech
