// Streams that end: what is waited for, and what stays valid for packets that are still in a ring.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/graph.hpp"
#include "stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

constexpr LaunchConfig one{.grid = 1, .workgroup = 1};

/// Two streams on one hardware queue; the first one's kernel runs until `flag` is set.
struct Busy : Kernels {
    Words flag{1}, data{4};
    std::vector<Stream> streams = crowd(gpu);
    Stream &runs = streams[0], &after = *neighbours_of_first(streams).at(0);
    Busy() { spin.launch(runs, one, flag.data()); }
};

/// Sets the flag some time later.
struct Later {
    explicit Later(const Words& flag)
        : thread([&flag] {
              std::this_thread::sleep_for(200ms);
              flag.set(1);
          }) {}
    ~Later() { thread.join(); }
    std::thread thread;
};

}  // namespace

TEST_CASE("a stream drains its work although an earlier wait timed out at scope exit", "[stream][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(1);
    std::optional<Stream> stream(f.gpu);
    f.spin.launch(*stream, one, flag.data());
    f.scale_add.launch(*stream, one, data.data(), 0u, 7u, 1u);
    {
        const auto scope = stream->auto_synchronize(1ms);
    }
    const Later later(flag);
    stream.reset();
    CHECK(data.get() == 7);
}

TEST_CASE("a stream drains its work although it is being captured", "[stream][graph]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(1);
    std::optional<Stream> stream(f.gpu);
    f.spin.launch(*stream, one, flag.data());
    f.scale_add.launch(*stream, one, data.data(), 0u, 7u, 1u);
    const Later later(flag);
    stream->begin_capture();
    stream.reset();  // as if by an exception
    CHECK(data.get() == 7);
}

TEST_CASE("auto_synchronize of a closed stream is refused, and of a stream closed in its scope does nothing",
          "[stream][error]") {
    NEEDS_DEVICE();
    const Device device;
    Stream closed(device.gpu), closes(device.gpu);
    closed.close();
    CHECK_THROWS_AS(closed.auto_synchronize(), StreamEnded);
    const auto scope = closes.auto_synchronize(patience);
    closes.close();
}

TEST_CASE("a destroyed signal is not reused while a packet of a closed stream may decrement it", "[stream][signal]") {
    NEEDS_DEVICE();
    Busy f;
    std::vector<Signal> fresh;
    std::optional<Signal> signal = Signal::create(1);
    f.after.decrement(*signal);
    CHECK_FALSE(f.after.close(20ms));
    signal.reset();
    for (int i = 0; i < 1000; ++i) fresh.push_back(Signal::create(5));
    f.scale_add.launch(f.runs, one, f.data.data(), 0u, 1u, 1u);  // after the packet that decrements
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(std::all_of(fresh.begin(), fresh.end(), [](const Signal& each) { return each.ref().load() == 5; }));
}

TEST_CASE("arguments of a lost graph launch stay as they are, and the graph can be updated and launched",
          "[graph][error]") {
    NEEDS_DEVICE();
    Busy f;
    Stream records(f.gpu);
    records.begin_capture();
    f.scale_add.launch(records, one, f.data.data(), 0u, 7u, 1u);
    Graph graph = records.end_capture();
    graph.launch(f.after);
    CHECK_FALSE(f.after.close(20ms));
    for (std::uint32_t i = 1; i < 4; ++i)
        CHECK_NOTHROW(graph.update(0, f.scale_add, one, f.data.data() + i, 0u, 8u, 1u));
    f.scale_add.launch(f.runs, one, f.data.data() + 2, 0u, 1u, 1u);  // after the lost one's packet
    f.flag.set(1);
    CHECK_NOTHROW(f.runs.synchronize(patience));
    CHECK(f.data.get(0) == 7);  // by the packet that was in the ring
    CHECK(f.data.get(3) == 0);
    graph.launch(records);
    CHECK_NOTHROW(records.synchronize(patience));
    CHECK(f.data.get(1) == 0);
    CHECK(f.data.get(3) == 8);
}

TEST_CASE("a graph is launched on a queue with fewer packets than it has kernels", "[graph]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(1);
    Stream records(f.gpu), small(f.gpu, {.packets = 64, .exclusive_queue = true});
    records.begin_capture();
    for (int i = 0; i < 200; ++i) f.scale_add.launch(records, one, data.data(), 1u, 1u, 1u);
    const Graph graph = records.end_capture();
    CHECK_NOTHROW(graph.launch(small));
    CHECK_NOTHROW(small.synchronize(patience));
    CHECK(data.get() == 200);
}
