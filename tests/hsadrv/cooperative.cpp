// Cooperative launches: work-groups that wait for each other, on a device that holds all of them.
#include <thread>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/graph_builder.hpp"
#include "hsadrv/kernel_occupancy.hpp"
#include "hsadrv/stream/cooperative_stream.hpp"
#include "hsadrv/stream/live_streams.hpp"
#include "hsadrv/stream/stream_core.hpp"
#include "shared/grid_state.hpp"
#include "tests/hsadrv/launch_device.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace test_support;
using device_test::Kernels;
using device_test::let_time_pass;
using device_test::one;
using device_test::Words;
using namespace std::chrono_literals;
using test_support::Contains;

namespace {

std::string file_of(const std::string& variant, AgentRef gpu) {
    return test_support::test_file(variant + "." + gpu.name() + ".hsaco");
}

/// Host memory: kernels of different compute units see it through their caches as they see the device's.
struct Grid : device_test::Device {
    Executable code = Executable::load(gpu, file_of("grid", gpu));
    Kernel diffuse = code.kernel("diffuse"), follow = code.kernel("follow"), state = code.kernel("state");
    Stream stream{gpu};
};

std::vector<std::uint32_t> diffused(std::vector<std::uint32_t> from, unsigned steps) {
    std::vector<std::uint32_t> to(from.size());
    for (; steps > 0; --steps) {
        for (std::size_t i = 0; i < from.size(); ++i)
            to[i] = from[(i + 1) % from.size()] + from[(i + from.size() - 1) % from.size()];
        from.swap(to);
    }
    return from;
}

struct Ring {
    Ring(AgentRef gpu, Stream& on, std::uint32_t count)
        : first(count),
          a(Allocation::from_pool(device_pool(gpu), 4 * count)),
          b(Allocation::from_pool(device_pool(gpu), 4 * count)) {
        for (std::uint32_t i = 0; i < count; ++i) first[i] = i * 2654435761u;
        on.copy_async(a.data(), first.data(), 4 * count);
    }
    bool is_diffused(Stream& on, unsigned steps) const {
        std::vector<std::uint32_t> found(first.size());
        on.copy_async(found.data(), (steps % 2 ? b : a).data(), 4 * found.size());
        on.synchronize(patience);
        return found == diffused(first, steps);
    }
    std::vector<std::uint32_t> first;
    Allocation a, b;
};

#define NEEDS_GRID_KERNELS(gpu) NEEDS_LAUNCH_KERNELS(gpu)

}  // namespace

TEST_CASE("work-groups of a cooperative launch wait for each other, in one, two and three dimensions",
          "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const LaunchConfig configs[] = {
        {.grid = 64 * 20, .workgroup = 64, .cooperative = true},
        {.grid = 256 * 7 + 100, .workgroup = 256, .cooperative = true},  // a partial work-group
        {.grid = {48, 20}, .workgroup = {16, 8}, .cooperative = true},
        {.grid = {8, 6, 9}, .workgroup = {4, 3, 4}, .cooperative = true},
        {.grid = 64, .workgroup = 64, .cooperative = true},
    };
    for (const LaunchConfig& config : configs) {
        CAPTURE(config.grid.text(), config.workgroup.text());
        Ring ring(f.gpu, f.stream, static_cast<std::uint32_t>(config.grid.volume()));
        f.diffuse.launch(f.stream, config, ring.a, ring.b, 7u);
        CHECK(ring.is_diffused(f.stream, 7));
    }
}

TEST_CASE("what one work-item wrote before the barrier is what all read after it", "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    constexpr std::uint32_t count = 256 * 12, steps = 20;
    const Allocation path = Allocation::from_pool(device_pool(f.gpu), 4 * steps),
                     out = Allocation::from_pool(device_pool(f.gpu), 4 * count);
    f.stream.fill_async(path.as<std::uint32_t>(), 0u, steps);
    f.follow.launch(f.stream, {.grid = count, .workgroup = 256, .cooperative = true}, path, out, steps);
    std::vector<std::uint32_t> found(count);
    f.stream.copy_async(found.data(), out.data(), 4 * count);
    f.stream.synchronize(patience);
    std::uint32_t at = 0;
    for (std::uint32_t step = 0; step < steps; ++step) at = at * 5 + 3;
    CHECK(found == std::vector<std::uint32_t>(count, at));
}

