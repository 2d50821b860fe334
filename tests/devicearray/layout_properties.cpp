// Every view of 10,000 random layouts against the naive array.
#include "devicearray/slice.hpp"
#include "hsadrv/error.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizer.hpp"

using namespace hsadrv;
using naive::Random;
using naive::Shape;

namespace {

const int kLayouts = test_support::some_of(10000);
__extension__ using Wide = __int128;

/// Checks without a Catch assertion for each of a million elements.
void require_same(const char* what, const Layout& from, const Layout& got, std::int64_t offset,
                  const naive::Array& wanted) {
    if (naive::array(got, got.size() ? offset : 0) == wanted) return;
    FAIL(what << " of " << from.to_string() << " is " << got.to_string() << " at " << offset);
}

template <class Check>
void for_random_layouts(std::uint64_t seed, Check check) {
    Random random(seed);
    for (int n = 0; n < kLayouts; ++n) check(random, random.layout());
}

/// A shape of as many elements.
Shape other_shape(Random& random, std::int64_t size) {
    Shape shape;
    while (shape.size() < 6 && size > 1) {
        std::vector<std::int64_t> divisors;
        for (std::int64_t d = 1; d <= size; ++d) {
            if (size % d == 0) divisors.push_back(d);
        }
        shape.push_back(
            divisors[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(divisors.size()) - 1))]);
        size /= shape.back();
    }
    if (size != 1 || random.one_in(4)) shape.push_back(size);
    std::shuffle(shape.begin(), shape.end(), random.engine());
    return shape;
}

Index random_index(Random& random, std::int64_t extent) {
    if (extent > 0 && random.one_in(3)) return random.between(-extent, extent - 1);
    const auto bound = [&]() -> std::optional<std::int64_t> {
        if (random.one_in(3)) return {};
        if (random.one_in(20)) return random.one_in(2) ? INT64_MAX : INT64_MIN;
        return random.between(-extent - 3, extent + 3);
    };
    Slice slice{bound(), bound(), {}};
    if (random.one_in(2)) slice.step = random.one_in(2) ? random.between(1, 4) : -random.between(1, 4);
    if (random.one_in(50)) slice.step = random.one_in(2) ? INT64_MAX : INT64_MIN;
    return slice;
}

/// The elements of an axis that a slice selects: by Python's definition, start + k * step until it reaches
/// stop, with the bounds clipped. In 128 bits, so that nothing overflows.
std::vector<std::int64_t> picked(const Slice& slice, std::int64_t extent) {
    const Wide step = slice.step.value_or(1);
    const auto bound = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
        if (!given) return otherwise;
        Wide at = *given;
        if (at < 0) at += extent;
        const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
        return static_cast<std::int64_t>(at < low ? Wide{low} : at > high ? Wide{high} : at);
    };
    const std::int64_t start = bound(slice.start, step > 0 ? 0 : extent - 1);
    const std::int64_t stop = bound(slice.stop, step > 0 ? extent : -1);
    std::vector<std::int64_t> all;
    for (Wide at = start; step > 0 ? at < stop : at > stop; at += step) all.push_back(static_cast<std::int64_t>(at));
    return all;
}

}  // namespace

TEST_CASE("contiguity and extent are those of the elements' offsets", "[layout]") {
    for_random_layouts(1, [](Random&, const Layout& layout) {
        const naive::Array all = naive::array(layout);
        bool c = true, f = true;
        ByteRange range{0, 0};
        for (std::int64_t n = 0; n < layout.size(); ++n) {
            const std::int64_t at = all.offsets[static_cast<std::size_t>(n)];
            c = c && at == n * layout.itemsize();
            f = f && all.at(naive::index_at(n, all.shape, Order::F)) == n * layout.itemsize();
            range = {std::min(range.begin, at), std::max(range.end, at + layout.itemsize())};
        }
        if (layout.is_c_contiguous() != c || layout.is_f_contiguous() != f) FAIL(layout.to_string());
        if (layout.extent() != range) FAIL(layout.to_string() << " from " << layout.extent().begin);
    });
}

