// Copies and fills: any pattern, overlaps, small ones and large ones, and those that fail.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/hsadrv/control.hpp"
#include "tests/hsadrv/places.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("any pattern is repeated over any number of bytes of any memory", "[copy][fill]") {
    NEEDS_DEVICE();
    Copying f;
    for (const Kind kind : f.kinds())
        for (const std::size_t pattern_bytes : {1, 2, 3, 4, 7, 16, 4096, 300001})
            for (const std::size_t size : {1, 2, 3, 5, 63, 4097, 65535, 1000003}) {
                CAPTURE(name_of(kind), pattern_bytes, size);
                const Place place(f, kind, size + 6);
                const Bytes before(size + 6, 0xee), pattern = random_bytes(pattern_bytes, 5);
                f.put(place, before);
                fill(f.stream, place.data + 3, size, std::as_bytes(std::span(pattern)), patience);
                Bytes expected = before;
                for (std::size_t i = 0; i < size; ++i) expected[i + 3] = pattern[i % pattern_bytes];
                REQUIRE(f.get(place) == expected);
            }
}

TEST_CASE("an empty pattern is refused, and typed fills count elements", "[copy][fill]") {
    NEEDS_DEVICE();
    Copying f;
    const Place device(f, Kind::device, 4096);
    const std::size_t room = pointer_info(device.data).size_bytes;
    CHECK_THROWS_WITH(f.stream.fill_async(device.data, 10, std::span<const std::byte>()), Contains("pattern is empty"));
    CHECK_THROWS_WITH(f.stream.fill_async(static_cast<std::uint8_t*>(nullptr), std::uint8_t{1}, 10), Contains("null"));
    CHECK_THROWS_WITH(f.stream.fill_async(device.data, std::uint8_t{1}, room + 1), Contains("destination has"));
    CHECK_NOTHROW(f.stream.fill_async(static_cast<int*>(nullptr), 1, 0));
    fill(f.stream, reinterpret_cast<double*>(device.data), 2.5, 512, patience);
    std::vector<double> values(512);
    copy(f.stream, values.data(), device.data, 4096, patience);
    CHECK(values == std::vector<double>(512, 2.5));
}

TEST_CASE("overlapping ranges are refused, by whichever address they are given", "[copy]") {
    NEEDS_DEVICE();
    Copying f;
    for (const Kind kind : f.kinds()) {
        CAPTURE(name_of(kind));
        const Place place(f, kind, 4096);
        CHECK_THROWS_WITH(f.stream.copy_async(place.data, place.data, 1), Contains("overlap"));
        CHECK_THROWS_WITH(f.stream.copy_async(place.data + 10, place.data, 11), Contains("overlap"));
        CHECK_THROWS_WITH(f.stream.copy_async(place.data, place.data + 10, 11), Contains("overlap"));
        CHECK_NOTHROW(copy(f.stream, place.data + 10, place.data, 10, patience));
        CHECK_NOTHROW(copy(f.stream, place.data, place.data + 10, 10, patience));
    }
    Bytes host(3 * 4096);
    const Registration low(host.data(), 2 * 4096, {f.gpu}), high(host.data() + 4096, 2 * 4096, {f.gpu});
    auto* const at_low = static_cast<std::uint8_t*>(low.device_address());
    auto* const at_high = static_cast<std::uint8_t*>(high.device_address());
    CHECK_THROWS_WITH(f.stream.copy_async(host.data(), at_low + 50, 100), Contains("overlap"));
    CHECK_THROWS_WITH(f.stream.copy_async(at_high + 50, at_low + 4096, 100), Contains("overlap"));
    CHECK_NOTHROW(copy(f.stream, at_high + 100, at_low + 4096, 100, patience));
}

TEST_CASE("the CPU does small copies of host memory, never out of order", "[copy]") {
    NEEDS_DEVICE();
    Copying f;
    const Place a(f, Kind::pinned, 4096), b(f, Kind::pinned, 4096);
    Bytes source = random_bytes(4096, 3), back(4096);
    std::copy(source.begin(), source.end(), a.data);
    f.stream.copy_async(b.data, a.data, 4096);  // idle: done on return
    CHECK(std::equal(source.begin(), source.end(), b.data));
    {
        const Gate gate(f.stream);
        std::fill_n(b.data, 4096, std::uint8_t{0});
        f.stream.copy_async(b.data, a.data, 4096);
        CHECK(b.data[5] == 0);
        f.stream.copy_async(b.data, source.data(), 1000);  // pageable, may be reused now
        std::fill_n(source.begin(), 1000, std::uint8_t{9});
        CHECK_THROWS_AS(f.stream.copy_async(back.data(), b.data, 4096, 20ms), Timeout);
        CHECK_FALSE(f.stream.query());
    }
    f.stream.copy_async(back.data(), b.data, 4096, patience);
    CHECK(std::equal(back.begin(), back.end(), a.data));
}

