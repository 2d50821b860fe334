// Stream options: priority and compute units, on queues shared only by streams with equal options.
#include <algorithm>
#include <bit>
#include <memory>
#include <set>
#include <vector>

#include "hsadrv/base/cu_mask.hpp"
#include "hsadrv/stream/queue_pool.hpp"
#include "tests/hsadrv/stream_fixture.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;
using namespace device_test;
using detail::QueueNeeds;
using detail::QueuePool;
using detail::SharedQueue;
using test_support::Contains;

namespace {

int bits(const std::vector<std::uint32_t>& mask) {
    int count = 0;
    for (const std::uint32_t word : mask) count += std::popcount(word);
    return count;
}

/// Compute units, in the pairs that RDNA has: those of the bits in `pairs`.
std::uint32_t some_pairs(std::uint32_t pairs) {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 16; ++i) mask |= (pairs >> i & 1) * 3 << 2 * i;
    return mask;
}

bool same_queue(const Stream& a, const Stream& b) { return a.queue().native() == b.queue().native(); }

}  // namespace

TEST_CASE("a stream's queue has its priority and its compute units, and works", "[stream][options]") {
    NEEDS_DEVICE();
    const Kernels f;
    const auto units = static_cast<int>(f.gpu.compute_units());
    struct Row {
        StreamOptions options;
        QueuePriority priority;
        int units;
    };
    const Row rows[] = {
        {{}, QueuePriority::normal, units},
        {{.priority = QueuePriority::low}, QueuePriority::low, units},
        {{.priority = QueuePriority::high}, QueuePriority::high, units},
        {{.cu_mask = {0xff}}, QueuePriority::normal, 8},
        {{.priority = QueuePriority::high, .cu_mask = {0x33}}, QueuePriority::high, 4},
        {{.exclusive_queue = true, .priority = QueuePriority::low, .cu_mask = {0x3}}, QueuePriority::low, 2},
        {{.cu_mask = std::vector<std::uint32_t>(16, ~0u)}, QueuePriority::normal, units},
    };
    for (const Row& row : rows) {
        CAPTURE(row.units, static_cast<int>(row.priority));
        Stream stream(f.gpu, row.options);
        CHECK(stream.queue().priority() == row.priority);
        CHECK(bits(stream.queue().cu_mask()) == row.units);
        const Words data(64);
        f.scale_add.launch(stream, {.grid = 64, .workgroup = 64}, data.data(), 0u, 7u, 64u);
        stream.synchronize(patience);
        CHECK(data.get(63) == 7);
    }
}

TEST_CASE("streams share queues only with streams of the same options", "[stream][options][pool]") {
    NEEDS_DEVICE();
    const Kernels f;
    std::vector<Stream> ordinary;
    for (std::size_t i = 0; i < QueuePool::most; ++i) ordinary.emplace_back(f.gpu);
    std::vector<Stream> high, masked;
    for (std::size_t i = 0; i < QueuePool::most_special - 1; ++i)
        high.emplace_back(f.gpu, StreamOptions{.priority = QueuePriority::high});
    masked.emplace_back(f.gpu, StreamOptions{.cu_mask = {0x3, 0x0}});
    // All queues are in use: later streams share.
    high.emplace_back(f.gpu, StreamOptions{.priority = QueuePriority::high});
    masked.emplace_back(f.gpu, StreamOptions{.cu_mask = {0x3}});
    ordinary.emplace_back(f.gpu);
    CHECK(same_queue(masked[0], masked[1]));
    CHECK(high.back().queue().priority() == QueuePriority::high);
    CHECK(ordinary.back().queue().priority() == QueuePriority::normal);
    CHECK(bits(ordinary.back().queue().cu_mask()) == static_cast<int>(f.gpu.compute_units()));
    for (const Stream& a : high)
        for (const Stream& b : masked) CHECK_FALSE(same_queue(a, b));
    for (const Stream& a : ordinary) {
        for (const Stream& b : high) CHECK_FALSE(same_queue(a, b));
        for (const Stream& b : masked) CHECK_FALSE(same_queue(a, b));
    }
}

TEST_CASE("streams of one priority do not keep out those of another", "[stream][options]") {
    NEEDS_DEVICE();
    const Device device;
    std::vector<Stream> high;
    for (std::size_t i = 0; i < 2 * detail::QueuePool::most_special; ++i)
        high.emplace_back(device.gpu, StreamOptions{.priority = QueuePriority::high});
    CHECK_NOTHROW(Stream(device.gpu, {.priority = QueuePriority::low}));
}

TEST_CASE("more combinations of options than queues are refused; destroying a stream makes room",
          "[stream][options][pool][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    std::vector<Stream> streams;
    for (std::uint32_t i = 0; i < QueuePool::most_special; ++i)
        streams.emplace_back(f.gpu, StreamOptions{.cu_mask = {some_pairs(i + 1)}});
    const StreamOptions one_more{.priority = QueuePriority::high};
    CHECK_THROWS_AS(Stream(f.gpu, one_more), OutOfMemory);
    CHECK_THROWS_WITH(Stream(f.gpu, one_more), Contains("priority") && Contains("exclusive_queue"));
    CHECK_NOTHROW(Stream(f.gpu));
    CHECK_NOTHROW(Stream(f.gpu, {.exclusive_queue = true, .priority = QueuePriority::high}));
    streams.pop_back();
    CHECK_NOTHROW(Stream(f.gpu, one_more));
}

