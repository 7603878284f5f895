// Suppression: rows that cost more in every class than outside leave the table, within a limit.
#pragma once

#include <optional>
#include <queue>

#include "core.hpp"
#include "rank_split.hpp"

namespace kech {

// The codes of an axis: how many rows of each are published, and by how much all widths grow without the last of them.
struct Codebook {
    std::vector<double> growth;
    std::vector<std::int64_t> rows;
    double price = 0;  // of all classes, on this axis
};

class Suppression {
  public:
    // A row outside costs `price`; at most `limit` rows may be there.  Rows in no share are outside already.
    Suppression(Problem problem, const Shares& start, const std::int64_t* weights, std::vector<Codebook> books,
                double price, std::int64_t limit)
        : problem_(std::move(problem)), books_(std::move(books)), price_(price), room_(limit),
          even_(problem_.axes, 1.0) {
        std::vector<std::int64_t> left(weights, weights + problem_.points());
        for (auto& book : books_) book.rows.assign(book.growth.size(), 0);
        for (Class& members : classes_of(start)) {
            for (const Member& member : members) {
                left[member.point] -= member.rows;
                publish(member, 1);
            }
            classes_.emplace_back(problem_.widths).members = std::move(members);
        }
        for (std::size_t p = 0; p < left.size(); ++p)
            if (left[p] > 0) outside_.push_back({static_cast<std::int64_t>(p), left[p]}), room_ -= left[p];
        prices_.resize(classes_.size() * problem_.axes);
        for (std::size_t c = 0; c < classes_.size(); ++c) measure(c);
        part_in_blocks();
    }

    Shares run() {
        come_back();
        leave();
        come_back();
        gather();
        std::vector<Class> stay;
        for (auto& held : classes_) stay.push_back(std::move(held.members));
        return shares_of(stay);
    }

  private:
    static constexpr std::size_t outside = ~std::size_t{0};

    // Some rows of a class that go elsewhere: to another class, or outside.
    struct Move {
        double gain = 0;
        std::int64_t rows = 0;  // that go outside
        std::vector<std::size_t> who, home;

        double rate() const { return gain / (rows + constants::suppression_rate_rows); }
    };

    void publish(const Member& member, std::int64_t sign) {
        const Code* point = problem_.at(member.point);
        for (std::size_t j = 0; j < problem_.axes; ++j) books_[j].rows[point[j]] += sign * member.rows;
    }

    // What rows cost outside that are in a class now, or outside already; other classes are measured anew without them.
    double price_outside(const Member& member, std::size_t c) const {
        double total = price_ * member.rows;
        for (std::size_t j = 0; j < problem_.axes; ++j) {
            const Codebook& book = books_[j];
            Code code = problem_.at(member.point)[j];
            if (book.rows[code] > (c == outside ? 0 : member.rows)) continue;
            total += book.growth[code] * (book.price - (c == outside ? 0.0 : prices_[c * problem_.axes + j]));
        }
        return total;
    }

    void measure(std::size_t c) {
        MeasuredClass& held = classes_[c];
        held.rows = count_rows(held.members);
        if (held.rows) problem_.enclose(held.members, held.box);
        for (std::size_t j = 0; j < problem_.axes; ++j) {
            double& price = prices_[c * problem_.axes + j];
            books_[j].price -= price;
            price = held.rows ? held.rows * problem_.widths.width(j, held.box.lo()[j], held.box.hi()[j]) : 0.0;
            books_[j].price += price;
        }
    }

    // Neighbours

    struct Split {
        std::size_t axis = 0;
        Code code = 0;
        std::size_t below = 0, above = 0, block = 0;  // a leaf has no parts below it
    };

    // Neighbouring classes in blocks, halved again and again along the axis on which they differ most.
    void part_in_blocks() {
        auto order = count_up<std::size_t>(classes_.size());
        block_of_.resize(classes_.size());
        splits_.emplace_back();
        joint_width_.emplace(problem_.widths, sample_distances(order, 0, order.size()));
        part_in_blocks(order, 0, order.size(), 0);
    }

    void part_in_blocks(std::vector<std::size_t>& order, std::size_t begin, std::size_t end, std::size_t at) {
        if (end - begin <= constants::suppression_block) {
            splits_[at].block = blocks_.size();
            for (std::size_t i = begin; i < end; ++i) block_of_[order[i]] = blocks_.size();
            auto& block = blocks_.emplace_back(order.begin() + begin, order.begin() + end);
            std::sort(block.begin(), block.end());
            return;
        }
        auto apart = sample_distances(order, begin, end);
        std::size_t axis = std::max_element(apart.begin(), apart.end()) - apart.begin();
        std::size_t middle = begin + (end - begin) / 2;
        split_line(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](auto a, auto b) {
            Code first = lowest(a, axis), second = lowest(b, axis);
            return first != second ? first < second : a < b;
        });
        splits_[at] = {axis, lowest(order[middle], axis), splits_.size(), splits_.size() + 1, 0};
        splits_.resize(splits_.size() + 2);
        std::size_t below = splits_[at].below, above = splits_[at].above;
        part_in_blocks(order, begin, middle, below);
        part_in_blocks(order, middle, end, above);
    }

