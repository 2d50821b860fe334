// Signals, queues, executables and code object readers: which are alive, and where they were made, for --check=leak.
//
//     wrap_objects(table);     // OnLoad, while no other thread uses the runtime
//     report_leaks_now();      // OnUnload, or the end of the process, whichever is first
//
// Thread safety: the wrapped calls and report_leaks_now(), any thread.
#pragma once

#include "tools/kfdemu/boundary/hsa_table.hpp"

namespace kfdemu {

void wrap_objects(hsa::Table& table);
/// Reports what is alive, memory too, and forgets it. Does nothing in a child of fork(): it has copies of its parent's
/// objects.
void report_leaks_now();

}  // namespace kfdemu
