// Two instructions that follow each other too closely, and the kinds of instructions that the rules speak of.
#pragma once

#include "../gfx9/row.hpp"

namespace kfdemu::check {

struct Hazard {
    gfx9::Inst earlier;
    unsigned needed = 0, found = 0;  ///< wait states between the two

    unsigned missing() const { return needed - found; }
};

inline bool is_op(const gfx9::Row& row, gfx9::Op op) { return &row == &gfx9::rows()[index(op)]; }
inline bool is_vector_memory(const gfx9::Row& row) {
    using gfx9::Format;
    return row.format == Format::Flat || row.format == Format::Mubuf || row.format == Format::Mtbuf;
}
inline bool is_valu(const gfx9::Row& row) {
    using gfx9::Format;
    return row.format == Format::Vop1 || row.format == Format::Vop2 || row.format == Format::Vopc ||
           row.format == Format::Vop3 || row.format == Format::Vop3p;
}

}  // namespace kfdemu::check
