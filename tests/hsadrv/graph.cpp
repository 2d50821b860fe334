// Graphs: recorded once, replayed many times, updated in between.
#include "hsadrv/graph.hpp"

#include <thread>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// data = 3 * data + addend, repeated.
Graph steps(Kernels& f, Stream& stream, const Words& data, std::uint32_t count) {
    stream.begin_capture();
    for (std::uint32_t i = 0; i < count; ++i) f.scale_add.launch(stream, one, data.data(), 3u, i, 1u);
    return stream.end_capture();
}

std::uint32_t expected(std::uint32_t value, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) value = 3 * value + i;
    return value;
}

}  // namespace

TEST_CASE("recorded work does not run; each replay runs it", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1, 1);
    const Graph graph = steps(f, stream, data, 5);
    CHECK(stream.progress().submitted == 0);
    CHECK(stream.query());
    CHECK(data.get() == 1);
    CHECK(graph.kernels() == 5);
    CHECK(graph.nodes() == 5);
    CHECK(graph.agent() == f.gpu);
    graph.launch(stream);
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == expected(expected(1, 5), 5));
    CHECK(stream.progress().submitted == 2);  // one counted packet per replay
}

TEST_CASE("a long graph replayed beyond the ring's size stays in order", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    const Graph graph = steps(f, stream, data, 700);
    std::uint32_t value = 0;
    for (int i = 0; i < 20; ++i) {
        graph.launch(stream, patience);
        value = expected(value, 700);
    }
    stream.synchronize(patience);
    CHECK(data.get() == value);
}

TEST_CASE("copies, fills, host functions, packets and signals are recorded in order", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1), copy(1), filled(4);
    const Signal done = Signal::create(2);
    int calls = 0;
    const Packet barriers[] = {barrier_and({}), barrier_and({})};
    stream.begin_capture();
    f.scale_add.launch(stream, one, data.data(), 1u, 5u, 1u);
    stream.copy_async(copy.data(), data.data(), 4);
    stream.call([&] {
        ++calls;
        copy.set(copy.get() * 2);
    });
    f.scale_add.launch(stream, one, copy.data(), 1u, 1u, 1u);
    stream.submit(barriers);
    stream.fill_async(filled.data(), 9u, 4);
    stream.decrement(done);
    auto held = std::make_shared<int>(1);
    stream.keep_alive(held);
    {
        const Graph graph = stream.end_capture();
        CHECK(calls == 0);
        CHECK(held.use_count() == 2);
        CHECK(graph.kernels() == 2);
        graph.launch(stream);
        stream.synchronize(patience);
        CHECK(copy.get() == 11);
        CHECK(filled.get(3) == 9);
        CHECK(done.load() == 1);
        graph.launch(stream);
        stream.synchronize(patience);
        CHECK(copy.get() == 21);
        CHECK(calls == 2);
        CHECK(done.load() == 0);
    }
    stream.query();  // releases the resources of replays
    CHECK(held.use_count() == 1);
}

TEST_CASE("updated arguments and grids of a kernel apply from the next replay on", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flag(1), data(256), other(256);
    stream.begin_capture();
    f.spin.launch(stream, one, flag.data());
    f.scale_add.launch(stream, {.grid = 64, .workgroup = 64}, data.data(), 0u, 1u, 64u);
    Graph graph = stream.end_capture();
    graph.launch(stream);  // holds its arguments while it waits
    graph.update(1, f.scale_add, {.grid = 256, .workgroup = 128}, other.data(), 0u, 2u, 256u);
    graph.launch(stream);
    const LaunchConfig hasty{.grid = 1, .workgroup = 1, .deadline = 20ms};
    CHECK_THROWS_AS(graph.update(1, f.scale_add, hasty, data.data(), 0u, 3u, 1u), Timeout);
    flag.set(1);
    stream.synchronize(patience);
    CHECK(data.get(63) == 1);
    CHECK(data.get(64) == 0);
    CHECK(other.get(0) == 2);
    CHECK(other.get(255) == 2);
    graph.update(1, f.scale_add, one, data.data(), 0u, 3u, 1u);
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get(0) == 3);
    CHECK(data.get(1) == 1);
}

