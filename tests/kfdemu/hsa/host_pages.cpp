// The program's own pages that a GPU accesses and the program takes away: it makes them inaccessible, or unmaps them
// while a kernel runs. Linux then unmaps them on the GPU (HMM, amdgpu_hmm.c), so the access is a memory fault. The
// program's own faults stay its own. One fault per process (memory_faults.cpp).
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/exchange.hpp"
#include "tests/kfdemu/hsa/fault_event.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

constexpr std::size_t kPagesBytes = 16 * kPage;

/// Pages that a GPU has access to.
struct HostPages {
    HostPages() {
        HSA_CHECK(hsa_amd_register_system_event_handler(on_event, &fault));
        hsa_agent_t agent = machine.gpu().agent;
        HSA_CHECK(hsa_amd_memory_lock(pages, kPagesBytes, &agent, 1, &locked));
    }
    void* gpu(std::size_t offset) const { return static_cast<std::byte*>(locked) + offset; }
    void protect(int protection) const { REQUIRE(mprotect(pages, kPagesBytes, protection) == 0); }
    /// Without libc's munmap(), as free() does it: the emulator does not see the call.
    void unmap() const { REQUIRE(syscall(SYS_munmap, pages, kPagesBytes) == 0); }
    template <class... Values>
    void launch_with(const Executable& code, const std::string& name, Values... values) {
        kept.push_back(arguments(machine, code.kernel(name), values...));
        queue.submit(kernel_packet(code.kernel(name), {}, kept.back(), done));
    }
    void copy(void* to, const void* from, bool up) {
        const hsa_agent_t cpu = machine.cpu().agent, agent = machine.gpu().agent;
        HSA_CHECK(hsa_amd_memory_async_copy(to, up ? agent : cpu, from, up ? cpu : agent, 2 * kPage, 0, nullptr, done));
    }
    bool faults_at(std::size_t offset, std::size_t size_bytes = kPage) {
        const auto begin = reinterpret_cast<std::uint64_t>(gpu(offset));
        return eventually([&] { return fault.events != 0; }) && fault.address >= begin &&
               fault.address < begin + size_bytes;
    }

    void* pages = mmap(nullptr, kPagesBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Fault fault;
    Machine machine;
    Queue queue{machine.gpu()};
    Executable faults{machine.gpu(), "faults"}, work{machine.gpu(), "work"};
    Memory device{machine.gpu().coarse, kPagesBytes, machine.agents()};
    Signal done;
    void* locked = nullptr;
    std::vector<Memory> kept{};
};

struct FaultOfPages {
    std::size_t offset;
    std::uint32_t reason;
    std::size_t size_bytes = kPage;  // a copy may fault on any of its pages
};

const std::map<std::string, std::function<FaultOfPages(HostPages&)>>& page_rows() {
    static const std::map<std::string, std::function<FaultOfPages(HostPages&)>> table = {
        {"store to read-only pages",
         [](HostPages& s) {
             s.protect(PROT_READ);
             s.launch_with(s.faults, "store_at", s.gpu(3 * kPage + 8), 1u);
             return FaultOfPages{3 * kPage, kReadOnly};
         }},
        {"atomic on read-only pages",
         [](HostPages& s) {
             s.protect(PROT_READ);
             s.launch_with(s.faults, "atomic_at", s.gpu(kPage));
             return FaultOfPages{kPage, kReadOnly};
         }},
        {"load from pages without access",
         [](HostPages& s) {
             s.protect(PROT_NONE);
             s.launch_with(s.faults, "load_at", s.gpu(5 * kPage), s.device.data());
             return FaultOfPages{5 * kPage, kAbsent};
         }},
        {"store to pages without access",
         [](HostPages& s) {
             s.protect(PROT_NONE);
             s.launch_with(s.faults, "store_at", s.gpu(0), 1u);
             return FaultOfPages{0, kAbsent};
         }},
        {"pages unmapped while a kernel reads them",
         [](HostPages& s) {
             s.launch_with(s.work, "spin", s.gpu(2 * kPage), s.device.data());
             std::this_thread::sleep_for(100ms);
             s.unmap();
             return FaultOfPages{2 * kPage, kAbsent};
         }},
        {"pages protected while a kernel reads them",
         [](HostPages& s) {
             s.launch_with(s.work, "spin", s.gpu(2 * kPage), s.device.data());
             std::this_thread::sleep_for(100ms);
             s.protect(PROT_NONE);
             return FaultOfPages{2 * kPage, kAbsent};
         }},
        {"copy to read-only pages",
         [](HostPages& s) {
             s.protect(PROT_READ);
             s.copy(s.gpu(kPage), s.device.data(), false);
             return FaultOfPages{kPage, kReadOnly, 2 * kPage};
         }},
        {"copy from pages without access",
         [](HostPages& s) {
             s.protect(PROT_NONE);
             s.copy(s.device.data(), s.gpu(kPage), true);
             return FaultOfPages{kPage, kAbsent, 2 * kPage};
         }},
    };
    return table;
}

/// Each thread's own faults come to its handler, which leaves with its thread's address.
thread_local sigjmp_buf back;
thread_local void* faulted = nullptr;
std::atomic<int> handled{0};
void on_segv(int, siginfo_t* info, void*) {
    faulted = info->si_addr;
    ++handled;
    siglongjmp(back, 1);
}

/// Whether a write to `address` comes to on_segv.
bool write_is_handled(void* address) {
    faulted = nullptr;
    if (sigsetjmp(back, 1) == 0) *static_cast<volatile int*>(address) = 1;
    return faulted == address;
}

void set_handler() {
    struct sigaction action{};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
}

bool is_handler() {
    struct sigaction action{};
    sigaction(SIGSEGV, nullptr, &action);
    return action.sa_sigaction == on_segv && (action.sa_flags & SA_SIGINFO) != 0;
}

}  // namespace

