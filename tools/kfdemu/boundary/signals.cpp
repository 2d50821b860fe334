// Interposed sigaction() and signal(): the actions of SIGSEGV and SIGBUS, which the device shares with the program
// (base/host_fault.hpp).
#include <signal.h>

#include <cerrno>

#include "base/host_fault.hpp"
#include "boundary/libc.hpp"

namespace kfdemu {
namespace {

bool is_shared(int signal) { return host_fault::handles(signal) && host_fault::installed(); }

}  // namespace
}  // namespace kfdemu

EXPORT int sigaction(int signal, const struct sigaction* wanted, struct sigaction* before) noexcept {
    if (kfdemu::is_shared(signal)) return kfdemu::host_fault::set_action(signal, wanted, before);
    return NEXT(sigaction)(signal, wanted, before);
}

EXPORT sighandler_t signal(int signal, sighandler_t handler) noexcept {
    if (!kfdemu::is_shared(signal)) return NEXT(signal)(signal, handler);
    if (handler == SIG_ERR) return errno = EINVAL, SIG_ERR;
    struct sigaction wanted{}, before;
    wanted.sa_handler = handler;
    wanted.sa_flags = SA_RESTART;
    sigaddset(&wanted.sa_mask, signal);
    kfdemu::host_fault::set_action(signal, &wanted, &before);
    return before.sa_handler;
}
