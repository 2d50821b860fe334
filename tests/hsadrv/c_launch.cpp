// Launches through the C interface: what is refused, and what they hold.
#include <atomic>
#include <chrono>
#include <thread>

#include "hsadrv/kernel_occupancy.hpp"
#include "tests/hsadrv/c_machine.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

TEST_CASE("a launch is refused with the argument's number, and nothing is enqueued", "[c][device]") {
    NEEDS_C_MACHINE();
    const double wide = 2.0;
    const auto with = [&](std::size_t index, hsadrv_argument argument) {
        auto arguments = m.arguments();
        arguments[index] = argument;
        return failure(bad_argument, m.launch(arguments));
    };
    CHECK_THAT(with(2, hsadrv_argument_value(HSADRV_ARGUMENT_FLOATING, &wide, sizeof wide)),
               Contains("launch of kernel 'saxpy': argument 3 of 4 (float)") && Contains("of 8 bytes"));
    CHECK_THAT(with(1, hsadrv_argument_memory(m.x, HSADRV_ARGUMENT_FLOATING, 8)),
               Contains("argument 2 of 4 (float*)") && Contains("a floating-point number of 8 bytes"));
    CHECK_THAT(with(1, hsadrv_argument_value(HSADRV_ARGUMENT_VALUE, &wide, sizeof wide)), Contains("wanted a pointer"));
    CHECK_THAT(with(3, hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, nullptr, 4)),
               Contains("argument 4 of 4: 'value' is null"));
    CHECK_THAT(with(3, hsadrv_argument_value(static_cast<hsadrv_argument_kind>(6), &wide, 4)),
               Contains("kind 6 is no hsadrv_argument_kind"));
    hsadrv_argument far = hsadrv_argument_memory(m.x, HSADRV_ARGUMENT_FLOATING, 4);
    far.offset_bytes = 4097;
    CHECK_THAT(with(1, far), Contains("offset_bytes is 4097, and the memory has 4096 bytes"));
    hsadrv_argument strange = m.arguments()[3];
    strange.reserved = 1;
    CHECK_THAT(with(3, strange), Contains("'reserved' must be 0"));

    auto three = m.arguments();
    three.pop_back();
    CHECK_THAT(failure(bad_argument, m.launch(three)), Contains("takes 4 arguments, given 3"));
    auto gone = m.arguments();
    gone[0].memory = number<hsadrv_memory>(64);
    CHECK_THAT(failure(bad_handle, m.launch(gone)), Contains("'memory' is 0x40, which is no handle"));
    auto none = m.arguments();
    none[0] = hsadrv_argument_memory(nullptr, HSADRV_ARGUMENT_FLOATING, 4);
    CHECK_THAT(failure(bad_handle, m.launch(none)), Contains("'memory' is 0x1, which is no handle"));
    CHECK(hsadrv_kernel_launch(m.saxpy, m.stream, nullptr, nullptr, 0, 0) == bad_argument);
    const auto config = CMachine::sizes();
    CHECK(hsadrv_kernel_launch(m.saxpy, m.stream, &config, nullptr, 4, 0) == bad_argument);
    CHECK(hsadrv_kernel_launch(m.saxpy, m.stream, &config, three.data(), SIZE_MAX / 8, 0) == bad_argument);
    int done = 0;
    CHECK(hsadrv_stream_query(m.stream, &done) == HSADRV_SUCCESS);
    CHECK(done == 1);
}

