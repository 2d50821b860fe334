// The doctor's checks: facts in, rows out.
//
//     Rows rows = check_kernel(machine);          // module, PCI bus, KFD
//     append(rows, check_files(machine, rows));   // /dev/kfd, render nodes; skipped after a fault
//
// Pure functions. `so_far`: the previous rows; a consequence of a fault above is not reported as a second cause.
// Thread safety: no state.
#pragma once

#include "tools/hsadrv/doctor/machine.hpp"
#include "tools/hsadrv/doctor/row.hpp"

namespace hsadrv_tool::doctor {

Rows check_emulation(const Machine& machine);
Rows check_kernel(const Machine& machine);
Rows check_files(const Machine& machine, const Rows& so_far);
Rows check_surroundings(const Machine& machine);  ///< container, WSL
Rows check_libraries(const Machine& machine);
Row check_interface(const Machine& machine, const Rows& so_far);  ///< the version of /dev/kfd
Rows check_environment(const Machine& machine);
Rows check_limits(const Machine& machine);

/// The fault above that makes the device unusable; null if there is none.
const Row* obstacle(const Rows& so_far);
/// "of the fault above: amdgpu kernel module"
std::string because_of(const Row& fault);

void append(Rows& rows, Rows more);

/// The meaning of a line of the kernel log, and the remedy.
struct LogFinding {
    std::string line, meaning, remedy;
};
/// The first log line that is known to keep a GPU from working. `address`: lines that name another GPU are ignored.
std::optional<LogFinding> explain_log(const Machine& machine, const std::string& address);

/// The remedy for device files that this container lacks or may not open.
void advise_passing(const Machine& machine, Row& row);

}  // namespace hsadrv_tool::doctor
