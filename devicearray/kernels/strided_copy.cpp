// Copies strided elements between any two layouts: one kernel per element size, which is also the alignment of every
// address.
#include <devicearray/kernels/strided_copy.hpp>
#include <shared/device/device.hpp>

using Arguments = hsadrv::detail::StridedCopyArguments;

namespace {

struct Offsets {
    int64_t to, from;
};

/// Offsets of element (0, 0) in the outer axes' element number `index`.
HSADRV_DEVICE Offsets outer_offsets(const Arguments& a, uint64_t index) {
    Offsets offsets{};
    for (uint32_t axis = 2; axis < a.rank; ++axis) {
        uint64_t at = index;
        if (axis + 1 < a.rank) {  // the last one needs no division
            at = index % a.shape[axis];
            index /= a.shape[axis];
        }
        offsets.to += static_cast<int64_t>(at) * a.to_strides[axis];
        offsets.from += static_cast<int64_t>(at) * a.from_strides[axis];
    }
    return offsets;
}

template <class Element>
HSADRV_DEVICE void copy(const Arguments& a) {
    for (uint64_t z = hsadrv::get_global_id(2); z < a.outer; z += a.grid[2]) {
        const Offsets outer = outer_offsets(a, z);
        for (uint64_t y = hsadrv::get_global_id(1); y < a.shape[1]; y += a.grid[1]) {
            unsigned char* to = a.to + outer.to + static_cast<int64_t>(y) * a.to_strides[1];
            const unsigned char* from = a.from + outer.from + static_cast<int64_t>(y) * a.from_strides[1];
            for (uint64_t x = hsadrv::get_global_id(0); x < a.shape[0]; x += a.grid[0]) {
                *reinterpret_cast<Element*>(to + static_cast<int64_t>(x) * a.to_strides[0]) =
                    *reinterpret_cast<const Element*>(from + static_cast<int64_t>(x) * a.from_strides[0]);
            }
        }
    }
}

using Bytes16 = uint32_t __attribute__((ext_vector_type(4)));

}  // namespace

HSADRV_KERNEL void copy_1(Arguments a) { copy<uint8_t>(a); }
HSADRV_KERNEL void copy_2(Arguments a) { copy<uint16_t>(a); }
HSADRV_KERNEL void copy_4(Arguments a) { copy<uint32_t>(a); }
HSADRV_KERNEL void copy_8(Arguments a) { copy<uint64_t>(a); }
HSADRV_KERNEL void copy_16(Arguments a) { copy<Bytes16>(a); }
