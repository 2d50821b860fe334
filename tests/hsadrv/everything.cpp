// Eight threads use every operation while queues fail and streams end: results of other streams are right,
// every callback runs, and only injected failures occur. Runs for HSADRV_STRESS_SECONDS (default 3), seeded by
// HSADRV_TEST_SEED. tools/test --long runs it with ThreadSanitizer.
#include <array>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

namespace {

constexpr std::uint32_t count = 256;
constexpr std::size_t bytes = 4 * count;
constexpr auto soon = 2ms;

using Random = std::mt19937;
bool one_in(Random& random, unsigned n) { return random() % n == 0; }

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

/// A stream that does not fail, and the value that its memory must have.
class Innocent {
  public:
    Innocent(Everything& all, Gpu& gpu, Random& random)
        : all_(all),
          gpu_(gpu),
          device_(Allocation::from_pool(device_pool(gpu.gpu), bytes)),
          stream_(gpu.gpu, options(random)) {
        stream_.fill_async(device(), 0u, count, patience);
        stream_.begin_capture();
        for (const std::uint32_t summand : summands_) step(5, summand);
        stream_.copy_async(pinned_.data(), device(), bytes);
        graph_ = stream_.end_capture();
    }

    void work(Random& random) {
        switch (random() % 13) {
            case 0:
            case 1:
                step(3, 7);
                value_ = value_ * 3 + 7;
                break;
            case 2:
                graph_.launch(stream_, patience);
                for (const std::uint32_t summand : summands_) value_ = value_ * 5 + summand;
                if (one_in(random, 2)) update_graph(random);
                break;
            case 3:
                value_ = static_cast<std::uint32_t>(random());
                stream_.fill_async(device(), value_, count, patience);
                break;
            case 4:
                stream_.copy_async(pinned_.data(), device(), bytes, patience);
                one_in(random, 2) ? stream_.copy_async(device(), pinned_.data(), bytes, patience) : back_in_rows();
                break;
            case 5:
                stream_.wait(all_.events.any(random), patience);
                all_.events.put(stream_.record({.timing = one_in(random, 4)}, patience), random);
                break;
            case 6:
                stream_.call([this] { ++called_; }, patience);
                ++calls_;
                break;
            case 7:
                ++all_.owed;
                stream_.on_complete(
                    [&all = all_](std::exception_ptr error) {
                        if (error) all.complaints.add("a callback of a stream that did not fail got an error");
                        ++all.told;
                    },
                    patience);
                break;
            case 8:
                look(random);
                break;
            case 9:
                send(random);
                break;
            case 10:
                receive(random);
                break;
            case 11:
                one_in(random, 2) ? check() : through_registered(random);
                break;
            case 12:
                if (one_in(random, 8)) run_other_code();
                break;
        }
    }

    /// Every operation so far took effect.
    void check() {
        std::vector<std::uint32_t> host(count);
        stream_.copy_async(host.data(), device(), bytes, patience);
        stream_.synchronize(patience);
        all_.complaints.unless(host == std::vector<std::uint32_t>(count, value_),
                               "memory of a stream that did not fail");
        all_.complaints.unless(called_ == calls_, "host functions of a stream that did not fail");
    }

  private:
    static StreamOptions options(Random& random) {
        StreamOptions options{.name = "innocent", .exclusive_queue = one_in(random, 8), .profile_records = 64};
        options.profile = one_in(random, 4);
        // Copies between more than two kinds of memory may be too many.
        if (one_in(random, 4)) options.priority = one_in(random, 2) ? QueuePriority::high : QueuePriority::low;
        return options;
    }

    std::uint32_t* device() const { return device_.as<std::uint32_t>(); }
    void step(std::uint32_t factor, std::uint32_t summand) {
        gpu_.scale_add.launch(stream_, {.grid = count, .workgroup = 64, .deadline = patience}, device(), factor,
                              summand, count);
    }

