// BLAKE2b (RFC 7693) of many short texts under one key: the key is compressed once, then each text by itself.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace kech {

class KeyedHash {
  public:
    static constexpr std::size_t BLOCK = 128, MOST_BYTES = 64;

    KeyedHash(const std::uint8_t* key, std::size_t length, std::size_t size) : size_(size) {
        keyed_ = START;
        keyed_[0] ^= 0x01010000 ^ (length << 8) ^ size;
        alone_ = keyed_;
        add(keyed_, key, length, BLOCK, false);
        add(alone_, key, length, BLOCK, true);
    }

    void hash(const std::uint8_t* text, std::size_t length, std::uint8_t* digest) const {
        State state = length ? keyed_ : alone_;
        std::uint64_t count = BLOCK;  // the key
        for (; length > BLOCK; text += BLOCK, length -= BLOCK) add(state, text, BLOCK, count += BLOCK, false);
        if (length) add(state, text, length, count += length, true);
        std::memcpy(digest, state.data(), size_);
    }

  private:
    using State = std::array<std::uint64_t, 8>;
    using Words = std::array<std::uint64_t, 16>;
    using Block = std::array<std::uint8_t, BLOCK>;
    static_assert(std::endian::native == std::endian::little);

    static constexpr State START = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    static constexpr std::uint8_t ORDER[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
    static constexpr int ROUNDS = 12;

    static void add(State& state, const std::uint8_t* text, std::size_t length, std::uint64_t count, bool last) {
        Block block{};
        std::memcpy(block.data(), text, length);
        compress(state, block, count, last);
    }

    static void compress(State& state, const Block& block, std::uint64_t count, bool last) {
        Words word, v;
        std::memcpy(word.data(), block.data(), BLOCK);
        for (std::size_t i = 0; i < 8; ++i) v[i] = state[i], v[i + 8] = START[i];
        v[12] ^= count;
        if (last) v[14] = ~v[14];
        // Rounds are unrolled, so that places of words are known when this is compiled: that takes half the time.
        [&]<std::size_t... round>(std::index_sequence<round...>) {
            (mix<round % 10>(v, word), ...);
        }(std::make_index_sequence<ROUNDS>());
        for (std::size_t i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[i + 8];
    }

    template <std::size_t row>
    [[gnu::always_inline]] static void mix(Words& v, const Words& word) {
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            (mix(v[i], v[4 + i], v[8 + i], v[12 + i], word[ORDER[row][2 * i]], word[ORDER[row][2 * i + 1]]), ...);
            (mix(v[i], v[4 + (i + 1) % 4], v[8 + (i + 2) % 4], v[12 + (i + 3) % 4], word[ORDER[row][8 + 2 * i]],
                 word[ORDER[row][9 + 2 * i]]), ...);
        }(std::make_index_sequence<4>());
    }

    using Word = std::uint64_t;
    [[gnu::always_inline]] static void mix(Word& a, Word& b, Word& c, Word& d, Word x, Word y) {
        a += b + x, d = std::rotr(d ^ a, 32), c += d, b = std::rotr(b ^ c, 24);
        a += b + y, d = std::rotr(d ^ a, 16), c += d, b = std::rotr(b ^ c, 63);
    }

    std::size_t size_;
    State keyed_, alone_;  // after the key; and where no text follows it
};

}  // namespace kech
