// Bounding: how much at least any partition must lose, for many k at once.
#pragma once

#include <atomic>
#include <thread>

#include "widths.hpp"

namespace kech {

// A row shares its class with k - 1 others, so its box is as wide as the box around it and its k-th nearest row.
class Bounder {
  public:
    // `codes` along an order in which neighbours are close; ks ascend.
    Bounder(const Code* codes, const std::int64_t* weights, std::size_t points, const Widths& widths,
            const std::vector<std::int64_t>& ks)
        : codes_(codes), weights_(weights), points_(points), axes_(widths.axes()), widths_(widths), ks_(ks) {}

    // For each k the sum over rows of the width to the k-th nearest row, itself counted.
    std::vector<double> run(unsigned threads) const {
        std::size_t parts = (points_ + grain - 1) / grain;
        std::vector<std::vector<double>> sums(parts, std::vector<double>(ks_.size(), 0.0));
        std::atomic<std::size_t> next{0};
        auto worker = [&] {
            std::vector<Near> near;
            for (std::size_t part; (part = next.fetch_add(1)) < parts;)
                for (std::size_t p = part * grain; p < std::min(points_, (part + 1) * grain); ++p)
                    add(p, near, sums[part]);
        };
        std::vector<std::jthread> pool;
        for (unsigned t = 1; t < threads; ++t) pool.emplace_back(worker);
        worker();
        pool.clear();
        std::vector<double> total(ks_.size(), 0.0);
        for (const auto& sum : sums)
            for (std::size_t q = 0; q < total.size(); ++q) total[q] += sum[q];
        return total;
    }

  private:
    static constexpr std::size_t grain = 64;

    struct Near {
        double width;
        std::int64_t rows;
    };

    void add(std::size_t p, std::vector<Near>& near, std::vector<double>& sum) const {
        near.clear();
        double limit = std::numeric_limits<double>::infinity();
        for (std::size_t step = 0; step < points_; ++step) {
            if (step <= p) visit(p, p - step, near, limit);
            if (step > 0 && p + step < points_) visit(p, p + step, near, limit);
        }
        keep(near);
        std::size_t at = 0;
        std::int64_t rows = near[0].rows;
        for (std::size_t q = 0; q < ks_.size(); ++q) {
            while (rows < ks_[q]) rows += near[++at].rows;
            sum[q] += weights_[p] * near[at].width;
        }
    }

    void visit(std::size_t p, std::size_t other, std::vector<Near>& near, double& limit) const {
        const Code *a = codes_ + p * axes_, *b = codes_ + other * axes_;
        double width = 0;
        for (std::size_t j = 0; j < axes_ && width < limit; ++j)
            width += widths_.width(j, std::min(a[j], b[j]), std::max(a[j], b[j]));
        if (width >= limit) return;
        near.push_back({width, weights_[other]});
        if (near.size() >= 2 * static_cast<std::size_t>(ks_.back()) + 32) limit = keep(near);
    }

    // The nearest with enough rows for every k; beyond what width nothing matters.
    double keep(std::vector<Near>& near) const {
        std::sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.width < b.width; });
        std::int64_t rows = 0;
        for (std::size_t i = 0; i < near.size(); ++i) {
            rows += near[i].rows;
            if (rows < ks_.back()) continue;
            near.resize(i + 1);
            return near[i].width;
        }
        return std::numeric_limits<double>::infinity();
    }

    const Code* codes_;
    const std::int64_t* weights_;
    std::size_t points_, axes_;
    const Widths& widths_;
    const std::vector<std::int64_t>& ks_;
};

}  // namespace kech
