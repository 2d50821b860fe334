// Stops a compiler whose language is older than C++20 with one message.
//
// Every public header reads this before its first declaration. Headers without includes of ours include it themselves,
// and so do those with <coroutine>, which needs C++20, too (tests/install/below_cpp20.py).
#pragma once

#if __cplusplus < 202002L
#error "hsadrv needs C++20: compile with -std=c++20"
#include "see the error above"  // no such file: compilers stop at it, in place of errors in all headers that follow
#endif
