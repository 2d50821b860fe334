// The caching allocator when memory is short: what it releases, waits for and reports.
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hsadrv/copy.hpp"
#include "tests/hsadrv/allocator_fixture.hpp"
#include "tests/hsadrv/control.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("release_cached frees idle blocks now, and blocks in flight later", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    Block in_flight = f.allocator.allocate(4 * mib, f.a), idle = f.allocator.allocate(6 * mib, f.b),
          used = f.allocator.allocate(8 * mib, f.b);
    Gate gate(f.a);
    f.use(f.a, in_flight);
    in_flight.reset();
    idle.reset();
    CHECK(f.allocator.statistics().held_bytes == 18 * mib);
    CHECK(f.allocator.statistics().cached_bytes == 10 * mib);
    CHECK(f.allocator.release_cached() == 6 * mib);
    CHECK(f.allocator.statistics().held_bytes == 12 * mib);
    CHECK(f.allocator.release_cached() == 0);
    gate.open();
    f.a.synchronize(patience);
    CHECK(f.allocator.release_cached() == 4 * mib);
    used.reset();
    CHECK(f.allocator.release_cached() == 8 * mib);
    const auto end = f.allocator.statistics();
    CHECK(end.held_bytes == 0);
    CHECK(end.cached_bytes == 0);
    CHECK(end.held_peak_bytes == 18 * mib);
    CHECK(end.used_peak_bytes == 18 * mib);
}

TEST_CASE("a chunk is freed with its last block", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    std::vector<Block> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(f.allocator.allocate(4096, f.a));
    CHECK(f.allocator.statistics().chunks == 2);
    const Block last = std::move(blocks.back());
    blocks.clear();
    CHECK(f.allocator.release_cached() == 2 * mib);
    CHECK(f.allocator.statistics().held_bytes == 2 * mib);
    CHECK(f.allocator.allocate(4096, f.a));
}

TEST_CASE("at its limit an allocator releases its cache and retries", "[memory][allocator]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu);
    Allocator allocator(device_pool(device.gpu), {.limit_bytes = 8 * mib, .patience = 50ms});
    allocator.allocate(6 * mib, stream);
    const Block other = allocator.allocate(5 * mib, stream);  // another size class: the first must be released
    CHECK(allocator.statistics().flushes == 1);
    CHECK(allocator.statistics().held_bytes == 5 * mib);
    // There is no room for another chunk of 2 MiB; the block itself would fit.
    const Block small = allocator.allocate(2 * mib + 1, stream);
    CHECK_THROWS_AS(allocator.allocate(2 * mib, stream), OutOfMemory);
    CHECK_THROWS_WITH(allocator.allocate(2 * mib, stream),
                      Contains("allocate(2097152 B, ") && Contains("8388608 B allowed") && Contains("in 2 blocks"));
    CHECK_THROWS_AS(allocator.allocate(SIZE_MAX, stream), OutOfMemory);
    CHECK_THROWS_AS(allocator.allocate(SIZE_MAX / 2 + 5, stream), OutOfMemory);
    CHECK_THROWS_AS(allocator.allocate(device_pool(device.gpu).alloc_max_bytes() + 1, stream), OutOfMemory);
    CHECK(allocator.allocate(100, stream));
}

TEST_CASE("at its limit an allocator waits for blocks in flight, up to its deadline", "[memory][allocator][deadline]") {
    NEEDS_DEVICE();
    Allocating f;
    Allocator hasty(device_pool(f.gpu), {.limit_bytes = 4 * mib, .patience = 20ms});
    Allocator patient(device_pool(f.gpu), {.limit_bytes = 4 * mib, .patience = patience});
    const Gate gate(f.a);
    for (Allocator* allocator : {&hasty, &patient}) {
        const Block block = allocator->allocate(4 * mib, f.a);
        f.use(f.a, block);
    }
    CHECK_THROWS_WITH(hasty.allocate(4 * mib, f.b), Contains("in flight"));
    std::thread opener([&] {
        std::this_thread::sleep_for(30ms);
        gate.open();
    });
    CHECK(patient.allocate(4 * mib, f.b));
    opener.join();
    CHECK(hasty.allocate(4 * mib, f.b));
}

TEST_CASE("when the device is out of memory, the cache is released and allocation succeeds", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    const MemPool pool = device_pool(f.gpu);
    const std::size_t part = pool.size_bytes() / 16;
    std::vector<Block> all;
    bool ran_out = false;
    for (int i = 0; i < 40 && !ran_out; ++i) try {
            all.push_back(f.allocator.allocate(part, f.a));
        } catch (const OutOfMemory& error) {
            ran_out = true;
            CHECK_THAT(error.what(), Contains(" B in pool"));
        }
    CHECK(ran_out);
    CHECK(all.size() >= 8);
    all.clear();
    CHECK(f.allocator.allocate(pool.size_bytes() / 4, f.b));
    CHECK(f.allocator.statistics().flushes >= 2);
}

TEST_CASE("an allocator can be moved, and validates its options", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    Allocator other(device_pool(f.gpu));
    Block block = f.allocator.allocate(100, f.a);
    other = std::move(f.allocator);
    CHECK(other.statistics().blocks == 1);
    Allocator third(std::move(other));
    CHECK(third.statistics().blocks == 1);
    CHECK_THROWS_AS(Allocator(device_pool(f.gpu), {.chunk_bytes = 0}), InvalidArgument);
    CHECK_THROWS_AS(Allocator(device_pool(f.gpu), {.chunk_bytes = 1000}), InvalidArgument);
}

TEST_CASE("an allocator whose N-th kernel request fails reports it or recovers, without leaks",
          "[memory][allocator][failures]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    Allocating f;
    const auto use = [&] {
        const Block one = f.allocator.allocate(100, f.a), two = f.allocator.allocate(4 * mib, f.a);
    };
    for (const Failure& failure : control.kinds()) {
        CAPTURE(failure.what);
        use();
        f.allocator.release_cached();
        const std::uint64_t calls = control.calls(failure, use);
        f.allocator.release_cached();
        const auto held = control.held();
        for (std::uint64_t nth = 1; nth <= calls; ++nth) {
            CAPTURE(nth);
            control.fail(failure, nth);
            try {
                use();
            } catch (const Error& error) {
                CHECK_THAT(error.what(), Contains(" B, "));
            }
            control.reset();
            CHECK_NOTHROW(use());
            CHECK(f.allocator.statistics().blocks == 0);
            f.allocator.release_cached();
            CHECK(f.allocator.statistics().held_bytes == 0);
            CHECK(control.held() == held);
        }
    }
}