TEST_CASE("child: host pages", "[.child]") {
    HostPages scene;
    const FaultOfPages expected = page_rows().at(row())(scene);
    REQUIRE(scene.faults_at(expected.offset, expected.size_bytes));
    CHECK((scene.fault.reason & expected.reason) == expected.reason);
    CHECK(scene.done.load() == 1);
}

TEST_CASE("an access to the program's pages that it took away is a memory fault", "[device][faults]") {
    NEEDS_GPUS(1);
    for (const auto& [name, row] : page_rows()) {
        DYNAMIC_SECTION(name) {
            const ChildResult child = run_child("child: host pages", name);
            INFO(child.output);
            CHECK(child.passed());
        }
    }
}

TEST_CASE("a GPU reads pages that the program made read-only", "[device][faults]") {
    NEEDS_GPUS(1);
    HostPages scene;
    *static_cast<std::uint32_t*>(scene.pages) = 77;
    scene.protect(PROT_READ);
    scene.launch_with(scene.faults, "load_at", scene.gpu(0), scene.device.data());
    REQUIRE(scene.done.completed());
    CHECK(read_back(scene.machine, scene.device.data(), 4)[0] == 77);
}

TEST_CASE("child: a handler of the program", "[.child]") {
    if (row() == "set before") set_handler();
    HostPages scene;
    if (row() == "set after") set_handler();
    CHECK(is_handler());
    scene.protect(PROT_READ);
    const auto all_threads = [&] {
        std::atomic<int> own{0};
        std::vector<std::thread> threads;
        for (int n = 0; n < 4; ++n)
            threads.emplace_back([&, n] { own += write_is_handled(static_cast<std::byte*>(scene.pages) + kPage * n); });
        for (std::thread& thread : threads) thread.join();
        return own == 4 && write_is_handled(scene.pages);
    };
    CHECK(all_threads());
    scene.launch_with(scene.faults, "store_at", scene.gpu(3 * kPage), 1u);
    REQUIRE(scene.faults_at(3 * kPage));
    CHECK(handled == 5);
    CHECK(all_threads());
    CHECK(handled == 10);
    CHECK(is_handler());
}

TEST_CASE("the program's handler of SIGSEGV gets its own threads' faults and none of the GPU's", "[device][faults]") {
    NEEDS_GPUS(1);
    for (const char* name : {"set before", "set after"}) {
        const ChildResult child = run_child("child: a handler of the program", name);
        CAPTURE(name, child.output);
        CHECK(child.passed());
    }
}

TEST_CASE("child: the program faults without a handler", "[.child]") {
    HostPages scene;
    signal(SIGSEGV, row() == "ignored" ? SIG_IGN : SIG_DFL);
    if (row() == "sent") {
        kill(getpid(), SIGSEGV);
        std::this_thread::sleep_for(5s);
        _exit(0);
    }
    scene.protect(PROT_READ);
    *static_cast<volatile int*>(scene.pages) = 1;
}

TEST_CASE("a fault of the program without a handler ends it", "[device][faults]") {
    NEEDS_GPUS(1);
    for (const char* name : {"default", "ignored", "sent"}) {
        const ChildResult child = run_child("child: the program faults without a handler", name);
        CAPTURE(name, child.output);
        CHECK(child.signal == SIGSEGV);
    }
}
