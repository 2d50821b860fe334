#include "tests/support/allocations.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace {
thread_local std::size_t made = 0;
thread_local int left = 0;
thread_local test_support::Whose failing = test_support::Whose::all;

bool is_ours(const void* caller) {
    Dl_info of_caller, of_program;
    if (::dladdr(caller, &of_caller) == 0 || ::dladdr(reinterpret_cast<const void*>(&is_ours), &of_program) == 0)
        return false;
    return of_caller.dli_fbase == of_program.dli_fbase || std::strstr(of_caller.dli_fname, "libhsadrv") != nullptr;
}

void* allocate(std::size_t size, const void* caller) {
    ++made;
    if (left > 0 && (failing == test_support::Whose::all || is_ours(caller)) && --left == 0) throw std::bad_alloc();
    if (void* memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
}  // namespace

namespace test_support {
std::size_t allocations_made() { return made; }
void fail_allocation(int nth, Whose whose) {
    left = nth;
    failing = whose;
}
int allocations_left() { return left; }
}  // namespace test_support

// Not inlined: a compiler that sees one side warns about malloc() or free(). Arrays have functions of their own,
// because those of a sanitizer do not call these.
[[gnu::noinline]] void* operator new(std::size_t size) { return allocate(size, __builtin_return_address(0)); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return allocate(size, __builtin_return_address(0)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
