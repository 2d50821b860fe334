// The caching allocator: which stream reuses a freed block, and when.
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "hsadrv/copy.hpp"
#include "tests/hsadrv/allocator_fixture.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("a block is aligned, has the requested size, and can be moved", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    for (const std::size_t size : {std::size_t{1}, std::size_t{255}, std::size_t{4097}, std::size_t{100001}, 3 * mib}) {
        CAPTURE(size);
        Block block = f.allocator.allocate(size, f.a);
        REQUIRE(block);
        CHECK(block.size_bytes() == size);
        CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % 256 == 0);
        CHECK(pointer_info(block.data()).owner == f.gpu);
        CHECK(pointer_info(block.data()).bytes_after(block.data()) >= size);
        void* const data = block.data();
        Block other = std::move(block);
        CHECK_FALSE(block);  // NOLINT: moved-from is empty
        CHECK(block.size_bytes() == 0);
        CHECK(other.data() == data);
        CHECK(other.as<char>() == data);
        CHECK(detail::launchable(other) == data);
        other = f.allocator.allocate(size, f.a);
        CHECK(other.data() != data);
    }
    CHECK(f.allocator.statistics().blocks == 0);
    CHECK(f.allocator.statistics().used_bytes == 0);
    CHECK_FALSE(f.allocator.allocate(0, f.a));
}

TEST_CASE("blocks in use never share a byte", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    std::vector<Block> blocks;
    std::minstd_rand random(9 + static_cast<unsigned>(test_support::test_seed()));
    for (int i = 0; i < 500; ++i) {
        blocks.push_back(f.allocator.allocate(1 + random() % 30000, i % 2 ? f.a : f.b));
        if (random() % 3 == 0) blocks.erase(blocks.begin() + static_cast<long>(random() % blocks.size()));
    }
    std::sort(blocks.begin(), blocks.end(), [](const Block& x, const Block& y) { return x.data() < y.data(); });
    for (std::size_t i = 1; i < blocks.size(); ++i)
        REQUIRE(static_cast<std::byte*>(blocks[i - 1].data()) + blocks[i - 1].size_bytes() <= blocks[i].data());
}

TEST_CASE("a stream reuses its own block at once, even while work uses it", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    const Gate gate(f.a);
    Block block = f.allocator.allocate(5000, f.a);
    void* const data = block.data();
    f.use(f.a, block);
    block.reset();
    CHECK_FALSE(f.a.query());
    const Block again = f.allocator.allocate(4500, f.a);
    CHECK(again.data() == data);
    CHECK(f.allocator.statistics().hits == 1);
}

TEST_CASE("another stream reuses a block after the first has passed its release, not before", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    void* data = nullptr;
    {
        const Gate gate(f.a);
        Block block = f.allocator.allocate(4 * mib, f.a);
        data = block.data();
        f.use(f.a, block);
        block.reset();
        for (int i = 0; i < 3; ++i) {
            const Block other = f.allocator.allocate(4 * mib, f.b);
            CHECK(other.data() != data);
        }
        CHECK(f.allocator.statistics().passed_on == 0);
    }
    f.a.synchronize(patience);
    const Block one = f.allocator.allocate(4 * mib, f.b), two = f.allocator.allocate(4 * mib, f.b);
    CHECK((one.data() == data || two.data() == data));
    CHECK(f.allocator.statistics().passed_on == 1);
}

TEST_CASE("later work of a stream does not delay the blocks that it freed earlier", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    Block block = f.allocator.allocate(4 * mib, f.a);
    void* const data = block.data();
    std::optional<Gate> first(std::in_place, f.a);
    f.use(f.a, block);
    block.reset();
    CHECK(f.allocator.allocate(4 * mib, f.b).data() != data);  // queries the stream's progress
    Allocation later = Allocation::from_pool(device_pool(f.gpu), 4096);
    f.a.copy_async(later.data(), f.pinned.data(), 4096);
    first->open();
    f.a.synchronize(patience);
    const Gate second(f.a);
    f.a.copy_async(later.data(), f.pinned.data(), 4096);
    CHECK_FALSE(f.a.query());
    const Block one = f.allocator.allocate(4 * mib, f.b), two = f.allocator.allocate(4 * mib, f.b);
    CHECK((one.data() == data || two.data() == data));
}

TEST_CASE("a block is freed on the stream that used it last", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    Block block = f.allocator.allocate(4 * mib, f.a);
    void* const data = block.data();
    const Gate gate(f.b);
    f.use(f.b, block);
    block.free_on(f.b);
    CHECK_FALSE(block);
    CHECK(f.allocator.allocate(4 * mib, f.a).data() != data);
    CHECK(f.allocator.allocate(4 * mib, f.b).data() == data);
    block.free_on(f.a);  // no effect: empty
}

TEST_CASE("blocks freed or held by a destroyed stream are free for every stream", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    void *freed_before = nullptr, *freed_after = nullptr;
    Block kept;
    {
        Stream gone(f.gpu);
        Block block = f.allocator.allocate(4 * mib, gone);
        kept = f.allocator.allocate(4 * mib, gone);
        freed_before = block.data();
        freed_after = kept.data();
        f.use(gone, block);
    }
    CHECK(f.allocator.allocate(4 * mib, f.a).data() == freed_before);
    kept.reset();
    const Block one = f.allocator.allocate(4 * mib, f.b), two = f.allocator.allocate(4 * mib, f.b);
    CHECK((one.data() == freed_after || two.data() == freed_after));
    // Short-lived streams: their blocks are reused, and the allocator does not grow.
    for (int i = 0; i < 20; ++i) {
        Stream brief(f.gpu);
        const Block block = f.allocator.allocate(100, brief);
    }
    CHECK(f.allocator.statistics().cut <= 4);
}

