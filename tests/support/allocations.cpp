#include "support/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t made = 0;
thread_local int left = 0;
}  // namespace

namespace test_support {
std::size_t allocations_made() { return made; }
void fail_allocation(int nth) { left = nth; }
int allocations_left() { return left; }
}  // namespace test_support

// Not inlined: a compiler that sees one side warns about malloc() or free().
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++made;
    if (left > 0 && --left == 0) throw std::bad_alloc();
    if (void* memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
