#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz.hpp"

void fuzz::broken(const char* what) {
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}
