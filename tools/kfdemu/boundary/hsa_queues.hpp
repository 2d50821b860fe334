// Which rings are the program's, and which the HSA runtime's own, for the behaviour torn-packet.
//
//     wrap_queues(table);     // OnLoad, while no other thread uses the runtime
//
// Without it, every ring counts as the program's. Thread safety: the wrapped calls, any thread.
#pragma once

#include "tools/kfdemu/boundary/hsa_table.hpp"

namespace kfdemu {

void wrap_queues(hsa::Table& table);

}  // namespace kfdemu
