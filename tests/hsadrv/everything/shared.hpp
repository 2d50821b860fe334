// What the threads of the stress of everything share: GPUs, events, complaints.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hsadrv/graph.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

namespace device_test::everything {

using namespace hsadrv;

constexpr std::uint32_t count = 256;
constexpr std::size_t bytes = 4 * count;
constexpr auto soon = 2ms;

using Random = std::mt19937;
inline bool one_in(Random& random, unsigned n) { return random() % n == 0; }

/// Thrown by the host function of a stream that is made to fail.
struct OnPurpose : std::runtime_error {
    OnPurpose() : std::runtime_error("on purpose") {}
};

/// The failures of all threads.
class Complaints {
  public:
    void add(std::string text) {
        const std::lock_guard lock(mutex_);
        if (texts_.size() < 20) texts_.push_back(std::move(text));
    }
    void unless(bool right, const char* what) {
        if (!right) add(what);
    }
    std::vector<std::string> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(texts_, {});
    }

  private:
    std::mutex mutex_;
    std::vector<std::string> texts_;
};

/// Objects that threads pass to each other.
template <class T>
class Board {
  public:
    /// Stores one; the replaced object is destroyed outside the lock.
    void put(T thing, Random& random) {
        const std::lock_guard lock(mutex_);
        if (things_.size() < 32) return things_.push_back(std::move(thing));
        std::swap(things_[random() % things_.size()], thing);
    }
    T any(Random& random) {
        const std::lock_guard lock(mutex_);
        return things_.empty() ? T() : things_[random() % things_.size()];
    }
    T take(Random& random) {
        const std::lock_guard lock(mutex_);
        if (things_.empty()) return T();
        std::swap(things_[random() % things_.size()], things_.back());
        T thing = std::move(things_.back());
        things_.pop_back();
        return thing;
    }

  private:
    std::mutex mutex_;
    std::vector<T> things_;
};

/// A block filled with one value, and the event after which it is.
struct Parcel {
    Block block;
    Event ready;
    std::uint32_t value = 0;
};

/// A GPU, and the objects that the threads share there.
struct Gpu {
    explicit Gpu(AgentRef agent) : gpu(agent) {
        shared.fill_async(sum.data(), 0u, 1, patience);
        shared.begin_capture();
        for (int i = 0; i < 3; ++i) add(shared, 1);
        adds_three = shared.end_capture();
        shared.synchronize(patience);
    }
    void add(Stream& stream, std::uint32_t n) const {
        scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = patience}, sum.data(), 1u, n, 1u);
    }

    AgentRef gpu;
    Executable code = Executable::load(gpu, test_support::test_file("stream.hsaco"));
    Kernel scale_add = code.kernel("scale_add"), spin = code.kernel("spin");
    Words sum{1};  ///< of the kernels submitted to `shared`
    std::atomic<std::uint32_t> added{0};
    Allocator allocator{device_pool(gpu)};
    Board<Parcel> parcels;
    Stream shared{gpu, {.name = "shared"}};
    Graph adds_three;
};

/// Shared by all threads.
struct Everything {
    Driver driver;
    std::vector<std::unique_ptr<Gpu>> gpus;
    Complaints complaints;
    Board<Event> events,  ///< of streams that do not fail
        doomed_events;
    std::atomic<std::uint64_t> operations{0}, owed{0}, told{0}, kept{0}, dropped{0}, broken{0}, closed{0}, threw{0};

    Everything() {
        for (const AgentRef gpu : driver.gpus()) gpus.push_back(std::make_unique<Gpu>(gpu));
    }
};

}  // namespace device_test::everything