TEST_CASE("a stream is not refused while a suitable queue is being opened", "[stream][options][pool]") {
    NEEDS_DEVICE();
    const Kernels f;
    QueuePool pool;
    std::vector<std::shared_ptr<SharedQueue>> queues;
    for (std::uint32_t i = 1; i < QueuePool::most_special; ++i)
        queues.push_back(pool.take({.gpu = f.gpu, .cu_mask = {some_pairs(i)}}));
    const QueueNeeds high{.gpu = f.gpu, .priority = QueuePriority::high};
    queues.push_back(pool.make(high));  // a failed queue's successor, which is not open yet
    std::shared_ptr<SharedQueue> taken;
    REQUIRE_NOTHROW(taken = pool.take(high));
    CHECK(taken != queues.back());
    CHECK_THROWS_AS(pool.take({.gpu = f.gpu, .priority = QueuePriority::low}), OutOfMemory);
    taken.reset();
    queues.back()->open();
    CHECK(pool.take(high) == queues.back());
}

TEST_CASE("a mask that leaves no compute unit is refused", "[stream][options][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    for (const bool exclusive : {false, true}) {
        const StreamOptions none{.exclusive_queue = exclusive, .cu_mask = {0, 0}};
        CHECK_THROWS_AS(Stream(f.gpu, none), InvalidArgument);
        CHECK_THROWS_WITH(Stream(f.gpu, none), Contains("leaves none of its"));
    }
    // Units that the GPU does not have do not count.
    std::vector<std::uint32_t> beyond((f.gpu.compute_units() + 31) / 32);
    beyond.push_back(1);
    CHECK_THROWS_AS(Stream(f.gpu, {.cu_mask = beyond}), InvalidArgument);
    CHECK_NOTHROW(Stream(f.gpu));
}

TEST_CASE("a stream that moves off a failed queue keeps its priority and its compute units",
          "[stream][options][error]") {
    NEEDS_DEVICE();
    const Kernels f;
    const StreamOptions options{.priority = QueuePriority::high, .cu_mask = {0xf}};
    std::vector<Stream> streams;
    for (std::size_t i = 0; i <= QueuePool::most_special; ++i) streams.emplace_back(f.gpu, options);
    Stream& good = streams.back();
    Stream* bad = nullptr;
    for (Stream& stream : streams)
        if (&stream != &good && same_queue(stream, good)) bad = &stream;
    REQUIRE(bad != nullptr);
    const Words flag(1), data(1);
    f.spin.launch(*bad, {.grid = 1, .workgroup = 1}, flag.data());
    break_queue(*bad);
    f.scale_add.launch(good, {.grid = 1, .workgroup = 1}, data.data(), 0u, 7u, 1u);
    flag.set(1);
    good.synchronize(patience);
    CHECK(data.get() == 7);
    CHECK_FALSE(same_queue(good, *bad));
    CHECK(good.queue().priority() == QueuePriority::high);
    CHECK(bits(good.queue().cu_mask()) == 4);
}

TEST_CASE("work of a stream with high priority overtakes that of one with low", "[stream][options][priority]") {
    NEEDS_DEVICE();
    if (!kfdemu_find_control())
        SKIP_BECAUSE("the necessary length of the work depends on the GPU: known only for kfdemu");
    const Kernels f;
    const Kernel work = f.code.kernel("work_then_ticket");
    Stream low(f.gpu, {.priority = QueuePriority::low}), high(f.gpu, {.priority = QueuePriority::high});
    constexpr std::uint32_t low_groups = 1000, high_groups = 40;
    const Words tickets(1), low_order(low_groups), high_order(high_groups);
    // Both together, or the first may be complete before the second is submitted.
    const Signal go = Signal::create(1);
    for (Stream* stream : {&low, &high}) stream->wait(go, Condition::less, 1);
    work.launch(low, {.grid = low_groups * 64, .workgroup = 64}, tickets.data(), low_order.data(), 5'000u);
    work.launch(high, {.grid = high_groups * 64, .workgroup = 64}, tickets.data(), high_order.data(), 5'000u);
    go.store(0);
    high.synchronize(patience);
    low.synchronize(patience);
    CHECK(*std::max_element(high_order.data(), high_order.data() + high_groups) <
          *std::max_element(low_order.data(), low_order.data() + low_groups));
}

TEST_CASE("kernels of a stream with a mask run on its compute units", "[stream][options][cu-mask]") {
    NEEDS_DEVICE();
    const Kernels f;
    constexpr std::uint32_t groups = 256;
    const Kernel place = f.code.kernel("place");
    const auto places = [&](const StreamOptions& options) {
        Stream stream(f.gpu, options);
        const Words out(groups);
        place.launch(stream, {.grid = groups * 64, .workgroup = 64}, out.data());
        stream.synchronize(patience);
        std::set<std::uint32_t> units;
        for (std::uint32_t group = 0; group < groups; ++group) units.insert(out.get(group));
        return units.size();
    };
    const std::size_t all = places({});
    CHECK(all > 16);
    const std::size_t masked = places({.cu_mask = {0x0000ffff}});
    CHECK(masked <= 16);
    CHECK(places({}) > 16);
    // Whether each unit gets a work-group is the hardware's choice; kfdemu's is round-robin. RDNA has a place a pair.
    const bool pairs = detail::splits_pairs(std::vector<std::uint32_t>{1}, f.gpu.name());
    if (kfdemu_find_control()) CHECK(masked == (pairs ? 8 : 16));
}
