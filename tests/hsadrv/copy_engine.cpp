// The engine that does a copy: the usual one, or a free one.
#include "hsadrv/memory/copy_engine.hpp"

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;

TEST_CASE("a copy takes a free engine when the usual one is busy", "[copy]") {
    struct Row {
        std::uint32_t free;
        bool from_gpu;
        std::uint32_t engine;
    };
    const Row rows[] = {
        {0b0000, false, 0},      // no engine is free: it waits for the usual one
        {0b0000, true, 0},       //
        {0b0001, false, 0},      // the usual one is free
        {0b1111, false, 0},      //
        {0b0010, true, 0},       //
        {0b1111, true, 0},       //
        {0b0010, false, 0b10},   // the other direction's
        {0b0001, true, 0b01},    //
        {0b1100, false, 0b100},  // one of those for links
        {0b1101, true, 0b001},   //
    };
    for (const Row& row : rows) {
        CAPTURE(row.free, row.from_gpu);
        CHECK(detail::engine_instead(row.free, row.from_gpu) == row.engine);
    }
}

TEST_CASE("a copy that waits for its stream's kernel delays no other stream if an engine is free", "[copy]") {
    NEEDS_DEVICE();
    const auto& status = optional_api().memory_copy_engine_status;
    if (!status) SKIP_BECAUSE("this runtime cannot be asked which engines are free: ROCm 5.6 or newer is needed");
    const Kernels f;
    const AgentRef host = f.driver.cpus().front();
    constexpr std::size_t count = 1 << 18;
    const Words pinned(count, 5), other_pinned(count, 6), flag(1);
    const Allocation device = Allocation::from_pool(device_pool(f.gpu), 4 * count),
                     other_device = Allocation::from_pool(device_pool(f.gpu), 4 * count);
    Stream held(f.gpu), other(f.gpu);
    std::uint32_t free = 0;

    f.spin.launch(held, {.grid = 1, .workgroup = 1}, flag.data());
    held.copy_async(device.data(), pinned.data(), 4 * count);
    status(f.gpu.native(), host.native(), &free);
    const bool more_engines = free != 0;
    if (more_engines) {
        other.copy_async(other_device.data(), other_pinned.data(), 4 * count);
        CHECK_NOTHROW(other.synchronize(patience));
        CHECK_FALSE(held.query());
    }
    flag.set(1);
    held.synchronize(patience);
    other.synchronize(patience);
    held.copy_async(pinned.data(), other_device.data(), more_engines ? 4 * count : 0);
    other.copy_async(other_pinned.data(), device.data(), 4 * count);
    held.synchronize(patience);
    other.synchronize(patience);
    CHECK(other_pinned.get(count - 1) == 5);
    if (!more_engines) SKIP_BECAUSE("the GPU has one engine for copies to it");
    CHECK(pinned.get(count - 1) == 6);
}
