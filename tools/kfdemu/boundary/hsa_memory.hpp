// Memory that the HSA runtime allocates: announces it with its exact size, and delays frees, so that a use of freed
// memory is seen.
//
//     wrap_memory(table);     // OnLoad, while no other thread uses the runtime
//     free_delayed();         // before allocations are counted
//     forget_memory();        // OnUnload
//
// Thread safety: the wrapped calls and free_delayed(), any thread; forget_memory(), the runtime's last.
#pragma once

#include "tools/kfdemu/boundary/hsa_table.hpp"

namespace kfdemu {

void wrap_memory(hsa::Table& table);
/// Frees what the program has freed and is kept. Does nothing if memory is not wrapped.
void free_delayed();
/// The runtime ends: frees what is kept, and forgets every allocation. Memory must be wrapped.
void forget_memory();

}  // namespace kfdemu