TEST_CASE("structures of other sizes are refused, or have defaults", "[c][device]") {
    NEEDS_C_MACHINE();
    struct Newer {
        hsadrv_launch_config known;
        std::uint64_t unknown;
    } newer{CMachine::sizes(), 0};
    newer.known.struct_size = sizeof newer;
    const auto arguments = m.arguments();
    const auto launch = [&] {
        return hsadrv_kernel_launch(m.saxpy, m.stream, &newer.known, arguments.data(), 4, patience_ns);
    };
    CHECK(launch() == HSADRV_SUCCESS);
    newer.unknown = 1;
    CHECK_THAT(failure(bad_argument, launch()), Contains("compiled for a newer hsadrv"));
    constexpr std::size_t first_bytes = offsetof(hsadrv_launch_config, cooperative);
    for (const std::size_t size : {std::size_t{0}, std::size_t{4}, first_bytes - 1, SIZE_MAX}) {
        CAPTURE(size);
        newer.known.struct_size = size;
        CHECK_THAT(failure(bad_argument, launch()), Contains("'config' has a struct_size of " + std::to_string(size)));
    }
    struct NewerFacts {
        hsadrv_kernel_facts known;
        std::uint64_t unknown;
    } facts{};
    facts.unknown = 7;
    facts.known.struct_size = sizeof facts;
    CHECK(hsadrv_kernel_info(m.saxpy, &facts.known) == HSADRV_SUCCESS);
    CHECK(facts.known.argument_count == 4);
    CHECK(facts.known.struct_size == sizeof facts);
    CHECK(facts.unknown == 0);
    facts.known.struct_size = 3;
    CHECK(failure(bad_argument, hsadrv_kernel_info(m.saxpy, &facts.known)).find("struct_size of 3") !=
          std::string::npos);
}

TEST_CASE("sizes beyond the limits are refused with the limit", "[c][device]") {
    NEEDS_C_MACHINE();
    const auto refused = [&](auto change) {
        hsadrv_launch_config config = CMachine::sizes();
        change(config);
        return failure(bad_argument, m.launch(m.arguments(), config));
    };
    CHECK_THAT(refused([](auto& c) { c.grid[0] = 0; }), Contains("is empty"));
    CHECK_THAT(refused([](auto& c) { c.workgroup[0] = 0; }), Contains("no work-group is given"));
    CHECK_THAT(refused([](auto& c) { c.workgroup[0] = 2048; }), Contains("limit"));
    CHECK_THAT(refused([](auto& c) { c.lds_bytes = 1 << 20; }), Contains("per work-group"));
    CHECK_THAT(refused([](auto& c) { c.lds_bytes = 16, c.lds_align_bytes = 3; }), Contains("not a power of two"));
    CHECK_THAT(refused([](auto& c) { c.lds_bytes = 16, c.lds_count = 17; }), Contains("the limit is 16"));
    CHECK_THAT(refused([](auto& c) { c.lds_bytes = 16, c.lds_count = 2; }), Contains("lds_offsets_bytes' is null"));
    static const std::uint32_t offsets[] = {8, 4};
    CHECK_THAT(refused([](auto& c) { c.lds_bytes = 16, c.lds_count = 2, c.lds_offsets_bytes = offsets; }),
               Contains("offsets ascend"));
    hsadrv_memory memory = m.x;
    CHECK(hsadrv_memory_create(m.gpu, 4, 4096, &memory) == bad_argument);
    CHECK(memory == nullptr);
    CHECK_THAT(
        failure(HSADRV_ERROR_OUT_OF_MEMORY, hsadrv_memory_create(m.gpu, HSADRV_MEMORY_DEVICE, SIZE_MAX / 2, &memory)),
        Contains("hsa_amd_memory_pool_allocate"));
    hsadrv_stream_options options{};
    options.struct_size = sizeof options;
    options.packets = 3;
    hsadrv_stream stream = m.stream;
    CHECK(hsadrv_stream_create(m.gpu, &options, &stream) == bad_argument);
    CHECK(stream == nullptr);
    void *x = nullptr, *y = nullptr;
    hsadrv_memory_address(m.x, &x);
    hsadrv_memory_address(m.y, &y);
    CHECK_THAT(failure(bad_argument, hsadrv_stream_copy(m.stream, y, x, 1 << 20, patience_ns)), Contains("1048576"));
}

