// The program's actions for SIGSEGV and SIGBUS after the device has installed its own handler: as without a device.
// One process per row, because an action may end it; the parent opens no device.
#include <sys/wait.h>

#include <setjmp.h>
#include <signal.h>

#include <functional>
#include <map>
#include <thread>

#include "tests/kfdemu/raw_kfd.hpp"
#include "tests/support/descriptor.hpp"
#include "tests/support/sanitizer.hpp"

using namespace raw_kfd;

// Old functions that programs still call.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Declared by <signal.h> only for some of the language's standards.
extern "C" {
sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept;
sighandler_t bsd_signal(int signal, sighandler_t handler) noexcept;
}

namespace {

volatile int seen = 0;
void note(int signal) { seen = signal; }
void note_with_info(int signal, siginfo_t*, void*) { seen = signal; }

sigjmp_buf back;
void jump(int signal) {
    seen = signal;
    siglongjmp(back, 1);
}

void set(int signal, sighandler_t handler, int flags = 0) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, nullptr);
}

struct sigaction action_of(int signal) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    return action;
}

bool blocked(int signal) {
    sigset_t mask;
    sigprocmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, signal) == 1;
}

/// A page beyond the end of its file.
volatile char* absent_page() {
    return static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memfd_create("empty", 0), 0));
}
volatile char* read_only_page() {
    return static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

bool store(volatile char* page) {
    *page = 1;
    return true;
}

bool comes_to_jump(volatile char* page) {
    seen = 0;
    if (sigsetjmp(back, 1) == 0) store(page);
    return seen != 0;
}

/// Runs `body` in a child that shares this process's memory, and returns after it.
template <class Body>
void in_vfork(Body&& body) {
    if (const pid_t child = vfork(); child == 0) {
        body();
        _exit(0);
    } else {
        waitpid(child, nullptr, 0);
    }
}

/// Whether a GPU's store to a page that the program protected leaves the program alone.
bool gpu_fault_is_not_seen(Engine& engine) {
    const std::uint64_t word = engine.address(3 * Engine::kRingBytes / 4);
    mprotect(engine.pages + 3 * Engine::kRingBytes / 4, Engine::kRingBytes, PROT_READ);
    seen = 0;
    engine.submit({5, low(word), high(word), 1});
    for (int ms = 0; ms < 200; ++ms) usleep(1000);
    return seen == 0;
}

using Row = std::function<bool(Engine&)>;
const std::map<std::string, Row> rows = {
    {"an ignored signal with SA_SIGINFO is ignored",
     [](Engine&) {
         set(SIGSEGV, SIG_IGN, SA_SIGINFO);
         return kill(getpid(), SIGSEGV) == 0;
     }},
    {"an action is reported as the kernel keeps it",
     [](Engine&) {
         struct sigaction plain{}, other{};
         plain.sa_handler = note;
         sigfillset(&plain.sa_mask);
         sigaction(SIGSEGV, &plain, nullptr);
         sigaction(SIGUSR1, &plain, nullptr);
         plain = action_of(SIGSEGV), other = action_of(SIGUSR1);
         return plain.sa_flags == other.sa_flags && !sigismember(&plain.sa_mask, SIGKILL);
     }},
    {"without an action of the program the default is reported",
     [](Engine&) { return action_of(SIGSEGV).sa_handler == SIG_DFL && action_of(SIGBUS).sa_handler == SIG_DFL; }},
    {"a child of vfork() changes only its own actions",
     [](Engine&) {
         set(SIGSEGV, jump);
         bool right = false;
         in_vfork([&] { right = signal(SIGSEGV, SIG_DFL) == jump && action_of(SIGSEGV).sa_handler == SIG_DFL; });
         return right && action_of(SIGSEGV).sa_handler == jump && comes_to_jump(read_only_page());
     }},
    {"a child of fork() changes its actions while another thread of the parent does",
     [](Engine&) {
         std::thread{[] {
             for (;;) set(SIGSEGV, note);
         }}.detach();
         for (int n = 0; n < 300; ++n) {
             const pid_t child = fork();
             if (child == 0) {
                 set(SIGSEGV, note);
                 _exit(0);
             }
             int status = -1;
             for (int tries = 0; tries < 20'000 && waitpid(child, &status, WNOHANG) == 0; ++tries) usleep(100);
             if (status != 0) return kill(child, SIGKILL), false;
         }
         return true;
     }},
    {"__sysv_signal",
     [](Engine& engine) {
         set(SIGSEGV, note);
         if (__sysv_signal(SIGSEGV, jump) != note || !gpu_fault_is_not_seen(engine)) return false;
         return comes_to_jump(read_only_page()) && action_of(SIGSEGV).sa_handler == SIG_DFL;
     }},
    {"bsd_signal",
     [](Engine& engine) {
         set(SIGSEGV, note);
         if (bsd_signal(SIGSEGV, jump) != note || !gpu_fault_is_not_seen(engine)) return false;
         return comes_to_jump(read_only_page()) && action_of(SIGSEGV).sa_handler == jump;
     }},
    {"sigset",
     [](Engine& engine) {
         set(SIGSEGV, note);
         if (sigset(SIGSEGV, jump) != note || !gpu_fault_is_not_seen(engine)) return false;
         return sigset(SIGSEGV, SIG_HOLD) == jump && blocked(SIGSEGV) && sigset(SIGSEGV, note) == SIG_HOLD &&
                !blocked(SIGSEGV) && action_of(SIGSEGV).sa_handler == note;
     }},
    {"sigignore",
     [](Engine&) {
         set(SIGSEGV, note);
         return sigignore(SIGSEGV) == 0 && kill(getpid(), SIGSEGV) == 0 && action_of(SIGSEGV).sa_handler == SIG_IGN;
     }},
    {"siginterrupt",
     [](Engine&) {
         const auto restarts = [] { return (action_of(SIGSEGV).sa_flags & SA_RESTART) != 0; };
         signal(SIGSEGV, note);
         if (!restarts() || siginterrupt(SIGSEGV, 1) != 0 || restarts()) return false;
         signal(SIGSEGV, jump);  // remembers
         if (restarts() || action_of(SIGSEGV).sa_handler != jump) return false;
         return siginterrupt(SIGSEGV, 0) == 0 && restarts();
     }},
    {"a thread that waits for a signal receives it",
     [](Engine&) {
         sigset_t all;
         sigfillset(&all);
         pthread_sigmask(SIG_SETMASK, &all, nullptr);
         std::thread waiter{[&] {
             int signal = 0;
             sigwait(&all, &signal);
             seen = signal;
         }};
         waiter.detach();
         usleep(50'000);
         kill(getpid(), SIGSEGV);
         for (int ms = 0; ms < 2000 && seen == 0; ++ms) usleep(1000);
         return seen == SIGSEGV;
     }},
};

const std::map<std::string, std::pair<Row, int>> deaths = {
    {"a default action with SA_SIGINFO",
     {[](Engine&) {
          set(SIGBUS, SIG_DFL, SA_SIGINFO);
          return store(absent_page());
      },
      SIGBUS}},
    {"a second fault after SA_RESETHAND",
     {[](Engine&) {
          struct sigaction action{};
          action.sa_sigaction = note_with_info;
          action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
          sigaction(SIGBUS, &action, nullptr);
          return store(absent_page());
      },
      SIGBUS}},
    {"a signal that was sent",
     {[](Engine&) {
          set(SIGSEGV, SIG_DFL);
          kill(getpid(), SIGSEGV);
          return usleep(100'000) == 0;
      },
      SIGSEGV}},
};

/// Runs the row on a new device in a new process, and returns its wait status.
int status_of(const Row& row) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        for (const int signal : {SIGSEGV, SIGBUS})
            set(signal, SIG_DFL);  // neither the test framework's nor a sanitizer's
        const test_support::Descriptor kfd{open_kfd()};
        Engine engine{kfd};
        _exit(row(engine) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_CASE("the program's actions for signals that the device uses are its own", "[signals]") {
    for (const auto& [name, row] : rows) {
        CAPTURE(name);
        CHECK(status_of(row) == 0);
    }
}

TEST_CASE("a signal without a handler ends the program as without a device", "[signals]") {
    for (const auto& [name, death] : deaths) {
        CAPTURE(name);
        const int status = status_of(death.first);
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == death.second);
    }
}

TEST_CASE("a page that the program protects at any time is a fault of the GPU", "[signals]") {
    // The engine stores its read pointer after each packet. One fault per process.
    const Row row = [](Engine& engine) {
        constexpr std::uint64_t for_long = std::uint64_t{1} << 40;
        *engine.doorbell = for_long;  // the ring is full of NOPs
        for (int n = 0; n < 500; ++n)
            for (const int protection : {PROT_READ, PROT_READ | PROT_WRITE})
                mprotect(engine.pages + Engine::kRingBytes / 4, Engine::kRingBytes, protection);
        return true;
    };
    int right = 0;
    constexpr int times = test_support::sanitizer ? 60 : 300;  // processes
    for (int n = 0; n < times; ++n) right += status_of(row) == 0;
    CHECK(right == times);
}

TEST_CASE("a page of an AQL queue that the program protects at any time is a fault of the GPU", "[signals]") {
    const unsigned page = GENERATE(0u, 1u);  // the runtime's structure, the ring
    const Row row = [page](Engine& engine) {
        static AqlRing ring{engine.kfd};  // of the thread until the process ends
        std::thread{[] {
            for (;;) ring.submit_barrier();
        }}.detach();
        for (int n = 0; n < 500; ++n)
            for (const int protection : {PROT_NONE, PROT_READ | PROT_WRITE})
                mprotect(ring.pages + page * AqlRing::kPage, AqlRing::kPage, protection);
        return true;
    };
    int right = 0;
    constexpr int times = test_support::sanitizer ? 40 : 200;
    for (int n = 0; n < times; ++n) right += status_of(row) == 0;
    CHECK(right == times);
}

TEST_CASE("an AQL queue without a runtime takes packets", "[signals]") {
    const Row row = [](Engine& engine) {
        AqlRing ring{engine.kfd};
        for (int n = 0; n < 1000; ++n)
            while (!ring.submit_barrier()) usleep(10);
        for (int ms = 0; ms < 5000 && ring.read_index() < 1000; ++ms) usleep(1000);
        return ring.read_index() == 1000;
    };
    CHECK(status_of(row) == 0);
}
