// Access to the libc functions that this library interposes, and helpers that the replacements share.
//
//     EXPORT int access(const char* path, int mode) noexcept {
//         if (auto entry = find(path)) return …;          // emulated
//         return NEXT(access)(path, mode);                // everything else
//     }
//
// Thread safety: every function, any thread, from before the first constructor to after the last exit handler, also in
// a forked child. Functions are looked up when the library is loaded, so that signal handlers can call them. A call
// before that looks up its own function.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <optional>

#include "tools/kfdemu/base/not_sanitized.hpp"
#include "tools/kfdemu/base/path_text.hpp"
#include "tools/kfdemu/boundary/sysfs.hpp"
#include "tools/kfdemu/kfd/device.hpp"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace kfdemu {

template <std::size_t N>
struct FunctionName {
    char text[N];
    constexpr FunctionName(const char (&name)[N]) { std::copy_n(name, N, text); }
};

template <FunctionName kName>
class Next {
  public:
    NOT_SANITIZED static void* get() {
        [[maybe_unused]] const bool* at_load = &found_at_load_;       // instantiates it
        void* function = __atomic_load_n(&known_, __ATOMIC_RELAXED);  // relaxed: every lookup gives the same value
        if (!function) function = look_up();
        return function;
    }
    /// Null during its own lookup: for functions that a lookup may call.
    NOT_SANITIZED static void* get_outside_lookup() {
        [[maybe_unused]] const bool* at_load = &found_at_load_;
        void* function = __atomic_load_n(&known_, __ATOMIC_RELAXED);
        if (function || __atomic_exchange_n(&looking_up_, true, __ATOMIC_RELAXED))
            return function;  // relaxed: guards no data
        function = look_up();
        __atomic_store_n(&looking_up_, false, __ATOMIC_RELAXED);
        return function;
    }

  private:
    NOT_SANITIZED static void* look_up() {
        const int saved = errno;
        void* function = dlsym(RTLD_NEXT, kName.text);
        errno = saved;
        __atomic_store_n(&known_, function, __ATOMIC_RELAXED);
        return function;
    }

    static inline constinit void* known_ = nullptr;
    static inline constinit bool looking_up_ = false;
    static inline const bool found_at_load_ = look_up() != nullptr;
};

#define NEXT(name) (reinterpret_cast<decltype(&::name)>(::kfdemu::Next<#name>::get()))
#define NEXT_OUTSIDE_LOOKUP(name) (reinterpret_cast<decltype(&::name)>(::kfdemu::Next<#name>::get_outside_lookup()))

/// Whether `address` is in the HSA runtime or its thunk (which is part of the runtime from ROCR 6.4 on).
inline bool is_runtime(const void* address) {
    Dl_info object;
    if (!address || dladdr(address, &object) == 0) return false;
    std::string_view file = object.dli_fname;
    file.remove_prefix(std::min(file.rfind('/') + 1, file.size()));
    return sysfs::take(file, "libhsakmt.so") || sysfs::take(file, "libhsa-runtime64.so");
}

/// The emulated entry at `path`, as seen by the code at `caller`, or std::nullopt.
inline std::optional<sysfs::Entry> find(const char* path, const void* caller = nullptr) {
    if (!path || !sysfs::may_be_ours(path)) return {};
    const Topology* topology = Device::topology();
    if (!topology) return {};
    if (sysfs::is_runtimes_alone(path) && !is_runtime(caller)) return {};
    return sysfs::lookup(*topology, path);
}

}  // namespace kfdemu
