// Ruin and recreate: neighbouring classes exchange rows, or are freed and made anew, where that costs less.
#pragma once

#include "block.hpp"
#include "logarithm.hpp"
#include "recreation.hpp"

namespace kech {

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
class Moves {
  public:
    Moves(const Problem& problem, const Levels& levels, Block& block, Random random, double heat, const Record& record)
        : problem_(problem), block_(block), random_(random), heat_(heat), record_(record), bisection_(problem),
          recreation_(problem, levels), people_(problem.person), even_(problem.axes, 1.0) {}

    void split_large() {
        for (std::size_t c = 0; c < block_.size(); ++c) {
            Class first, second;
            while (block_.rows(c) >= 2 * problem_.k && block_.width(c) > 0) {
                first = block_[c];
                if (bisection_.split(first, second, block_.cost(c)) == infinity) break;
                block_.set(c, std::move(first));
                block_.add(std::move(second));
            }
            if (block_.people(c) < block_.rows(c)) split_exactly(c);
        }
    }

    // Every class, or only those that changed in this block, with its nearest ones: their rows are split again.
    void pair_up(std::size_t neighbours, bool all) {
        std::size_t count = block_.size();
        std::vector<std::uint32_t> seen(count * count, 0);
        for (std::size_t a = 0; a < count; ++a) {
            if (!all && !block_.changed(a)) continue;
            find_near(a, neighbours, even_);
            auto near = near_;
            for (std::size_t b : near) {
                if (b >= count || a == b) continue;
                std::uint32_t now = block_.version(a) + block_.version(b);
                std::uint32_t& last = seen[std::min(a, b) * count + std::max(a, b)];
                if (last == now) continue;
                split_again(a, b);
                last = block_.version(a) + block_.version(b);
            }
        }
    }

