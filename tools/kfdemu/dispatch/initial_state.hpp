// Sets a wave's registers for its first instruction.
//
//     set_initial_state(wave, {kernel, packet, packet_va, queue, gpu}, place);
//
// Pure: writes only the wave's registers, whose storage must exist. Source: LLVM AMDGPUUsage,
// "Initial Kernel Execution State" (SGPR and VGPR register set-up order tables).
#pragma once

#include <array>
#include <cstdint>

#include "../check/defined_registers.hpp"
#include "../gfx9/wave.hpp"
#include "garbage.hpp"
#include "kernel_descriptor.hpp"
#include "launch.hpp"

namespace kfdemu {

/// State common to all waves of a dispatch.
struct LaunchState {
    const KernelDescriptor& kernel;
    const KernelDispatchPacket& packet;
    std::uint64_t packet_va;
    const QueueFacts& queue;
    const GpuFacts& gpu;
    const Garbage* garbage = nullptr;  ///< for registers that the ABI leaves undefined; null: zero
};

/// Identifies a wave in its dispatch.
struct WavePlace {
    std::array<std::uint32_t, 3> group{};            ///< work-group id
    std::array<std::uint32_t, 3> group_workitems{};  ///< of this work-group: smaller at the grid's edge
    std::uint32_t wave = 0, waves = 1;               ///< number in the work-group, and its number of waves
    std::uint32_t scratch_slot = 0;
    std::uint32_t compute_unit = 0;
    std::uint64_t garbage_place = 0;  ///< distinguishes its garbage from other waves'

    std::uint32_t workitems() const { return group_workitems[0] * group_workitems[1] * group_workitems[2]; }
};

/// Sets everything except the operand constants, for which gfx9::set_constants() is called once. Returns the registers
/// that hold what the ABI says.
check::InitialRegisters set_initial_state(gfx9::Wave& wave, const LaunchState& launch, const WavePlace& place);

}  // namespace kfdemu
