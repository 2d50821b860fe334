// A StridedCopy carried out by the CPU.
//
//     copy_strided(StridedCopy::between(to.layout, from.layout), to.data, from.data);
//
// Items of 1, 2, 4, 8 and 16 bytes are moved in registers, others by memcpy. Where the two sides run through memory
// in different directions, as in a transpose, the items are moved tile by tile, so that each cache line is fetched
// about once. The caller sees to it that no item is written before it is read as another one: plan_transfer says where
// a temporary is needed. Items may lie at any address. Thread safety: no state. Allocates and throws nothing.
#pragma once

#include "devicearray/strided_copy.hpp"

namespace hsadrv {

/// `to` and `from`: the first elements, from which copy.to_offset and copy.from_offset count.
void copy_strided(const StridedCopy& copy, void* to, const void* from) noexcept;

}  // namespace hsadrv
