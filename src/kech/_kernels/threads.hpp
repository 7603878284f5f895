// Work on several threads; a fault in one of them is a fault of the whole, not the end of the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kech {

// Threads that are awaited where they end; not every standard library has a jthread.
struct Pool {
    std::vector<std::thread> threads;

    ~Pool() {
        for (auto& thread : threads) thread.join();
    }
};

// work(id) on each of the threads; the first fault is thrown when all have ended.
template <class Work>
void run_threads(std::size_t threads, const Work& work) {
    std::exception_ptr fault;
    std::mutex lock;
    auto guarded = [&](std::size_t id) {
        try {
            work(id);
        } catch (...) {
            std::lock_guard hold(lock);
            if (!fault) fault = std::current_exception();
        }
    };
    {
        Pool pool;
        for (std::size_t id = 1; id < threads; ++id) pool.threads.emplace_back(guarded, id);
        guarded(0);
    }
    if (fault) std::rethrow_exception(fault);
}

// job(i, id) for each i below `jobs`, on the thread that is free next.
template <class Job>
void for_each(std::size_t jobs, std::size_t threads, const Job& job) {
    std::atomic<std::size_t> next{0};
    run_threads(std::min(threads, jobs), [&](std::size_t id) {
        for (std::size_t i = next.fetch_add(1); i < jobs; i = next.fetch_add(1)) job(i, id);
    });
}

}  // namespace kech