    void update_graph(Random& random) {
        const std::size_t which = random() % summands_.size();
        summands_[which] = static_cast<std::uint32_t>(random());
        graph_.update(which, gpu_.scale_add, {.grid = count, .workgroup = 64, .deadline = patience}, device(), 5u,
                      summands_[which], count);
    }

    /// Every other word as a separate copy.
    void back_in_rows() {
        for (const std::size_t first : {0, 1})
            stream_.copy_rect_async({.destination = {device() + first, 8},
                                     .source = {pinned_.data() + first, 8},
                                     .width_bytes = 4,
                                     .height = count / 2},
                                    patience);
    }

    /// A deadline that may pass gives the reason, and loses no work.
    void look(Random& random) {
        try {
            const Event event = all_.events.any(random);
            stream_.query();
            event.query();
            stream_.take_profile(soon);
            stream_.synchronize(one_in(random, 2) ? 0ms : soon);
            event.synchronize(soon);
        } catch (const Timeout&) {
        }
    }

    void send(Random& random) {
        Parcel parcel{gpu_.allocator.allocate(bytes, stream_), {}, static_cast<std::uint32_t>(random())};
        stream_.fill_async(parcel.block.as<std::uint32_t>(), parcel.value, count, patience);
        parcel.ready = stream_.record({}, patience);
        gpu_.parcels.put(std::move(parcel), random);
    }

    /// The parcel's memory belongs to this stream from here on, if it is of the same GPU.
    void receive(Random& random) {
        Gpu& from = *all_.gpus[random() % all_.gpus.size()];
        Parcel parcel = from.parcels.take(random);
        if (!parcel.block) return;
        stream_.wait(parcel.ready, patience);
        stream_.copy_async(device(), parcel.block.data(), bytes, patience);
        value_ = parcel.value;
        if (&from == &gpu_)
            parcel.block.free_on(stream_);
        else
            stream_.synchronize(patience);
        if (one_in(random, 16)) gpu_.allocator.release_cached();
    }

    /// Code that is unloaded while its kernel is in flight.
    void run_other_code() {
        const Executable code = Executable::load(gpu_.gpu, test_support::test_file("stream.hsaco"));
        code.kernel("scale_add")
            .launch(stream_, {.grid = count, .workgroup = 64, .deadline = patience}, device(), 2u, 3u, count);
        value_ = value_ * 2 + 3;
    }

    /// Copies to pageable memory, and back from a part of it that is registered twice.
    void through_registered(Random& random) {
        std::vector<std::uint32_t> host(4 * count);
        const Registration all(host.data(), 4 * bytes, {gpu_.gpu});
        std::optional<Registration> part(std::in_place, host.data() + count, bytes, std::initializer_list{gpu_.gpu});
        stream_.copy_async(host.data() + count, device(), bytes, patience);
        if (one_in(random, 2)) part.reset();
        stream_.copy_async(device(), host.data() + count, bytes, patience);
        stream_.synchronize(patience);
        all_.complaints.unless(host[count] == value_ && host[2 * count - 1] == value_, "registered memory");
    }

    Everything& all_;
    Gpu& gpu_;
    std::atomic<int> called_{0};
    int calls_ = 0;
    std::uint32_t value_ = 0;
    std::array<std::uint32_t, 3> summands_{0, 1, 2};  ///< of the graph's kernels
    Words pinned_{count};
    Allocation device_;
    Graph graph_;
    Stream stream_;
};

/// A stream that fails or ends with work in flight. Every error that it reports is one of the expected ones.
class Doomed {
  public:
    Doomed(Everything& all, Gpu& gpu, Random& random)
        : all_(all),
          gpu_(gpu),
          stream_(gpu.gpu, {.name = "doomed", .drain = 1ms, .profile = one_in(random, 4)}),
          mine_(std::make_shared<Mine>(all, gpu)) {
        stream_.attach(mine_);
    }

