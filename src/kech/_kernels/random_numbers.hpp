// Random numbers that can be repeated: equal seeds, equal numbers, on every machine and thread.
#pragma once

#include <cmath>
#include <cstdint>

namespace kech {

inline std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(scramble(seed)) {}

    std::uint64_t next() { return scramble(state_ += 0x9e3779b97f4a7c15); }

    std::size_t below(std::size_t count) { return next() % count; }

    // From 0 to 1, without 1.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // Near 1, as often above as below.
    double factor(double spread) {
        double sum = uniform();  // one after the other: compilers may draw the parts of one sum in any order
        sum += uniform();
        sum += uniform();
        return 1.0 + spread * (sum - 1.5);
    }

  private:
    std::uint64_t state_;
};

}  // namespace kech
