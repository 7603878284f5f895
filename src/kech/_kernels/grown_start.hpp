// A start of the search: along an order of the points, stretch by stretch, classes grown from outlying rows.
#pragma once

#include "recreation.hpp"
#include "threads.hpp"

namespace kech {

inline Shares grow_classes(const Problem& problem, const std::int64_t* weights, const std::int64_t* order,
                           std::size_t stretch, std::uint64_t seed, unsigned threads) {
    std::vector<Region> regions(1);
    std::size_t points = problem.points();
    PeopleCounter here(problem.person), left(problem.person);
    for (std::size_t i = 0; i < points; ++i) left.add({order[i], weights[order[i]]});
    for (std::size_t i = 0; i < points; ++i) {
        Region* region = &regions.back();
        if (region->members.size() >= stretch && here.people() >= problem.k && left.people() >= problem.k) {
            region = &regions.emplace_back();
            here.start();
        }
        Member member{order[i], weights[order[i]]};
        region->members.push_back(member);
        region->rows += member.rows;
        here.add(member);
        left.remove(member);
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
