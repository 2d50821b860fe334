// operator new that counts, and fails on request. For programs that link allocations.cpp.
//
//     const std::size_t before = test_support::allocations_made();
//     test_support::fail_allocation(3);        // the third from now on, of this thread
//
// Thread safety: the counters are thread-local.
#pragma once

#include <cstddef>

namespace test_support {

std::size_t allocations_made();

/// Whose allocations fail: `ours` are those of the program and of libhsadrv, without the runtime's and the device's.
enum class Whose { all, ours };

/// Only the nth allocation from now fails; 0: none.
void fail_allocation(int nth, Whose whose = Whose::all);

/// The number of allocations until one fails; 0 after it.
int allocations_left();

}  // namespace test_support
