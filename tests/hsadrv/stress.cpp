// Eight threads, 64 streams, every kind of work at once, for HSADRV_STRESS_SECONDS (default 2);
// and a million launches (or HSADRV_STRESS_LAUNCHES) with constant memory and descriptors.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

unsigned long number_from(const char* variable, unsigned long otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

/// Events of all streams: each thread waits for the others'.
class Board {
  public:
    void pin(Event event) {
        const std::lock_guard lock(mutex_);
        if (events_.size() < 64) return events_.push_back(std::move(event));
        events_[next_++ % events_.size()] = std::move(event);
    }
    Event any(std::mt19937& random) {
        const std::lock_guard lock(mutex_);
        return events_.empty() ? Event() : events_[random() % events_.size()];
    }

  private:
    std::mutex mutex_;
    std::vector<Event> events_;
    std::size_t next_ = 0;
};

/// One stream and the value that its memory must have: every operation is mirrored on the host.
class Worker {
  public:
    static constexpr std::uint32_t count = 256;

    explicit Worker(const Kernels& f)
        : kernels_(f), stream_(f.gpu), device_(Allocation::from_pool(device_pool(f.gpu), 4 * count)), pinned_(count) {
        stream_.fill_async(data(), 0u, count);
        stream_.begin_capture();
        for (std::uint32_t i = 0; i < 4; ++i) step(5u, i);
        graph_ = stream_.end_capture();
    }

    void work(std::mt19937& random, Board& board) {
        switch (random() % 9) {
            case 0:
            case 1:
                step(3u, 7u);
                value_ = value_ * 3 + 7;
                break;
            case 2:
                graph_.launch(stream_, patience);
                for (std::uint32_t i = 0; i < 4; ++i) value_ = value_ * 5 + i;
                break;
            case 3:
                value_ = random();
                stream_.fill_async(data(), value_, count, patience);
                break;
            case 4:
                stream_.copy_async(pinned_.data(), data(), 4 * count, patience);
                stream_.copy_async(data(), pinned_.data(), 4 * count, patience);
                break;
            case 5:
                stream_.wait(board.any(random), patience);
                board.pin(stream_.record({.timing = random() % 8 == 0}));
                break;
            case 6:
                stream_.call([this] { ++called_; }, patience);
                ++calls_;
                break;
            case 7:
                stream_.keep_alive(std::make_shared<int>(1));
                break;
            case 8:
                if (random() % 4 == 0) check();
                break;
        }
    }

    void check() {
        std::vector<std::uint32_t> host(count);
        stream_.copy_async(host.data(), data(), 4 * count, patience);
        stream_.synchronize(patience);
        const bool right = host == std::vector<std::uint32_t>(count, value_) && called_ == calls_;
        if (!right) ++wrong;
    }

    int wrong = 0;

  private:
    std::uint32_t* data() const { return static_cast<std::uint32_t*>(device_.data()); }
    void step(std::uint32_t factor, std::uint32_t addend) {
        kernels_.scale_add.launch(stream_, {.grid = count, .workgroup = 64, .deadline = patience}, data(), factor,
                                  addend, count);
    }

    const Kernels& kernels_;
    Stream stream_;
    Allocation device_;
    Words pinned_;
    Graph graph_;
    std::uint32_t value_ = 0;
    std::atomic<int> called_{0};
    int calls_ = 0;
};

struct Footprint {
    std::size_t resident_kb = 0, descriptors = 0;
};

Footprint footprint() {
    Footprint now;
    std::ifstream statm("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    statm >> total >> resident;
    now.resident_kb = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++now.descriptors;
    return now;
}

}  // namespace

TEST_CASE("eight threads, 64 streams, mixed work: every result is right", "[stress]") {
    NEEDS_DEVICE();
    const Kernels f;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(number_from("HSADRV_STRESS_SECONDS", 2));
    Board board;
    std::mutex mutex;
    std::vector<std::string> errors;
    std::atomic<int> wrong{0};
    std::atomic<std::uint64_t> operations{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            try {
                std::mt19937 random(t + 1 + 8 * static_cast<unsigned>(test_support::test_seed()));
                std::vector<std::unique_ptr<Worker>> workers;
                for (int i = 0; i < 8; ++i) workers.push_back(std::make_unique<Worker>(f));
                // At least a few operations, however slow the machine is.
                for (int i = 0; i < 20 || std::chrono::steady_clock::now() < end; ++i) {
                    workers[random() % workers.size()]->work(random, board);
                    ++operations;
                    if (random() % 512 == 0) {  // a new stream
                        auto& worker = workers[random() % workers.size()];
                        worker->check();
                        wrong += worker->wrong;
                        worker = std::make_unique<Worker>(f);
                    }
                }
                for (auto& worker : workers) {
                    worker->check();
                    wrong += worker->wrong;
                }
            } catch (const std::exception& error) {
                const std::lock_guard lock(mutex);
                errors.emplace_back(error.what());
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& error : errors) FAIL_CHECK(error);
    CHECK(wrong == 0);
    CHECK(operations > 100);
    WARN(operations << " operations");
}

TEST_CASE("launches leave memory and descriptors as they were", "[stress]") {
    NEEDS_DEVICE();
    const Kernels f;
    const unsigned long launches = number_from("HSADRV_STRESS_LAUNCHES", 20'000);
    Stream stream(f.gpu);
    const Words data(1);
    const auto launch = [&](unsigned long count) {
        for (unsigned long i = 0; i < count; ++i)
            f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = patience}, data.data(), 1u, 1u, 1u);
        stream.synchronize(patience);
    };
    launch(5000);  // warm-up: pools reach their size
    const Footprint before = footprint();
    launch(launches);
    const Footprint after = footprint();
    CHECK(data.get() == static_cast<std::uint32_t>(5000 + launches));
    CHECK(after.descriptors == before.descriptors);
    // A sanitizer keeps freed memory to detect uses after free.
    if (!sanitizer) CHECK(after.resident_kb <= before.resident_kb + 2048);
}
