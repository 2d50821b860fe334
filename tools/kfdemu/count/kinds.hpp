// The class of an instruction: which unit of a compute unit executes it, and what it asks of memory.
//
//     Kind kind = kind_of(inst);            // Kind::Valu
//     puts(name(kind));                     // "valu"
//
// Pure. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/kfdemu/isa/encodings/inst.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::count {

enum class Kind : std::uint8_t {
    Salu,
    Valu,
    Matrix,  ///< MFMA
    Smem,
    VmemLoad,  ///< global, scratch and buffer instructions; atomics are of their own
    VmemStore,
    Flat,    ///< of a generic address
    Lds,     ///< also moves between lanes through it
    Atomic,  ///< of memory or LDS
    Branch,
    Barrier,
    Other,  ///< waits, messages, the end
};
inline constexpr std::size_t kKinds = 12;

const char* name(Kind kind);
Kind kind_of(const isa::Inst& inst);
/// Whether it is executed for each lane.
bool is_vector(const isa::Inst& inst);
/// Whether the branch is going to be taken.
bool is_taken(const isa::Wave& w, const isa::Inst& inst);

}  // namespace kfdemu::count
