#include "devicearray/nd_span.hpp"

#include "devicearray/element_strides.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::detail {

SpanParts span_parts(const DType& wanted, int rank, std::size_t alignment, const void* data, const DType& dtype,
                     const Layout& layout) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidArgument("nd_span<" + wanted.name() + ", " + std::to_string(rank) + ">: " + why +
                              "; the array is " + dtype.name() + " with " + layout.to_string());
    };
    if (dtype != wanted) refuse("the element types differ");
    if (layout.rank() != rank) refuse("the ranks differ");
    const auto strides = element_strides(layout);
    if (!strides) {
        refuse("strides must be multiples of the element's " + std::to_string(layout.itemsize()) +
               " B; copy it into a contiguous array first");
    }
    if (layout.size() != 0 && reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
        refuse("the first element's address must be a multiple of " + std::to_string(alignment) +
               "; copy it into a contiguous array first");
    }
    return {layout.shape(), *strides};
}

Dims mdspan_strides(const Dims& extents, const Dims& strides) {
    const auto refuse = [&](const char* why) {
        throw InvalidArgument("to_mdspan: " + std::string(why) + "; the extents are " + extents.to_string() +
                              ", the strides in elements " + strides.to_string());
    };
    Dims result = Layout::contiguous(extents, 1).strides_bytes();
    for (const std::int64_t extent : extents) {
        if (extent == 0) return result;
    }
    std::uint64_t left = 0;
    for (int i = 0; i < extents.rank(); ++i) {
        if (extents[i] == 1) {
            result[i] = 1;
            continue;
        }
        if (strides[i] <= 0) refuse("std::layout_stride requires positive strides");
        result[i] = strides[i];
        left |= std::uint64_t{1} << i;
    }
    // In order of increasing stride, each stride must step over everything within.
    for (std::int64_t within = 1; left != 0;) {
        int next = -1;
        for (int i = 0; i < extents.rank(); ++i) {
            if ((left >> i & 1u) != 0 && (next < 0 || strides[i] < strides[next])) next = i;
        }
        if (strides[next] < within) refuse("std::layout_stride requires distinct elements");
        if (__builtin_mul_overflow(strides[next], extents[next], &within)) within = INT64_MAX;
        left &= ~(std::uint64_t{1} << next);
    }
    return result;
}

}  // namespace hsadrv::detail
