// The cause of a kernel's failure: the first wave that stopped, with the details for an error message.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu {

struct KernelFault {
    isa::Stop what = isa::Stop::Running;  ///< MemoryFault, Aperture, Misaligned, Illegal, FetchFault, Trap or Halt
    std::uint64_t pc = 0;
    std::uint64_t address = 0;  ///< of the access; for FetchFault the pc
    std::uint32_t access = 0;   ///< a set of kfdemu::Access
    std::uint32_t lane = 0;
    std::uint32_t wave = 0;  ///< number in the work-group
    std::array<std::uint32_t, 3> group{};
    std::uint32_t argument = 0;  ///< of Trap
    std::string instruction;     ///< disassembled; for Illegal, the reason
};

/// `memory fault: read of 0x10 by lane 3 at pc 0x7f..., global_load_dword ...; wave 0 of work-group (2, 0,
/// 0)`.
std::string describe(const KernelFault& fault);

}  // namespace kfdemu
