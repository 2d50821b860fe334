// Graphs with branches: built node by node, or captured across streams.
#include <mutex>
#include <random>
#include <stdexcept>
#include <vector>

#include "hsadrv/graph_builder.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("a graph is built from nodes and replayed in the order of its edges", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(4), copy(4);
    int calls = 0;
    GraphBuilder build(f.gpu);
    const GraphNode clear = build.fill({}, data.data(), 1u, 4);
    const GraphNode left = build.kernel({clear}, f.scale_add, one, data.data(), 2u, 1u, 1u);
    const GraphNode right = build.kernel({clear}, f.scale_add, one, data.data() + 1, 5u, 0u, 1u);
    const GraphNode both = build.empty({left, right});
    const GraphNode out = build.copy({both}, copy.data(), data.data(), 8);
    const GraphNode told = build.call({out}, [&] { calls += copy.get(0) == 3 && copy.get(1) == 5; });
    build.kernel({told, both}, f.scale_add, one, copy.data() + 1, 10u, 0u, 1u);
    CHECK(build.nodes() == 7);
    Graph graph = build.finish();
    CHECK(graph.nodes() == 7);
    CHECK(graph.kernels() == 3);
    CHECK(build.nodes() == 0);
    CHECK(data.get(0) == 0);
    for (int i = 0; i < 3; ++i) graph.launch(stream);
    stream.synchronize(patience);
    CHECK(copy.get(0) == 3);
    CHECK(copy.get(1) == 50);
    CHECK(calls == 3);

    graph.update(graph.kernel(left), f.scale_add, one, data.data(), 7u, 0u, 1u);
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(copy.get(0) == 7);
    CHECK_THROWS_WITH(graph.kernel(told), Contains("not one kernel"));
    CHECK_THROWS_AS(graph.kernel(GraphNode{}), InvalidArgument);
    CHECK_THROWS_WITH(build.kernel({left}, f.scale_add, one, data.data(), 1u, 0u, 1u), Contains("is finished"));
    CHECK_THROWS_WITH(build.empty({GraphNode{}}), Contains("no builder"));
}

TEST_CASE("branches overlap: a kernel waits for one of another branch, which is enqueued after it", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flags(3), after(1);
    GraphBuilder build(f.gpu);
    build.kernel({}, f.spin, one, flags.data());
    const GraphNode second = build.kernel({}, f.spin, one, flags.data() + 1);
    const GraphNode third = build.kernel({}, f.scale_add, one, flags.data() + 1, 0u, 1u, 1u);
    build.kernel({second, third}, f.scale_add, one, flags.data(), 0u, 1u, 1u);
    const Graph graph = build.finish();
    for (int i = 0; i < 5; ++i) {
        graph.launch(stream);
        f.scale_add.launch(stream, one, after.data(), 1u, 1u, 1u);  // the stream's next work is after all branches
        stream.synchronize(patience);
        CHECK(after.get() == unsigned(i) + 1);
        flags.set(0, 0);
        flags.set(0, 1);
    }
}

TEST_CASE("the first nodes of branches wait for earlier work of the stream, later work for all branches", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flag(1), data(20);
    GraphBuilder build(f.gpu);
    for (std::uint32_t i = 0; i < 20; ++i) build.kernel({}, f.scale_add, one, data.data() + i, 1u, i + 1, 1u);
    const Graph graph = build.finish();
    f.spin.launch(stream, one, flag.data());
    graph.launch(stream);
    let_time_pass();
    for (std::size_t i = 0; i < 20; ++i) CHECK(data.get(i) == 0);
    flag.set(1);
    graph.launch(stream);
    stream.synchronize(patience);
    for (std::size_t i = 0; i < 20; ++i) CHECK(data.get(i) == 2 * (i + 1));
}

TEST_CASE("a graph with branches runs on two streams at once, and in another graph", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu), other(f.gpu);
    const Words counts(2);
    GraphBuilder build(f.gpu);
    // Host functions run one at a time.
    for (std::size_t i = 0; i < 2; ++i) build.call({}, [&counts, i] { counts.set(counts.get(i) + 1, i); });
    const Graph inner = build.finish();
    const GraphNode once = build.graph({}, inner);
    build.graph({once}, inner);
    build.graph({once}, inner);
    const Graph outer = build.finish();
    for (int i = 0; i < 10; ++i) {
        inner.launch(stream);
        outer.launch(other);
    }
    stream.synchronize(patience);
    other.synchronize(patience);
    CHECK(counts.get(0) == 40);
    CHECK(counts.get(1) == 40);
}

