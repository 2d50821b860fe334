// How instructions are translated: the translation column of their rows.
//
//     const Entry& entry = entry_of(isa::Op::v_add_u32);     // entry.how == How::lane
//
// Thread safety: any thread.
#pragma once

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/jit/operation.hpp"

namespace kfdemu::jit {

enum class How : std::uint8_t {
    interpreted,  ///< not at all: it ends a run
    nothing,      ///< it has no effect
    lane,         ///< one operation on each lane's 32 bits
    packed,       ///< one on each half of 64 bits
    packed_move,
    wide_shift_left,
    scalar,
    number,  ///< an SGPR becomes SIMM16
    loads_scalar,
    loads_lds,
    loads_lds_twice,
    global,
};

/// How an instruction's sources become those of an operation.
enum class Order : std::uint8_t { straight, reversed, with_dst };

struct Entry {
    How how = How::interpreted;
    Lane lane{};
    Scalar scalar{};
    std::uint8_t sources = 0;  ///< of loads: dwords
    Order order = Order::straight;
    std::uint8_t code = 0;  ///< LaneOp::code; of loads_lds_twice: the stride
};

const Entry& entry_of(isa::Op op);

}  // namespace kfdemu::jit
