// Disjoint sets with halved paths: which items are joined, directly or through others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kech {

// Links of sets whose root is their first item.
struct Link {
    std::int64_t up;
};

// What is known of an item lies beside its link.  Items that have a size are linked by it, others below the first one.
template <class Item = Link>
class UnionFind {
  public:
    using Number = decltype(Item::up);

    explicit UnionFind(std::size_t size) : items_(size) {
        for (std::size_t i = 0; i < size; ++i) items_[i].up = static_cast<Number>(i);
    }

    Item& operator[](Number i) { return items_[i]; }

    Number find(Number i) {
        while (items_[i].up != i) i = items_[i].up = items_[items_[i].up].up;
        return i;
    }

    // Whether they were apart.
    bool join(Number a, Number b) {
        a = find(a), b = find(b);
        if (a != b) link(a, b);
        return a != b;
    }

    // The root of both.
    Number unite(Number a, Number b) {
        a = find(a), b = find(b);
        return a == b ? a : link(a, b);
    }

  private:
    Number link(Number a, Number b) {
        if constexpr (requires(Item item) { item.size; }) {
            if (items_[a].size < items_[b].size) std::swap(a, b);
            items_[a].size += items_[b].size;
        } else if (b < a) {
            std::swap(a, b);
        }
        items_[b].up = a;
        return a;
    }

    std::vector<Item> items_;
};

}  // namespace kech