TEST_CASE("random graphs keep their edges in each replay", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    std::mt19937 random(7);
    for (int round = 0; round < 12; ++round) {
        constexpr std::uint32_t count = 24;
        const Words data(count);
        std::vector<std::vector<std::uint32_t>> after(count);
        std::vector<GraphNode> nodes;
        std::atomic<int> wrong{0};
        GraphBuilder build(f.gpu);
        for (std::uint32_t n = 0; n < count; ++n) {
            GraphBuilder::Nodes list;
            for (auto edges = random() % 3; n > 0 && edges > 0; --edges) {
                after[n].push_back(static_cast<std::uint32_t>(random() % n));
                list.push_back(nodes[after[n].back()]);
            }
            if (random() % 3 == 0) {
                nodes.push_back(build.call(list, [&, n] {
                    for (const std::uint32_t a : after[n]) wrong += data.get(a) != data.get(n) + 1;
                    data.set(data.get(n) + 1, n);
                }));
            } else {
                nodes.push_back(build.kernel(list, f.scale_add, one, data.data() + n, 1u, 1u, 1u));
            }
        }
        const Graph graph = build.finish();
        for (int i = 0; i < 4; ++i) graph.launch(stream);
        stream.synchronize(patience);
        CHECK(wrong == 0);
        for (std::size_t n = 0; n < count; ++n) CHECK(data.get(n) == 4);
    }
}

TEST_CASE("a refused node leaves the graph as it was", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    GraphBuilder build(f.gpu);
    const GraphNode first = build.kernel({}, f.scale_add, one, data.data(), 1u, 1u, 1u);
    CHECK_THROWS_AS(build.kernel({first}, f.scale_add, one, data.data()), InvalidArgument);
    CHECK_THROWS_AS(build.copy({first}, nullptr, data.data(), 4), InvalidArgument);
    CHECK_THROWS_AS(build.add({first},
                              [&](Stream& s) {
                                  f.scale_add.launch(s, one, data.data(), 1u, 1u, 1u);
                                  throw std::runtime_error("on purpose");
                              }),
                    std::runtime_error);
    CHECK(build.nodes() == 1);
    const GraphNode two = build.add({first}, [&](Stream& s) {
        f.scale_add.launch(s, one, data.data(), 2u, 0u, 1u);
        f.scale_add.launch(s, one, data.data(), 1u, 5u, 1u);
    });
    build.kernel({two}, f.scale_add, one, data.data(), 3u, 0u, 1u);
    build.finish().launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == 21);
}

TEST_CASE("a capture forks to other streams by events, and joins them", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu, {.name = "origin"}), other(f.gpu, {.name = "other"}), third(f.gpu);
    const Words flag(1), data(2);
    auto held = std::make_shared<int>(1);
    stream.begin_capture();
    f.scale_add.launch(stream, one, data.data(), 0u, 1u, 1u);
    CHECK_FALSE(other.capturing());
    other.wait(stream.record());
    CHECK(other.capturing());
    f.spin.launch(stream, one, flag.data());
    other.call([&] { flag.set(1); });  // `spin` waits for it
    third.wait(other.record());
    f.scale_add.launch(third, one, data.data() + 1, 1u, 3u, 1u);
    other.keep_alive(held);
    other.wait(third.record());
    stream.wait(other.record());
    f.scale_add.launch(stream, one, data.data(), 2u, 0u, 1u);
    const Graph graph = stream.end_capture();
    CHECK_FALSE(other.capturing());
    CHECK_FALSE(third.capturing());
    CHECK(graph.nodes() == 5);
    CHECK(held.use_count() == 2);
    CHECK(other.progress().submitted == 0);
    for (std::uint32_t i = 1; i <= 3; ++i) {
        flag.set(0);
        graph.launch(stream);
        stream.synchronize(patience);
        CHECK(data.get(0) == 2);
        CHECK(data.get(1) == 3 * i);
    }
    f.scale_add.launch(other, one, data.data(), 0u, 9u, 1u);  // runs again
    other.synchronize(patience);
    CHECK(data.get(0) == 9);
}

TEST_CASE("streams that are not joined are named, and the capture goes on", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu, {.name = "origin"}), other(f.gpu, {.name = "the other"});
    const Words data(1);
    stream.begin_capture();
    other.wait(stream.record());
    f.scale_add.launch(other, one, data.data(), 1u, 1u, 1u);
    CHECK_THROWS_WITH(stream.end_capture(), Contains("'the other'") && Contains("not joined") && Contains("'origin'"));
    CHECK_THROWS_WITH(other.end_capture(), Contains("began on stream 'origin'"));
    CHECK_THROWS_AS(other.begin_capture(), InvalidArgument);
    CHECK_THROWS_WITH(other.synchronize(patience), Contains("being captured"));
    CHECK(stream.capturing());
    const Event end = other.record();
    CHECK_THROWS_WITH(end.query(), Contains("capture") && Contains("'the other'"));
    CHECK_THROWS_AS(end.synchronize(patience), InvalidArgument);
    CHECK_THROWS_AS(end.time(), InvalidArgument);
    stream.wait(end);
    const Graph graph = stream.end_capture();
    CHECK_THROWS_WITH(stream.wait(end), Contains("has ended"));
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == 1);
}