TEST_CASE("a synchronous copy that misses its deadline throws Timeout, and no data is lost", "[copy][deadline]") {
    NEEDS_DEVICE();
    Copying f;
    const Place device(f, Kind::device, 4096), from(f, Kind::pinned, 4096), to(f, Kind::pinned, 4096);
    std::fill_n(from.data, 4096, std::uint8_t{4});
    const Gate gate(f.stream);
    CHECK_THROWS_AS(copy(f.stream, device.data, from.data, 4096, 20ms), Timeout);
    CHECK_THROWS_AS(fill(f.stream, device.data, std::uint8_t{5}, 100, 20ms), Timeout);
    CHECK_THROWS_AS(copy_rect(f.stream, {{to.data, 64}, {device.data, 64}, 32, 64}, 20ms), Timeout);
    gate.open();
    f.stream.synchronize(patience);
    CHECK(to.data[0] == 5);
    CHECK(to.data[64 * 2] == 4);
}

TEST_CASE("copies to the device and from it do not wait for each other", "[copy]") {
    NEEDS_DEVICE();
    Copying f;
    Stream down(f.gpu);
    constexpr std::size_t size = 1 << 20;
    const Place a(f, Kind::device, size), b(f, Kind::device, size), up_from(f, Kind::pinned, size),
        down_to(f, Kind::pinned, size);
    const Gate gate(f.stream);
    f.stream.copy_async(a.data, up_from.data, size);  // in the engine's ring, after the gate
    CHECK_NOTHROW(copy(down, down_to.data, b.data, size, patience));
    CHECK_FALSE(f.stream.query());
    gate.open();
    f.stream.synchronize(patience);
}

TEST_CASE("a copy whose N-th kernel request fails is an error, and the next one works", "[copy][failures]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    const Device device;
    const Bytes source = random_bytes(5 << 20, 6);
    for (const Failure& failure : control.kinds()) {
        CAPTURE(failure.what);
        // A new stream: its staging buffers are made by the first copy.
        std::unique_ptr<Stream> stream;
        const Place there(device, Kind::device, source.size());
        const auto use = [&] { copy(*stream, there.data, source.data(), source.size(), patience); };
        stream = std::make_unique<Stream>(device.gpu);
        const std::uint64_t calls = std::min<std::uint64_t>(control.calls(failure, use), 20);
        for (std::uint64_t nth = 1; nth <= calls; ++nth) {
            CAPTURE(nth);
            stream = std::make_unique<Stream>(device.gpu);
            control.fail(failure, nth);
            try {
                use();
            } catch (const Error&) {  // or the runtime recovered
            }
            control.reset();
            Bytes back(source.size());
            CHECK_NOTHROW(use());
            copy(*stream, back.data(), there.data, back.size(), patience);
            CHECK(back == source);
        }
    }
}

// Hidden, because it is slow: the build runs it once.

TEST_CASE("a copy and a fill of more than 4 GiB", "[.large]") {
    NEEDS_DEVICE();
    Copying f;
    constexpr std::size_t four_gib = std::size_t{4} << 30, size = four_gib + 4099;
    std::size_t available_kib = 0;
    std::ifstream info("/proc/meminfo");
    for (std::string key, unit; info >> key && key != "MemAvailable:";) std::getline(info, unit);
    info >> available_kib;
    if (device_pool(f.gpu).size_bytes() < 2 * size || available_kib >> 20 < 12)
        SKIP_BECAUSE("there is not enough memory");
    const Place a(f, Kind::device, size), b(f, Kind::device, size);
    fill(f.stream, a.data, std::uint8_t{0x41}, size, 300s);
    const std::size_t marks[] = {0, four_gib - 1, four_gib, size - 1};
    for (const std::size_t at : marks) {
        const auto byte = static_cast<std::uint8_t>(at ^ at >> 32);
        copy(f.stream, a.data + at, &byte, 1, patience);
    }
    copy(f.stream, b.data, a.data, size, 300s);
    for (const std::size_t at : marks) {
        std::uint8_t bytes[2] = {};
        copy(f.stream, bytes, b.data + at, 1, patience);
        if (at != 0) copy(f.stream, bytes + 1, b.data + at / 2, 1, patience);
        CHECK(bytes[0] == static_cast<std::uint8_t>(at ^ at >> 32));
        if (at != 0) CHECK(bytes[1] == 0x41);
    }
}
