// True if the tests are compiled with a sanitizer that replaces the allocator: it needs descriptors itself, keeps freed
// memory, and makes everything ten times as slow.
//
//     if (sanitizer) SKIP_BECAUSE("the sanitizers need descriptors themselves");
#pragma once

#include <cstdlib>

namespace test_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool sanitizer = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitizer = false;
#endif

/// True if there is time for all inputs of a test with thousands: with a sanitizer only if HSADRV_LONG_TESTS=1, as
/// tools/test --long.
inline bool has_time() { return !sanitizer || std::getenv("HSADRV_LONG_TESTS") != nullptr; }
/// The number of inputs to run: all, or a fifth.
inline int some_of(int inputs) { return has_time() ? inputs : inputs / 5; }

}  // namespace test_support
