// Logarithm and exponential as fixed sums: those of C libraries differ in the last bit, even between two processors.
#pragma once

#include <cmath>

namespace kech {

constexpr double log_of_2 = 0.693147180559945309417232121458;

// log x = e log 2 + 2 (z + z^3 / 3 + z^5 / 5 + ...), z = (m - 1) / (m + 1), x = m 2^e with m in [1/sqrt 2, sqrt 2); x > 0
inline double logarithm(double x) {
    int exponent;
    double m = std::frexp(x, &exponent);
    if (m * m < 0.5) m *= 2, --exponent;
    double z = (m - 1) / (m + 1), square = z * z, sum = 0;
    for (int power = 23; power > 0; power -= 2) sum = sum * square + 1.0 / power;
    return exponent * log_of_2 + 2 * z * sum;
}

// exp x = 2^n (1 + r + r^2 / 2! + ...), x = n log 2 + r with |r| <= log 2 / 2
inline double exponential(double x) {
    double n = std::floor(x / log_of_2 + 0.5), r = x - n * log_of_2, sum = 1;
    for (int term = 16; term > 0; --term) sum = 1 + sum * r / term;
    return std::ldexp(sum, static_cast<int>(n));
}

}  // namespace kech
