// What of its inputs a long test runs this time: parts take turns by commit, since tools/test sets $HSADRV_TEST_TURN.
//
//     for (std::size_t n = 0; n < parts.size(); ++n)
//         if (test_support::has_turn(n, 4)) run(parts[n]);
//
// HSADRV_LONG_TESTS=1, as tools/test --long sets, gives every part a turn. Thread safety: no state.
#pragma once

#include <cstdlib>

namespace test_support {

/// 0 without HSADRV_TEST_TURN.
inline unsigned long test_turn() {
    const char* text = std::getenv("HSADRV_TEST_TURN");
    return text ? std::strtoul(text, nullptr, 10) : 0;
}

/// True if part `index` is one of those that run: every `count`-th part.
inline bool has_turn(unsigned long index, unsigned long count) {
    return std::getenv("HSADRV_LONG_TESTS") != nullptr || (index + test_turn()) % count == 0;
}

}  // namespace test_support
