// Device accesses to host pages that the program has since protected or unmapped: faults of the GPU, not of the
// process.
//
//     host_fault::accept_in_this_thread();            // a thread of the device
//     AddressSpace::Hold hold{space};
//     if (auto fault = host_fault::guarded(&space, [&] { memcpy(to, from, size); })) …   // fault->va, fault->access
//
// The device is not notified when the program changes its pages, so the access itself must fail: SIGSEGV and SIGBUS
// have a handler, which ends `guarded` if the address is one of the device's. Every other fault goes to the program's
// own action, with the flags and mask that it asked for. set_action() keeps that action, so the program sees no other.
//
// Thread safety: every function, any thread. `guarded` leaves its body by a jump: the body must own nothing with a
// destructor, and hold no lock, while it accesses device memory. Nested calls are allowed.
#pragma once

#include <setjmp.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/not_sanitized.hpp"

namespace kfdemu {

struct HostFault {
    std::uint64_t va = 0;      ///< GPU virtual address
    std::uint32_t access = 0;  ///< kRead or kWrite
};

namespace host_fault {

struct Guard {
    const AddressSpace* space;  // may be null
    Guard* outer;
    sigjmp_buf landing;
    HostFault fault;
};

/// The innermost of this thread. Initial-exec: the handler must not allocate it.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Guard* guard = nullptr;

/// Runs `body`, which stops at the first access that faults. Requires a Hold of `space` in the calling thread.
template <class Body>
[[gnu::noinline]] std::optional<HostFault> guarded(const AddressSpace* space, Body&& body) {
    Guard here{space, guard, {}, {}};
    if (sigsetjmp(here.landing, 0) != 0) {
        guard = here.outer;
        return here.fault;
    }
    guard = &here;
    // A signal handler in this thread reads `guard`.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    body();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    guard = here.outer;
    return {};
}

/// Whether the object at `host` can be accessed now. Costs no system call.
bool accessible(const AddressSpace& space, const void* host, std::uint32_t access);

/// Installs the handler. From then on the program's actions for its signals go through set_action().
void install();
bool installed();
/// Opens this thread, which belongs to the device, for the handler. To be repeated between uses of `guarded`: a signal
/// that was sent to the process closes the thread, so that the program's threads receive it. Costs no system call if
/// the thread is open.
void accept_in_this_thread();

/// Receives the address of each fault of the program before its action runs. Async-signal-safe.
using Observer = void (*)(const void* address);
void observe(Observer see);

/// A child must not find the actions locked by a thread that it does not have.
void before_fork();
void after_fork();

/// Whether install() handles this signal.
NOT_SANITIZED inline bool handles(int signal) { return signal == SIGSEGV || signal == SIGBUS; }
/// As sigaction() for a handled signal. Async-signal-safe.
int set_action(int signal, const struct sigaction* wanted, struct sigaction* before);

}  // namespace host_fault
}  // namespace kfdemu
