// Placements: which row can be in which class, where every row is in one and every class holds just so many.
//
// A maximum matching (Hopcroft and Karp 1973, classes with room for several rows) fills all classes, if that is possible.
// Any other one differs from it by cycles: a row may go to another class if from there rows can move on, each to a class
// that it fits, until its own class is reached.  So a row can be in a class just if that class and the class it is
// matched to are in one strongly connected component (Tarjan 1972) of the classes, joined by the rows they hold.
#pragma once

#include "core.hpp"

namespace kech {

class Placements {
public:
    // The classes of row i are right[start[i]] to right[start[i + 1] - 1].
    Placements(std::span<const std::int64_t> start, std::span<const std::int64_t> right,
               std::span<const std::int64_t> room)
        : start_(start), right_(right), room_(room), rows_(start.size() - 1), slot_(rows_, none), held_(rows_, none),
          first_(room.size() + 1, 0), count_(room.size(), 0) {
        for (std::size_t j = 0; j < room.size(); ++j) first_[j + 1] = first_[j] + room[j];
    }

    // Whether all rows can be placed; `possible` says of each pair whether it is in some placement.
    bool run(std::vector<std::uint8_t>& possible) {
        place_greedily();
        while (layer()) augment_all();
        if (std::find(slot_.begin(), slot_.end(), none) != slot_.end()) return false;
        find_components();
        possible.resize(right_.size());
        for (std::size_t i = 0; i < rows_; ++i) {
            std::int64_t own = class_of(i);
            for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e)
                possible[e] = right_[e] == own || component_[right_[e]] == component_[own];
        }
        return true;
    }

private:
    static constexpr std::int64_t none = -1;

    std::int64_t class_of(std::int64_t row) const {
        auto after = std::upper_bound(first_.begin(), first_.end(), slot_[row]);
        return static_cast<std::int64_t>(after - first_.begin()) - 1;
    }

    bool has_room(std::int64_t j) const { return count_[j] < room_[j]; }

    void put(std::int64_t row, std::int64_t slot) {
        slot_[row] = slot;
        held_[slot] = row;
    }

    // Rows with the fewest choices first.
    void place_greedily() {
        auto order = count_up<std::int64_t>(rows_);
        auto choices = [&](std::int64_t i) { return start_[i + 1] - start_[i]; };
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return choices(a) < choices(b); });
        for (std::int64_t i : order)
            for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e)
                if (has_room(right_[e])) {
                    put(i, first_[right_[e]] + count_[right_[e]]++);
                    break;
                }
    }

    // Steps from a row without a place to each row and class; whether a class with room is reached.
    bool layer() {
        level_.assign(rows_, none);
        class_level_.assign(room_.size(), none);
        std::vector<std::int64_t> queue;
        for (std::size_t i = 0; i < rows_; ++i)
            if (slot_[i] == none) {
                level_[i] = 0;
                queue.push_back(i);
            }
        bool found = false;
        for (std::size_t at = 0; at < queue.size(); ++at) {
            std::int64_t i = queue[at];
            for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
                std::int64_t j = right_[e];
                if (class_level_[j] != none) continue;
                class_level_[j] = level_[i];
                found = found || has_room(j);
                for (std::int64_t s = first_[j]; s < first_[j] + count_[j]; ++s)
                    if (level_[held_[s]] == none) {
                        level_[held_[s]] = level_[i] + 1;
                        queue.push_back(held_[s]);
                    }
            }
        }
        return found;
    }

    void augment_all() {
        next_edge_.assign(start_.begin(), start_.end() - 1);
        next_slot_.assign(first_.begin(), first_.end() - 1);
        for (std::size_t i = 0; i < rows_; ++i)
            if (slot_[i] == none) augment(i);
    }

    // Moves rows along one path of growing levels that ends at a class with room, if there is one.
    void augment(std::int64_t root) {
        std::vector<std::int64_t> path{root};
        while (!path.empty()) {
            std::int64_t i = path.back();
            if (next_edge_[i] == start_[i + 1]) {
                path.pop_back();
                continue;
            }
            std::int64_t j = right_[next_edge_[i]];
            if (class_level_[j] != level_[i]) {
                ++next_edge_[i];
            } else if (has_room(j)) {
                shift(path, first_[j] + count_[j]++);
                return;
            } else if (next_slot_[j] == first_[j] + count_[j]) {
                ++next_edge_[i];
            } else {
                std::int64_t other = held_[next_slot_[j]++];
                if (level_[other] == level_[i] + 1) path.push_back(other);
            }
        }
    }

    // The last row goes to the free slot, and each before it to the slot that the next one leaves.
    void shift(const std::vector<std::int64_t>& path, std::int64_t free) {
        for (auto row = path.rbegin(); row != path.rend(); ++row) {
            std::int64_t left = slot_[*row];
            put(*row, free);
            free = left;
        }
    }

    struct Frame {
        std::int64_t at, slot, edge;  // a class, one of its rows, and a class of that row
    };

    void find_components() {
        std::vector<std::int64_t> index(room_.size(), none), low(room_.size()), open;
        std::vector<Frame> frames;
        component_.assign(room_.size(), none);
        std::int64_t counter = 0;
        auto enter = [&](std::int64_t j) {
            index[j] = low[j] = counter++;
            open.push_back(j);
            frames.push_back({j, first_[j], count_[j] ? start_[held_[first_[j]]] : 0});
        };
        for (std::size_t root = 0; root < room_.size(); ++root) {
            if (index[root] != none) continue;
            enter(root);
            while (!frames.empty()) {
                Frame& frame = frames.back();
                std::int64_t j = frame.at, end = first_[j] + count_[j];
                if (frame.slot == end) {
                    frames.pop_back();
                    if (!frames.empty()) low[frames.back().at] = std::min(low[frames.back().at], low[j]);
                    if (low[j] == index[j]) close(open, j);
                } else if (frame.edge == start_[held_[frame.slot] + 1]) {
                    if (++frame.slot < end) frame.edge = start_[held_[frame.slot]];
                } else {
                    std::int64_t other = right_[frame.edge++];
                    if (index[other] == none) enter(other);
                    else if (component_[other] == none) low[j] = std::min(low[j], index[other]);
                }
            }
        }
    }

    void close(std::vector<std::int64_t>& open, std::int64_t j) {
        for (std::int64_t other = none; other != j;) {
            other = open.back();
            open.pop_back();
            component_[other] = j;
        }
    }

    std::span<const std::int64_t> start_, right_, room_;
    std::size_t rows_;
    std::vector<std::int64_t> slot_, held_;    // of each row, and the row of each slot
    std::vector<std::int64_t> first_, count_;  // of each class: its first slot, and rows in it
    std::vector<std::int64_t> level_, class_level_, next_edge_, next_slot_, component_;
};

}  // namespace kech
