// Graphs whose streams end, and graphs of which a part was refused.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "hsadrv/graph_builder.hpp"
#include "tests/hsadrv/stream_fixture.hpp"
#include "tests/support/sanitizer.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("a stream that ends while a branch runs keeps what the branch uses", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    const Words flag(2), data(2);
    // Until the branches are stopped, they would go on once the flags are set.
    const std::shared_ptr<const void> used(&data, [&](const void*) {
        flag.set(1, 0);
        flag.set(1, 1);
        let_time_pass();
    });
    GraphBuilder build(f.gpu);
    for (std::size_t i = 0; i < 2; ++i) {
        const GraphNode waits = build.kernel({}, f.spin, one, flag.data() + i);
        build.kernel({waits}, f.scale_add, one, data.data() + i, 1u, 1u, 1u);
    }
    const Graph graph = build.finish();
    {
        Stream stream(f.gpu);
        graph.launch(stream);
        stream.keep_alive(std::shared_ptr(used));
        const_cast<std::shared_ptr<const void>&>(used).reset();
        CHECK_FALSE(stream.close(100ms));
    }
    let_time_pass();
    CHECK(data.get(0) == 0);
    CHECK(data.get(1) == 0);
}

TEST_CASE("nodes of a refused call may have been captured by other streams", "[graph][error]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu), other(f.gpu), third(f.gpu);
    const Words data(3);
    const auto add_one = [&](Stream& to, std::size_t i) { f.scale_add.launch(to, one, data.data() + i, 1u, 1u, 1u); };
    GraphBuilder build(f.gpu);
    const GraphNode first = build.kernel({}, f.scale_add, one, data.data(), 0u, 1u, 1u);
    Event inside;
    CHECK_THROWS_WITH(build.add({first},
                                [&](Stream& s) {
                                    for (int i = 0; i < 200; ++i) add_one(s, 0);
                                    other.wait(s.record());
                                    add_one(other, 1);
                                    inside = other.record();
                                    throw std::runtime_error("on purpose");
                                }),
                      Contains("on purpose"));
    CHECK(build.nodes() == 1);
    build.add({first}, [&](Stream& s) {
        third.wait(s.record());
        third.wait(inside);
        add_one(third, 2);
        add_one(other, 1);
        s.wait(other.record());
        s.wait(third.record());
    });
    const Graph graph = build.finish();
    CHECK(graph.kernels() == 3);
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get(0) == 1);
    CHECK(data.get(1) == 1);
    CHECK(data.get(2) == 1);
}

TEST_CASE("nodes of a builder that other streams captured need no join at its end", "[graph]") {
    NEEDS_DEVICE();
    Kernels f;
    Stream stream(f.gpu), other(f.gpu);
    const Words data(2);
    GraphBuilder build(f.gpu);
    build.add({}, [&](Stream& s) {
        other.wait(s.record());
        f.scale_add.launch(other, one, data.data(), 1u, 1u, 1u);
        s.wait(other.record());
    });
    build.kernel({}, f.scale_add, one, data.data() + 1, 1u, 1u, 1u);
    const Graph graph = build.finish();
    graph.launch(stream);
    stream.synchronize(patience);
    CHECK(data.get(0) == 1);
    CHECK(data.get(1) == 1);
}

TEST_CASE("a stream that joins a capture as it ends takes part in it, or is refused", "[graph][stress]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words data(2);
    Stream origin(f.gpu), other(f.gpu);
    for (int round = 0; round < test_support::some_of(2000); ++round) {
        origin.begin_capture();
        const Event event = origin.record();
        std::atomic<bool> begins{false};
        std::string refused;
        std::thread joins([&] {
            begins = true;
            refused = thrown_by([&] {
                other.wait(event);
                for (int i = 0; i < 3; ++i) f.scale_add.launch(other, one, data.data(), 1u, 1u, 1u);
            });
        });
        while (!begins) std::this_thread::yield();
        for (int i = 0; i < round % 50; ++i) std::this_thread::yield();
        const bool ended = thrown_by([&] { static_cast<void>(origin.end_capture()); }).empty();
        joins.join();
        if (!ended) {  // what the other recorded was not joined
            origin.wait(other.record());
            static_cast<void>(origin.end_capture());
        }
        if (!refused.empty()) REQUIRE_THAT(refused, Contains("capture") && Contains("ended"));
        REQUIRE_FALSE(other.capturing());
        REQUIRE_FALSE(origin.capturing());
    }
    CHECK_NOTHROW(other.synchronize(patience));
}

TEST_CASE("a stream whose graph's branch fails while its launch waits for room keeps the branch's error",
          "[graph][error][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    const Words flag(1), data(1);
    GraphBuilder build(f.gpu);
    GraphNode node = build.kernel({}, f.spin, one, flag.data());
    build.call({}, [] { throw std::domain_error("of a branch"); });
    for (int i = 0; i < 100; ++i) {
        node = build.call({node}, [] {});
        node = build.kernel({node}, f.scale_add, one, data.data(), 1u, 1u, 1u);
    }
    const Graph graph = build.finish();
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
    CHECK_THROWS_AS(graph.launch(stream, 300ms), std::domain_error);
    flag.set(1);
    CHECK_THROWS_AS(stream.synchronize(patience), std::domain_error);
}
