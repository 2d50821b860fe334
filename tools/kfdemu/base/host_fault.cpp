#include "tools/kfdemu/base/host_fault.hpp"

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
constexpr int kRestorer = 0x04000000;         // SA_RESTORER, which libc adds

bool is_installed = false;    // atomic accesses: std::atomic<bool> is not inlined, and so cannot be NOT_SANITIZED
std::atomic<pid_t> owner{0};  // the process that the actions belong to; relaxed, as a thread sees its own process's
std::atomic<Observer> observer{nullptr};

/// Of a thread of the device: it has passed a signal on, and blocks it until the next accept_in_this_thread().
enum class OfDevice : char { no, open, closed };
[[gnu::tls_model("initial-exec")]] constinit thread_local OfDevice of_device = OfDevice::no;

/// The program's actions. A spinlock that blocks signals: a handler of the same thread can take it, too.
class Actions {
  public:
    Actions() { lock(mask_); }
    ~Actions() { unlock(mask_); }
    struct sigaction& of(int signal) { return actions_[signal == SIGBUS]; }

    static void before_fork() { lock(forks_mask_); }
    static void after_fork() {
        const sigset_t mask = forks_mask_;
        owner.store(getpid(), std::memory_order_relaxed);
        unlock(mask);
    }

  private:
    static void lock(sigset_t& before) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        while (busy_.test_and_set(std::memory_order_acquire)) {
        }
    }
    static void unlock(const sigset_t& before) {
        busy_.clear(std::memory_order_release);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    static inline std::atomic_flag busy_;
    static inline struct sigaction actions_[2];
    static inline sigset_t forks_mask_;  // guarded by the lock
    sigset_t mask_;
};

void on_fault(int signal, siginfo_t* info, void* context);
bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_fault;
}

/// As the kernel keeps it, and sigaction() reports it.
struct sigaction as_kept(struct sigaction action) {
    action.sa_flags |= kRestorer;
    sigdelset(&action.sa_mask, SIGKILL);
    sigdelset(&action.sa_mask, SIGSTOP);
    return action;
}

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

/// Gives a signal that was sent to the process to its other threads, of which one may wait for it.
void pass_on(int signal, siginfo_t* info, ucontext_t* interrupted) {
    sigaddset(&interrupted->uc_sigmask, signal);
    of_device = OfDevice::closed;
    // Of a signal from kill(), only the process's first thread could set the sender (EPERM, rt_sigqueueinfo(2)).
    if (info->si_code == SI_USER || info->si_code == SI_TKILL)
        syscall(SYS_kill, getpid(), signal);
    else
        syscall(SYS_rt_sigqueueinfo, getpid(), signal, info);
}

/// What the program would have seen without the device.
void forward(int signal, siginfo_t* info, ucontext_t* context) {
    const bool sent = info->si_code <= 0;
    const bool foreign = of_device == OfDevice::no;  // a thread of the program
    if (!foreign && sent) return pass_on(signal, info, context);
    if (const Observer see = observer.load(std::memory_order_acquire); see && !sent) see(info->si_addr);
    struct sigaction action;
    {
        Actions actions;
        action = actions.of(signal);
        if (action.sa_flags & SA_RESETHAND) actions.of(signal).sa_handler = SIG_DFL;
    }
    // Linux distinguishes these by the handler, also with SA_SIGINFO.
    const bool ignored = action.sa_handler == SIG_IGN;
    if (ignored && sent) return;
    if (ignored || action.sa_handler == SIG_DFL || !foreign) return die(signal, info);
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(signal, info, context);
    } else {
        action.sa_handler(signal);
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    auto* interrupted = static_cast<ucontext_t*>(context);
    Guard* here = guard;
    const AddressSpace::Range* range = here && here->space && info->si_code > 0
                                           ? here->space->find_host(static_cast<const std::byte*>(info->si_addr))
                                           : nullptr;
    if (!range) return forward(signal, info, interrupted);
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
    if (__atomic_load_n(&is_installed, __ATOMIC_RELAXED)) return;
    owner.store(getpid(), std::memory_order_relaxed);
    for (const int signal : kSignals) {
        __sigaction(signal, nullptr, &actions.of(signal));
        install_for(signal, actions.of(signal));
    }
    // Release: a thread that sees it sees the program's actions.
    __atomic_store_n(&is_installed, true, __ATOMIC_RELEASE);
}

void observe(Observer see) {
    observer.store(see, std::memory_order_release);
    install();
}

NOT_SANITIZED bool installed() { return __atomic_load_n(&is_installed, __ATOMIC_ACQUIRE); }

void accept_in_this_thread() {
    if (of_device == OfDevice::open) return;
    of_device = OfDevice::open;
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal : kSignals) sigaddset(&ours, signal);
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

void before_fork() { Actions::before_fork(); }
void after_fork() { Actions::after_fork(); }

int set_action(int signal, const struct sigaction* wanted, struct sigaction* before) {
    struct sigaction next{}, last{};
    if (wanted) next = as_kept(*wanted);
    // A child of vfork() has its own actions but its parent's memory.
    const bool shared = owner.load(std::memory_order_relaxed) == getpid();
    if (!shared) __sigaction(signal, wanted, &last);
    if (shared || is_ours(last)) {
        Actions actions;
        last = actions.of(signal);
        if (wanted && shared) {
            actions.of(signal) = next;
            install_for(signal, next);
        }
    }
    if (before) *before = last;
    return 0;
}

}  // namespace kfdemu::host_fault
