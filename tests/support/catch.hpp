// Catch2, whichever generation is installed: 2.x (Debian 12) or 3.x (newer), and additions for both:
// SKIP_BECAUSE and the matcher Contains.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as in 2.x
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace test_support {
/// Matches text with `part` in it.
inline auto Contains(const std::string& part) {
#if CATCH_VERSION_MAJOR >= 3
    return Catch::Matchers::ContainsSubstring(part);
#else
    return Catch::Matchers::Contains(part);
#endif
}

/// Counts the running test case as skipped and prints the reason. Use the macro, which also leaves the test case.
void skip(const std::string& reason);
}  // namespace test_support

/// Leaves the test case, which then counts as skipped. For missing capabilities of the device or machine, never for
/// those of the library.
#define SKIP_BECAUSE(reason)            \
    do {                                \
        ::test_support::skip(reason);   \
        SUCCEED("skipped: " << reason); \
        return;                         \
    } while (false)
