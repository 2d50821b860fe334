// libc's own functions, behind those of the same name that this library exports, and what their replacements share.
//
//     EXPORT int access(const char* path, int mode) noexcept {
//         if (auto entry = find(path)) return …;          // ours
//         return NEXT(access)(path, mode);                // everything else, untouched
//     }
//
// Thread safety: every function, any thread, from before the first constructor to after the last exit
// handler; in a forked child too. Functions are looked up when the library is loaded, so that a call from a
// signal handler finds them ready; a call that comes before looks up its own.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <optional>

#include "base/path_text.hpp"
#include "boundary/sysfs.hpp"
#include "kfd/device.hpp"

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
    static void* get() {
        [[maybe_unused]] const bool* at_load = &found_at_load_;   // so that it exists
        void* function = known_.load(std::memory_order_relaxed);  // whoever looks it up finds the same
        if (!function) function = look_up();
        return function;
    }

  private:
    static void* look_up() {
        const int saved = errno;
        void* function = dlsym(RTLD_NEXT, kName.text);
        errno = saved;
        known_.store(function, std::memory_order_relaxed);
        return function;
    }

    static inline constinit std::atomic<void*> known_{nullptr};
    static inline const bool found_at_load_ = look_up() != nullptr;
};

#define NEXT(name) (reinterpret_cast<decltype(&::name)>(::kfdemu::Next<#name>::get()))

/// Whether the code at `address` is the HSA runtime's or its thunk's (which is inside the runtime from ROCR 6.4 on).
inline bool is_runtime(const void* address) {
    Dl_info object;
    if (!address || dladdr(address, &object) == 0) return false;
    std::string_view file = object.dli_fname;
    file.remove_prefix(std::min(file.rfind('/') + 1, file.size()));
    return sysfs::take(file, "libhsakmt.so") || sysfs::take(file, "libhsa-runtime64.so");
}

/// What of ours is at `path` for the code at `caller`, if anything is.
inline std::optional<sysfs::Entry> find(const char* path, const void* caller = nullptr) {
    if (!path || !sysfs::may_be_ours(path)) return {};
    const Topology* topology = Device::topology();
    if (!topology) return {};
    if (sysfs::is_runtimes_alone(path) && !is_runtime(caller)) return {};
    return sysfs::lookup(*topology, path);
}

}  // namespace kfdemu
