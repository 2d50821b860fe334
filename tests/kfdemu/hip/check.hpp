// Common to the HIP programs: a failed call or expectation ends the program with its location.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace hip_test {

inline void expect(bool holds, const char* what, const char* file, int line) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
    std::exit(1);
}

inline void succeed(hipError_t error, const char* call, const char* file, int line) {
    if (error == hipSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, hipGetErrorName(error));
    std::exit(1);
}

}  // namespace hip_test

#define EXPECT(condition) hip_test::expect((condition), #condition, __FILE__, __LINE__)
#define HIP(call) hip_test::succeed((call), #call, __FILE__, __LINE__)