TEST_CASE("a stream takes part in one capture, and a dropped capture lets the others go", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream other(f.gpu), third(f.gpu);
    const Words data(1);
    {
        Stream stream(f.gpu, {.name = "dropped"});
        stream.begin_capture();
        other.wait(stream.record());
        third.begin_capture();
        const Event elsewhere = third.record();
        CHECK_THROWS_WITH(other.wait(elsewhere), Contains("'dropped'"));
        third.end_capture();
        CHECK_FALSE(stream.close(patience));
    }
    CHECK_FALSE(other.capturing());
    f.scale_add.launch(other, one, data.data(), 1u, 1u, 1u);
    other.synchronize(patience);
    CHECK(data.get() == 1);
    if (f.driver.gpus().size() < 2) return;
    Stream there(f.driver.gpus()[1]);
    third.begin_capture();
    CHECK_THROWS_WITH(there.wait(third.record()), Contains("one GPU"));
    CHECK_FALSE(there.capturing());
    third.end_capture();
}

TEST_CASE("a stream may end while it is captured with others: its work is in the graph", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    stream.begin_capture();
    {
        Stream other(f.gpu);
        other.wait(stream.record());
        f.scale_add.launch(other, one, data.data(), 1u, 1u, 1u);
        stream.wait(other.record());
        CHECK(other.close(patience));
    }
    const Graph graph = stream.end_capture();
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get() == 1);
}

TEST_CASE("what fails in a branch fails the stream, and nothing after it runs", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words data(2);
    for (const bool on_host : {true, false}) {
        CAPTURE(on_host);
        Stream stream(f.gpu), bystander(f.gpu);
        GraphBuilder build(f.gpu);
        const GraphNode good = build.kernel({}, f.scale_add, one, data.data(), 1u, 1u, 1u);
        const GraphNode bad = on_host ? build.call({}, [] { throw std::runtime_error("thrown on purpose"); })
                                      : build.add({}, [](Stream& s) { break_queue(s); });
        build.kernel({good, bad}, f.scale_add, one, data.data() + 1, 1u, 1u, 1u);
        const Graph graph = build.finish();
        const auto run = [&] {
            graph.launch(stream);  // may see the failure already
            stream.synchronize(patience);
        };
        if (on_host)
            CHECK_THROWS_WITH(run(), Contains("thrown on purpose"));
        else
            CHECK_THROWS_AS(run(), QueueError);
        CHECK(stream.failed());
        CHECK(data.get(1) == 0);
        f.scale_add.launch(bystander, one, data.data(), 1u, 1u, 1u);
        CHECK_NOTHROW(bystander.synchronize(patience));
        CHECK_THROWS(graph.launch(stream));
    }
}

TEST_CASE("a launch that is cut short leaves the stream ordered after what was enqueued", "[graph][deadline]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu);
    const Words flag(1), data(2), after(1);
    std::vector<std::uint32_t> pageable(1);
    GraphBuilder build(f.gpu);
    const GraphNode runs = build.kernel({}, f.scale_add, one, data.data(), 0u, 5u, 1u);
    const GraphNode spins = build.kernel({}, f.spin, one, flag.data());
    build.copy({spins}, pageable.data(), data.data(), 4);  // waits on the host
    build.kernel({runs}, f.scale_add, one, data.data() + 1, 0u, 5u, 1u);
    const Graph graph = build.finish();
    CHECK_THROWS_AS(graph.launch(stream, 50ms), Timeout);
    CHECK_FALSE(stream.failed());
    f.scale_add.launch(stream, one, after.data(), 0u, 1u, 1u);
    let_time_pass();
    CHECK(after.get() == 0);
    flag.set(1);
    stream.synchronize(patience);
    CHECK(after.get() == 1);
    CHECK(data.get(0) == 5);
}

TEST_CASE("a profile has the kernels of all branches", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu, {.profile = true});
    const Words data(3);
    GraphBuilder build(f.gpu);
    for (std::size_t i = 0; i < 3; ++i) build.kernel({}, f.scale_add, one, data.data() + i, 1u, 1u, 1u);
    const Graph graph = build.finish();
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(stream.take_profile().records.size() == 3);
    stream.profile(false);
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(stream.take_profile().records.empty());
}