    // Every class with each two of its nearest: the best of all partitions of their rows.  Pairs of rows only: for
    // larger k this takes longer than it saves, and ruin chooses exact ones where they pay.
    void triple_up(std::size_t neighbours) {
        if (problem_.k != 2) return;
        for (std::size_t a = 0; a < block_.size(); ++a)
            if (block_.width(a) > 0) partition_triples(a, neighbours);
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

    std::uint64_t work() const { return work_ + bisection_.work + recreation_.work(); }
    const Record& done() const { return done_; }

  private:
    // No order of the rows may part people who have several; a handful of rows is parted in every way.
    void split_exactly(std::size_t c) {
        if (block_.rows(c) < 2 * problem_.k || block_.rows(c) > constants::exact_rows || block_.width(c) <= 0) return;
        near_ = {c};
        recreate(Recipe::exact, 1);
    }

    // Until one triple has become cheaper.
    void partition_triples(std::size_t a, std::size_t neighbours) {
        find_near(a, neighbours, even_);
        auto near = near_;
        for (std::size_t last = 2; last < near.size(); ++last)
            for (std::size_t middle = 1; middle < last; ++middle) {
                near_ = {a, near[middle], near[last]};
                if (recreate(Recipe::exact, 2) > 0) return;
            }
    }

    // The class itself and its nearest, in `near_`, nearest first.
    void find_near(std::size_t a, std::size_t most, const std::vector<double>& weight) {
        block_.find_near(a, most, weight, neighbours_);
        near_.assign(1, a);
        for (const Neighbour& neighbour : neighbours_) near_.push_back(neighbour.place);
        work_ += 2 * block_.size();
    }

    void split_again(std::size_t a, std::size_t b) {
        double price = block_.cost(a) + block_.cost(b);
        if (price <= rounding) return;
        Class first = block_[a], second = block_[b];
        if (bisection_.split_again(first, second, price) == infinity) return;
        block_.set(a, std::move(first));
        block_.set(b, std::move(second));
    }

    bool dissolve_one(std::size_t a, std::size_t neighbours) {
        find_near(a, neighbours, even_);
        std::vector<MeasuredClass> homes(near_.size() - 1, MeasuredClass(problem_.widths));
        for (std::size_t i = 0; i < homes.size(); ++i) {
            homes[i].box.start(block_.lo(near_[i + 1]), block_.hi(near_[i + 1]));
            homes[i].rows = block_.rows(near_[i + 1]);
        }
        auto class_at = [&](std::size_t i) -> const MeasuredClass& { return homes[i]; };
        std::vector<std::size_t> chosen;
        double total = 0, limit = block_.cost(a) - rounding;
        for (const Member& member : block_[a]) {
            const Code* point = problem_.at(member.point);
            Home home = cheapest_home(homes.size(), class_at, point, member.rows);
            work_ += homes.size();
            total += home.cost;
            if (total >= limit) return false;
            homes[home.place].grow(point, member.rows);
            chosen.push_back(near_[home.place + 1]);
        }
        give_away(a, chosen);
        return true;
    }

    void give_away(std::size_t a, const std::vector<std::size_t>& homes) {
        Class leaving = block_[a];
        for (std::size_t i = 0; i < leaving.size(); ++i) {
            Class longer = block_[homes[i]];
            longer.push_back(leaving[i]);
            if (problem_.split_points) merge_equal(longer);
            block_.set(homes[i], std::move(longer));
        }
        block_.remove(a);
    }

    void ruin_one(bool late) {
        std::size_t seed = random_.below(block_.size());
        for (int i = 0; i < 1 + late; ++i) {
            std::size_t other = random_.below(block_.size());
            if (block_.width(other) > block_.width(seed)) seed = other;
        }
        std::vector<double> weight(problem_.axes);
        for (double& w : weight) w = random_.factor(constants::recipe_noise);
        Recipe recipe = choose_recipe();
        std::size_t count = recipe == Recipe::exact ? 1 + random_.below(constants::exact_classes)
                                                    : 1 + late + random_.below(constants::freed_classes + late);
        if (recipe == Recipe::borrow) count = random_.below(constants::freed_classes);
        find_near(seed, recipe == Recipe::borrow ? count + constants::donors : count, weight);
        if (recipe == Recipe::borrow) call_donors(std::min(near_.size(), count + 1));
        std::uint64_t before = work();
        double saved = recreate(recipe, recipe == Recipe::borrow ? 1 : 2);
        done_.saved[static_cast<std::size_t>(recipe)] += saved;
        done_.work[static_cast<std::size_t>(recipe)] += work() - before + block_.size();
    }

    // Each recipe as often as it has paid for its work, and none never.
    Recipe choose_recipe() {
        std::array<double, recipes> rate{};
        double sum = 0;
        for (std::size_t r = 0; r < recipes; ++r) sum += rate[r] = record_.saved[r] / (record_.work[r] + 1.0);
        double at = random_.uniform(), even = constants::recipe_least_share;
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
            if (has_spare_rows(near_[i])) lenders_.push_back(near_[i]);
        near_.resize(freed);
    }

    // Some rows can leave it, and k people remain.
    bool has_spare_rows(std::size_t c) const {
        return block_.people(c) > problem_.k || block_.rows(c) > block_.people(c);
    }

    // Rows of lenders that lie within what is freed.
    void borrow_rows(Region& region) {
        MeasuredBox box(problem_.widths);
        problem_.enclose(region.members, box);
        region.donor.assign(region.members.size(), no_donor);
        if (problem_.has_persons()) region.holding.assign(region.members.size(), 0);
        std::size_t most = 2 * region.members.size() + constants::borrowed_members;
        for (std::size_t c : lenders_) {
            bool any = false;
            for (const Member& member : block_[c]) {
                if (box.width_with(problem_.at(member.point)) > box.width()) continue;
                if (!any) add_donor(region, c);
                any = true;
                if (problem_.has_persons()) region.holding.push_back(find_held(region, member));
                region.members.push_back(member);
                region.paid.push_back(block_.width(c));
                region.donor.push_back(static_cast<std::uint32_t>(region.donors.size() - 1));
                region.rows += member.rows;
            }
            if (region.members.size() > most) break;
        }
        work_ += region.members.size();
    }

    void add_donor(Region& region, std::size_t c) {
        region.donors.push_back({c, block_.rows(c), block_.people(c), block_.lo(c), block_.hi(c), {}, {}});
        if (!problem_.has_persons()) return;
        people_.count(block_[c]);
        first_held_ = region.held.size();
        region.held.resize(first_held_ + people_.persons());
        for (const Member& member : block_[c]) {
            Person who = problem_.person[member.point];
            if (who >= 0) region.held[first_held_ + people_.number(who)] = people_.rows(who);
        }
    }

    // Where the rows stand that the last donor has of a member's person.
    std::size_t find_held(const Region& region, const Member& member) {
        Person who = problem_.person[member.point];
        return who < 0 ? region.held.size() : first_held_ + people_.number(who);
    }

    void return_to_donors(const Region& region) {
        for (const Donor& donor : region.donors) {
            if (donor.taken.empty() && donor.given.empty()) continue;
            Class members = block_[donor.place];
            for (const Member& taken : donor.taken) {
                auto at = std::find_if(members.begin(), members.end(),
                                       [&](const Member& m) { return m.point == taken.point; });
                at->rows -= taken.rows;
                if (at->rows == 0) members.erase(at);
            }
            members.insert(members.end(), donor.given.begin(), donor.given.end());
            if (problem_.split_points) merge_equal(members);
            block_.set(donor.place, std::move(members));
        }
    }

    // Of so many classes or more.
    double recreate(Recipe recipe, std::size_t fewest) {
        Region region;
        double price = free_rows(region, recipe == Recipe::exact);
        if (near_.size() < fewest || price <= rounding) return 0;
        if (recipe == Recipe::borrow) borrow_rows(region);
        double allowed = price * (1 + constants::heat_limit * heat_) - rounding;
        double fresh = recreation_.run(recipe, region, allowed, random_);
        if (fresh > price - rounding - heat_ * price * logarithm(random_.uniform() + 1e-12)) return 0;
        if (std::abs(fresh - price) < rounding) return 0;
        auto classes = recreation_.take();
        if (recipe == Recipe::borrow) return_to_donors(region);
        replace(std::move(classes));
        return price - fresh;
    }

    double free_rows(Region& region, bool small) {
        double price = 0;
        std::size_t kept = 0;
        for (std::size_t c : near_) {
            std::size_t units = region.members.size() + block_[c].size();
            if (kept > 0 && units > constants::freed_members) continue;
            if (small && kept > 0 && region.rows + block_.rows(c) > constants::exact_rows) continue;
            for (const Member& member : block_[c]) {
                region.members.push_back(member);
                region.paid.push_back(block_.width(c));
                region.from.push_back(static_cast<std::uint32_t>(kept));
            }
            region.rows += block_.rows(c);
            price += block_.cost(c);
            near_[kept++] = c;
        }
        near_.resize(kept);
        if (small && !Recreation::fits_exact(problem_, region)) near_.clear();
        return price;
    }

    void replace(std::vector<Class> fresh) {
        std::size_t both = std::min(fresh.size(), near_.size());
        for (auto& members : fresh)
            if (problem_.split_points) merge_equal(members);
        for (std::size_t i = 0; i < both; ++i) block_.set(near_[i], std::move(fresh[i]));
        for (std::size_t i = both; i < fresh.size(); ++i) block_.add(std::move(fresh[i]));
        std::sort(near_.begin() + both, near_.end(), std::greater<>());
        for (std::size_t i = both; i < near_.size(); ++i) block_.remove(near_[i]);
    }

    const Problem& problem_;
    Block& block_;
    Random random_;
    double heat_;
    const Record& record_;
    Record done_;
    Bisection bisection_;
    Recreation recreation_;
    PeopleCounter people_;
    std::size_t first_held_ = 0;  // where the persons of the last donor begin
    std::vector<double> even_;
    std::vector<Neighbour> neighbours_;
    std::vector<std::size_t> near_, lenders_;
    std::uint64_t work_ = 0;
};

}  // namespace kech
