// Interposed sigaction(), signal() and their older relatives: the actions of SIGSEGV and SIGBUS, which the device
// shares with the program (base/host_fault.hpp). The relatives differ in flags and in what they do to the thread's
// mask.
#include <signal.h>

#include <cerrno>

#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/boundary/libc.hpp"

// <signal.h> declares these for some language standards only, or deprecates them.
extern "C" sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept;
extern "C" sighandler_t sysv_signal(int signal, sighandler_t handler) noexcept;
extern "C" sighandler_t bsd_signal(int signal, sighandler_t handler) noexcept;
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace kfdemu {
namespace {

NOT_SANITIZED bool is_shared(int signal) { return host_fault::handles(signal) && host_fault::installed(); }

std::atomic<bool> interruptions[2];  // siginterrupt() for SIGSEGV, SIGBUS; relaxed: a flag alone
std::atomic<bool>& interrupts_of(int signal) { return interruptions[signal == SIGBUS]; }

sigset_t only(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

sighandler_t replace(int signal, sighandler_t handler, int flags, const sigset_t& mask) {
    if (handler == SIG_ERR) return errno = EINVAL, SIG_ERR;
    struct sigaction wanted{}, before;
    wanted.sa_handler = handler;
    wanted.sa_flags = flags;
    wanted.sa_mask = mask;
    host_fault::set_action(signal, &wanted, &before);
    return before.sa_handler;
}

sighandler_t bsd(int signal, sighandler_t handler) {
    const bool interrupt = interrupts_of(signal).load(std::memory_order_relaxed);
    return replace(signal, handler, interrupt ? 0 : SA_RESTART, only(signal));
}

sighandler_t system_v(int signal, sighandler_t handler) {
    constexpr int kOneShot = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_INTERRUPT);
    return replace(signal, handler, kOneShot, {});
}

sighandler_t hold_or_replace(int signal, sighandler_t handler) {
    const sigset_t mask = only(signal);
    sigset_t masked;
    struct sigaction before;
    if (handler == SIG_HOLD) {
        host_fault::set_action(signal, nullptr, &before);
    } else {
        before.sa_handler = replace(signal, handler, 0, {});
        if (before.sa_handler == SIG_ERR) return SIG_ERR;
    }
    pthread_sigmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &mask, &masked);
    return sigismember(&masked, signal) ? SIG_HOLD : before.sa_handler;
}

void interrupt(int signal, bool on) {
    struct sigaction action;
    host_fault::set_action(signal, nullptr, &action);
    interrupts_of(signal).store(on, std::memory_order_relaxed);
    action.sa_flags = on ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    host_fault::set_action(signal, &action, nullptr);
}

}  // namespace
}  // namespace kfdemu

using namespace kfdemu;

EXPORT NOT_SANITIZED int sigaction(int signal, const struct sigaction* wanted, struct sigaction* before) noexcept {
    if (is_shared(signal)) return host_fault::set_action(signal, wanted, before);
    return NEXT(sigaction)(signal, wanted, before);
}

EXPORT sighandler_t signal(int signal, sighandler_t handler) noexcept {
    return is_shared(signal) ? bsd(signal, handler) : NEXT(signal)(signal, handler);
}

// Other names of signal(), as in glibc.
EXPORT sighandler_t bsd_signal(int signal, sighandler_t handler) noexcept __attribute__((alias("signal")));
EXPORT sighandler_t ssignal(int signal, sighandler_t handler) noexcept __attribute__((alias("signal")));

// What signal() is in strict ISO C.
EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
    return is_shared(signal) ? system_v(signal, handler) : NEXT(__sysv_signal)(signal, handler);
}
EXPORT sighandler_t sysv_signal(int signal, sighandler_t handler) noexcept __attribute__((alias("__sysv_signal")));

EXPORT sighandler_t sigset(int signal, sighandler_t handler) noexcept {
    return is_shared(signal) ? hold_or_replace(signal, handler) : NEXT(sigset)(signal, handler);
}

EXPORT int sigignore(int signal) noexcept {
    if (!is_shared(signal)) return NEXT(sigignore)(signal);
    replace(signal, SIG_IGN, 0, {});
    return 0;
}

EXPORT int siginterrupt(int signal, int on) noexcept {
    // Also before the device exists: signal() looks at it later.
    if (host_fault::handles(signal)) interrupts_of(signal).store(on != 0, std::memory_order_relaxed);
    if (!is_shared(signal)) return NEXT(siginterrupt)(signal, on);
    interrupt(signal, on != 0);
    return 0;
}
