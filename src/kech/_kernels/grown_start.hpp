// A start of the search: along an order of the points, stretch by stretch, classes grown from outlying rows.
#pragma once

#include "recreation.hpp"
#include "threads.hpp"

namespace kech {

inline Shares grow_classes(const Problem& problem, const std::int64_t* weights, const std::int64_t* order,
                           std::size_t stretch, std::uint64_t seed, unsigned threads) {
    std::vector<Region> regions(1);
    std::size_t points = problem.points();
    std::int64_t left = std::accumulate(weights, weights + points, std::int64_t{0});
    for (std::size_t i = 0; i < points; ++i) {
        Region* region = &regions.back();
        if (region->members.size() >= stretch && region->rows >= problem.k && left >= problem.k)
            region = &regions.emplace_back();
        region->members.push_back({order[i], weights[order[i]]});
        region->rows += weights[order[i]];
        left -= weights[order[i]];
    }
    std::vector<std::vector<Class>> made(regions.size());
    const Levels none;
    for_each(regions.size(), threads, [&](std::size_t r, std::size_t) {
        Recreation recreation(problem, none);
        Random random(scramble(seed) + r);
        recreation.run(Recipe::grow, regions[r], infinity, random);
        made[r] = recreation.take();
    });
    std::vector<Class> classes;
    for (auto& some : made)
        for (Class& members : some) {
            merge_equal(members);
            classes.push_back(std::move(members));
        }
    return shares_of(classes);
}

}  // namespace kech
