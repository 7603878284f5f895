// Splitting a line at a rank, alike with every standard library.
#pragma once

#include <algorithm>
#include <vector>

namespace kech {

// What comes before the element of rank `middle` stands first, then the rest; either part keeps the order it had.
// std::nth_element alone leaves the order within the parts to the library.  `before` must tell any two elements apart.
template <class Place, class Before>
void split_line(Place begin, Place middle, Place end, const Before& before) {
    std::vector ranked(begin, end);
    auto rank = ranked.begin() + (middle - begin);
    std::nth_element(ranked.begin(), rank, ranked.end(), before);
    std::stable_partition(begin, end, [&, first = *rank](auto element) { return before(element, first); });
}

}  // namespace kech
