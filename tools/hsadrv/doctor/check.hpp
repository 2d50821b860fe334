// The doctor's checks: facts in, rows out.
//
//     Rows rows = check_kernel(machine);          // module, PCI bus, KFD
//     append(rows, check_files(machine, rows));   // /dev/kfd, render nodes: what cannot mean anything is skipped
//
// Pure functions. `so_far`: the rows before, since what follows from a fault above is not told as a second cause.
// Thread safety: no state.
#pragma once

#include "machine.hpp"
#include "row.hpp"

namespace hsadrv_tool::doctor {

Rows check_emulation(const Machine& machine);
Rows check_kernel(const Machine& machine);
Rows check_files(const Machine& machine, const Rows& so_far);
Rows check_surroundings(const Machine& machine);  ///< container, WSL
Rows check_libraries(const Machine& machine);
Row check_interface(const Machine& machine, const Rows& so_far);  ///< the version of /dev/kfd
Rows check_environment(const Machine& machine);
Rows check_limits(const Machine& machine);

/// The fault above that leaves nothing to be asked of the device; null if there is none.
const Row* obstacle(const Rows& so_far);
/// "of the fault above: amdgpu kernel module"
std::string because_of(const Row& fault);

void append(Rows& rows, Rows more);

/// What a line of the kernel log means for a GPU, and what to do.
struct LogFinding {
    std::string line, meaning, remedy;
};
/// The first of what is known to keep a GPU from working; `address` of the GPU, where lines name one.
std::optional<LogFinding> explain_log(const Machine& machine, const std::string& address);

/// What is to be done about device files that this container does not have, or may not open.
void advise_passing(const Machine& machine, Row& row);

}  // namespace hsadrv_tool::doctor
