// operator new that counts, and fails when it is told to. For programs that link allocations.cpp.
//
//     const std::size_t before = test_support::allocations_made();
//     test_support::fail_allocation(3);        // the third from now on, of this thread
//
// Thread safety: each thread has numbers of its own.
#pragma once

#include <cstddef>

namespace test_support {

std::size_t allocations_made();

/// The nth from now fails, that one alone; 0: none does.
void fail_allocation(int nth);

/// How many are left until one fails; 0 when it has.
int allocations_left();

}  // namespace test_support
