// Copies and fills of a stream: every direction, sizes and offsets, and refusals.
#include "hsadrv/stream.hpp"

#include <algorithm>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("pageable memory is copied to the device and back, at any size and offset", "[stream][copy]") {
    NEEDS_DEVICE();
    Buffers f;
    for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{63}, std::size_t{4096},
                                   std::size_t{65537}, std::size_t{2} << 20, (std::size_t{7} << 20) + 13}) {
        CAPTURE(size);
        const Allocation device = f.device(size + 5);
        auto* const at = static_cast<std::uint8_t*>(device.data()) + 5;
        const auto source = pattern(size);
        std::vector<std::uint8_t> back(size);
        f.stream.copy_async(at, source.data(), size);
        f.stream.copy_async(back.data(), at, size, patience);
        CHECK(back == source);
    }
}

TEST_CASE("a pageable source may be reused as soon as the call returns", "[stream][copy]") {
    NEEDS_DEVICE();
    Buffers f;
    const std::size_t size = 5 << 20;
    const Allocation device = f.device(size);
    auto source = pattern(size);
    const auto original = source;
    f.stream.copy_async(device.data(), source.data(), size);
    std::fill(source.begin(), source.end(), 0);
    std::vector<std::uint8_t> back(size);
    f.stream.copy_async(back.data(), device.data(), size);
    CHECK(back == original);
}

TEST_CASE("pinned memory is copied both ways without waiting", "[stream][copy]") {
    NEEDS_DEVICE();
    Buffers f;
    const std::size_t size = 300000;
    const Allocation from = f.pinned(size), device = f.device(size), to = f.pinned(size);
    const auto source = pattern(size);
    std::copy(source.begin(), source.end(), bytes_of(from).begin());
    f.stream.copy_async(device.data(), from.data(), size);
    f.stream.copy_async(to.data(), device.data(), size);
    f.wait();
    CHECK(std::equal(source.begin(), source.end(), bytes_of(to).begin()));
}

TEST_CASE("registered memory is copied by its host address", "[stream][copy][register]") {
    NEEDS_DEVICE();
    Buffers f;
    auto source = pattern(100000);
    std::vector<std::uint8_t> back(source.size());
    const Registration from(source.data(), source.size(), {f.gpu}), to(back.data(), back.size(), {f.gpu});
    const Allocation device = f.device(source.size());
    f.stream.copy_async(device.data(), source.data() + 100, source.size() - 100);
    f.stream.copy_async(back.data() + 100, device.data(), source.size() - 100);
    f.wait();
    CHECK(std::equal(source.begin() + 100, source.end(), back.begin() + 100));
}

TEST_CASE("device memory is copied within a device", "[stream][copy]") {
    NEEDS_DEVICE();
    Buffers f;
    for (const std::size_t size : {std::size_t{4096}, std::size_t{100001}}) {
        const Allocation a = f.device(size), b = f.device(size);
        const auto source = pattern(size, 9);
        std::vector<std::uint8_t> back(size);
        f.stream.copy_async(a.data(), source.data(), size);
        f.stream.copy_async(b.data(), a.data(), size);
        f.stream.copy_async(back.data(), b.data(), size, patience);
        CHECK(back == source);
    }
}

TEST_CASE("host memory is copied to host memory in the stream's order", "[stream][copy]") {
    NEEDS_DEVICE();
    Buffers f;
    const auto source = pattern(50000);
    const Allocation a = f.pinned(source.size()), b = f.pinned(source.size());
    std::vector<std::uint8_t> back(source.size()), copy(source.size());
    f.stream.copy_async(a.data(), source.data(), source.size());
    f.stream.copy_async(b.data(), a.data(), source.size());
    f.stream.copy_async(back.data(), b.data(), source.size(), patience);
    f.stream.copy_async(copy.data(), back.data(), source.size(), patience);
    CHECK(copy == source);
}

TEST_CASE("device memory is copied between devices", "[stream][copy]") {
    NEEDS_DEVICE();
    Buffers f;
    if (f.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    const std::size_t size = 3 << 20;
    const Allocation a = f.device(size), b = Allocation::from_pool(device_pool(f.driver.gpus()[1]), size);
    const auto source = pattern(size);
    std::vector<std::uint8_t> back(size);
    f.stream.copy_async(a.data(), source.data(), size);
    f.stream.copy_async(b.data(), a.data(), size);
    f.stream.copy_async(a.data(), b.data(), size);
    f.stream.copy_async(back.data(), b.data(), size, patience);
    CHECK(back == source);
}

TEST_CASE("fills repeat any pattern over any multiple of it", "[stream][fill]") {
    NEEDS_DEVICE();
    Buffers f;
    struct Triple {
        std::uint8_t a, b, c;
        bool operator==(const Triple&) const = default;
    };
    const Allocation device = f.device(4 << 20);
    std::vector<Triple> triples(300000);
    f.stream.fill_async(static_cast<Triple*>(device.data()), Triple{1, 2, 3}, triples.size());
    f.stream.copy_async(triples.data(), device.data(), triples.size() * sizeof(Triple), patience);
    CHECK(std::all_of(triples.begin(), triples.end(), [](Triple t) { return t == Triple{1, 2, 3}; }));

    std::vector<std::uint8_t> bytes(7);
    f.stream.fill_async(static_cast<std::uint8_t*>(device.data()) + 1, std::uint8_t{0xee}, bytes.size());
    f.stream.copy_async(bytes.data(), static_cast<std::uint8_t*>(device.data()) + 1, bytes.size(), patience);
    CHECK(bytes == std::vector<std::uint8_t>(7, 0xee));

    const Allocation pinned = f.pinned(1 << 20);
    f.stream.fill_async(static_cast<std::uint64_t*>(pinned.data()), std::uint64_t{42}, (1 << 20) / 8);
    f.wait();
    CHECK(static_cast<std::uint64_t*>(pinned.data())[(1 << 20) / 8 - 1] == 42);
}

TEST_CASE("invalid copies and fills are refused before anything is enqueued", "[stream][copy]") {
    NEEDS_DEVICE();
    Buffers f;
    const Allocation device = f.device(4096);
    std::vector<std::uint8_t> host(8192);
    auto* const at = static_cast<std::uint8_t*>(device.data());
    CHECK_NOTHROW(f.stream.copy_async(nullptr, nullptr, 0));
    CHECK_THROWS_AS(f.stream.copy_async(nullptr, host.data(), 1), InvalidArgument);
    CHECK_THROWS_AS(f.stream.copy_async(at, nullptr, 1), InvalidArgument);
    CHECK_THROWS_AS(f.stream.copy_async(at, host.data(), 8192), InvalidArgument);
    CHECK_THROWS_WITH(f.stream.copy_async(at + 4000, host.data(), 97), Contains("destination has 96 B left"));
    CHECK_THROWS_WITH(f.stream.copy_async(host.data(), at + 4095, 2), Contains("source has 1 B left"));
    CHECK_THROWS_WITH(f.stream.copy_async(at, at + 10, 11), Contains("overlap"));
    CHECK_THROWS_AS(f.stream.copy_async(at, host.data(), SIZE_MAX), InvalidArgument);
    CHECK_THROWS_AS(f.stream.fill_async(at, 10, std::span<const std::byte>()), InvalidArgument);
    CHECK_NOTHROW(f.stream.copy_async(at, at + 10, 10));
    f.wait();
}
