// Host memory for GPUs: each kind has the properties of its name, as reported by the runtime and as used by a kernel.
#include "devicearray/host_arrays.hpp"

#include <array>
#include <cerrno>
#include <functional>
#include <optional>

#include "devicearray/devicearray.hpp"
#include "tests/devicearray/scale_add.hpp"
#include "tests/support/control.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {

using MemoryKind = PointerInfo::Kind;

std::size_t live() { return live_allocations().size(); }

HostNDArray pinned_words(const Dims& shape) { return pinned_array(shape, dtypes::uint32); }
HostNDArray coarse_words(const Dims& shape) { return coarsegrain_array(shape, dtypes::uint32); }
HostNDArray fine_words(const Dims& shape) { return finegrain_array(shape, dtypes::uint32); }

}  // namespace

TEST_CASE("pinned, coarse- and fine-grained arrays are locked memory of that kind, for all GPUs", "[host_arrays]") {
    NEEDS_DEVICE();
    ScaleAdd device;
    struct Row {
        HostNDArray (*make)(const Dims& shape);
        bool fine_grained;
    };
    for (const Row& row : {Row{pinned_words, true}, Row{coarse_words, false}, Row{fine_words, true}}) {
        HostNDArray array = row.make({3, 500});
        CHECK(array.shape() == Dims{3, 500});
        CHECK(array.is_c_contiguous());
        const PointerInfo info = pointer_info(array.data());
        CHECK(info.kind == MemoryKind::pool);
        CHECK(info.owner.is_cpu());
        CHECK(info.flags.fine_grained == row.fine_grained);
        CHECK(info.flags.coarse_grained == !row.fine_grained);
        for (const AgentRef gpu : device.driver.gpus()) CHECK(info.accessible_by(gpu));

        array.fill(7u);
        device.run(array.writable_data(), 1500, 3, 1);
        CHECK(array.get<std::uint32_t>({2, 499}) == 22);
        CHECK(array.get<std::uint32_t>({0, 0}) == 22);
    }
}

TEST_CASE("arrays of pinned memory have the requested order and strides", "[host_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    CHECK(pinned_array({3, 4}).dtype() == dtypes::float64);
    CHECK(pinned_array({3, 4}, dtypes::int16, Order::F).strides_bytes() == Dims{2, 6});
    HostNDArray spread = finegrain_array({2, 3}, dtypes::int32, {4096, -8});
    CHECK(spread.strides_bytes() == Dims{4096, -8});
    spread.fill(5);
    CHECK(spread.get<int>({1, 2}) == 5);
    CHECK(pointer_info(static_cast<const char*>(spread.data()) - 16).kind == MemoryKind::pool);
    CHECK(coarsegrain_array({2, 0}).data() == nullptr);
    CHECK_THROWS_AS(pinned_array(-1), InvalidArgument);
    CHECK_THROWS_AS(coarsegrain_array({1ll << 32, 1ll << 32}), InvalidArgument);
    CHECK_THROWS_AS(finegrain_array({2, 2}, dtypes::int8, {1}), InvalidArgument);
    CHECK_THROWS_AS(pinned_array(1ll << 55), OutOfMemory);
}

TEST_CASE("a pinned array's memory is freed with its last view", "[host_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    const std::size_t before = live();
    std::optional<HostNDArray> view = pinned_words({8, 8}).slice({3});
    CHECK(live() == before + 1);
    CHECK(pointer_info(view->data()).kind == MemoryKind::pool);
    view.reset();
    CHECK(live() == before);
}

TEST_CASE("a mapped array is written by a kernel and read by the host in place", "[host_arrays]") {
    NEEDS_DEVICE();
    ScaleAdd device;
    MappedNDArray array = mapped_array({4, 250}, dtypes::uint32);
    array.fill(10u);
    device.run(array, 1000, 2, 5);
    CHECK(array.get<std::uint32_t>({3, 249}) == 25);
    CHECK(array.host().slice({1, 7}).item<std::uint32_t>() == 25);

    const MappedNDArray row = array.slice({2});  // a view has both addresses
    device.run(row, 250, 0, 1);
    CHECK(array.get<std::uint32_t>({1, 249}) == 25);
    CHECK(row.get<std::uint32_t>({0}) == 1);
    CHECK(row.elements<const std::uint32_t>()[249] == 1);
    CHECK(row.device().data() == row.data());
    CHECK(row.device().layout() == row.layout());
    CHECK(array.device().agent() == device.gpu.agent());
    CHECK(array.equal(array.copy(Order::F)));
    CHECK(as_host_array(array).data() == array.data());
}

TEST_CASE("transfers use a mapped array by its device address", "[host_arrays]") {
    NEEDS_DEVICE();
    test_support::Device device;
    MappedNDArray array = mapped_array({3, 4}, dtypes::int32);
    array.copy_to_device(host_view(std::vector<int>(12, 9), {3, 4}), device.stream);
    device.stream.synchronize();
    CHECK(array.get<int>({2, 3}) == 9);
    const DeviceNDArray d_array = to_device(array, device.stream);
    device.stream.synchronize();  // read in place
    array.fill(0);
    array.copy_to_device(d_array, device.stream);
    HostNDArray back = host_array({3, 4}, dtypes::int32);
    array.copy_to_host(back, device.stream);
    device.stream.synchronize();
    CHECK(back.get<int>({0, 0}) == 9);
    CHECK(array.equal(back));
}