    void work(Random& random) {
        tolerate([&] { operate(random); });
    }

    void end(Random& random) {
        tolerate([&] {
            if (one_in(random, 3)) spin();
            switch (random() % 4) {
                case 0:
                    ++all_.broken;
                    break_queue(stream_);
                    break;
                case 1:
                    ++all_.threw;
                    stream_.call([] { throw OnPurpose(); }, soon);
                    break;
                case 2:
                    stream_.wait(all_.doomed_events.any(random), soon);
                    break;
                case 3:
                    break;
            }
            for (int i = 0; i < 3; ++i) operate(random);
        });
        if (one_in(random, 2)) mine_->flag.set(1);
        if (one_in(random, 2)) tolerate([&] { stream_.synchronize(soon); });
        if (one_in(random, 4)) return;  // left to the destructor
        ++all_.closed;
        stream_.close(0ms);
    }

  private:
    /// Resources of its work until the last of it has run. The destructor uses a stream, as any destructor may.
    struct Mine {
        Mine(Everything& everything, Gpu& of)
            : all(everything), gpu(of), device(Allocation::from_pool(device_pool(of.gpu), bytes)) {
            ++all.kept;
        }
        ~Mine() {
            gpu.shared.query();
            ++all.dropped;
        }
        Everything& all;
        Gpu& gpu;
        Allocation device;
        Words pinned{count}, flag{1};
    };

    void tolerate(const std::function<void()>& what) {
        try {
            what();
        } catch (const QueueError&) {
        } catch (const StreamEnded&) {
        } catch (const Timeout&) {
        } catch (const OnPurpose&) {
        }
    }

    void spin() { gpu_.spin.launch(stream_, {.grid = 1, .workgroup = 1, .deadline = soon}, mine_->flag.data()); }

    void operate(Random& random) {
        switch (random() % 8) {
            case 0:
                gpu_.scale_add.launch(stream_, {.grid = count, .workgroup = 64, .deadline = soon},
                                      mine_->device.as<std::uint32_t>(), 3u, 1u, count);
                break;
            case 1:
                stream_.copy_async(mine_->pinned.data(), mine_->device.data(), bytes, soon);
                break;
            case 2:
                stream_.fill_async(mine_->device.as<std::uint32_t>(), 7u, count, soon);
                break;
            case 3:
                all_.doomed_events.put(stream_.record({.timing = one_in(random, 4)}, soon), random);
                break;
            case 4:
                stream_.wait(one_in(random, 2) ? all_.doomed_events.any(random) : all_.events.any(random), soon);
                break;
            case 5:
                stream_.on_complete([&all = all_](std::exception_ptr) { ++all.told; }, soon);
                ++all_.owed;
                break;
            case 6:
                stream_.call([mine = mine_] { mine->flag.get(); }, soon);
                break;
            case 7:
                all_.doomed_events.any(random).query();
                stream_.query();
                break;
        }
    }

