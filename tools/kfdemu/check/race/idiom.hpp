// What an access of shared memory is for, as the code around it shows. Instructions carry no mark of atomic loads and
// stores, so `race` judges these by their idioms.
//
//     const Idiom idiom = idiom_of(wave, inst);      // once for an instruction
//
// It scans the code after the instruction, and the loop around it. Pure, except that it decodes code that has not
// executed.
#pragma once

#include <cstdint>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {

enum class Idiom : std::uint8_t {
    Plain,
    Waits,     ///< in a loop that changes no shared memory, from an address that the loop does not change: it polls
    MayWait,   ///< likewise, but the loop computes the address, as unoptimised code always does
    Prepares,  ///< a load that an atomic on its address follows before the next barrier
    Compares,  ///< a load that a compare-and-swap follows before the next barrier, perhaps on its address
};

Idiom idiom_of(const isa::Wave& wave, const isa::Inst& inst);
/// Of one that MayWait and turned out not to: the next turn's address is another one.
Idiom idiom_if_it_does_not_wait(const isa::Wave& wave, const isa::Inst& inst);

/// A compare-and-swap.
bool swaps(const isa::Inst& inst);

}  // namespace kfdemu::check
