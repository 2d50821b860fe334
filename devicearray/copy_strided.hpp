// Executes a StridedCopy on the CPU.
//
//     copy_strided(StridedCopy::between(to.layout, from.layout), to.data, from.data);
//
// Items of 1, 2, 4, 8 and 16 bytes are moved in registers, others by memcpy. If the two sides traverse memory in
// different directions, as in a transpose, items are moved tile by tile, so that each cache line is fetched about once.
// The caller ensures that no item is overwritten before it is read; plan_transfer uses a temporary where needed. Items
// may be at any address. Thread safety: no state. Allocates and throws nothing.
#pragma once

#include "devicearray/strided_copy.hpp"

namespace hsadrv {

/// `to` and `from`: addresses of the first elements, to which copy.to_offset and copy.from_offset are added.
void copy_strided(const StridedCopy& copy, void* to, const void* from) noexcept;

}  // namespace hsadrv