    Code lowest(std::size_t c, std::size_t axis) const { return classes_[c].box.lo()[axis]; }

    // How far some of these classes lie apart on each axis.
    std::vector<double> sample_distances(const std::vector<std::size_t>& order, std::size_t begin, std::size_t end) const {
        std::vector<double> apart(problem_.axes, 0.0);
        std::size_t step = std::max<std::size_t>(1, (end - begin) / constants::suppression_samples);
        for (std::size_t j = 0; j < problem_.axes; ++j)
            for (std::size_t i = begin; i + step < end; i += step)
                apart[j] += problem_.widths.between(j, lowest(order[i], j), lowest(order[i + step], j));
        return apart;
    }

    std::size_t block_at(const Code* point) const {
        std::size_t at = 0;
        while (splits_[at].below) at = point[splits_[at].axis] < splits_[at].code ? splits_[at].below : splits_[at].above;
        return splits_[at].block;
    }

    // The classes of a block that are nearest to a box.
    void find_near(const MeasuredBox& box, std::size_t block, std::size_t self) {
        const auto& candidates = blocks_[block];
        auto joint = [&](std::size_t b, double limit) {
            const MeasuredClass& other = classes_[b];
            if (b == self || other.rows == 0) return infinity;
            return (*joint_width_)(box.lo(), box.hi(), other.box.lo(), other.box.hi(), even_, limit);
        };
        auto candidate = [&](std::size_t i) { return candidates[i]; };
        auto width = [&](std::size_t b) { return classes_[b].box.width(); };
        find_nearest(candidates.size(), candidate, constants::suppression_neighbours, joint, width, near_);
    }

    // The cheapest of the classes nearby, if rows cost less there than the limit.
    Home cheapest_near(const Member& member, double limit) const {
        auto class_at = [&](std::size_t i) -> const MeasuredClass& { return classes_[near_[i].place]; };
        return cheapest_home(near_.size(), class_at, problem_.at(member.point), member.rows, limit);
    }

    // Coming back

    void come_back() {
        Class still;
        MeasuredBox box(problem_.widths);
        for (const Member& member : outside_) {
            const Code* point = problem_.at(member.point);
            box.start(point);
            find_near(box, block_at(point), outside);
            Home home = cheapest_near(member, price_outside(member, outside) - rounding);
            if (home.place == near_.size()) still.push_back(member);
            else join(near_[home.place].place, member), publish(member, 1), room_ += member.rows;
        }
        outside_ = std::move(still);
    }

    // The rows of a point go or stay together: where some of them are, the others cost no more than outside.
    void gather() {
        std::vector<std::size_t> holder(problem_.points(), outside);
        for (std::size_t c = 0; c < classes_.size(); ++c)
            for (const Member& member : classes_[c].members) holder[member.point] = c;
        for (const Member& member : outside_)
            if (holder[member.point] != outside) join(holder[member.point], member);
    }

    void join(std::size_t c, const Member& member) {
        classes_[c].members.push_back(member);
        merge_equal(classes_[c].members);
        measure(c);
    }

    // Leaving

    // The class with most to gain for each row outside goes first.
    void leave() {
        std::priority_queue<std::pair<double, std::size_t>> open;
        for (std::size_t c = 0; c < classes_.size(); ++c)
            if (classes_[c].cost() > price_) open.emplace(best_move(c).rate(), c);
        while (!open.empty() && open.top().first > rounding) {
            std::size_t c = open.top().second;
            open.pop();
            Move move = best_move(c);
            if (move.gain <= rounding) continue;
            if (open.empty() || move.rate() >= open.top().first) apply(c, move), move = best_move(c);
            if (move.gain > rounding) open.emplace(move.rate(), c);
        }
    }