    Everything& all_;
    Gpu& gpu_;
    Stream stream_;
    std::shared_ptr<Mine> mine_;
};

/// The stream that all threads use.
void share(Gpu& gpu, Random& random) {
    const auto n = static_cast<std::uint32_t>(random() % 100);
    switch (random() % 4) {
        case 0:
        case 1:
            gpu.add(gpu.shared, n);
            gpu.added += n;
            break;
        case 2:
            gpu.adds_three.launch(gpu.shared, patience);
            gpu.added += 3;
            break;
        case 3:
            try {
                gpu.shared.progress();
                gpu.shared.synchronize(soon);
            } catch (const Timeout&) {
            }
            break;
    }
}

/// The thread's own stream, and memory of the allocator.
void use_thread_stream(Everything& all, Context& context, Gpu& gpu, Random& random) {
    Stream& stream = context.thread_stream();
    const auto value = static_cast<std::uint32_t>(random());
    std::vector<std::uint32_t> host(count);
    Block block = gpu.allocator.allocate(bytes, stream);
    stream.fill_async(block.as<std::uint32_t>(), value, count, patience);
    stream.copy_async(host.data(), block.data(), bytes, patience);
    block.reset();
    stream.synchronize(patience);
    all.complaints.unless(host == std::vector<std::uint32_t>(count, value), "memory of a thread's stream");
}

/// A callback on a signal that another thread may store to first, or that is cancelled.
void signal_callback(Everything& all, Random& random) {
    const Signal signal = Signal::create(1);
    SignalCallbacks& callbacks = all.driver.callbacks();
    std::atomic<int> ran{0};
    const SignalCallbacks::Id id = callbacks.on_signal(signal, Condition::less, 1, [&] { ++ran; });
    const bool stored = one_in(random, 2);
    if (stored) signal.store(0);
    const bool cancelled = callbacks.cancel(id);
    all.complaints.unless(ran == (cancelled ? 0 : 1), "a callback both ran and was cancelled, or neither");
    all.complaints.unless(stored || cancelled, "a callback ran before its signal");
}

void work(Everything& all, unsigned thread, Deadline end) {
    Random random(thread + 8 * static_cast<unsigned>(test_support::test_seed()));
    const auto any_gpu = [&]() -> Gpu& { return *all.gpus[random() % all.gpus.size()]; };
    const auto innocent = [&] { return std::make_unique<Innocent>(all, any_gpu(), random); };
    std::vector<std::unique_ptr<Innocent>> innocents;
    for (int i = 0; i < 3; ++i) innocents.push_back(innocent());
    std::unique_ptr<Doomed> doomed;
    Gpu& own = *all.gpus[thread % all.gpus.size()];
    Context context{own.gpu};
    // At least a few operations, however slow the machine is.
    for (int i = 0; i < 30 || !end.passed(); ++i) {
        ++all.operations;
        const unsigned what = random() % 16;
        if (what < 10) {
            innocents[random() % innocents.size()]->work(random);
        } else if (what < 12) {
            share(any_gpu(), random);
        } else if (what < 15) {
            if (!doomed) doomed = std::make_unique<Doomed>(all, any_gpu(), random);
            doomed->work(random);
            if (!one_in(random, 8)) continue;
            doomed->end(random);
            doomed.reset();
        } else if (one_in(random, 4)) {
            signal_callback(all, random);
        } else if (one_in(random, 3)) {
            use_thread_stream(all, context, own, random);
        } else if (one_in(random, 8)) {
            auto& one = innocents[random() % innocents.size()];
            one->check();
            one = innocent();
        }
    }
    for (auto& one : innocents) one->check();
}

unsigned long stress_seconds() {
    const char* text = std::getenv("HSADRV_STRESS_SECONDS");
    return text ? std::strtoul(text, nullptr, 10) : 3;
}

}  // namespace

TEST_CASE("eight threads use every operation while queues fail and streams end: all other results are right",
          "[stress]") {
    NEEDS_DEVICE();
    Everything all;
    const Deadline end{std::chrono::seconds(stress_seconds())};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            try {
                work(all, t, end);
            } catch (const std::exception& error) {
                all.complaints.add("thread " + std::to_string(t) + ": " + error.what());
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& gpu : all.gpus) {
        CHECK_NOTHROW(gpu->shared.synchronize(patience));
        CHECK(gpu->sum.get() == gpu->added);
    }
    CHECK_NOTHROW(all.driver.callbacks().drain(patience));
    CHECK(all.told == all.owed);
    CHECK(eventually([&] { return all.dropped == all.kept; }));
    for (const std::string& text : all.complaints.take()) FAIL_CHECK(text);
    WARN("seed " << test_support::test_seed() << ": " << all.operations << " operations, " << all.broken
                 << " queues broken, " << all.closed << " streams closed, " << all.threw << " host functions threw");
}
