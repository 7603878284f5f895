// Lookup: where each of some keyed hashes stands among others.  They are random already, so their bits choose the slot.
#pragma once

#include <cstring>

#include "core.hpp"

namespace kech {

class HashLookup {
public:
    static constexpr std::size_t size = 16;  // bytes of a hash

    explicit HashLookup(std::span<const std::uint8_t> known) : known_(known) {
        std::size_t hashes = known.size() / size, slots = 2;
        while (slots < 2 * hashes) slots *= 2;
        mask_ = slots - 1;
        place_.assign(slots, none);
        for (std::size_t i = 0; i < hashes; ++i) {
            std::uint32_t& slot = place_[find_slot(known.data() + i * size)];
            if (slot == none) slot = static_cast<std::uint32_t>(i);
        }
    }

    // The first place of each, or -1.
    std::vector<std::int64_t> find(std::span<const std::uint8_t> sought) const {
        std::vector<std::int64_t> found(sought.size() / size);
        for (std::size_t i = 0; i < found.size(); ++i) {
            std::uint32_t place = place_[find_slot(sought.data() + i * size)];
            found[i] = place == none ? -1 : static_cast<std::int64_t>(place);
        }
        return found;
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    // The slot of a hash, or the free one where it would stand.
    std::size_t find_slot(const std::uint8_t* hash) const {
        std::uint64_t bits;
        std::memcpy(&bits, hash, sizeof bits);
        std::size_t at = bits & mask_;
        while (place_[at] != none && std::memcmp(known_.data() + place_[at] * size, hash, size) != 0) at = (at + 1) & mask_;
        return at;
    }

    std::span<const std::uint8_t> known_;
    std::vector<std::uint32_t> place_;
    std::size_t mask_;
};

}  // namespace kech
