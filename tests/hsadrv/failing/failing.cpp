// Defines every function of imports.inc: counts the call, fails it or forwards it to the runtime. See failing.hpp.
#include "tests/hsadrv/failing/failing.hpp"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace failing {

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> calls{0}, target{0};
std::atomic<hsa_status_t> wanted{HSA_STATUS_ERROR};
std::atomic<const char*> failed{nullptr};
std::atomic<bool> emulating{false};
std::atomic<std::uint64_t> stores{0};

constexpr int pm4_emulation = 0xA119;  // HSA_AMD_AGENT_INFO_PM4_EMULATION

// AMD's numbers are none of the enumeration's.
bool answers(hsa_agent_t, const hsa_agent_info_t& attribute, void* value) {
    int number = 0;
    std::memcpy(&number, &attribute, sizeof number);
    if (!emulating || number != pm4_emulation) return false;
    *static_cast<bool*>(value) = true;
    return true;
}

void* runtime_function(const char* name) {
    void* function = ::dlsym(RTLD_NEXT, name);
    if (function == nullptr) {
        std::fprintf(stderr, "failing: the runtime has no %s\n", name);
        std::abort();
    }
    return function;
}

constexpr bool ends_something(std::string_view name) {
    for (const std::string_view part : {"destroy", "_free", "_unlock", "_deregister", "_detach", "_unmap", "shut_down"})
        if (name.find(part) != name.npos) return true;
    return false;
}

/// The runtime calls some of its own functions by their public names (ROCR 6.4: AqlQueue::ExecutePM4). Those
/// calls do not fail.
bool is_runtime(const void* caller) {
    Dl_info info{};
    return ::dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
           std::string_view(info.dli_fname).find("libhsa-runtime64") != std::string_view::npos;
}

bool fails_now(const char* name, const void* caller) {
    if (!counting.load(std::memory_order_relaxed) || is_runtime(caller)) return false;
    if (calls.fetch_add(1) + 1 != target.load()) return false;
    failed.store(name);
    return true;
}

/// One function: its type, and a tag type with its name.
template <class Function, class Name>
struct Layer;
template <class R, class... A, class Name>
struct Layer<R(A...), Name> {
    // Attributes that the header does not list are passed on unchanged.
    __attribute__((no_sanitize("enum"))) static R call(A... arguments) {
        static const auto real = reinterpret_cast<R (*)(A...)>(runtime_function(Name::text));
        if constexpr (std::is_same_v<R, hsa_status_t>) {
            if (fails_now(Name::text, __builtin_return_address(0))) {
                if constexpr (ends_something(Name::text)) real(arguments...);
                return wanted.load();
            }
        }
        if constexpr (std::string_view(Name::text) == "hsa_agent_get_info")
            if (answers(arguments...)) return HSA_STATUS_SUCCESS;
        if constexpr (std::string_view(Name::text) == "hsa_signal_store_screlease") ++stores;
        return real(arguments...);
    }
};

}  // namespace

void begin(std::uint64_t nth, hsa_status_t status) {
    calls = 0;
    target = nth;
    wanted = status;
    failed = nullptr;
    counting = true;
}

Report end() {
    counting = false;
    return {calls.load(), failed.load()};
}

std::uint64_t emulate_queues(bool on) {
    emulating = on;
    return stores.exchange(0);
}

}  // namespace failing

// The exported name jumps to the layer through a variable, so that it can have the header's type.
#define X(name)                                                                               \
    namespace failing {                                                                       \
    struct name##_name {                                                                      \
        static constexpr char text[] = #name;                                                 \
    };                                                                                        \
    }                                                                                         \
    extern "C" __attribute__((used, visibility("hidden"))) void* const failing_##name =       \
        reinterpret_cast<void*>(&failing::Layer<decltype(name), failing::name##_name>::call); \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  jmp *failing_" #name "(%rip)\n");
#include "imports.inc"
