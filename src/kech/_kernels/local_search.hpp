// Local search: from one partition to cheaper ones, a block of neighbouring classes at a time.
#pragma once

#include "rank_split.hpp"
#include "ruin_and_recreate.hpp"
#include "threads.hpp"

namespace kech {

class LocalSearch {
  public:
    LocalSearch(Problem problem, Levels levels, const Shares& start, std::uint64_t seed)
        : problem_(std::move(problem)), levels_(std::move(levels)), seed_(seed), classes_(classes_of(start)),
          best_(classes_) {
        cheapest_ = now_ = total(classes_);
    }

    // One batch of blocks; a round is over when all blocks are done.  `heat` lets dearer classes pass.
    void step(double heat, bool ruin, unsigned threads) {
        if (blocks_.empty()) begin_round();
        std::vector<Improved> made(std::min(constants::search_batch, blocks_.size() - next_));
        for_each(made.size(), threads, [&](std::size_t i, std::size_t) { made[i] = improve(next_ + i, heat, ruin); });
        for (auto& block : made) put_back(block, blocks_[next_++]);
        if (next_ == blocks_.size()) end_round();
    }

    const Problem& problem() const { return problem_; }
    double price() const { return std::min(cheapest_, now_); }
    std::uint64_t work() const { return work_; }
    std::size_t rounds() const { return rounds_; }

    Shares best() const { return shares_of(now_ < cheapest_ ? classes_ : best_); }

  private:
    struct Improved {
        std::vector<Class> classes;
        Record record;
        std::uint64_t work = 0;
        double saved = 0;
    };

    // Neighbouring classes in blocks: parted along random axes at random places.
    void begin_round() {
        Random random(scramble(seed_) + rounds_);
        auto order = count_up<std::size_t>(classes_.size());
        std::vector<const Code*> place;
        for (const Class& members : classes_) place.push_back(problem_.at(members[random.below(members.size())].point));
        std::vector<std::pair<std::size_t, std::size_t>> open{{0, order.size()}};
        while (!open.empty()) {
            auto [begin, end] = open.back();
            open.pop_back();
            if (end - begin <= constants::search_block) {
                blocks_.emplace_back(order.begin() + begin, order.begin() + end);
                continue;
            }
            std::size_t cut = split_block(order, place, begin, end, random);
            open.push_back({begin, cut});
            open.push_back({cut, end});
        }
        next_ = 0;
    }

    // Parts classes along the axis on which they differ most, with chance in both; returns where the second part begins.
    std::size_t split_block(std::vector<std::size_t>& order, const std::vector<const Code*>& place, std::size_t begin,
                      std::size_t end, Random& random) const {
        std::vector<double> apart(problem_.axes, 0.0);
        for (std::size_t i = 0; i < constants::block_samples; ++i) {
            const Code* a = place[order[begin + random.below(end - begin)]];
            const Code* b = place[order[begin + random.below(end - begin)]];
            for (std::size_t j = 0; j < problem_.axes; ++j) apart[j] += problem_.widths.between(j, a[j], b[j]);
        }
        for (double& s : apart) s *= random.uniform();
        std::size_t axis = std::max_element(apart.begin(), apart.end()) - apart.begin();
        double share = constants::block_cut_from + constants::block_cut_range * random.uniform();
        auto middle = begin + static_cast<std::size_t>(share * (end - begin));
        split_line(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](auto a, auto b) {
            return place[a][axis] != place[b][axis] ? place[a][axis] < place[b][axis] : a < b;
        });
        return middle;
    }

    Improved improve(std::size_t b, double heat, bool ruin) const {
        std::vector<Class> mine;
        for (std::size_t c : blocks_[b]) mine.push_back(classes_[c]);
        Block block(problem_, std::move(mine));
        double before = block.cost();
        Moves moves(problem_, levels_, block, Random(scramble(scramble(seed_) + rounds_) + b), heat, record_);
        bool late = rounds_ >= constants::late_rounds;
        if (ruin) moves.ruin(record_.empty() ? block.size() / 2 + 1 : (1 + late) * block.size(), late);
        else if (rounds_ == 0) moves.dissolve(constants::pair_neighbours);
        moves.split_large();
        if (block.size() <= constants::crowded_block) {
            moves.pair_up(ruin ? constants::pair_neighbours : constants::first_neighbours, !ruin);
            if (!ruin) moves.triple_up(constants::first_neighbours);
        }
        double saved = before - block.cost();
        return {block.take(), moves.done(), moves.work(), saved};
    }

    // Places that are not needed stay empty until the round is over.
    void put_back(Improved& made, const std::vector<std::size_t>& places) {
        for (std::size_t i = 0; i < places.size(); ++i) classes_[places[i]].clear();
        for (std::size_t i = 0; i < made.classes.size(); ++i) {
            if (i < places.size()) classes_[places[i]] = std::move(made.classes[i]);
            else classes_.push_back(std::move(made.classes[i]));
        }
        now_ -= made.saved;
        work_ += made.work + constants::block_overhead;
        fresh_record_.add(made.record);
    }

    void end_round() {
        std::erase_if(classes_, [](const Class& members) { return members.empty(); });
        now_ = total(classes_);
        if (now_ < cheapest_) cheapest_ = now_, best_ = classes_;
        record_.fade(constants::record_memory);
        record_.add(fresh_record_);
        fresh_record_ = {};
        blocks_.clear();
        ++rounds_;
    }

    double total(const std::vector<Class>& classes) const {
        double sum = 0;
        MeasuredBox box(problem_.widths);
        for (const Class& members : classes) {
            problem_.enclose(members, box);
            sum += count_rows(members) * box.sum_of_sides();
        }
        return sum;
    }

    Problem problem_;
    Levels levels_;
    std::uint64_t seed_, work_ = 0;
    std::vector<Class> classes_, best_;
    double cheapest_ = 0, now_ = 0;
    std::vector<std::vector<std::size_t>> blocks_;
    std::size_t next_ = 0, rounds_ = 0;
    Record record_, fresh_record_;
};

}  // namespace kech