    // All rows of a class, or those at one end of one axis.
    Move best_move(std::size_t c) {
        const MeasuredClass& held = classes_[c];
        if (held.rows == 0) return {};
        find_near(held.box, block_of_[c], c);
        std::size_t count = held.members.size();
        std::vector<Place> place(count);
        for (std::size_t i = 0; i < count; ++i) place[i] = cheapest_place(held.members[i], c);
        auto all = count_up<std::size_t>(count);
        std::vector<std::size_t> best_ends;
        double most = rounding;
        for (std::size_t j = 0; j < problem_.axes; ++j) {
            std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) { return code(c, a, j) < code(c, b, j); });
            for (int end = 0; end < 2; ++end) {
                consider_end(c, all, place, j, most, best_ends);
                std::reverse(all.begin(), all.end());
            }
        }
        Move best = place_leavers(c, all);
        if (!best_ends.empty())
            if (Move trimmed = place_leavers(c, best_ends); trimmed.gain > best.gain) best = std::move(trimmed);
        return best;
    }

    Code code(std::size_t c, std::size_t i, std::size_t j) const { return problem_.at(classes_[c].members[i].point)[j]; }

    // Where rows could go, and how many of them outside.
    struct Place {
        double price;
        std::int64_t rows;
    };

    Place cheapest_place(const Member& member, std::size_t c) const {
        double price = price_outside(member, c);
        Home home = cheapest_near(member, member.rows > room_ ? infinity : price);
        if (home.place == near_.size()) return {price, member.rows};
        return {home.cost, 0};
    }

    // The first rows along an order, as many as pay best, while k people stay.
    void consider_end(std::size_t c, const std::vector<std::size_t>& order, const std::vector<Place>& place, std::size_t j,
                      double& most, std::vector<std::size_t>& best) {
        std::size_t count = order.size(), ends = 0, most_ends = problem_.has_persons() ? count_leavers(c, order) : count;
        const MeasuredClass& held = classes_[c];
        std::int64_t stay = held.rows, out = 0;
        double moved = 0;
        for (; ends < most_ends; ++ends) {
            std::int64_t rows = held.members[order[ends]].rows;
            if (stay - rows < problem_.k || out + place[order[ends]].rows > room_) break;
            stay -= rows, out += place[order[ends]].rows, moved += place[order[ends]].price;
        }
        if (ends == 0) return;
        MeasuredBox box(problem_.widths);
        box.start(problem_.at(held.members[order[count - 1]].point));
        for (std::size_t i = count - 1; i > ends; --i) box.cover(problem_.at(held.members[order[i - 1]].point));
        for (std::size_t i = ends; i > 0; --i) {
            bool between = code(c, order[i - 1], j) != code(c, order[i], j);
            double gain = held.cost() - moved - stay * box.width();
            if (between && gain > most) most = gain, best.assign(order.begin(), order.begin() + i);
            const Member& member = held.members[order[i - 1]];
            box.cover(problem_.at(member.point));
            moved -= place[order[i - 1]].price;
            stay += member.rows;
        }
    }

    // How many members may go at the start of an order while those after them are k people.
    std::size_t count_leavers(std::size_t c, const std::vector<std::size_t>& order) {
        std::size_t leavers = order.size();
        people_.start();
        while (leavers > 0 && people_.people() < problem_.k) people_.add(classes_[c].members[order[--leavers]]);
        return leavers;
    }

    // Where each leaver goes, one after the other, each home growing on the way; and what it saves.
    Move place_leavers(std::size_t c, const std::vector<std::size_t>& who) {
        Move move;
        std::vector<MeasuredClass> homes(near_.size(), MeasuredClass(problem_.widths));
        for (std::size_t h = 0; h < homes.size(); ++h) {
            homes[h].box = classes_[near_[h].place].box;
            homes[h].rows = classes_[near_[h].place].rows;
        }
        auto class_at = [&](std::size_t h) -> const MeasuredClass& { return homes[h]; };
        double total = 0;
        for (std::size_t i : who) {
            const Member& member = classes_[c].members[i];
            const Code* point = problem_.at(member.point);
            double limit = move.rows + member.rows <= room_ ? price_outside(member, c) : infinity;
            auto [home, cost] = cheapest_home(homes.size(), class_at, point, member.rows, limit);
            if (cost == infinity) return {};
            total += cost;
            move.who.push_back(i);
            move.home.push_back(home == homes.size() ? outside : near_[home].place);
            if (home == homes.size()) move.rows += member.rows;
            else homes[home].grow(point, member.rows);
        }
        move.gain = classes_[c].cost() - total;
        if (who.size() < classes_[c].members.size()) move.gain -= price_of_rest(c, who);
        return move;
    }

    double price_of_rest(std::size_t c, const std::vector<std::size_t>& who) const {
        Class rest = without(c, who);
        MeasuredBox box(problem_.widths);
        problem_.enclose(rest, box);
        return count_rows(rest) * box.width();
    }

    Class without(std::size_t c, const std::vector<std::size_t>& who) const {
        const Class& members = classes_[c].members;
        std::vector<bool> leaves(members.size(), false);
        for (std::size_t i : who) leaves[i] = true;
        Class rest;
        for (std::size_t i = 0; i < leaves.size(); ++i)
            if (!leaves[i]) rest.push_back(members[i]);
        return rest;
    }

    void apply(std::size_t c, const Move& move) {
        Class before = classes_[c].members;
        classes_[c].members = without(c, move.who);
        measure(c);
        for (std::size_t i = 0; i < move.who.size(); ++i) {
            const Member& member = before[move.who[i]];
            if (move.home[i] != outside) join(move.home[i], member);
            else outside_.push_back(member), publish(member, -1), room_ -= member.rows;
        }
    }

    Problem problem_;
    std::vector<Codebook> books_;
    double price_;
    std::int64_t room_;
    std::vector<double> even_;  // weights of the axes
    std::vector<MeasuredClass> classes_;
    std::vector<double> prices_;  // of each class on each axis
    Class outside_;
    std::vector<Split> splits_;
    std::vector<std::vector<std::size_t>> blocks_;
    std::vector<std::size_t> block_of_;
    std::optional<JointWidth> joint_width_;
    std::vector<Neighbour> near_;
    PeopleCounter people_{problem_.person};
};

}  // namespace kech
