// Internal: the parts of look_at_machine(). Each fills its part of the facts. Thread safety: any thread.
#pragma once

#include "tools/hsadrv/doctor/file_tree.hpp"

namespace hsadrv_tool::doctor {

void look_at_kernel(const FileTree& files, Machine& machine);     ///< module, PCI, topology, kernel log
void look_at_places(const FileTree& files, Machine& machine);     ///< device files, groups, container, WSL
void look_at_process(Machine& machine);                           ///< user, environment, limits
void look_at_libraries(const FileTree& files, Machine& machine);  ///< the loaded libraries, and others on this machine

}  // namespace hsadrv_tool::doctor