TEST_CASE("a mapped array is accessible to one GPU, a portable one to all", "[host_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    const AgentRef own = device.gpu;
    for (const bool portable : {false, true}) {
        for (const bool wc : {false, true}) {
            const MappedNDArray array = mapped_array({100}, dtypes::uint32, Order::C, {.portable = portable, .wc = wc});
            const PointerInfo info = pointer_info(array.data());
            CHECK(info.kind == MemoryKind::pool);
            CHECK(info.owner.is_cpu());
            CHECK(info.flags.coarse_grained == wc);
            CHECK(info.accessible_by(own));
            for (const AgentRef gpu : device.driver.gpus()) {
                if (gpu == own) continue;
                CHECK(info.accessible_by(gpu) == portable);
                if (portable) {
                    CHECK(array.device(gpu).agent() == gpu);
                } else {
                    CHECK_THROWS_WITH(array.device(gpu), Contains(gpu.label()) && Contains("portable"));
                }
            }
        }
    }
    for (const AgentRef gpu : device.driver.gpus()) CHECK(mapped_array({1}, dtypes::int8, {}, {}, gpu).agent() == gpu);
}

TEST_CASE("the other GPU's kernels also use a portable array", "[host_arrays]") {
    NEEDS_DEVICE();
    const Driver driver;
    if (driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    ScaleAdd other(driver.gpus()[1]);
    MappedNDArray array = mapped_array({64}, dtypes::uint32, {}, {.portable = true}, driver.gpus()[0]);
    array.fill(3u);
    other.run(array.device(driver.gpus()[1]), 64, 5, 0);
    CHECK(array.get<std::uint32_t>({63}) == 15);
}

TEST_CASE("a mapped array needs a GPU and a possible shape", "[host_arrays]") {
    NEEDS_DEVICE();
    const Driver driver;
    CHECK_THROWS_AS(mapped_array({3}), Error);  // without a Context
    CHECK_THROWS_WITH(mapped_array({3}, dtypes::int8, {}, {}, driver.cpus().front()), Contains("not a GPU"));
    const Context gpu{driver.gpus().front()};
    CHECK_THROWS_AS(mapped_array({-3}), InvalidArgument);
    CHECK_THROWS_AS(mapped_array(1ll << 55), OutOfMemory);
    const MappedNDArray empty = mapped_array({0, 3});
    CHECK(empty.data() == nullptr);
    CHECK(empty.device().size() == 0);
    CHECK(mapped_array({3}, dtypes::int32, {-8}).strides_bytes() == Dims{-8});
    const HostNDArray host = host_array(3);
    CHECK_THROWS_AS(MappedNDArray(host, nullptr, gpu), InvalidArgument);
}

TEST_CASE("a launch keeps a mapped array's memory until it is complete", "[host_arrays]") {
    NEEDS_DEVICE();
    ScaleAdd device;
    std::weak_ptr<const void> memory;
    {
        MappedNDArray array = mapped_array({256}, dtypes::uint32);
        array.fill(1u);
        memory = array.keep_alive();
        device.launch(array, 256, 2, 0);
    }
    device.stream.synchronize();
    device.stream.synchronize();
    CHECK(memory.expired());
}

TEST_CASE("an array whose creation fails leaks nothing", "[host_arrays]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL_AS(test_support::Control, control);
    const test_support::Device device;
    const std::size_t before = live();
    const std::function<void()> calls[] = {
        [] { (void)pinned_array({1 << 20}); },
        [] { (void)coarsegrain_array({1 << 20}); },
        [] { (void)finegrain_array({1 << 20}); },
        [] { (void)mapped_array({1 << 20}); },
        [] { (void)mapped_array({1 << 20}, dtypes::float32, {}, {.portable = true}); },
    };
    constexpr std::uint32_t map_memory = KFDEMU_IOCTL_NUMBER(0x18);  // AMDKFD_IOC_MAP_MEMORY_TO_GPU
    for (const auto& call : calls) {
        call();  // warm-up of the runtime's caches
        const std::uint64_t held = control.counters().buffers;
        int failed = 0;
        for (const std::uint32_t point : {std::uint32_t{KFDEMU_ALLOCATION}, map_memory}) {
            for (std::uint64_t nth = 1; nth < 100; ++nth) {
                const std::uint64_t injected = control.counters().injected;
                REQUIRE(control->fail(point, nth, 1, ENOMEM) == 0);
                try {
                    call();
                } catch (const Error&) {
                    ++failed;
                }
                control->reset();
                CHECK(live() == before);
                CHECK(control.counters().buffers == held);
                if (control.counters().injected == injected) break;
            }
        }
        CHECK(failed > 0);
        CHECK_NOTHROW(call());
    }
}