TEST_CASE("a grid as large as the device is accepted, a larger one is refused with the numbers", "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const std::uint32_t most = device_workgroups(f.diffuse, 1024);
    CAPTURE(most);
    Ring ring(f.gpu, f.stream, most * 1024);
    f.diffuse.launch(f.stream, {.grid = most * 1024, .workgroup = 1024, .cooperative = true}, ring.a, ring.b, 2u);
    CHECK(ring.is_diffused(f.stream, 2));
    const LaunchConfig larger{.grid = (most + 1) * 1024, .workgroup = 1024, .cooperative = true};
    CHECK_THROWS_AS(f.diffuse.launch(f.stream, larger, ring.a, ring.b, 2u), InvalidArgument);
    CHECK_THROWS_WITH(f.diffuse.launch(f.stream, larger, ring.a, ring.b, 2u),
                      Contains("'diffuse': " + std::to_string(most + 1) + " work-groups") &&
                          Contains("holds " + std::to_string(most) + " at once") && Contains("limited by"));
}

TEST_CASE("a grid for whose private memory there is no room is refused with the numbers", "[cooperative][error]") {
    NEEDS_DEVICE();
    const device_test::Device device;
    Stream stream(device.gpu);
    const Kernel scratch = Executable::load(device.gpu, test_file("faults.hsaco")).kernel("scratch");
    // A compute unit has 4 MiB: for 3 of this kernel's waves of 64 lanes, or 7 of 32.
    const std::uint32_t units = device.gpu.compute_units();
    const std::uint32_t room = scratch.metadata().wavefront_size == 64 ? 3 * units : 7 * units / 2;
    const auto launch = [&](std::uint32_t groups) {
        scratch.launch(stream, {.grid = 64 * groups, .workgroup = 64, .cooperative = true}, Words(64 * groups).data(),
                       1u);
    };
    CHECK_THROWS_WITH(launch(4 * units), Contains("private memory for " + std::to_string(room)) &&
                                             Contains("B per work-item") && Contains("HSA_SCRATCH_MEM"));
    CHECK_NOTHROW(stream.synchronize(patience));
}

TEST_CASE("other ways to launch such a kernel are refused, and say how", "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const LaunchConfig plain{.grid = 64, .workgroup = 64},
        cooperative{.grid = 64, .workgroup = 64, .cooperative = true};
    void* const null = nullptr;
    CHECK(f.diffuse.plan().needs_cooperation());
    CHECK_THROWS_WITH(f.diffuse.launch(f.stream, plain, null, null, 1u), Contains(".cooperative = true"));
    CHECK_THROWS_WITH(f.diffuse.plan().shape(cooperative), Contains("only Kernel::launch"));
    f.stream.begin_capture();
    f.diffuse.launch(f.stream, cooperative, null, null, 0u);
    Graph graph = f.stream.end_capture();
    CHECK(graph.kernels() == 0);
    CHECK(graph.nodes() == 1);
    CHECK_THROWS_AS(f.diffuse.launch(f.stream, cooperative, null), InvalidArgument);
}

