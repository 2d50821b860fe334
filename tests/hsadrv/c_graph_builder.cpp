// Building graphs through the C interface: what is refused, and what a builder keeps. A whole graph: c/building.c.
#include <atomic>
#include <thread>

#include "tests/hsadrv/c_machine.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

/// A builder, and a graph that it has finished.
struct Building {
    hsadrv_graph_builder builder = nullptr;
    hsadrv_graph graph = nullptr;
    hsadrv_graph_node old = {}, node = {};

    explicit Building(const CMachine& m) {
        REQUIRE(hsadrv_graph_builder_create(m.gpu, &builder) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_graph_builder_add_empty(builder, nullptr, 0, &old) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_graph_builder_finish(builder, &graph) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_graph_builder_add_empty(builder, nullptr, 0, &node) == HSADRV_SUCCESS);
    }
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;
    ~Building() {
        hsadrv_graph_builder_destroy(builder);
        hsadrv_graph_destroy(graph);
    }
    std::string refused(const hsadrv_graph_node* after, std::size_t count) {
        hsadrv_graph_node added{1, 2, 3};
        std::string message = failure(bad_argument, hsadrv_graph_builder_add_empty(builder, after, count, &added));
        CHECK((added.graph == 0 && added.number == 0 && added.reserved == 0));
        return message;
    }
    std::size_t nodes() {
        std::size_t count = 0;
        hsadrv_graph made = nullptr;
        REQUIRE(hsadrv_graph_builder_finish(builder, &made) == HSADRV_SUCCESS);
        CHECK(hsadrv_graph_size(made, &count, nullptr) == HSADRV_SUCCESS);
        CHECK(hsadrv_graph_destroy(made) == HSADRV_SUCCESS);
        return count;
    }
};

}  // namespace

TEST_CASE("C: nodes of other graphs, and numbers that are none, are refused", "[c][graph][device]") {
    NEEDS_C_MACHINE();
    Building b(m);
    hsadrv_graph_node wrong = b.node;
    wrong.number = 7;
    CHECK_THAT(b.refused(&wrong, 1), Contains("no node 7"));
    wrong = {};
    CHECK_THAT(b.refused(&wrong, 1), Contains("no builder"));
    CHECK_THAT(b.refused(&b.old, 1), Contains("finished"));
    CHECK_THAT(b.refused(nullptr, 1), Contains("'after' is null"));
    CHECK_THAT(b.refused(&b.node, SIZE_MAX), Contains("limit"));
    std::size_t index = 0;
    CHECK_THAT(failure(bad_argument, hsadrv_graph_kernel_index(b.graph, &b.old, &index)), Contains("not one kernel"));
    CHECK(failure(bad_argument, hsadrv_graph_kernel_index(b.graph, &b.node, &index)) != "");
    wrong = b.old;
    wrong.number = 7;
    CHECK(failure(bad_argument, hsadrv_graph_kernel_index(b.graph, &wrong, &index)) != "");
    CHECK(b.nodes() == 1);
}

TEST_CASE("C: what a node refuses leaves the graph as it was", "[c][graph][device]") {
    NEEDS_C_MACHINE();
    Building b(m);
    hsadrv_graph_node added{};
    auto arguments = m.arguments();
    const auto config = CMachine::sizes();
    void* address = nullptr;
    REQUIRE(hsadrv_memory_address(m.x, &address) == HSADRV_SUCCESS);
    CHECK(failure(bad_argument, hsadrv_graph_builder_add_kernel(b.builder, nullptr, 0, m.saxpy, &config,
                                                                arguments.data(), 3, &added)) != "");
    CHECK(failure(bad_argument, hsadrv_graph_builder_add_kernel(b.builder, nullptr, 0, m.saxpy, nullptr,
                                                                arguments.data(), 4, &added)) != "");
    CHECK(failure(bad_argument, hsadrv_graph_builder_add_copy(b.builder, nullptr, 0, address, address, 4096, &added)) !=
          "");
    CHECK(failure(bad_argument,
                  hsadrv_graph_builder_add_fill(b.builder, nullptr, 0, address, 4096, nullptr, 4, &added)) != "");
    CHECK(failure(bad_handle, hsadrv_graph_builder_add_graph(b.builder, nullptr, 0, nullptr, &added)) != "");
    CHECK(failure(bad_handle, hsadrv_graph_builder_hold(b.builder, nullptr)) != "");
    CHECK(b.nodes() == 1);
}

TEST_CASE("C: several threads add nodes to one builder", "[c][graph][device]") {
    NEEDS_C_MACHINE();
    Building b(m);
    std::atomic<int> calls = 0, added = 0;
    const auto count = [](void* user) { return ++*static_cast<std::atomic<int>*>(user), 0; };
    const auto add = [&] {
        hsadrv_graph_node last = b.node;
        for (int n = 0; n < 50; ++n)
            added += !hsadrv_graph_builder_add_call(b.builder, &last, 1, count, &calls, nullptr, &last);
    };
    std::thread first(add), second(add);
    first.join();
    second.join();
    CHECK(added == 100);
    hsadrv_graph graph = nullptr;
    REQUIRE(hsadrv_graph_builder_finish(b.builder, &graph) == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_launch(graph, m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(calls == 100);
    CHECK(hsadrv_graph_destroy(graph) == HSADRV_SUCCESS);
}

TEST_CASE("C: a host function of a graph fails the stream, and is released with the builder", "[c][graph][device]") {
    NEEDS_C_MACHINE();
    Building b(m);
    std::atomic<int> releases = 0;
    const auto fails = [](void*) { return 42; };
    const auto release = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
    hsadrv_graph graph = nullptr;
    REQUIRE(hsadrv_graph_builder_add_call(b.builder, nullptr, 0, fails, &releases, release, nullptr) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_graph_builder_finish(b.builder, &graph) == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_launch(graph, m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK_THAT(failure(HSADRV_ERROR_HOST_FUNCTION, hsadrv_stream_synchronize(m.stream, patience_ns)),
               Contains("hsadrv_graph_builder_add_call: the host function returned 42"));
    CHECK(hsadrv_graph_destroy(graph) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_destroy(m.stream, patience_ns) == HSADRV_ERROR_STREAM_ENDED);
    CHECK(hsadrv_stream_create(m.gpu, nullptr, &m.stream) == HSADRV_SUCCESS);
    CHECK(eventually([&] { return releases == 1; }));
    REQUIRE(hsadrv_graph_builder_add_call(b.builder, nullptr, 0, fails, &releases, release, nullptr) == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_builder_destroy(b.builder) == HSADRV_SUCCESS);  // never launched
    CHECK(eventually([&] { return releases == 2; }));
}
