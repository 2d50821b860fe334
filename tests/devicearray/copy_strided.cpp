// The CPU's strided copies against the definition: every element, found by index arithmetic, and no other byte.
#include "devicearray/copy_strided.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/devicearray/naive_array.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using naive::Random;
using naive::Shape;

namespace {

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.between(0, 255));
    return bytes;
}

/// Guard bytes before and after an array.
constexpr std::int64_t margin = 24;

struct Memory {
    std::vector<std::byte> bytes;
    std::int64_t first;  ///< of the first element

    Memory(Random& random, const Layout& layout)
        : bytes(random_bytes(random, static_cast<std::size_t>(layout.extent().size_bytes() + 2 * margin))),
          first(margin - layout.extent().begin) {}

    std::byte* data() { return bytes.data() + first; }
};

std::vector<std::byte> copied_naively(Memory to, const Layout& to_layout, Memory& from, const Layout& from_layout) {
    const naive::Array to_places = naive::array(to_layout), from_places = naive::array(from_layout);
    for (std::size_t i = 0; i < to_places.offsets.size(); ++i) {
        std::memcpy(to.data() + to_places.offsets[i], from.data() + from_places.offsets[i],
                    static_cast<std::size_t>(to_layout.itemsize()));
    }
    return to.bytes;
}

bool copies_as_defined(Random& random, const Layout& to_layout, const Layout& from_layout) {
    Memory to(random, to_layout), from(random, from_layout);
    const std::vector<std::byte> wanted = copied_naively(to, to_layout, from, from_layout);
    const std::vector<std::byte> source = from.bytes;
    copy_strided(StridedCopy::between(to_layout, from_layout), to.data(), from.data());
    return to.bytes == wanted && from.bytes == source;
}

}  // namespace

TEST_CASE("a strided copy moves every element and no other byte", "[copy_strided]") {
    Random random(20261121);
    for (int i = 0; i < 10000; ++i) {
        const Shape shape = random.shape(400);
        const std::int64_t itemsize = random.itemsize();
        const Layout to = random.layout(shape, itemsize, false), from = random.layout(shape, itemsize);
        if (!copies_as_defined(random, to, from))
            FAIL("to " << to.to_string() << ", from " << from.to_string() << ", items of " << itemsize << " B");
    }
}

TEST_CASE("transposes larger than a tile, with remainders on both axes, are complete", "[copy_strided]") {
    Random random(7);
    const Shape shapes[] = {{131, 67}, {64, 64}, {3, 70, 65}, {70, 3, 65}, {65, 70, 3}, {1, 200, 9}, {9, 2, 3, 67}};
    for (const Shape& shape : shapes) {
        for (const std::int64_t itemsize : {1, 2, 3, 4, 8, 12, 16, 24}) {
            const Layout straight = Layout::contiguous(naive::dims(shape), itemsize);
            const Layout turned = Layout::contiguous(naive::dims(shape), itemsize, Order::F);
            CHECK(copies_as_defined(random, straight, turned));
            CHECK(copies_as_defined(random, turned, straight));
            Dims backwards = turned.strides_bytes();
            for (int axis = 0; axis < turned.rank(); ++axis) backwards[axis] = -backwards[axis];
            CHECK(copies_as_defined(random, straight, Layout::strided(turned.shape(), backwards, itemsize)));
        }
    }
}

TEST_CASE("reversed, repeated and spaced rows are copied completely", "[copy_strided]") {
    Random random(8);
    for (const std::int64_t itemsize : {1, 2, 3, 4, 8, 16, 40}) {
        const Layout line = Layout::contiguous({77}, itemsize);
        const auto strided = [&](std::int64_t stride) { return Layout::strided({77}, Dims{stride}, itemsize); };
        CHECK(copies_as_defined(random, line, line));
        CHECK(copies_as_defined(random, line, strided(-itemsize)));
        CHECK(copies_as_defined(random, line, strided(0)));
        CHECK(copies_as_defined(random, line, strided(3 * itemsize + 1)));
        CHECK(copies_as_defined(random, strided(-2 * itemsize), line));
        CHECK(copies_as_defined(random, strided(itemsize + 5), strided(-itemsize - 1)));
    }
}

TEST_CASE("an empty copy accesses no memory, even with null", "[copy_strided]") {
    const Layout empty = Layout::contiguous({3, 0}, 4);
    copy_strided(StridedCopy::between(empty, empty), nullptr, nullptr);
    SUCCEED();
}

TEST_CASE("the odd elements of an array can be copied over the even ones", "[copy_strided]") {
    std::vector<int> values(100);
    for (int i = 0; i < 100; ++i) values[static_cast<std::size_t>(i)] = i;
    const Layout every_second = Layout::strided({50}, {8}, 4);
    copy_strided(StridedCopy::between(every_second, every_second), values.data(), values.data() + 1);
    for (int i = 0; i < 100; ++i) CHECK(values[static_cast<std::size_t>(i)] == (i | 1));
}