TEST_CASE("C: the group size with the best occupancy", "[c][device]") {
    NEEDS_C_MACHINE();
    std::uint32_t size[3] = {}, groups = 0;
    REQUIRE(hsadrv_kernel_suggest_group_size(m.saxpy, 0, size, &groups) == HSADRV_SUCCESS);
    const SuggestedLaunch wanted = suggest_group_size(
        Executable::load(Driver().gpus().front(), launch_file(Driver().gpus().front(), "v5.O2")).kernel("saxpy"));
    CHECK(Dim3(size[0], size[1], size[2]) == wanted.workgroup);
    CHECK(groups == wanted.workgroups);
    CHECK_THAT(failure(bad_argument, hsadrv_kernel_suggest_group_size(m.saxpy, 1 << 30, size, &groups)),
               Contains("LDS"));
}

TEST_CASE("C: a grid in work-groups", "[c][device]") {
    NEEDS_C_MACHINE();
    const auto arguments = m.arguments();
    hsadrv_launch_config config = {};
    config.struct_size = sizeof config;
    config.workgroup[0] = 16;
    config.groups[0] = 4;
    CHECK(hsadrv_kernel_launch(m.saxpy, m.stream, &config, arguments.data(), 4, patience_ns) == HSADRV_SUCCESS);
    config.grid[0] = 64;
    CHECK_THAT(
        failure(bad_argument, hsadrv_kernel_launch(m.saxpy, m.stream, &config, arguments.data(), 4, patience_ns)),
        Contains("grid 64x1x1 and groups 4x1x1"));
}

TEST_CASE("memory that was destroyed after its launch is held until the kernel is complete", "[c][device]") {
    NEEDS_C_MACHINE();
    void* address = nullptr;
    hsadrv_memory_address(m.y, &address);
    std::atomic<bool> go = false;
    const auto wait = [](void* flag) {
        static_cast<std::atomic<bool>*>(flag)->wait(false);
        return 0;
    };
    CHECK(hsadrv_stream_call(m.stream, wait, &go, nullptr, patience_ns) == HSADRV_SUCCESS);
    CHECK(m.launch(m.arguments()) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy(m.y) == HSADRV_SUCCESS);
    CHECK(pointer_info(address).kind == PointerInfo::Kind::pool);  // the kernel has not begun
    go = true;
    go.notify_all();
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_create(m.gpu, HSADRV_MEMORY_HOST, 4096, &m.y) == HSADRV_SUCCESS);
}

