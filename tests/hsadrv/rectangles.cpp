// Rectangles and boxes between every two kinds of memory.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/hsadrv/places.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

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

/// A pitched copy in one direction; true if exactly the box was written.
bool copies_exactly(Copying& f, const Shape& shape, Kind to_kind, Kind from_kind) {
    const Place to(f, to_kind, shape.to_bytes()), from(f, from_kind, shape.from_bytes());
    const Bytes source = random_bytes(shape.from_bytes(), 7), before(shape.to_bytes(), 0xee);
    f.put(from, source);
    f.put(to, before);
    copy_rect(f.stream, shape.rect(to.data, from.data), patience);
    return f.get(to) == shape.copied(before, source);
}

}  // namespace

TEST_CASE("a rectangle is copied exactly, between every two kinds of memory", "[copy][rect]") {
    NEEDS_DEVICE();
    Copying f;
    for (const Shape& shape : shapes)
        for (const Kind to : f.kinds())
            for (const Kind from : f.kinds()) {
                CAPTURE(shape.what, name_of(to), name_of(from));
                CHECK(copies_exactly(f, shape, to, from));
            }
}

TEST_CASE("boxes of any shape are copied exactly", "[copy][rect]") {
    NEEDS_DEVICE();
    Copying f;
    std::minstd_rand random(11 + static_cast<unsigned>(test_support::test_seed()));
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
        CAPTURE(i, name_of(to), name_of(from), shape.width, shape.height, shape.depth, shape.to.pitch, shape.from.pitch,
                shape.to.slice, shape.from.slice);
        REQUIRE(copies_exactly(f, shape, to, from));
    }
}

TEST_CASE("copies of rectangles keep the stream's order", "[copy][rect]") {
    NEEDS_DEVICE();
    Copying f;
    constexpr std::size_t n = 64;
    const Place device(f, Kind::device, n * n), pinned(f, Kind::pinned, n * n), out(f, Kind::pinned, n * n);
    const Bytes source = random_bytes(n * n, 1);
    const Gate gate(f.stream);
    // Exchanges four quarters, all copies in flight together.
    f.stream.copy_async(device.data, source.data(), n * n);
    const auto quarter = [&](std::size_t i) { return i / 2 * n / 2 * n + i % 2 * n / 2; };
    for (std::size_t i = 0; i < 4; ++i)
        f.stream.copy_rect_async({{pinned.data + quarter(3 - i), n}, {device.data + quarter(i), n}, n / 2, n / 2});
    f.stream.copy_rect_async({{device.data, n}, {pinned.data, n}, n / 2, n});
    f.stream.copy_rect_async({{device.data + n / 2, n}, {pinned.data + n / 2, n}, n / 2, n});
    f.stream.copy_async(out.data, device.data, n * n);
    gate.open();
    f.stream.synchronize(patience);
    Bytes expected(n * n);
    for (std::size_t y = 0; y < n; ++y)
        for (std::size_t x = 0; x < n; ++x) expected[y * n + x] = source[(y + n / 2) % n * n + (x + n / 2) % n];
    CHECK(std::equal(expected.begin(), expected.end(), out.data));
}

TEST_CASE("a window of a matrix is copied to another window, but not onto itself", "[copy][rect]") {
    NEEDS_DEVICE();
    Copying f;
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

TEST_CASE("invalid rectangles are refused before anything is enqueued; empty ones are no-ops", "[copy][rect]") {
    NEEDS_DEVICE();
    Copying f;
    const Place device(f, Kind::device, 4096), pinned(f, Kind::pinned, 4096);
    const std::size_t room = pointer_info(device.data).size_bytes;
    CHECK_NOTHROW(f.stream.copy_rect_async({{nullptr}, {nullptr}, 0, 5, 5}));
    CHECK_NOTHROW(f.stream.copy_rect_async({{nullptr}, {nullptr}, 5, 0, 5}));
    CHECK_NOTHROW(f.stream.copy_rect_async({{nullptr}, {nullptr}, 5, 5, 0}));
    CHECK_THROWS_AS(f.stream.copy_rect_async({{nullptr, 64}, {pinned.data, 64}, 32, 5}), InvalidArgument);
    CHECK_THROWS_AS(f.stream.copy_rect_async({{device.data, 64}, {nullptr, 64}, 32, 5}), InvalidArgument);
    CHECK_THROWS_WITH(f.stream.copy_rect_async({{device.data, 31}, {pinned.data, 64}, 32, 5}),
                      Contains("rows overlap"));
    CHECK_THROWS_WITH(f.stream.copy_rect_async({{device.data, room / 4}, {pinned.data, 64}, 32, 5}),
                      Contains("destination has"));
    CHECK_THROWS_WITH(f.stream.copy_rect_async({{device.data, 64}, {pinned.data, SIZE_MAX / 2}, 32, 5}),
                      Contains("address space"));
    CHECK(f.stream.query());
}
