// Suppressing: rows that cost more in every class than outside leave the table, within a limit.
#pragma once

#include <queue>

#include "parting.hpp"
#include "splitting.hpp"

namespace kech {

// The codes of an axis: how many rows of each are published, and by how much all widths grow without the last of them.
struct Codebook {
    std::vector<double> growth;
    std::vector<std::int64_t> rows;
    double price = 0;  // of all classes, on this axis
};

class Suppressor {
  public:
    // A row outside costs `price`; at most `limit` rows may be there.  Rows in no share are outside already.
    Suppressor(Ground ground, const Share& start, const std::int64_t* weights, std::vector<Codebook> books, double price,
               std::int64_t limit)
        : ground_(std::move(ground)), books_(std::move(books)), price_(price), room_(limit) {
        std::vector<std::int64_t> left(weights, weights + ground_.codes.size() / ground_.axes);
        for (auto& book : books_) book.rows.assign(book.growth.size(), 0);
        for (std::size_t i = 0; i < start.point.size(); ++i) {
            if (start.group[i] >= static_cast<std::int64_t>(classes_.size())) classes_.resize(start.group[i] + 1);
            classes_[start.group[i]].push_back({start.point[i], start.rows[i]});
            left[start.point[i]] -= start.rows[i];
            publish({start.point[i], start.rows[i]}, 1);
        }
        for (std::size_t p = 0; p < left.size(); ++p)
            if (left[p] > 0) outside_.push_back({static_cast<std::int64_t>(p), left[p]}), room_ -= left[p];
        rows_.resize(classes_.size());
        prices_.resize(classes_.size() * ground_.axes);
        boxes_.reserve(classes_.size());
        for (std::size_t c = 0; c < classes_.size(); ++c) boxes_.emplace_back(ground_), measure(c);
        part_in_blocks();
    }

    Share run() {
        come_back();
        leave();
        come_back();
        gather();
        return shares();
    }

  private:
    static constexpr std::size_t block_size = 2000, neighbours = 8;
    static constexpr std::size_t outside = ~std::size_t{0};

    // Some rows of a class that go elsewhere: to another class, or outside.
    struct Move {
        double gain = 0;
        std::int64_t rows = 0;  // that go outside
        std::vector<std::size_t> who, home;

        double rate() const { return gain / (rows + 0.5); }
    };

    void publish(const Held& held, std::int64_t sign) {
        for (std::size_t j = 0; j < ground_.axes; ++j) books_[j].rows[ground_.at(held.point)[j]] += sign * held.rows;
    }

    // What rows cost outside that are in a class now, or outside already; other classes are measured anew without them.
    double price_outside(const Held& held, std::size_t c) const {
        double total = price_ * held.rows;
        for (std::size_t j = 0; j < ground_.axes; ++j) {
            const Codebook& book = books_[j];
            Code code = ground_.at(held.point)[j];
            if (book.rows[code] > (c == outside ? 0 : held.rows)) continue;
            total += book.growth[code] * (book.price - (c == outside ? 0.0 : prices_[c * ground_.axes + j]));
        }
        return total;
    }

