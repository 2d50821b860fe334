#include "devicearray/strided_copy.hpp"

#include <algorithm>
#include <array>

namespace hsadrv {
namespace {

struct CopyLoop {
    std::int64_t extent, to, from;
};

struct CopyLoops {
    std::array<CopyLoop, Dims::max_rank> list;  // the first `count`
    int count = 0;

    CopyLoop* begin() { return list.data(); }
    CopyLoop* end() { return list.data() + count; }
    CopyLoop& last() { return list[static_cast<std::size_t>(count - 1)]; }
    void add(const CopyLoop& loop) { list[static_cast<std::size_t>(count++)] = loop; }
};

/// Drops axes of one element, and makes each destination stride positive.
CopyLoops loops_of(StridedCopy& copy) {
    CopyLoops loops;
    for (int i = 0; i < copy.shape.rank(); ++i) {
        CopyLoop loop{copy.shape[i], copy.to_strides[i], copy.from_strides[i]};
        if (loop.extent == 1) continue;
        if (loop.to < 0 || (loop.to == 0 && loop.from < 0)) {
            copy.to_offset += (loop.extent - 1) * loop.to;
            copy.from_offset += (loop.extent - 1) * loop.from;
            loop.to = -loop.to;
            loop.from = -loop.from;
        }
        loops.add(loop);
    }
    return loops;
}

bool is_times(std::int64_t product, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return !__builtin_mul_overflow(a, b, &result) && result == product;
}

/// Merges neighbouring axes that both sides traverse as one.
CopyLoops joined(CopyLoops loops) {
    CopyLoops result;
    for (const CopyLoop& inner : loops) {
        if (result.count > 0) {
            CopyLoop& outer = result.last();
            if (is_times(outer.to, inner.extent, inner.to) && is_times(outer.from, inner.extent, inner.from)) {
                outer = {outer.extent * inner.extent, inner.to, inner.from};
                continue;
            }
        }
        result.add(inner);
    }
    return result;
}

/// True for rows, and planes of rows, each starting after the end of the one before, as Rect requires.
bool is_nested(const Dims& shape, const Dims& strides, std::int64_t item_bytes) {
    std::int64_t reach = item_bytes;
    for (int i = shape.rank() - 1; i >= 0; --i) {
        if (strides[i] < reach) return false;
        reach += (shape[i] - 1) * strides[i];
    }
    return true;
}

}  // namespace

bool elements_are_apart(const Layout& layout) {
    const StridedCopy self = StridedCopy::between(layout, layout);
    return is_nested(self.shape, self.to_strides, self.item_bytes);
}

StridedCopy StridedCopy::between(const Layout& to, const Layout& from) {
    if (to.size() == 0) return {};
    return StridedCopy{to.shape(), to.strides_bytes(), from.strides_bytes(), 0, 0, to.itemsize()}.simplified();
}

StridedCopy StridedCopy::simplified() const {
    StridedCopy copy = *this;
    CopyLoops loops = loops_of(copy);
    std::sort(loops.begin(), loops.end(),
              [](const CopyLoop& a, const CopyLoop& b) { return a.to != b.to ? a.to > b.to : a.from > b.from; });
    loops = joined(loops);
    if (loops.count > 0 && loops.last().to == item_bytes && loops.last().from == item_bytes) {
        copy.item_bytes *= loops.last().extent;
        --loops.count;
    }
    copy.shape = copy.to_strides = copy.from_strides = Dims::filled(loops.count, 0);
    for (int i = 0; i < loops.count; ++i) {
        const CopyLoop& loop = loops.list[static_cast<std::size_t>(i)];
        copy.shape[i] = loop.extent;
        copy.to_strides[i] = loop.to;
        copy.from_strides[i] = loop.from;
    }
    return copy;
}

std::int64_t StridedCopy::count() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
}

StridedCopy::Form StridedCopy::form() const {
    if (shape.rank() == 0) return Form::line;
    const bool rectangle =
        shape.rank() <= 2 && is_nested(shape, to_strides, item_bytes) && is_nested(shape, from_strides, item_bytes);
    return rectangle ? Form::rectangle : Form::elements;
}

}  // namespace hsadrv
