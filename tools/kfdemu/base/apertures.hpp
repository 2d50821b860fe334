// The apertures in a GPU's flat address space. GFX9 places the LDS and scratch apertures above the 47-bit addresses
// that processes use ("Vega" ISA manual, "Flat memory instructions"; the kernel's kfd_flat_memory.c).
#pragma once

#include <cstdint>

namespace kfdemu {

struct Aperture {
    std::uint64_t base, limit;  ///< limit is inclusive
};

inline constexpr Aperture kLdsAperture{0x0001'0000'0000'0000, 0x0001'0000'ffff'ffff};
inline constexpr Aperture kScratchAperture{0x0002'0000'0000'0000, 0x0002'0000'ffff'ffff};
inline constexpr Aperture kGpuvmAperture{0x0000'0000'0100'0000, 0x0000'7fff'ffff'ffff};

}  // namespace kfdemu
