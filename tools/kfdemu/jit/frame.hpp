// What translated code needs beside a wave's registers. The waves of a work-group have one, as they run one after the
// other.
//
//     wave.frame = &frame;
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/kfdemu/isa/memory/tlb.hpp"

namespace kfdemu::jit {

struct alignas(64) Frame {
    std::uint32_t s[128];        ///< the masks that it sets, at their place in Wave::s
    std::byte spilled[256][64];  ///< VGPRs that do not fit the CPU's registers
    const std::byte* lds;
    std::uint32_t lds_size_bytes;
    std::uint32_t done_bytes;  ///< of a VGPR, before what accesses global memory; more than it has: nothing is done
    isa::Tlb* tlb;
    std::uint32_t low[16], high[16];  ///< of a part's addresses
};

}  // namespace kfdemu::jit
