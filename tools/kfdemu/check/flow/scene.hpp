// What the checkers of one work-group know about it, and how they report.
//
//     Finding finding = scene.finding(Check::wait, "read", wave, inst);
//
// Thread safety: that of its work-group. Borrows: the report, for the process's life.
#pragma once

#include <array>
#include <cstdint>

#include "tools/kfdemu/check/init/defined_registers.hpp"
#include "tools/kfdemu/check/memory/allocations.hpp"
#include "tools/kfdemu/check/report/report.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/watcher.hpp"

namespace kfdemu::check {

/// What a dispatch is checked for, and where findings go. Borrows: both.
struct Session {
    Checks checks;
    Report* report = nullptr;
    const Allocations* allocations = nullptr;  ///< null: none are announced
    bool fresh_memory = false;                 ///< there is device memory that fill_fresh() has filled

    bool any() const { return report != nullptr && checks.any(); }
};

class MemoryRaces;

struct Scene {
    Session session;
    isa::Target target{};
    std::uint64_t kernel_object = 0, dispatch_id = 0;
    std::array<std::uint32_t, 3> group{};
    std::uint64_t kernarg_va = 0;
    std::uint32_t kernarg_bytes = 0;  ///< 0: unknown
    std::uint32_t lds_bytes = 0;      ///< that the packet asked for
    std::uint32_t lane_scratch_bytes = 0;
    MemoryRaces* memory_races = nullptr;  ///< of the dispatch; null: not watched
    InitialRegisters initial{};           ///< that waves start with
    std::uint64_t queue_id = 0;           ///< hsa_queue_t::id
    std::uint32_t gpu = 0;

    /// A finding about `inst` of `wave`, with everything but its details.
    Finding finding(Check check, const char* rule, const isa::Wave& wave, const isa::Inst& inst) const;
    Site site(const isa::Inst& inst) const;
};

}  // namespace kfdemu::check
