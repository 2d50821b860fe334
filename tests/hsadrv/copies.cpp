// Copies and fills: rectangles between every two kinds of memory, any pattern, overlaps, small ones and large
// ones.
#include "hsadrv/copy.hpp"

#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "control.hpp"
#include "device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

using Bytes = std::vector<std::uint8_t>;

enum class Kind { device, pinned, registered, pageable, peer, unreachable };
const char* name_of(Kind kind) {
    static constexpr const char* names[] = {"device",   "pinned", "registered",
                                            "pageable", "peer",   "unreachable"};
    return names[static_cast<int>(kind)];
}

/// Another GPU's memory that the first one can never reach.
std::optional<MemPool> unreachable_pool(const Device& device) {
    for (const AgentRef other : device.driver.gpus())
        for (const MemPool& pool : other.pools())
            if (pool.segment() == Segment::global && pool.alloc_allowed() &&
                pool.access(device.gpu) == PoolAccess::never)
                return pool;
    return std::nullopt;
}

/// Memory of a kind, with what it takes to hold it.
struct Place {
    Place(const Device& device, Kind kind, std::size_t size_bytes) : size_bytes(size_bytes) {
        if (kind == Kind::pageable || kind == Kind::registered) {
            host = Bytes(size_bytes);
            data = host.data();
            if (kind == Kind::registered) registration = Registration(host.data(), size_bytes, {device.gpu});
            return;
        }
        allocation = Allocation::from_pool(kind == Kind::pinned        ? host_pool()
                                           : kind == Kind::device      ? device_pool(device.gpu)
                                           : kind == Kind::unreachable ? *unreachable_pool(device)
                                                                       : device_pool(device.driver.gpus()[1]),
                                           size_bytes);
        data = static_cast<std::uint8_t*>(allocation.data());
    }
    Bytes host;
    Registration registration;
    Allocation allocation;
    std::uint8_t* data = nullptr;
    std::size_t size_bytes;
};

struct Fixture : Device {
    Stream stream{gpu};

    void put(const Place& place, const Bytes& bytes) {
        copy(stream, place.data, bytes.data(), bytes.size(), patience);
    }
    Bytes get(const Place& place) {
        Bytes bytes(place.size_bytes);
        copy(stream, bytes.data(), place.data, bytes.size(), patience);
        return bytes;
    }
    std::vector<Kind> kinds() const {
        std::vector<Kind> all{Kind::device, Kind::pinned, Kind::registered, Kind::pageable};
        if (driver.gpus().size() > 1) all.push_back(Kind::peer);
        if (unreachable_pool(*this)) all.push_back(Kind::unreachable);
        return all;
    }
};

Bytes random_bytes(std::size_t size, unsigned seed) {
    std::minstd_rand random(seed);
    Bytes bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 8);
    return bytes;
}

struct Shape {
    const char* what;
    std::size_t width, height, depth;
    struct {
        std::size_t offset, pitch, slice;
    } to, from;

    std::size_t to_bytes() const { return end(to) + 5; }
    std::size_t from_bytes() const { return end(from) + 5; }
    Rect rect(std::uint8_t* destination, const std::uint8_t* source) const {
        return {{destination + to.offset, to.pitch, to.slice},
                {source + from.offset, from.pitch, from.slice},
                width,
                height,
                depth};
    }
    Bytes copied(Bytes destination, const Bytes& source) const {
        for (std::size_t z = 0; z < depth; ++z)
            for (std::size_t y = 0; y < height; ++y)
                std::copy_n(&source[from.offset + z * from.slice + y * from.pitch], width,
                            &destination[to.offset + z * to.slice + y * to.pitch]);
        return destination;
    }

  private:
    template <class Side>
    std::size_t end(const Side& side) const {
        return side.offset + (depth - 1) * side.slice + (height - 1) * side.pitch + width;
    }
};

