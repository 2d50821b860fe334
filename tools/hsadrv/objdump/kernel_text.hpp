// Kernels as text: one table line each, or all details of one.
//
//     text += kernel_table(entry.kernels, 100);
//     for (const KernelFacts& kernel : entry.kernels) text += kernel_detail(kernel, 100);
//
// Pure. Thread safety: no state.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/hsadrv/objdump/facts.hpp"

namespace hsadrv_tool::objdump {

std::string kernel_table(std::span<const KernelFacts> kernels, std::size_t columns);

/// Why it cannot be launched, or not with this work-group; empty if it can.
std::string kernel_notes(const KernelFacts& facts, const std::string& indent, std::size_t columns);

/// Registers, memory, work-groups, occupancy, arguments.
std::string kernel_detail(const KernelFacts& facts, std::size_t columns);

}  // namespace hsadrv_tool::objdump
