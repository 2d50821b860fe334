// For tests of a device through the HSA runtime's C API only: the runtime, its agents and pools, memory, signals.
//
//     TEST_CASE("...", "[device]") {
//         NEEDS_GPUS(1);
//         hsa_test::Machine machine;
//         hsa_test::Memory words{machine.gpu().coarse, 4096, machine.agents()};
//
// Together with queue.hpp (queues and packets), kernel.hpp (code objects and launches) and child.hpp
// (processes) this is all that such a test needs. The code is independent of emulation. Every
// wait has a deadline. Thread safety: objects belong to one thread, but for Signal, whose functions any
// thread may call. Errors are exceptions, not assertions, so that helpers may be used outside the test's own thread.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hsa_test {

using namespace std::chrono_literals;
using Duration = std::chrono::nanoseconds;

/// Of the host's memory.
inline constexpr std::size_t kPage = 4096;

/// Longer than any wait, also on a slow machine under a sanitizer.
inline constexpr Duration kDeadline = 30s;

// True with a sanitizer: it handles faults itself, keeps freed memory and needs descriptors.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

/// "HSA_STATUS_…: …" of a status.
std::string describe(hsa_status_t status);
/// Throws std::runtime_error naming `what` unless the call succeeded.
void check(hsa_status_t status, const char* what);
#define HSA_CHECK(call) ::hsa_test::check((call), #call)
/// Compares a call's status with the specification's, and prints both by name if they differ. For sources with
/// support/catch.hpp, as NEEDS_GPUS.
#define HSA_STATUS(call, expected) CHECK(::hsa_test::describe(call) == ::hsa_test::describe(expected))

/// HSA_AMD_INTERFACE_VERSION_MINOR of the running runtime, which may be newer than the headers; 0 for one that does not
/// tell. The major version is 1 in all.
std::uint16_t interface_minor();

/// hsa_init to hsa_shut_down.
class Runtime {
  public:
    Runtime();
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
};

struct Cpu {
    hsa_agent_t agent{};
    hsa_amd_memory_pool_t coarse{}, fine{}, kernarg{};
};

struct Gpu {
    hsa_agent_t agent{};
    hsa_amd_memory_pool_t coarse{}, fine{};  ///< fine: handle 0 if the GPU has no such pool
    std::string name{};                      ///< "gfx90a"
    std::uint32_t wavefront_size = 0;        ///< of the waves that compilers make for it
};

/// The runtime with all its agents. At least one CPU; as many GPUs as there are.
class Machine {
  public:
    Machine();

    const Cpu& cpu() const { return cpus_.front(); }
    const Gpu& gpu(std::size_t index = 0) const { return gpus_.at(index); }
    const std::vector<Gpu>& gpus() const { return gpus_; }
    /// The first CPU and all GPUs, for granting access.
    const std::vector<hsa_agent_t>& agents() const { return agents_; }
    /// True if the host may access this GPU's coarse-grained memory.
    bool host_sees(const Gpu& gpu) const;

  private:
    Runtime runtime_;
    std::vector<Cpu> cpus_;
    std::vector<Gpu> gpus_;
    std::vector<hsa_agent_t> agents_;
};

/// Memory of a pool, freed at the end. Every agent of `readers` that can get access has it.
class Memory {
  public:
    Memory() = default;
    Memory(hsa_amd_memory_pool_t pool, std::size_t size_bytes, const std::vector<hsa_agent_t>& readers);
    ~Memory();
    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&& other) noexcept;

    void* data() const { return data_; }
    std::size_t size_bytes() const { return size_bytes_; }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }
    /// The same as the address a kernel gets.
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }

  private:
    void* data_ = nullptr;
    std::size_t size_bytes_ = 0;
};

/// A signal, destroyed at the end.
class Signal {
  public:
    explicit Signal(hsa_signal_value_t initial = 1);
    ~Signal();
    Signal(Signal&& other) noexcept : signal_{std::exchange(other.signal_, {})} {}
    Signal& operator=(Signal&&) = delete;

    operator hsa_signal_t() const { return signal_; }  // NOLINT: converts for the C API
    hsa_signal_value_t load() const { return hsa_signal_load_scacquire(signal_); }
    void store(hsa_signal_value_t value) const { hsa_signal_store_screlease(signal_, value); }
    /// True if the condition held in time.
    bool wait(hsa_signal_condition_t condition, hsa_signal_value_t value, Duration timeout = kDeadline,
              hsa_wait_state_t how = HSA_WAIT_STATE_BLOCKED) const;
    /// True if it fell below 1 in time, as completion signals do.
    bool completed(Duration timeout = kDeadline) const { return wait(HSA_SIGNAL_CONDITION_LT, 1, timeout); }

  private:
    hsa_signal_t signal_{};
};

/// Polls `condition` until it holds; true if it did in time.
template <class Condition>
bool eventually(Condition&& condition, Duration timeout = kDeadline);

namespace detail {
void pause();
}

template <class Condition>
bool eventually(Condition&& condition, Duration timeout) {
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        detail::pause();
    }
    return true;
}

/// Why a test that needs that many GPUs cannot run here; empty if it can. If the emulated GPU is built in
/// (WITH_KFDEMU), one always exists, so its absence is a failure.
std::optional<std::string> too_few_gpus(std::size_t wanted);

}  // namespace hsa_test

#define NEEDS_GPUS(count)                                                       \
    do {                                                                        \
        if (const auto why = hsa_test::too_few_gpus(count)) SKIP_BECAUSE(*why); \
    } while (false)