const Shape shapes[] = {
    {"all of a plane", 64, 8, 1, {0, 64, 0}, {0, 64, 0}},
    {"a window of words", 64, 9, 1, {20, 128, 0}, {16, 256, 0}},
    {"a window of odd bytes", 51, 9, 1, {5, 128, 0}, {13, 256, 0}},
    {"one byte a row", 1, 300, 1, {9, 128, 0}, {7, 64, 0}},
    {"an odd pitch", 50, 33, 1, {3, 51, 0}, {1, 77, 0}},
    {"an even pitch", 50, 33, 1, {3, 54, 0}, {2, 78, 0}},
    {"pitches of one and three", 1, 40, 1, {3, 1, 0}, {2, 3, 0}},
    {"as wide as an odd pitch on one side", 7, 20, 1, {0, 7, 0}, {1, 9, 0}},
    {"to the edge of its pitch, off a word", 61, 10, 1, {3, 64, 0}, {67, 64, 0}},
    {"one row", 4000, 1, 1, {16, 0, 0}, {9, 0, 0}},
    {"one column of planes", 3, 1, 50, {1, 0, 11}, {2, 0, 13}},
    {"a box of words", 128, 9, 5, {64, 256, 4096}, {32, 512, 8192}},
    {"a box of odd bytes", 31, 9, 5, {5, 100, 1200}, {67, 64, 1024}},
    {"a box of odd pitches and slices", 31, 9, 5, {5, 33, 401}, {2, 35, 333}},
    {"planes that touch", 16, 4, 6, {0, 20, 80}, {0, 24, 96}},
    {"rows wider than a packet's rectangle", 39001, 4, 1, {1, 40001, 0}, {3, 40003, 0}},
    {"more rows than a packet's rectangle", 8, 17000, 1, {4, 12, 0}, {0, 9, 0}},
    {"wide rows", 300u << 10, 5, 2, {1, (300u << 10) + 3, 2000003}, {2, (300u << 10) + 7, 2000005}},
    {"more than the staging holds", 3000, 2000, 1, {1, 3001, 0}, {3, 3333, 0}},
};

/// A pitched copy in one direction; whether exactly the box was written.
bool copies_exactly(Fixture& f, const Shape& shape, Kind to_kind, Kind from_kind) {
    const Place to(f, to_kind, shape.to_bytes()), from(f, from_kind, shape.from_bytes());
    const Bytes source = random_bytes(shape.from_bytes(), 7), before(shape.to_bytes(), 0xee);
    f.put(from, source);
    f.put(to, before);
    copy_rect(f.stream, shape.rect(to.data, from.data), patience);
    return f.get(to) == shape.copied(before, source);
}

/// Holds the stream until opened.
struct Gate {
    explicit Gate(Stream& stream) : stream(stream) {
        const hsa_signal_t signal = shut.native();
        stream.submit(barrier_and({&signal, 1}));
    }
    ~Gate() {
        open();
        stream.synchronize(patience);  // the packet has read the signal
    }
    void open() const { shut.store(0); }
    Stream& stream;
    Signal shut = Signal::create(1);
};

}  // namespace

TEST_CASE("a rectangle is copied exactly, between every two kinds of memory", "[copy][rect]") {
    NEEDS_DEVICE();
    Fixture f;
    for (const Shape& shape : shapes)
        for (const Kind to : f.kinds())
            for (const Kind from : f.kinds()) {
                CAPTURE(shape.what, name_of(to), name_of(from));
                CHECK(copies_exactly(f, shape, to, from));
            }
}

TEST_CASE("boxes of any shape are copied exactly", "[copy][rect]") {
    NEEDS_DEVICE();
    Fixture f;
    std::minstd_rand random(11);
    const auto up_to = [&](std::size_t most) { return random() / 5 % (most + 1); };
    const auto kinds = f.kinds();
    for (int i = 0; i < 300; ++i) {
        Shape shape{"random", 1 + up_to(70), 1 + up_to(9), 1 + up_to(3), {}, {}};
        const auto side = [&](auto& s) {
            s.offset = up_to(9);
            s.pitch = shape.width + up_to(7);
            s.slice = s.pitch * shape.height + up_to(9);
        };
        side(shape.to);
        side(shape.from);
        const Kind to = kinds[up_to(kinds.size() - 1)], from = kinds[up_to(kinds.size() - 1)];
        CAPTURE(i, name_of(to), name_of(from), shape.width, shape.height, shape.depth, shape.to.pitch,
                shape.from.pitch, shape.to.slice, shape.from.slice);
        REQUIRE(copies_exactly(f, shape, to, from));
    }
}

