// A function of libc's that a test replaces, as libraries do that follow mappings.
//
//     const Hook unmap("munmap", reinterpret_cast<const void*>(&my_unmap));
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/support/catch.hpp"

namespace libc_hook {

inline constexpr std::size_t kPage = 4096;

/// A jump over the beginning of libc's function, for the lifetime of this object. x86-64.
class Hook {
  public:
    Hook(const char* function, const void* replacement) : at_(find(function)) {
        REQUIRE(at_);
        const auto page = reinterpret_cast<std::uintptr_t>(at_) & ~(kPage - 1);
        REQUIRE(mprotect(reinterpret_cast<void*>(page), 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
        std::memcpy(before_.data(), at_, before_.size());
        std::array<unsigned char, 12> jump{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // movabs rax, …; jmp rax
        std::memcpy(&jump[2], &replacement, sizeof replacement);
        std::memcpy(at_, jump.data(), jump.size());
    }
    ~Hook() { std::memcpy(at_, before_.data(), before_.size()); }
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

  private:
    static void* find(const char* function) {
        void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
        return libc ? dlsym(libc, function) : nullptr;
    }

    void* at_;
    std::array<unsigned char, 12> before_{};
};

}  // namespace libc_hook