TEST_CASE("blocks outlive the allocator, and memory in flight outlives the blocks", "[memory][allocator]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu);
    const Allocation pinned = Allocation::from_pool(host_pool(), 4096);
    std::optional<Allocator> allocator(std::in_place, device_pool(device.gpu));
    Block block = allocator->allocate(4 * mib, stream);
    void* const data = block.data();
    Gate gate(stream);
    stream.copy_async(data, pinned.data(), 4096);
    allocator.reset();
    CHECK(pointer_info(data).kind == PointerInfo::Kind::pool);
    block.reset();
    CHECK(pointer_info(data).kind == PointerInfo::Kind::pool);  // held by the stream
    gate.open();
    stream.synchronize(patience);
    CHECK(pointer_info(data).kind == PointerInfo::Kind::pageable);
}

TEST_CASE("a failed stream keeps its blocks until it is destroyed", "[memory][allocator][error]") {
    NEEDS_DEVICE();
    Allocating f;
    auto bad = std::make_unique<Stream>(f.gpu);
    Block block = f.allocator.allocate(4 * mib, *bad);
    void* const data = block.data();
    bad->dispatch({}, [](std::byte*) {});
    CHECK_THROWS_AS(bad->synchronize(patience), QueueError);
    block.reset();
    CHECK(f.allocator.allocate(4 * mib, f.a).data() != data);
    bad.reset();
    const Block one = f.allocator.allocate(4 * mib, f.b), two = f.allocator.allocate(4 * mib, f.b);
    CHECK((one.data() == data || two.data() == data));
}

TEST_CASE("six hundred blocks pass from stream to stream, and none share a byte", "[memory][allocator]") {
    NEEDS_DEVICE();
    Allocating f;
    // Less than all streams together would cache.
    Allocator small(device_pool(f.gpu), {.limit_bytes = mib, .chunk_bytes = mib / 4, .patience = patience});
    std::array<Stream, 4> streams{Stream(f.gpu), Stream(f.gpu), Stream(f.gpu), Stream(f.gpu)};
    constexpr std::size_t rounds = 600, sizes[] = {60000, 100000, 250000};
    std::vector<std::unique_ptr<Allocation>> results;
    for (std::size_t i = 0; i < rounds; ++i) {
        Stream& stream = streams[i * 7 % 4];
        const std::size_t size = sizes[i % 3];
        Block block = small.allocate(size, stream);
        results.push_back(std::make_unique<Allocation>(Allocation::from_pool(host_pool(), size)));
        stream.fill_async(static_cast<std::uint16_t*>(block.data()), static_cast<std::uint16_t>(i * 257), size / 2);
        stream.copy_async(results.back()->data(), block.data(), size);
        if (i % 5 == 0) block.free_on(stream);
    }
    for (Stream& stream : streams) stream.synchronize(patience);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto* words = static_cast<const std::uint16_t*>(results[i]->data());
        wrong += std::any_of(words, words + sizes[i % 3] / 2,
                             [&](std::uint16_t word) { return word != static_cast<std::uint16_t>(i * 257); });
    }
    CHECK(wrong == 0);
    CHECK(small.statistics().passed_on > 0);
    CHECK(small.statistics().held_peak_bytes <= mib);
}

TEST_CASE("threads, each with its own stream, share an allocator", "[memory][allocator][stress]") {
    NEEDS_DEVICE();
    Allocating f;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            Stream own(f.gpu);
            std::vector<Block> held;
            for (unsigned i = 0; i < 60; ++i) try {
                    Block block = f.allocator.allocate(1000 + (i * 37 + t) % 5 * 3000, own);
                    const auto value = static_cast<std::uint8_t>(t * 60 + i);
                    std::uint8_t back = 0;
                    own.fill_async(static_cast<std::uint8_t*>(block.data()), value, 1000);
                    if (i % 8 == 0) held.push_back(f.allocator.allocate(500, own));
                    if (i % 20 == 19) {
                        f.allocator.release_cached();
                        held.clear();
                    }
                    own.copy_async(&back, static_cast<std::uint8_t*>(block.data()) + 999, 1, patience);
                    wrong += back != value;
                } catch (const std::exception&) {
                    ++wrong;
                }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(f.allocator.statistics().blocks == 0);
}

TEST_CASE("an allocator of pinned memory also serves the host", "[memory][allocator]") {
    NEEDS_DEVICE();
    const Device device;
    Stream stream(device.gpu);
    Allocator allocator(host_pool());
    const Block from = allocator.allocate(1000, stream), to = allocator.allocate(1000, stream);
    std::fill_n(static_cast<std::uint8_t*>(from.data()), 1000, std::uint8_t{6});
    copy(stream, to.data(), from.data(), 1000, patience);
    CHECK(static_cast<std::uint8_t*>(to.data())[999] == 6);
}
