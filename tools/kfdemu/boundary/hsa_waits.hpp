// Waits for signals: one that asks to spin sleeps after a moment (--waits sleep).
//
//     wrap_waits(table);     // OnLoad, while no other thread uses the runtime
//
// HIP's runtime spins by default. On a GPU that costs a core of the host; here, it is a core that executes the kernels
// it waits for. The runtime polls for 200 us in both cases (InterruptSignal::WaitRelaxed of ROCR). It sleeps in slices:
// a waiter that spins also sees a value that was written to memory without an event. Thread safety: the wrapped calls,
// any thread.
#pragma once

#include "tools/kfdemu/boundary/hsa_table.hpp"

namespace kfdemu {

void wrap_waits(hsa::Table& table);

}  // namespace kfdemu
