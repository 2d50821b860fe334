// The instructions that are one operation on a lane's 32 bits.
//
//     if (const Entry* entry = entry_of(isa::Op::v_add_u32)) …
//
// Thread safety: any thread.
#pragma once

#include "../isa/rows/row.hpp"
#include "operation.hpp"

namespace kfdemu::jit {

/// How an instruction's sources become those of an operation.
enum class Order : std::uint8_t { straight, reversed, with_dst };

struct Entry {
    Lane lane;
    std::uint8_t sources;
    Order order = Order::straight;
    std::uint8_t code = 0;
};

/// Null: no such row.
const Entry* entry_of(isa::Op op);

}  // namespace kfdemu::jit