TEST_CASE("an update is checked as a launch is; a refused update changes nothing", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    Graph graph = steps(f, stream, data, 1);
    CHECK_THROWS_AS(graph.update(0, f.scale_add, one, data.data(), 0u), InvalidArgument);
    CHECK_THROWS_AS(graph.update(0, f.scale_add, {.grid = 1, .workgroup = 4096}, data.data(), 0u, 1u, 1u),
                    InvalidArgument);
    CHECK_THROWS_WITH(graph.update(1, f.scale_add, one, data.data(), 0u, 1u, 1u), Contains("has 1 kernels"));
    CHECK_THROWS_AS(Graph().update(0, f.scale_add, one, data.data(), 0u, 1u, 1u), InvalidArgument);
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == 0);
}

TEST_CASE("a graph runs on several streams at once; replays outlive the graph and the streams", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(1), data(1);
    Stream stream(f.gpu);
    {
        Stream recorder(f.gpu);
        recorder.begin_capture();
        f.spin.launch(recorder, one, flag.data());
        f.scale_add.launch(recorder, one, data.data(), 1u, 1u, 1u);
        const Graph graph = recorder.end_capture();
        Stream second(f.gpu);
        graph.launch(stream);
        stream.wait(second.record());
        graph.launch(stream);
    }
    flag.set(1);
    stream.synchronize(patience);
    CHECK(data.get() == 2);
}

TEST_CASE("a graph within a graph is replayed with it", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    const Graph inner = steps(f, stream, data, 2);
    stream.begin_capture();
    inner.launch(stream);
    f.scale_add.launch(stream, one, data.data(), 2u, 0u, 1u);
    const Graph outer = stream.end_capture();
    outer.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == 2 * expected(0, 2));
}

TEST_CASE("graphs within graphs are refused beyond a depth", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    const auto around = [&](const Graph* inner) {
        stream.begin_capture();
        try {
            if (inner)
                inner->launch(stream);
            else
                f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
        } catch (...) {
            stream.end_capture();
            throw;
        }
        return stream.end_capture();
    };
    Graph graph = around(nullptr);
    for (int depth = 0; depth < 64; ++depth) graph = around(&graph);
    CHECK_THROWS_WITH(around(&graph), Contains("at most 64 others, one within the other"));
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == 1);
}

TEST_CASE("operations that cannot be recorded are refused, and the capture continues", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu), other(f.gpu);
    const Words data(1), flag(1);
    CHECK_THROWS_AS(stream.end_capture(), InvalidArgument);
    f.spin.launch(other, one, flag.data());
    const Event event = other.record();
    stream.begin_capture();
    CHECK_THROWS_AS(stream.begin_capture(), InvalidArgument);
    CHECK_THROWS_WITH(stream.synchronize(patience), Contains("being captured"));
    CHECK_THROWS_AS(stream.record({.timing = true}), InvalidArgument);
    CHECK_THROWS_AS(stream.wait(event), InvalidArgument);
    f.scale_add.launch(stream, one, data.data(), 0u, 4u, 1u);
    const Graph graph = stream.end_capture();
    flag.set(1);
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == 4);
    CHECK_NOTHROW(Graph().launch(stream));
    CHECK_NOTHROW(other.synchronize(patience));  // its kernel reads the flag
}

TEST_CASE("child: a fault inside a graph", "[.child][defect]") {
    Kernels f;
    Stream stream(f.gpu), other(f.gpu);
    const Words data(1);
    stream.begin_capture();
    f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
    f.store_at.launch(stream, one, std::uint64_t{0x123456789000}, 1u);
    f.scale_add.launch(stream, one, data.data(), 1u, 1u, 1u);
    const Graph graph = stream.end_capture();
    graph.launch(stream);
    try {
        stream.synchronize(patience);
        FAIL("no error");
    } catch (const MemoryFault& fault) {
        CHECK_THAT(fault.what(), Contains("kernel store_at"));
    }
    CHECK(data.get() == 1);
    CHECK_THROWS_AS(graph.launch(stream), MemoryFault);
    CHECK_THROWS_AS(graph.launch(other), DeviceLost);
}

TEST_CASE("a fault inside a graph fails the stream that replays it, and names the kernel", "[graph][error]") {
    NEEDS_DEVICE();
    check_child("child: a fault inside a graph");
}

TEST_CASE("a graph of one GPU is refused by a stream of another", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    if (f.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    Stream stream(f.gpu), there(f.driver.gpus()[1]);
    const Words data(1);
    CHECK_THROWS_AS(steps(f, stream, data, 1).launch(there), InvalidArgument);
}