    void measure(std::size_t c) {
        rows_[c] = count_rows(classes_[c]);
        if (!classes_[c].empty()) boxes_[c].start(classes_[c]);
        for (std::size_t j = 0; j < ground_.axes; ++j) {
            double& price = prices_[c * ground_.axes + j];
            books_[j].price -= price;
            price = rows_[c] ? rows_[c] * ground_.widths.width(j, boxes_[c].lo()[j], boxes_[c].hi()[j]) : 0.0;
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
        std::vector<std::size_t> order(classes_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        block_of_.resize(classes_.size());
        splits_.emplace_back();
        part_in_blocks(order, 0, order.size(), 0);
    }

    void part_in_blocks(std::vector<std::size_t>& order, std::size_t begin, std::size_t end, std::size_t at) {
        if (end - begin <= block_size) {
            splits_[at].block = blocks_.size();
            for (std::size_t i = begin; i < end; ++i) block_of_[order[i]] = blocks_.size();
            blocks_.emplace_back(order.begin() + begin, order.begin() + end);
            return;
        }
        std::size_t axis = widest_axis(order, begin, end), middle = begin + (end - begin) / 2;
        split_line(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](auto a, auto b) {
            Code first = boxes_[a].lo()[axis], second = boxes_[b].lo()[axis];
            return first != second ? first < second : a < b;
        });
        splits_[at] = {axis, boxes_[order[middle]].lo()[axis], splits_.size(), splits_.size() + 1, 0};
        splits_.resize(splits_.size() + 2);
        std::size_t below = splits_[at].below, above = splits_[at].above;
        part_in_blocks(order, begin, middle, below);
        part_in_blocks(order, middle, end, above);
    }

    std::size_t widest_axis(const std::vector<std::size_t>& order, std::size_t begin, std::size_t end) const {
        std::size_t step = (end - begin) / 64, axis = 0;
        double widest = -1;
        for (std::size_t j = 0; j < ground_.axes; ++j) {
            double spread = 0;
            for (std::size_t i = begin; i + step < end; i += step) {
                auto [low, high] = std::minmax(boxes_[order[i]].lo()[j], boxes_[order[i + step]].lo()[j]);
                spread += ground_.widths.width(j, low, high);
            }
            if (spread > widest) widest = spread, axis = j;
        }
        return axis;
    }

    std::size_t block_at(const Code* point) const {
        std::size_t at = 0;
        while (splits_[at].below) at = point[splits_[at].axis] < splits_[at].code ? splits_[at].below : splits_[at].above;
        return splits_[at].block;
    }

    // The classes that would be narrowest together with a box.
    void find_near(const Hull& box, std::size_t block, std::size_t self) {
        near_.clear();
        for (std::size_t b : blocks_[block]) {
            if (b == self || rows_[b] == 0) continue;
            double limit = near_.size() < neighbours ? never : near_.front().first, far = -0.5 * boxes_[b].width();
            for (std::size_t j = 0; j < ground_.axes && far < limit; ++j)
                far += ground_.widths.width(j, std::min(box.lo()[j], boxes_[b].lo()[j]),
                                            std::max(box.hi()[j], boxes_[b].hi()[j]));
            if (far >= limit) continue;
            if (near_.size() == neighbours) std::pop_heap(near_.begin(), near_.end()), near_.pop_back();
            near_.emplace_back(far, b);
            std::push_heap(near_.begin(), near_.end());
        }
        std::sort_heap(near_.begin(), near_.end());
    }

    double price_in(const Hull& box, std::int64_t rows, const Held& held) const {
        return (rows + held.rows) * box.with(ground_.at(held.point)) - rows * box.width();
    }

    // Coming back

    void come_back() {
        Class still;
        for (const Held& held : outside_) {
            const Code* point = ground_.at(held.point);
            Hull box(ground_);
            box.start(point);
            find_near(box, block_at(point), outside);
            double cheapest = price_outside(held, outside) - least;
            std::size_t home = outside;
            for (auto [far, b] : near_)
                if (double price = price_in(boxes_[b], rows_[b], held); price < cheapest) cheapest = price, home = b;
            if (home == outside) still.push_back(held);
            else join(home, held), publish(held, 1), room_ += held.rows;
        }
        outside_ = std::move(still);
    }

    // The rows of a point go or stay together: where some of them are, the others cost no more than outside.
    void gather() {
        std::vector<std::size_t> holder(ground_.codes.size() / ground_.axes, outside);
        for (std::size_t c = 0; c < classes_.size(); ++c)
            for (const Held& held : classes_[c]) holder[held.point] = c;
        for (const Held& held : outside_)
            if (holder[held.point] != outside) join(holder[held.point], held);
    }

    void join(std::size_t c, const Held& held) {
        classes_[c].push_back(held);
        join_equal(classes_[c]);
        measure(c);
    }

    // Leaving

    // The class with most to gain for each row outside goes first.
    void leave() {
        std::priority_queue<std::pair<double, std::size_t>> open;
        for (std::size_t c = 0; c < classes_.size(); ++c)
            if (rows_[c] * boxes_[c].width() > price_) open.emplace(best_move(c).rate(), c);
        while (!open.empty() && open.top().first > least) {
            std::size_t c = open.top().second;
            open.pop();
            Move move = best_move(c);
            if (move.gain <= least) continue;
            if (open.empty() || move.rate() >= open.top().first) apply(c, move), move = best_move(c);
            if (move.gain > least) open.emplace(move.rate(), c);
        }
    }

    // All rows of a class, or those at one end of one axis.
    Move best_move(std::size_t c) {
        if (rows_[c] == 0) return {};
        find_near(boxes_[c], block_of_[c], c);
        std::size_t count = classes_[c].size();
        std::vector<Place> place(count);
        for (std::size_t i = 0; i < count; ++i) place[i] = cheapest_place(classes_[c][i], c);
        std::vector<std::size_t> all(count), best_ends;
        std::iota(all.begin(), all.end(), std::size_t{0});
        double most = least;
        for (std::size_t j = 0; j < ground_.axes; ++j) {
            std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) { return code(c, a, j) < code(c, b, j); });
            for (int end = 0; end < 2; ++end, std::reverse(all.begin(), all.end())) consider_end(c, all, place, j, most, best_ends);
        }
        Move best = settle(c, all);
        if (!best_ends.empty())
            if (Move trimmed = settle(c, best_ends); trimmed.gain > best.gain) best = std::move(trimmed);
        return best;
    }

