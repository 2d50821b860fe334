// Memory that others made: locked host memory, other processes', graphics buffers, and virtual memory (hsa_amd_vmem).
// Announces it with its exact size, and follows it for --check=leak.
//
//     wrap_mappings(table);     // OnLoad, while no other thread uses the runtime
//
// Thread safety: the wrapped calls, any thread.
#pragma once

#include "tools/kfdemu/boundary/hsa_table.hpp"

namespace kfdemu {

void wrap_mappings(hsa::Table& table);

}  // namespace kfdemu
