#include "base/host_fault.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>

// libc's sigaction() under its other name: the library interposes the first.
extern "C" int __sigaction(int signal, const struct sigaction* wanted, struct sigaction* before) noexcept;

namespace kfdemu::host_fault {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS};
constexpr std::uint64_t kPageFaultWrite = 2;  // of the CPU's error code

std::atomic<bool> is_installed{false};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool of_device = false;

/// The program's actions. A spinlock that blocks signals: a handler of the same thread can take it, too.
class Actions {
  public:
    Actions() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &mask_);
        while (busy_.test_and_set(std::memory_order_acquire)) {
        }
    }
    ~Actions() {
        busy_.clear(std::memory_order_release);
        pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    }
    struct sigaction& of(int signal) { return actions_[signal == SIGBUS]; }

  private:
    static inline std::atomic_flag busy_;
    static inline struct sigaction actions_[2];
    sigset_t mask_;
};

void on_fault(int signal, siginfo_t* info, void* context);

/// The kernel applies the mask and flags of the program's action to ours.
int install_for(int signal, const struct sigaction& program) {
    struct sigaction ours{};
    ours.sa_sigaction = on_fault;
    ours.sa_mask = program.sa_mask;
    ours.sa_flags = (program.sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART)) | SA_SIGINFO;
    return __sigaction(signal, &ours, nullptr);
}

/// The signal's default action, for a fault when the instruction runs again, and for a sent signal when the handler
/// returns.
void die(int signal, const siginfo_t* info) {
    struct sigaction normal{};
    normal.sa_handler = SIG_DFL;
    __sigaction(signal, &normal, nullptr);
    if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

/// What the program would have seen without the device.
void forward(int signal, siginfo_t* info, void* context) {
    const bool sent = info->si_code <= 0;
    if (of_device && sent) {  // to the process; not to a thread that the program does not know
        syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), signal, info);
        return;
    }
    struct sigaction action;
    {
        Actions actions;
        action = actions.of(signal);
        if (action.sa_flags & SA_RESETHAND) actions.of(signal).sa_handler = SIG_DFL;
    }
    const bool ignored = !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
    const bool normal = !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
    if (ignored && sent) return;
    if (ignored || normal || of_device) return die(signal, info);
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(signal, info, context);
    } else {
        action.sa_handler(signal);
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    const auto* interrupted = static_cast<const ucontext_t*>(context);
    Guard* here = guard;
    const AddressSpace::Range* range = here && here->space && info->si_code > 0
                                           ? here->space->find_host(static_cast<const std::byte*>(info->si_addr))
                                           : nullptr;
    if (!range) return forward(signal, info, context);
    here->fault.va = range->begin + static_cast<std::uint64_t>(static_cast<std::byte*>(info->si_addr) - range->host);
    const auto error = static_cast<std::uint64_t>(interrupted->uc_mcontext.gregs[REG_ERR]);
    here->fault.access = error & kPageFaultWrite ? kWrite : kRead;
    pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, nullptr);
    siglongjmp(here->landing, 1);
}

}  // namespace

bool accessible(const AddressSpace& space, const void* host, std::uint32_t access) {
    auto* byte = static_cast<char*>(const_cast<void*>(host));
    return !guarded(&space, [=] {
        // Relaxed: the value is not used, and a bitwise or with 0 changes none.
        if (access & kWrite)
            __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
        else
            static_cast<void>(*static_cast<volatile char*>(byte));
    });
}

void install() {
    Actions actions;
    if (is_installed.load(std::memory_order_relaxed)) return;
    for (const int signal : kSignals) {
        __sigaction(signal, nullptr, &actions.of(signal));
        install_for(signal, actions.of(signal));
    }
    // Release: a thread that sees it sees the program's actions.
    is_installed.store(true, std::memory_order_release);
}

bool installed() { return is_installed.load(std::memory_order_acquire); }

void accept_in_this_thread() {
    of_device = true;
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal : kSignals) sigaddset(&ours, signal);
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

int set_action(int signal, const struct sigaction* wanted, struct sigaction* before) {
    struct sigaction next{}, last;
    if (wanted) next = *wanted;
    {
        Actions actions;
        last = actions.of(signal);
        if (wanted) actions.of(signal) = next;
        if (wanted) install_for(signal, next);
    }
    if (before) *before = last;
    return 0;
}

}  // namespace kfdemu::host_fault