    Code code(std::size_t c, std::size_t i, std::size_t j) const { return ground_.at(classes_[c][i].point)[j]; }

    // Where rows could go, and how many of them outside.
    struct Place {
        double price;
        std::int64_t rows;
    };

    Place cheapest_place(const Held& held, std::size_t c) const {
        Place place{price_outside(held, c), held.rows};
        for (auto [far, b] : near_)
            if (double price = price_in(boxes_[b], rows_[b], held); price < place.price || place.rows > room_) place = {price, 0};
        return place;
    }

    // The first rows along an order, as many as pay best, while k stay.
    void consider_end(std::size_t c, const std::vector<std::size_t>& order, const std::vector<Place>& place, std::size_t j,
                      double& most, std::vector<std::size_t>& best) {
        std::size_t count = order.size(), ends = 0;
        std::int64_t stay = rows_[c], out = 0;
        double moved = 0, whole = rows_[c] * boxes_[c].width();
        for (; ends < count; ++ends) {
            std::int64_t rows = classes_[c][order[ends]].rows;
            if (stay - rows < ground_.k || out + place[order[ends]].rows > room_) break;
            stay -= rows, out += place[order[ends]].rows, moved += place[order[ends]].price;
        }
        if (ends == 0) return;
        Hull box(ground_);
        box.start(ground_.at(classes_[c][order[count - 1]].point));
        for (std::size_t i = count - 1; i-- > ends;) box.cover(ground_.at(classes_[c][order[i]].point));
        for (std::size_t i = ends; i > 0; --i) {
            bool between = code(c, order[i - 1], j) != code(c, order[i], j);
            double gain = whole - moved - stay * box.width();
            if (between && gain > most) most = gain, best.assign(order.begin(), order.begin() + i);
            const Held& held = classes_[c][order[i - 1]];
            box.cover(ground_.at(held.point));
            moved -= place[order[i - 1]].price;
            stay += held.rows;
        }
    }

    // Where each leaver goes, one after the other, each home growing on the way; and what it saves.
    Move settle(std::size_t c, const std::vector<std::size_t>& who) {
        Move move;
        std::vector<Hull> homes;
        std::vector<std::int64_t> rows;
        for (auto [far, b] : near_) homes.push_back(boxes_[b]), rows.push_back(rows_[b]);
        double total = 0;
        for (std::size_t i : who) {
            const Held& held = classes_[c][i];
            double cheapest = move.rows + held.rows <= room_ ? price_outside(held, c) : never;
            std::size_t home = outside;
            for (std::size_t h = 0; h < homes.size(); ++h)
                if (double price = price_in(homes[h], rows[h], held); price < cheapest) cheapest = price, home = h;
            if (cheapest == never) return {};
            total += cheapest;
            move.who.push_back(i);
            move.home.push_back(home == outside ? outside : near_[home].second);
            if (home == outside) move.rows += held.rows;
            else homes[home].cover(ground_.at(held.point)), rows[home] += held.rows;
        }
        move.gain = rows_[c] * boxes_[c].width() - total;
        if (who.size() < classes_[c].size()) move.gain -= price_of_rest(c, who);
        return move;
    }

    double price_of_rest(std::size_t c, const std::vector<std::size_t>& who) const {
        Class rest = without(c, who);
        Hull box(ground_);
        box.start(rest);
        return count_rows(rest) * box.width();
    }

    Class without(std::size_t c, const std::vector<std::size_t>& who) const {
        std::vector<bool> leaves(classes_[c].size(), false);
        for (std::size_t i : who) leaves[i] = true;
        Class rest;
        for (std::size_t i = 0; i < leaves.size(); ++i)
            if (!leaves[i]) rest.push_back(classes_[c][i]);
        return rest;
    }

    void apply(std::size_t c, const Move& move) {
        Class before = classes_[c];
        classes_[c] = without(c, move.who);
        measure(c);
        for (std::size_t i = 0; i < move.who.size(); ++i) {
            const Held& held = before[move.who[i]];
            if (move.home[i] != outside) join(move.home[i], held);
            else outside_.push_back(held), publish(held, -1), room_ -= held.rows;
        }
    }

    Share shares() const {
        return shares_of(classes_);
    }

    Ground ground_;
    std::vector<Codebook> books_;
    double price_;
    std::int64_t room_;
    std::vector<Class> classes_;
    std::vector<Hull> boxes_;
    std::vector<std::int64_t> rows_;
    std::vector<double> prices_;  // of each class on each axis
    Class outside_;
    std::vector<Split> splits_;
    std::vector<std::vector<std::size_t>> blocks_;
    std::vector<std::size_t> block_of_;
    std::vector<std::pair<double, std::size_t>> near_;
};

}  // namespace kech