TEST_CASE("rectangles keep their place in the stream's order", "[copy][rect]") {
    NEEDS_DEVICE();
    Fixture f;
    constexpr std::size_t n = 64;
    const Place device(f, Kind::device, n * n), pinned(f, Kind::pinned, n * n), out(f, Kind::pinned, n * n);
    const Bytes source = random_bytes(n * n, 1);
    const Gate gate(f.stream);
    // Transposes four quarters through each other, all in flight together.
    f.stream.copy_async(device.data, source.data(), n * n);
    const auto quarter = [&](std::size_t i) { return i / 2 * n / 2 * n + i % 2 * n / 2; };
    for (std::size_t i = 0; i < 4; ++i)
        f.stream.copy_rect_async(
            {{pinned.data + quarter(3 - i), n}, {device.data + quarter(i), n}, n / 2, n / 2});
    f.stream.copy_rect_async({{device.data, n}, {pinned.data, n}, n / 2, n});
    f.stream.copy_rect_async({{device.data + n / 2, n}, {pinned.data + n / 2, n}, n / 2, n});
    f.stream.copy_async(out.data, device.data, n * n);
    gate.open();
    f.stream.synchronize(patience);
    Bytes expected(n * n);
    for (std::size_t y = 0; y < n; ++y)
        for (std::size_t x = 0; x < n; ++x)
            expected[y * n + x] = source[(y + n / 2) % n * n + (x + n / 2) % n];
    CHECK(std::equal(expected.begin(), expected.end(), out.data));
}

TEST_CASE("a window of a matrix is copied to another, but not onto itself", "[copy][rect]") {
    NEEDS_DEVICE();
    Fixture f;
    for (const Kind kind : {Kind::device, Kind::pinned, Kind::pageable}) {
        CAPTURE(name_of(kind));
        const Place matrix(f, kind, 32 * 100);
        const Bytes source = random_bytes(32 * 100, 2);
        f.put(matrix, source);
        copy_rect(f.stream, {{matrix.data + 16, 32}, {matrix.data, 32}, 16, 100}, patience);
        Bytes expected = source;
        for (std::size_t y = 0; y < 100; ++y) std::copy_n(&source[y * 32], 16, &expected[y * 32 + 16]);
        CHECK(f.get(matrix) == expected);
        CHECK_THROWS_WITH(f.stream.copy_rect_async({{matrix.data + 15, 32}, {matrix.data, 32}, 16, 99}),
                          Contains("overlap"));
        CHECK_THROWS_WITH(f.stream.copy_rect_async({{matrix.data + 32, 32}, {matrix.data, 32}, 16, 99}),
                          Contains("overlap"));
    }
}

