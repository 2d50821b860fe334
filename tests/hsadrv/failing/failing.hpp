// A layer between the library and the HSA runtime in which the n-th call fails, for tests.
//
//   failing::begin(7, HSA_STATUS_ERROR_OUT_OF_RESOURCES);      // the seventh call from now
//   … failing::end().failed …                                   // the call that failed
//
// Only functions that return a status are counted. A call that fails is
// not made, except for one that destroys or ends something: it is made, and then reports a failure.
// It can also be a runtime that says that it emulates its queues.
// Thread safety: calls from any thread.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>

namespace failing {

struct Report {
    std::uint64_t calls;  ///< since begin()
    const char* failed;   ///< the name of the function that failed, or null
};

/// `nth` begins at 1; 0: no call fails, calls are only counted.
__attribute__((visibility("default"))) void begin(std::uint64_t nth, hsa_status_t status);
__attribute__((visibility("default"))) Report end();

/// Whether agents say so from now on. Returns how often signals were stored while they did.
__attribute__((visibility("default"))) std::uint64_t emulate_queues(bool on);

}  // namespace failing