TEST_CASE("a cooperative launch is in the order of its stream", "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    Kernels other;
    const Words flag(1);
    constexpr std::uint32_t count = 64 * 8;
    Ring ring(f.gpu, f.stream, count);
    f.stream.fill_async(ring.a.as<std::uint32_t>(), 1u, count);
    other.spin.launch(f.stream, one, flag.data());
    other.scale_add.launch(f.stream, {.grid = count, .workgroup = 64}, ring.a, 1u, 4u, count);
    f.diffuse.launch(f.stream, {.grid = count, .workgroup = 64, .cooperative = true}, ring.a, ring.b, 1u);
    other.scale_add.launch(f.stream, {.grid = count, .workgroup = 64}, ring.b, 2u, 1u, count);
    flag.set(1);
    std::vector<std::uint32_t> found(count);
    f.stream.copy_async(found.data(), ring.b.data(), 4 * count);
    f.stream.synchronize(patience);
    CHECK(found == std::vector<std::uint32_t>(count, 21));
}

TEST_CASE("cooperative launches of several streams and threads do not wait for each other's half of the device",
          "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const std::uint32_t count = std::max(1u, device_workgroups(f.diffuse, 1024) * 3 / 4) * 1024;
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            Stream stream(f.gpu);
            Ring ring(f.gpu, stream, count);
            for (int i = 0; i < 2; ++i)
                f.diffuse.launch(stream, {.grid = count, .workgroup = 1024, .cooperative = true}, ring.a, ring.b, 2u);
            right += ring.is_diffused(stream, 4);
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 3);
}

TEST_CASE("graphs replay cooperative launches, with the arguments of the capture", "[cooperative][graph]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    Ring ring(f.gpu, f.stream, 64 * 10);
    GraphBuilder build(f.gpu);
    const LaunchConfig config{.grid = 64 * 10, .workgroup = 64, .cooperative = true};
    const GraphNode first = build.kernel({}, f.diffuse, config, ring.a, ring.b, 3u);
    build.kernel({first}, f.diffuse, config, ring.b, ring.a, 1u);
    const Graph graph = build.finish();
    graph.launch(f.stream);
    graph.launch(f.stream);
    CHECK(ring.is_diffused(f.stream, 8));
}

TEST_CASE("arguments of types that are known at run time", "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    Ring ring(f.gpu, f.stream, 64 * 10);
    const std::uint32_t steps = 5;
    const LaunchArgument arguments[] = {
        LaunchArgument::pointer({ring.a.data()}), LaunchArgument::pointer({ring.b.data()}),
        LaunchArgument::value(std::as_bytes(std::span(&steps, 1)), ArgumentClass::integer)};
    f.diffuse.launch(f.stream, {.grid = 64 * 10, .workgroup = 64, .cooperative = true}, arguments);
    CHECK(ring.is_diffused(f.stream, 5));
}

TEST_CASE("OpenCL C, code objects V4 and kernels that are not optimised have the barrier, too", "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    const device_test::Device device;
    Stream stream(device.gpu);
    for (const std::string variant : {"grid_opencl", "grid_v4", "grid_O0"}) {
        CAPTURE(variant);
        const Executable code = Executable::load(device.gpu, file_of(variant, device.gpu));
        const Kernel diffuse = code.kernel("diffuse");
        Ring ring(device.gpu, stream, 64 * 5);
        diffuse.launch(stream, {.grid = 64 * 5, .workgroup = 64, .cooperative = true}, ring.a, ring.b, 3u);
        CHECK(ring.is_diffused(stream, 3));
    }
}

TEST_CASE("a cooperative launch that fails fails its stream, and later launches work", "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const LaunchConfig config{.grid = 64 * 5, .workgroup = 64, .cooperative = true};
    {
        Stream failing(f.gpu);
        f.code.kernel("fails").launch(failing, config);
        CHECK_THROWS_AS(failing.synchronize(patience), QueueError);
        CHECK_THROWS_AS(f.state.launch(failing, config, nullptr), QueueError);
    }
    Ring ring(f.gpu, f.stream, 64 * 5);
    f.diffuse.launch(f.stream, config, ring.a, ring.b, 3u);
    CHECK(ring.is_diffused(f.stream, 3));
}