TEST_CASE("rectangles that cannot be are refused before anything is enqueued; empty ones do nothing",
          "[copy][rect]") {
    NEEDS_DEVICE();
    Fixture f;
    const Place device(f, Kind::device, 4096), pinned(f, Kind::pinned, 4096);
    const std::size_t room = pointer_info(device.data).size_bytes;
    CHECK_NOTHROW(f.stream.copy_rect_async({{nullptr}, {nullptr}, 0, 5, 5}));
    CHECK_NOTHROW(f.stream.copy_rect_async({{nullptr}, {nullptr}, 5, 0, 5}));
    CHECK_NOTHROW(f.stream.copy_rect_async({{nullptr}, {nullptr}, 5, 5, 0}));
    CHECK_THROWS_AS(f.stream.copy_rect_async({{nullptr, 64}, {pinned.data, 64}, 32, 5}), InvalidArgument);
    CHECK_THROWS_AS(f.stream.copy_rect_async({{device.data, 64}, {nullptr, 64}, 32, 5}), InvalidArgument);
    CHECK_THROWS_WITH(f.stream.copy_rect_async({{device.data, 31}, {pinned.data, 64}, 32, 5}),
                      Contains("rows run into each other"));
    CHECK_THROWS_WITH(f.stream.copy_rect_async({{device.data, room / 4}, {pinned.data, 64}, 32, 5}),
                      Contains("destination has"));
    CHECK_THROWS_WITH(f.stream.copy_rect_async({{device.data, 64}, {pinned.data, SIZE_MAX / 2}, 32, 5}),
                      Contains("address space"));
    CHECK(f.stream.query());
}

TEST_CASE("any pattern is repeated over any number of bytes of any memory", "[copy][fill]") {
    NEEDS_DEVICE();
    Fixture f;
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

TEST_CASE("fills are refused for nothing, and typed ones count elements", "[copy][fill]") {
    NEEDS_DEVICE();
    Fixture f;
    const Place device(f, Kind::device, 4096);
    const std::size_t room = pointer_info(device.data).size_bytes;
    CHECK_THROWS_WITH(f.stream.fill_async(device.data, 10, std::span<const std::byte>()),
                      Contains("pattern of nothing"));
    CHECK_THROWS_WITH(f.stream.fill_async(static_cast<std::uint8_t*>(nullptr), std::uint8_t{1}, 10),
                      Contains("null"));
    CHECK_THROWS_WITH(f.stream.fill_async(device.data, std::uint8_t{1}, room + 1),
                      Contains("destination has"));
    CHECK_NOTHROW(f.stream.fill_async(static_cast<int*>(nullptr), 1, 0));
    fill(f.stream, reinterpret_cast<double*>(device.data), 2.5, 512, patience);
    std::vector<double> values(512);
    copy(f.stream, values.data(), device.data, 4096, patience);
    CHECK(values == std::vector<double>(512, 2.5));
}

TEST_CASE("ranges that overlap are refused, by whatever address they are named", "[copy]") {
    NEEDS_DEVICE();
    Fixture f;
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

TEST_CASE("the CPU copies little of the host's memory, but never out of order", "[copy]") {
    NEEDS_DEVICE();
    Fixture f;
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

TEST_CASE("what is done when it returns says Timeout when it is not, and loses nothing", "[copy][deadline]") {
    NEEDS_DEVICE();
    Fixture f;
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
    Fixture f;
    Stream down(f.gpu);
    constexpr std::size_t size = 1 << 20;
    const Place a(f, Kind::device, size), b(f, Kind::device, size), up_from(f, Kind::pinned, size),
        down_to(f, Kind::pinned, size);
    const Gate gate(f.stream);
    f.stream.copy_async(a.data, up_from.data, size);  // stands in the engine's ring, behind the gate
    CHECK_NOTHROW(copy(down, down_to.data, b.data, size, patience));
    CHECK_FALSE(f.stream.query());
    gate.open();
    f.stream.synchronize(patience);
}

TEST_CASE("a copy whose N-th request of the kernel fails is an error, and the next one works",
          "[copy][failures]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    const Device device;
    const Bytes source = random_bytes(5 << 20, 6);
    for (const Failure& failure : control.kinds()) {
        CAPTURE(failure.what);
        // A fresh stream: its staging is made by the first copy.
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
            } catch (const Error&) {  // or the runtime found another way
            }
            control.reset();
            Bytes back(source.size());
            CHECK_NOTHROW(use());
            copy(*stream, back.data(), there.data, back.size(), patience);
            CHECK(back == source);
        }
    }
}

// Hidden, because it takes long: the build runs it once.
TEST_CASE("a copy and a fill of more than 4 GiB", "[.large]") {
    NEEDS_DEVICE();
    Fixture f;
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
