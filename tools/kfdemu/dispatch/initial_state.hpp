// Sets a wave's registers for its first instruction.
//
//     InitialState initial{{kernel, packet, packet_va, queue, gpu}};   // once a dispatch
//     initial.begin_group(id);                                         // once a work-group
//     initial.set(wave, vgprs, place);
//
// Pure: writes only the wave and its registers. Thread safety: none. Borrows: what the LaunchState refers to. Source:
// LLVM AMDGPUUsage, "Initial Kernel Execution State" (SGPR and VGPR register set-up order tables).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tools/kfdemu/check/init/defined_registers.hpp"
#include "tools/kfdemu/dispatch/garbage.hpp"
#include "tools/kfdemu/dispatch/kernel_descriptor.hpp"
#include "tools/kfdemu/dispatch/launch.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu {

/// State common to all waves of a dispatch.
struct LaunchState {
    const KernelDescriptor& kernel;
    const KernelDispatchPacket& packet;
    std::uint64_t packet_va;
    const QueueFacts& queue;
    const GpuFacts& gpu;
    std::span<const std::uint32_t> preloaded{};  ///< of the kernel's arguments
    const Garbage* garbage = nullptr;            ///< for registers that the ABI leaves undefined; null: zero
};

/// Where a compute unit is: its bits of HW_ID, and its XCC.
struct UnitPlace {
    std::uint32_t hw_id = 0;
    std::uint8_t xcc = 0;
};
UnitPlace place_of_unit(const GpuFacts& gpu, std::uint32_t compute_unit);

/// Identifies a wave in its dispatch.
struct WavePlace {
    std::array<std::uint32_t, 3> group_workitems{};  ///< of this work-group: smaller at the grid's edge
    std::uint32_t wave = 0, waves = 1;               ///< number in the work-group, and its number of waves
    std::uint32_t scratch_slot = 0;
    UnitPlace unit{};                 ///< place_of_unit()
    std::uint64_t garbage_place = 0;  ///< distinguishes its garbage from other waves'

    std::uint32_t workitems() const { return group_workitems[0] * group_workitems[1] * group_workitems[2]; }
};

class InitialState {
  public:
    explicit InitialState(const LaunchState& launch);

    /// The state that all waves of the dispatch start with. The caller sets the members that set() does not know: where
    /// instructions, memory and LDS are.
    isa::Wave common;

    /// Before set(): the id of the work-group.
    void begin_group(const std::array<std::uint32_t, 3>& id);
    /// Everything except the operand constants, for which isa::set_constants() is called once. `v`: storage of
    /// the VGPRs, followed by that of the AccVGPRs.
    void set(isa::Wave& wave, std::uint32_t* v, const WavePlace& place) const;
    /// Those that hold what the ABI says.
    const check::InitialRegisters& registers() const { return registers_; }

  private:
    LaunchState launch_;
    check::InitialRegisters registers_;
    unsigned group_id_sgprs_ = 0;
};

}  // namespace kfdemu