TEST_CASE("a replay in flight holds what its graph was updated with, without the graph", "[c][device]") {
    NEEDS_C_MACHINE();
    void* address = nullptr;
    hsadrv_memory_address(m.y, &address);
    hsadrv_graph graph = nullptr;
    hsadrv_memory other = nullptr;
    REQUIRE(hsadrv_memory_create(m.gpu, HSADRV_MEMORY_HOST, 4096, &other) == HSADRV_SUCCESS);
    auto arguments = m.arguments();
    arguments[0].memory = other;
    const auto config = CMachine::sizes();
    REQUIRE(hsadrv_stream_begin_capture(m.stream) == HSADRV_SUCCESS);
    REQUIRE(m.launch(arguments) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_stream_end_capture(m.stream, &graph) == HSADRV_SUCCESS);
    const auto update = [&](std::size_t index) {
        return hsadrv_graph_update(graph, index, m.saxpy, &config, m.arguments().data(), 4, patience_ns);
    };
    CHECK_THAT(failure(bad_argument, update(1)), Contains("the graph has 1 kernels"));
    REQUIRE(update(0) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy(m.y) == HSADRV_SUCCESS);
    CHECK(pointer_info(address).kind == PointerInfo::Kind::pool);  // held by the graph

    std::atomic<bool> go = false;
    const auto wait = [](void* flag) {
        static_cast<std::atomic<bool>*>(flag)->wait(false);
        return 0;
    };
    CHECK(hsadrv_stream_call(m.stream, wait, &go, nullptr, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_launch(graph, m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_destroy(graph) == HSADRV_SUCCESS);
    CHECK(pointer_info(address).kind == PointerInfo::Kind::pool);  // held by the replay
    go = true;
    go.notify_all();
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy(other) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_create(m.gpu, HSADRV_MEMORY_HOST, 4096, &m.y) == HSADRV_SUCCESS);
}

namespace {

/// A graph whose host function launches it on another stream, once an update waits for its replay.
struct LaunchesItself {
    hsadrv_stream other = nullptr;
    hsadrv_graph graph = nullptr;
    std::atomic<bool> update_waits{false};
    std::atomic<int> calls{0};
    hsadrv_result launched = HSADRV_ERROR;

    static int run(void* self) {
        auto& mine = *static_cast<LaunchesItself*>(self);
        if (mine.calls++ != 0) return 0;
        mine.update_waits.wait(false);
        mine.launched = hsadrv_graph_launch(mine.graph, mine.other, patience_ns / 6);
        return 0;
    }
};

}  // namespace

TEST_CASE("a host function launches its graph while an update waits for it", "[c][device]") {
    NEEDS_C_MACHINE();
    LaunchesItself f;
    const auto config = CMachine::sizes();
    REQUIRE(hsadrv_stream_create(m.gpu, nullptr, &f.other) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_stream_begin_capture(m.stream) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_stream_call(m.stream, LaunchesItself::run, &f, nullptr, patience_ns) == HSADRV_SUCCESS);
    REQUIRE(m.launch(m.arguments()) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_stream_end_capture(m.stream, &f.graph) == HSADRV_SUCCESS);
    const auto update = [&] {
        return hsadrv_graph_update(f.graph, 0, m.saxpy, &config, m.arguments().data(), 4, patience_ns);
    };
    CHECK(hsadrv_graph_launch(f.graph, m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(update() == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_launch(f.graph, m.stream, patience_ns) == HSADRV_SUCCESS);
    std::thread soon([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        f.update_waits = true;
        f.update_waits.notify_all();
    });
    CHECK(update() == HSADRV_SUCCESS);  // waits for the first replay
    soon.join();
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(f.launched == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(f.other, patience_ns) == HSADRV_SUCCESS);
    CHECK(f.calls == 3);
    CHECK(hsadrv_graph_destroy(f.graph) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_destroy(f.other, patience_ns) == HSADRV_SUCCESS);
}

TEST_CASE("a graph in another one holds what it was updated with", "[c][device]") {
    NEEDS_C_MACHINE();
    void* address = nullptr;
    hsadrv_memory_address(m.y, &address);
    hsadrv_graph inner = nullptr, outer = nullptr;
    hsadrv_memory other = nullptr;
    REQUIRE(hsadrv_memory_create(m.gpu, HSADRV_MEMORY_HOST, 4096, &other) == HSADRV_SUCCESS);
    auto arguments = m.arguments();
    arguments[0].memory = other;
    const auto config = CMachine::sizes();
    REQUIRE(hsadrv_stream_begin_capture(m.stream) == HSADRV_SUCCESS);
    REQUIRE(m.launch(arguments) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_stream_end_capture(m.stream, &inner) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_stream_begin_capture(m.stream) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_graph_launch(inner, m.stream, patience_ns) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_stream_end_capture(m.stream, &outer) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_graph_update(inner, 0, m.saxpy, &config, m.arguments().data(), 4, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy(m.y) == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_destroy(inner) == HSADRV_SUCCESS);
    CHECK(pointer_info(address).kind == PointerInfo::Kind::pool);
    CHECK(hsadrv_graph_launch(outer, m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_graph_destroy(outer) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_destroy(other) == HSADRV_SUCCESS);
    CHECK(hsadrv_memory_create(m.gpu, HSADRV_MEMORY_HOST, 4096, &m.y) == HSADRV_SUCCESS);
}
