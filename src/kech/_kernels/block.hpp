// A block: neighbouring classes, while one thread works on them.
#pragma once

#include <optional>

#include "core.hpp"

namespace kech {

// What is compared again and again lies side by side: corners, widths and rows of all classes.
class Block {
  public:
    Block(const Problem& problem, std::vector<Class> classes)
        : problem_(problem), box_(problem.widths), counter_(problem.person) {
        for (auto& members : classes) add(std::move(members));
        joint_width_.emplace(problem.widths, sample_distances());
    }

    std::size_t size() const { return classes_.size(); }
    const Class& operator[](std::size_t c) const { return classes_[c]; }
    const Code* lo(std::size_t c) const { return lo_.data() + c * problem_.axes; }
    const Code* hi(std::size_t c) const { return hi_.data() + c * problem_.axes; }
    double width(std::size_t c) const { return width_[c]; }
    std::int64_t rows(std::size_t c) const { return rows_[c]; }
    std::int64_t people(std::size_t c) const { return people_[c]; }
    double cost(std::size_t c) const { return rows_[c] * width_[c]; }
    std::uint32_t version(std::size_t c) const { return version_[c]; }
    bool changed(std::size_t c) const { return version_[c] > 1; }

    void add(Class members) {
        classes_.emplace_back();
        lo_.resize(lo_.size() + problem_.axes);
        hi_.resize(hi_.size() + problem_.axes);
        width_.push_back(0);
        rows_.push_back(0);
        people_.push_back(0);
        version_.push_back(0);
        set(size() - 1, std::move(members));
    }

    void set(std::size_t c, Class members) {
        problem_.enclose(members, box_);
        std::copy_n(box_.lo(), problem_.axes, lo_.begin() + c * problem_.axes);
        std::copy_n(box_.hi(), problem_.axes, hi_.begin() + c * problem_.axes);
        width_[c] = problem_.widths.sum(lo(c), hi(c));
        rows_[c] = count_rows(members);
        people_[c] = problem_.has_persons() ? counter_.count(members) : rows_[c];
        classes_[c] = std::move(members);
        ++version_[c];
    }

    // The last class takes its place.
    void remove(std::size_t c) {
        std::size_t last = size() - 1;
        if (c != last) {
            std::copy_n(lo(last), problem_.axes, lo_.begin() + c * problem_.axes);
            std::copy_n(hi(last), problem_.axes, hi_.begin() + c * problem_.axes);
            width_[c] = width_[last], rows_[c] = rows_[last], people_[c] = people_[last], version_[c] = version_[last] + 1;
            classes_[c] = std::move(classes_[last]);
        }
        classes_.pop_back();
        lo_.resize(last * problem_.axes);
        hi_.resize(last * problem_.axes);
        width_.pop_back(), rows_.pop_back(), people_.pop_back(), version_.pop_back();
    }

    // The classes nearest to one, with a weight for each axis.
    void find_near(std::size_t c, std::size_t most, const std::vector<double>& weight,
                   std::vector<Neighbour>& near) const {
        auto joint = [&, low = lo(c), high = hi(c)](std::size_t b, double limit) {
            return b == c ? infinity : (*joint_width_)(low, high, lo(b), hi(b), weight, limit);
        };
        auto candidate = [](std::size_t b) { return b; };
        auto width = [&](std::size_t b) { return width_[b]; };
        find_nearest(size(), candidate, most, joint, width, near);
    }

    double cost() const {
        double total = 0;
        for (std::size_t c = 0; c < size(); ++c) total += cost(c);
        return total;
    }

    std::vector<Class> take() { return std::move(classes_); }

  private:
    // How far neighbours lie apart on each axis.
    std::vector<double> sample_distances() const {
        std::vector<double> apart(problem_.axes, 0.0);
        for (std::size_t c = 0; c + 1 < size(); ++c)
            for (std::size_t j = 0; j < problem_.axes; ++j)
                apart[j] += problem_.widths.width(j, std::min(lo(c)[j], lo(c + 1)[j]), std::max(hi(c)[j], hi(c + 1)[j]));
        return apart;
    }

    const Problem& problem_;
    MeasuredBox box_;
    PeopleCounter counter_;
    std::optional<JointWidth> joint_width_;
    std::vector<Class> classes_;
    std::vector<Code> lo_, hi_;
    std::vector<double> width_;
    std::vector<std::int64_t> rows_, people_;
    std::vector<std::uint32_t> version_;
};

}  // namespace kech
