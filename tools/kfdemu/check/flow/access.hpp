// The addresses that one memory instruction is about to access.
//
//     Access access;
//     if (find_access(wave, inst, access)) …            // false: it accesses nothing that is checked
//
// Vector memory, LDS and scratch are lane by lane; scalar memory is one address. The lanes of a FLAT instruction may be
// in different segments: they are then separate Access values, see Segments. Pure. Source: "Vega" ISA manual, chapters
// on memory instructions.
#pragma once

#include <array>
#include <cstdint>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {

enum class Place : std::uint8_t { Memory, Lds, Scratch };

struct Access {
    /// Address; LDS and scratch: offset in the lane's segment.
    alignas(64) std::array<std::uint64_t, isa::kMostLanes> at;
    std::uint64_t lanes = 0;  ///< that access
    std::uint32_t bytes = 0;  ///< each
    Place place = Place::Memory;
    bool scalar = false;  ///< lane 0 stands for the wave
    bool writes = false, reads = false;
};

/// At most three: a FLAT instruction whose lanes are in all segments; two LDS addresses of ds_read2.
struct Segments {
    std::array<Access, 3> access;
    unsigned count = 0;
};

/// Whether instructions of the format may access memory; tested for every instruction.
constexpr bool may_access(isa::Format format) {
    using isa::Format;
    return format == Format::Smem || format == Format::Flat || format == Format::Mubuf || format == Format::Mtbuf ||
           format == Format::Ds;
}
/// Whether the instruction accesses memory that is checked.
bool accesses_memory(const isa::Inst& inst);
void find_accesses(const isa::Wave& wave, const isa::Inst& inst, Segments& out);

}  // namespace kfdemu::check