TEST_CASE("reshape finds strides exactly if they exist", "[layout]") {
    int views = 0, copies = 0;
    for_random_layouts(2, [&](Random& random, const Layout& layout) {
        const naive::Array all = naive::array(layout);
        const Order order = random.one_in(2) ? Order::C : random.one_in(2) ? Order::F : Order::A;
        Shape shape = layout.size() ? other_shape(random, layout.size()) : all.shape;
        if (random.one_in(4)) shape = {layout.size()};
        naive::Array wanted = naive::Array::made(shape, [](const Shape&) { return 0; });
        const Order counted = layout.resolved(order);
        for (std::int64_t n = 0; n < layout.size(); ++n) {
            const Shape to = naive::index_at(n, shape, counted);
            std::int64_t place = 0;
            for (std::size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + to[i];
            wanted.offsets[static_cast<std::size_t>(place)] = all.at(naive::index_at(n, all.shape, counted));
        }
        Dims asked = naive::dims(shape);
        if (asked.rank() > 0 && layout.size() > 0 && random.one_in(3))
            asked[static_cast<int>(random.between(0, asked.rank() - 1))] = -1;
        try {
            const Layout got = layout.reshape(asked, order);
            require_same("reshape", layout, got, 0, wanted);
            ++views;
        } catch (const InvalidArgument&) {
            if (naive::has_strides(wanted)) FAIL("no view of " << layout.to_string() << " as " << asked.to_string());
            ++copies;
        }
    });
    CHECK(views > kLayouts / 4);
    CHECK(copies > kLayouts / 10);
}

TEST_CASE("transpose, squeeze and expand_dims change only axes", "[layout]") {
    for_random_layouts(3, [](Random& random, const Layout& layout) {
        const naive::Array all = naive::array(layout);
        const Shape axes = random.permutation(all.shape.size());
        Shape shape;
        for (const std::int64_t axis : axes) shape.push_back(all.shape[static_cast<std::size_t>(axis)]);
        const auto back = [&](const Shape& index) {
            Shape from(index.size());
            for (std::size_t i = 0; i < index.size(); ++i) from[static_cast<std::size_t>(axes[i])] = index[i];
            return all.at(from);
        };
        Dims given = naive::dims(axes);
        for (int i = 0; i < given.rank(); ++i) given[i] -= random.one_in(3) ? given.rank() : 0;
        require_same("transpose", layout, layout.transpose(given), 0, naive::Array::made(shape, back));

        Shape squeezed = all.shape;
        std::erase(squeezed, 1);
        require_same("squeeze", layout, layout.squeeze(), 0, {squeezed, all.offsets});
        for (int i = 0; i < layout.rank(); ++i) {
            if (layout.shape()[i] != 1) continue;
            squeezed = all.shape;
            squeezed.erase(squeezed.begin() + i);
            require_same("squeeze of one", layout, layout.squeeze({i - (i % 2 ? layout.rank() : 0)}), 0,
                         {squeezed, all.offsets});
        }
        if (layout.rank() == Dims::max_rank) return;
        const auto at = random.between(0, layout.rank());
        Shape expanded = all.shape;
        expanded.insert(expanded.begin() + at, 1);
        require_same("expand_dims", layout, layout.expand_dims(static_cast<int>(at)), 0, {expanded, all.offsets});
    });
}

TEST_CASE("broadcast_to repeats elements", "[layout]") {
    for_random_layouts(4, [](Random& random, const Layout& layout) {
        const naive::Array all = naive::array(layout);
        Shape shape = all.shape;
        for (std::int64_t& extent : shape) {
            if (extent == 1 && random.one_in(2)) extent = random.between(0, 3);
        }
        while (shape.size() < Dims::max_rank && random.one_in(3)) shape.insert(shape.begin(), random.between(0, 3));
        const std::size_t added = shape.size() - all.shape.size();
        const auto wanted = naive::Array::made(shape, [&](const Shape& index) {
            Shape from(index.begin() + static_cast<std::ptrdiff_t>(added), index.end());
            for (std::size_t i = 0; i < from.size(); ++i) {
                if (all.shape[i] == 1) from[i] = 0;
            }
            return all.at(from);
        });
        require_same("broadcast_to", layout, layout.broadcast_to(naive::dims(shape)), 0, wanted);
    });
}

TEST_CASE("slices select the elements that Python's select", "[layout]") {
    for_random_layouts(5, [](Random& random, const Layout& layout) {
        const naive::Array all = naive::array(layout);
        std::vector<Index> indices;
        std::vector<std::vector<std::int64_t>> picks;  // of each axis of the array
        std::vector<int> axis_of;                      // of each axis of the result: the array's, or -1
        const int leading = static_cast<int>(random.between(0, layout.rank()));
        const auto add = [&](int axis) {
            const std::int64_t extent = layout.shape()[axis];
            indices.push_back(random_index(random, extent));
            const bool one = indices.back().type() == Index::Type::integer;
            const std::int64_t at = one ? indices.back().integer() : 0;
            picks.push_back(one ? std::vector{at < 0 ? at + extent : at} : picked(indices.back().slice(), extent));
            if (!one) axis_of.push_back(axis);
        };
        const auto add_whole = [&](int axis) {
            picks.push_back(picked({}, layout.shape()[axis]));
            axis_of.push_back(axis);
        };
        for (int axis = 0; axis < leading; ++axis) add(axis);
        const int trailing = static_cast<int>(random.between(leading, layout.rank()));
        if (trailing > leading || random.one_in(2)) {
            indices.push_back(ellipsis);
            for (int axis = leading; axis < trailing; ++axis) add_whole(axis);
            for (int axis = trailing; axis < layout.rank(); ++axis) add(axis);
        } else {
            for (int axis = leading; axis < layout.rank(); ++axis) add_whole(axis);
        }
        if (axis_of.size() < Dims::max_rank && random.one_in(3)) {
            indices.insert(indices.begin(), newaxis);
            axis_of.insert(axis_of.begin(), -1);
        }
        Shape shape;
        for (const int axis : axis_of)
            shape.push_back(axis < 0 ? 1 : static_cast<std::int64_t>(picks[static_cast<std::size_t>(axis)].size()));
        const auto wanted = naive::Array::made(shape, [&](const Shape& index) {
            Shape from;
            for (const auto& pick : picks) from.push_back(pick[0]);
            for (std::size_t i = 0; i < axis_of.size(); ++i) {
                if (axis_of[i] < 0) continue;
                const auto axis = static_cast<std::size_t>(axis_of[i]);
                from[axis] = picks[axis][static_cast<std::size_t>(index[i])];
            }
            return all.at(from);
        });
        const SubLayout got = slice(layout, indices);
        require_same("slice", layout, got.layout, got.offset_bytes, wanted);
    });
}

TEST_CASE("split gives every element once, in pieces of equal size but the last", "[layout]") {
    for_random_layouts(6, [](Random& random, const Layout& layout) {
        if (layout.rank() == 0) return;
        const naive::Array all = naive::array(layout);
        const int axis = static_cast<int>(random.between(0, layout.rank() - 1));
        const std::int64_t section = random.one_in(20) ? INT64_MAX : random.between(1, 5);
        std::int64_t begin = 0;
        for (const SubLayout& piece : split(layout, section, random.one_in(2) ? axis : axis - layout.rank())) {
            Shape shape = all.shape;
            shape[static_cast<std::size_t>(axis)] = std::min(section, layout.shape()[axis] - begin);
            require_same("split", layout, piece.layout, piece.offset_bytes, naive::Array::made(shape, [&](Shape index) {
                             index[static_cast<std::size_t>(axis)] += begin;
                             return all.at(index);
                         }));
            begin += shape[static_cast<std::size_t>(axis)];
        }
        if (begin != layout.shape()[axis]) FAIL("split leaves some of " << layout.to_string());
    });
}

TEST_CASE("a view as elements of another size has the same bytes in the same order", "[layout]") {
    int views = 0;
    const auto bytes_of = [](const Layout& layout) {
        std::vector<std::int64_t> bytes;
        for (const std::int64_t at : naive::array(layout).offsets) {
            for (std::int64_t byte = 0; byte < layout.itemsize(); ++byte) bytes.push_back(at + byte);
        }
        return bytes;
    };
    for_random_layouts(7, [&](Random& random, const Layout& layout) {
        const std::int64_t itemsize = random.itemsize();
        const bool same = itemsize == layout.itemsize();
        const int last = layout.rank() - 1;
        const bool possible =
            same ||
            (last >= 0 && layout.shape()[last] * layout.itemsize() % itemsize == 0 &&
             (layout.size() == 0 || layout.shape()[last] == 1 || layout.strides_bytes()[last] == layout.itemsize()));
        try {
            const Layout got = layout.view(itemsize);
            ++views;
            if (!possible || bytes_of(got) != bytes_of(layout)) FAIL(layout.to_string() << " as " << got.to_string());
        } catch (const InvalidArgument&) {
            if (possible) FAIL(layout.to_string() << " has a view of " << itemsize);
        }
    });
    CHECK(views > kLayouts / 4);
}

TEST_CASE("an index gives its element's offset", "[layout]") {
    for_random_layouts(8, [](Random& random, const Layout& layout) {
        if (layout.size() == 0) return;
        const naive::Array all = naive::array(layout);
        const Shape index = naive::index_at(random.between(0, layout.size() - 1), all.shape);
        Dims given = naive::dims(index);
        for (int i = 0; i < given.rank(); ++i) given[i] -= random.one_in(3) ? layout.shape()[i] : 0;
        if (layout.offset_of(given) != all.at(index)) FAIL(layout.to_string() << " at " << given.to_string());
    });
}