TEST_CASE("a stream that comes as the others leave a failed queue does not get a second one", "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const LaunchConfig config{.grid = 64, .workgroup = 64, .cooperative = true};
    const auto core_of = [](Stream& stream) -> detail::StreamCore& {
        return stream.core().branches().cooperative(stream.core()).core();
    };
    const Words out(16);
    Stream stays(f.gpu), comes(f.gpu), failing(f.gpu);
    for (Stream* stream : {&stays, &comes}) {
        f.state.launch(*stream, config, out.data());
        stream->synchronize(patience);
    }
    detail::live_streams::leave(core_of(comes));  // as if it were still being made
    f.code.kernel("fails").launch(failing, config);
    CHECK_THROWS_AS(failing.synchronize(patience), QueueError);
    CHECK(device_test::eventually([&] {
        detail::live_streams::poll();
        return !core_of(stays).shared_queue()->dead();
    }));
    CHECK(core_of(comes).shared_queue()->dead());
    detail::live_streams::enter(core_of(comes));
    detail::live_streams::poll();
    CHECK(core_of(comes).shared_queue() == core_of(stays).shared_queue());
    for (Stream* stream : {&stays, &comes}) {
        Ring ring(f.gpu, *stream, 64 * 5);
        f.diffuse.launch(*stream, {.grid = 64 * 5, .workgroup = 64, .cooperative = true}, ring.a, ring.b, 3u);
        CHECK(ring.is_diffused(*stream, 3));
    }
}

TEST_CASE("a barrier without a cooperative launch, in a kernel that is not optimised, is an error of the queue",
          "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    const device_test::Device device;
    Stream stream(device.gpu);
    const Executable code = Executable::load(device.gpu, file_of("grid_O0", device.gpu));
    const Words from(64), to(64);
    code.kernel("diffuse").launch(stream, {.grid = 64, .workgroup = 64}, from.data(), to.data(), 1u);
    CHECK_THROWS_AS(stream.synchronize(patience), QueueError);
}

TEST_CASE("the state has the layout of ROCm's device library", "[cooperative]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    for (const std::uint32_t groups : {3u, 5u, 5u}) {
        const Words out(16);
        f.state.launch(f.stream, {.grid = groups * 64, .workgroup = 64, .cooperative = true}, out.data());
        f.stream.synchronize(patience);
        shared::GridState state;
        std::memcpy(&state, out.data(), sizeof state);
        CHECK(state.grid_number == 0);
        CHECK(state.grid_count == 1);
        CHECK(state.items_before == 0);
        CHECK(state.items == groups * 64);
        CHECK(state.workgroups == groups);
        CHECK(state.meet[0] == 0);
        CHECK(state.grids != 0);
    }
}

TEST_CASE("a stream that is lost before its cooperative launch does not take others with it", "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    Kernels other;
    const Words flag(1);
    const LaunchConfig config{.grid = 64 * 5, .workgroup = 64, .cooperative = true};
    Ring lost(f.gpu, f.stream, 64 * 5), ring(f.gpu, f.stream, 64 * 5);
    f.stream.synchronize(patience);
    Stream given_up(f.gpu), innocent(f.gpu);
    other.spin.launch(given_up, one, flag.data());
    f.diffuse.launch(given_up, config, lost.a, lost.b, 1u);
    f.diffuse.launch(innocent, config, ring.a, ring.b, 3u);
    CHECK_FALSE(given_up.close(100ms));
    CHECK(ring.is_diffused(innocent, 3));
}

TEST_CASE("a stream that ends while its cooperative kernel runs keeps what it uses", "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const Words flag(1), data(64);
    std::shared_ptr<const void> used(&data, [&](const void*) {
        flag.set(1);
        let_time_pass();
        CHECK(data.get() == 0);
    });
    {
        Stream given_up(f.gpu);
        f.code.kernel("wait_and_write")
            .launch(given_up, {.grid = 64, .workgroup = 64, .cooperative = true}, flag.data(), data.data());
        given_up.keep_alive(std::move(used));
        CHECK_FALSE(given_up.close(100ms));
    }
    flag.set(1);
    let_time_pass();
    Ring ring(f.gpu, f.stream, 64 * 5);
    f.diffuse.launch(f.stream, {.grid = 64 * 5, .workgroup = 64, .cooperative = true}, ring.a, ring.b, 3u);
    CHECK(ring.is_diffused(f.stream, 3));
}

