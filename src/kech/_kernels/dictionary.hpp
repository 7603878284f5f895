// Numbering: the texts of a column, each once, numbered from 1 as they come; 0 is NULL.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace kech {

// Texts in one string, and a table of places that is searched from the hash of a text onward.
class Words {
  public:
    Words() : places_(64) {}

    // Cells lie between their ends, as Arrow holds them; bits say which are present, from one of them on.
    void number(const std::uint8_t* bits, std::size_t bit, const std::int32_t* ends, const char* letters,
                std::size_t cells, std::uint32_t* numbers) {
        for (std::size_t i = 0; i < cells; ++i) {
            bool missing = bits && !(bits[(bit + i) >> 3] >> ((bit + i) & 7) & 1);
            numbers[i] = missing ? 0 : find_or_add(letters + ends[i], static_cast<std::size_t>(ends[i + 1] - ends[i]));
        }
    }

    const std::vector<std::int64_t>& ends() const { return ends_; }
    const std::vector<char>& letters() const { return letters_; }

  private:
    struct Place {
        std::uint64_t hash = 0;
        std::uint32_t number = 0;  // 0: free
    };

    std::uint32_t find_or_add(const char* text, std::size_t length) {
        std::uint64_t hash = hash_text(text, length);
        std::size_t at = hash & (places_.size() - 1);
        for (; places_[at].number; at = (at + 1) & (places_.size() - 1))
            if (places_[at].hash == hash && same(places_[at].number, text, length)) return places_[at].number;
        letters_.insert(letters_.end(), text, text + length);
        ends_.push_back(static_cast<std::int64_t>(letters_.size()));
        auto number = static_cast<std::uint32_t>(ends_.size() - 1);
        places_[at] = {hash, number};
        if (2 * ends_.size() > places_.size()) grow();
        return number;
    }

    bool same(std::uint32_t number, const char* text, std::size_t length) const {
        auto begin = static_cast<std::size_t>(ends_[number - 1]);
        return static_cast<std::size_t>(ends_[number]) - begin == length &&
               (length == 0 || std::memcmp(letters_.data() + begin, text, length) == 0);
    }

    void grow() {
        std::vector<Place> old(2 * places_.size());
        old.swap(places_);
        for (const Place& place : old) {
            if (!place.number) continue;
            std::size_t at = place.hash & (places_.size() - 1);
            while (places_[at].number) at = (at + 1) & (places_.size() - 1);
            places_[at] = place;
        }
    }

    static std::uint64_t read(const char* from, std::size_t bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, bytes);
        return word;
    }

    // Drawn once a process: who does not know them cannot choose texts that meet at one place.
    struct Secret {
        std::uint64_t start, factor;
    };

    static Secret draw() {
        std::random_device chance;
        auto word = [&] { return static_cast<std::uint64_t>(chance()) << 32 | (chance() & 0xffffffffu); };
        std::uint64_t start = word();
        return {start, word() | 1};
    }

    static const Secret& secret() {
        static const Secret drawn = draw();
        return drawn;
    }

    // Both halves of the product with a secret number, of which the upper one depends on every bit.
    static std::uint64_t fold_product(std::uint64_t word, std::uint64_t factor) {
#ifdef _MSC_VER
        std::uint64_t upper, lower = _umul128(word, factor, &upper);
        return lower ^ upper;
#else
        __extension__ using Wide = unsigned __int128;
        Wide product = static_cast<Wide>(word) * factor;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#endif
    }

    std::uint64_t hash_text(const char* text, std::size_t length) const {
        auto [hash, factor] = secret_;
        hash = fold_product(hash + length, factor);
        for (; length > 8; text += 8, length -= 8) hash = fold_product(hash ^ read(text, 8), factor);
        if (length == 8) return fold_product(hash ^ read(text, 8), factor);
        if (length >= 4) return fold_product(hash ^ (read(text, 4) << 32 | read(text + length - 4, 4)), factor);
        std::uint64_t few = 0;
        for (std::size_t i = 0; i < length; ++i) few = few << 8 | static_cast<unsigned char>(text[i]);
        return fold_product(hash ^ few, factor);
    }

    const Secret secret_ = secret();
    std::vector<std::int64_t> ends_{0};  // where each text ends; those before it, from 0
    std::vector<char> letters_;
    std::vector<Place> places_;
};

}  // namespace kech
