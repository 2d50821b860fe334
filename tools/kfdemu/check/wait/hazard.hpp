// Two instructions that follow each other too closely, and the kinds of instructions that the rules speak of.
#pragma once

#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::check {

struct Hazard {
    isa::Inst earlier;
    unsigned needed = 0, found = 0;  ///< wait states between the two, without a remedy
    const char* remedy = nullptr;    ///< other than s_nop

    unsigned missing() const { return needed - found; }
};

inline bool is_op(const isa::Row& row, isa::Op op) { return &row == &isa::rows()[index(op)]; }
inline bool is_vector_memory(const isa::Row& row) {
    using isa::Format;
    return row.format == Format::Flat || row.format == Format::Mubuf || row.format == Format::Mtbuf;
}
inline bool is_valu(const isa::Row& row) { return isa::is_vector(row.format); }

}  // namespace kfdemu::check