TEST_CASE("an assertion before a grid's barrier fails its stream alone", "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const LaunchConfig config{.grid = 64 * 5, .workgroup = 64, .cooperative = true};
    const Executable services = Executable::load(f.gpu, test_support::test_file("services.hsaco"));
    const Words values(64 * 5, 1), reached(64 * 5);
    values.set(0, 70);
    Ring before(f.gpu, f.stream, 64 * 5), after(f.gpu, f.stream, 64 * 5);
    f.stream.synchronize(patience);
    Stream failing(f.gpu), enqueued(f.gpu), later(f.gpu);
    services.kernel("all_meet").launch(failing, config, reinterpret_cast<const int*>(values.data()), reached.data());
    f.diffuse.launch(enqueued, config, before.a, before.b, 3u);
    CHECK_THROWS_AS(failing.synchronize(patience), KernelAssertion);
    CHECK(before.is_diffused(enqueued, 3));
    f.diffuse.launch(later, config, after.a, after.b, 3u);
    CHECK(after.is_diffused(later, 3));
    CHECK(reached.get() == 0);
}

TEST_CASE("a stream that ends while its cooperative launch waits for another's disturbs neither",
          "[cooperative][error]") {
    NEEDS_DEVICE();
    NEEDS_GRID_KERNELS(device_test::Device().gpu);
    Grid f;
    const LaunchConfig config{.grid = 64, .workgroup = 64, .cooperative = true};
    const Words flag(1), data(64), set(1, 1);
    auto late = std::make_shared<Words>(64);
    Stream runs(f.gpu), later(f.gpu);
    f.code.kernel("wait_and_write").launch(runs, config, flag.data(), data.data());
    const std::weak_ptr<Words> kept = late;
    {
        Stream given_up(f.gpu);
        f.code.kernel("wait_and_write").launch(given_up, config, set.data(), late->data());
        given_up.keep_alive(std::move(late));
        CHECK_FALSE(given_up.close(100ms));
    }
    CHECK_FALSE(kept.expired());  // its packet is in the ring
    flag.set(1);
    runs.synchronize(patience);
    CHECK(data.get() == 1);
    Ring ring(f.gpu, f.stream, 64 * 5);
    f.diffuse.launch(later, {.grid = 64 * 5, .workgroup = 64, .cooperative = true}, ring.a, ring.b, 3u);
    CHECK(ring.is_diffused(later, 3));
    for (int i = 0; i < 100 && !kept.expired(); ++i) let_time_pass();
    CHECK(kept.expired());
}

TEST_CASE("a cooperative launch for which there is no room loses no work", "[cooperative][deadline]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.packets = f.gpu.queue_min_packets(), .exclusive_queue = true});
    const Words flag(1), data(1);
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .cooperative = true}, data.data(), 1u, 1u, 1u);
    f.spin.launch(stream, one, flag.data());
    const LaunchConfig briefly{.grid = 1, .workgroup = 1, .deadline = 20ms, .cooperative = true};
    std::uint32_t launched = 1, refused = 0;  // on a busy host a kernel may start late, and make room again
    while (refused < 100 && launched < 1000) {
        try {
            f.scale_add.launch(stream, briefly, data.data(), 1u, 1u, 1u);
            ++launched;
        } catch (const Timeout&) {
            ++refused;
        }
    }
    CHECK(refused == 100);
    CHECK_FALSE(stream.failed());
    flag.set(1);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(data.get() == launched);
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1, .cooperative = true}, data.data(), 1u, 1u, 1u);
    CHECK_NOTHROW(stream.synchronize(patience));
    CHECK(data.get() == launched + 1);
}
