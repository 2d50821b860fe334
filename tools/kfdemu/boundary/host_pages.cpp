#include "tools/kfdemu/boundary/host_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/boundary/mapping_table.hpp"
#include "tools/kfdemu/check/process.hpp"

namespace kfdemu::host_pages {
namespace {

using Mapping = MappingTable::Mapping;

constexpr std::uint64_t kPage = 4096;
// While nothing is in flight, so many pages are given at once.
constexpr std::uint64_t kPagesAtOnce = 64;
// Until a doorbell's store is visible: it follows the fault at once, unless its thread is preempted.
constexpr std::uint64_t kStoreNs = 1'000'000;
// For a load of a doorbell, which leaves no trace.
constexpr std::uint64_t kLoadNs = 50'000;

enum class State { off, starting, on, refused };

// Constant initialisation: munmap() reads it before anything else has run.
constinit std::atomic<State> state{State::off};  // release: the two below
constinit std::atomic<int> faults{-1};           // the descriptor
MappingTable* mappings = nullptr;                // never destroyed: the thread outlives static objects
std::atomic<bool> cannot_take_out{false};        // relaxed: told once

bool wanted() { return check::is_switched_on(Check::fence); }

/// Returns the descriptor, or -1 with errno.
int open_faults() {
    const auto fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
    if (fd < 0) return -1;
    uffdio_api api{};
    api.api = UFFD_API;
    api.features =
        UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EXACT_ADDRESS;
    if (ioctl(fd, UFFDIO_API, &api) == 0) return fd;
    const int error = errno;
    syscall(SYS_close, fd);
    return errno = error, -1;
}

bool watch(int fd, const Mapping& mapping) {
    uffdio_register range{};
    range.range = {mapping.begin, mapping.end - mapping.begin};
    range.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR;
    return ioctl(fd, UFFDIO_REGISTER, &range) == 0;
}

/// With the table's lock held, so that it is still the program's mapping of a device file: its content stays there. A
/// direct system call: UCX takes libc's for an unmapping.
void take_out(Mapping& mapping) {
    if (!mapping.given) return;
    mapping.given = false;
    if (syscall(SYS_madvise, mapping.begin, mapping.end - mapping.begin, MADV_DONTNEED) == 0) return;
    mapping.given = true;
    cannot_take_out.store(true, std::memory_order_relaxed);
}

/// False: the page is not in the file.
bool give_present(int fd, std::uint64_t va) {
    uffdio_continue present{};
    present.range = {va, kPage};
    return ioctl(fd, UFFDIO_CONTINUE, &present) == 0 || errno == EEXIST;
}

void give_fresh(int fd, std::uint64_t va) {
    uffdio_zeropage fresh{};
    fresh.range = {va, kPage};
    ioctl(fd, UFFDIO_ZEROPAGE, &fresh);
}

void give(int fd, std::uint64_t va, std::uint64_t end, std::uint64_t count) {
    const std::uint64_t first = va & ~(kPage - 1), last = std::min(end, first + count * kPage);
    mappings->with(first, [](Mapping& mapping) { mapping.given = true; });
    if (!give_present(fd, first)) give_fresh(fd, first);
    for (std::uint64_t page = first + kPage; page < last && give_present(fd, page);) page += kPage;
    uffdio_range woken{first, kPage};
    ioctl(fd, UFFDIO_WAKE, &woken);  // also if the page was there, or could not be given: the access is tried again
}

/// Where the thread is, which waits for its page; 0: not known. Direct system calls: the program may follow libc's.
std::uint64_t pc_of(std::uint32_t thread) {
    char path[64], text[256] = {};
    std::snprintf(path, sizeof path, "/proc/self/task/%u/syscall", thread);
    const auto fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
    if (fd < 0) return 0;
    const auto bytes = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    const char* last = bytes > 0 ? std::strrchr(text, ' ') : nullptr;
    return last != nullptr ? std::strtoull(last, nullptr, 16) : 0;
}

void take_out_memory() {
    mappings->each([](Mapping& mapping) {
        if (mapping.doorbells == nullptr) take_out(mapping);
    });
    static bool told = false;  // this thread's
    if (told || !cannot_take_out.load(std::memory_order_relaxed)) return;
    told = true;
    check::process_checks().report.note(
        "fence: the host's accesses of some memory are not watched: its pages are locked (mlock)");
}

/// The program stores to a doorbell, or loads it. What it accesses from now on may be in use.
void ring(int fd, const Mapping& mapping, std::uint64_t va, bool stores) {
    if (!wanted()) return give(fd, va, mapping.end, 1);
    auto& process = check::process_checks();
    const auto now = process.operations.now();
    if (stores) take_out_memory();
    const auto offset = (va - mapping.begin) & ~std::uint64_t{7};
    const auto* doorbell = reinterpret_cast<const volatile std::uint64_t*>(mapping.doorbells + offset);
    const auto value = [&] { return __atomic_load_n(doorbell, __ATOMIC_RELAXED); };
    const std::uint64_t before = value(), until = clock::now_ns() + (stores ? kStoreNs : kLoadNs);
    give(fd, va, mapping.end, 1);
    while (value() == before && clock::now_ns() < until) sched_yield();
    // Unless it is another mapping by now.
    mappings->with(va, [&](Mapping& still) {
        if (still.doorbells != nullptr) take_out(still);
    });
    if (const std::uint64_t after = value(); after != before) process.host_touches.rang(doorbell, after, now);
}

void touch(int fd, const Mapping& mapping, const uffd_msg& fault) {
    auto& process = check::process_checks();
    const std::uint64_t va = fault.arg.pagefault.address;
    if (!wanted() || process.host_touches.quiet()) return give(fd, va, mapping.end, kPagesAtOnce);
    const bool writes = (fault.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0;
    process.host_touches.add(
        {va, process.operations.now(), writes, check::stack_at(pc_of(fault.arg.pagefault.feat.ptid))});
    give(fd, va, mapping.end, 1);
}

/// Until the process ends.
void serve(int fd) {
    uffd_msg fault;
    while (syscall(SYS_read, fd, &fault, sizeof fault) == sizeof fault) {
        if (fault.event != UFFD_EVENT_PAGEFAULT) continue;
        const std::uint64_t va = fault.arg.pagefault.address;
        const auto mapping = mappings->find(va);
        if (!mapping)
            give(fd, va, va + 1, 1);
        else if (mapping->doorbells != nullptr)
            ring(fd, *mapping, va, (fault.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0);
        else
            touch(fd, *mapping, fault);
    }
}

/// "" or an error text.
std::string start_thread(int fd) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::string error;
    try {
        std::thread{serve, fd}.detach();
    } catch (const std::system_error& failed) {
        error = failed.what();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

/// "" or an error text.
std::string open_and_serve() {
    if (mappings == nullptr) mappings = new MappingTable;
    const int fd = open_faults();
    if (fd < 0) return std::string{"userfaultfd: "} + std::strerror(errno);
    if (const std::string error = start_thread(fd); !error.empty()) {
        syscall(SYS_close, fd);
        return "its thread cannot start: " + error;
    }
    faults.store(fd, std::memory_order_relaxed);
    return {};
}

/// In a child of fork() nothing is watched until it maps a device's memory of its own.
void in_child() {
    if (mappings != nullptr) mappings->reset();
    if (const int fd = faults.exchange(-1); fd >= 0) syscall(SYS_close, fd);
    state.store(State::off, std::memory_order_release);
}

/// Whether pages are watched. Starts it if they should be.
bool is_on() {
    State now = state.load(std::memory_order_acquire);
    if (now == State::off && wanted() && state.compare_exchange_strong(now, State::starting)) {
        static const int followed = pthread_atfork(nullptr, nullptr, in_child);
        (void)followed;
        const std::string error = open_and_serve();
        now = error.empty() ? State::on : State::refused;
        state.store(now, std::memory_order_release);
        if (!error.empty())
            check::process_checks().report.note("fence: the host's accesses of memory are not watched: " + error);
    }
    while (now == State::starting) {  // by another thread
        sched_yield();
        now = state.load(std::memory_order_acquire);
    }
    return now == State::on;
}

}  // namespace

void mapped(std::uint64_t va, std::size_t size_bytes, const std::byte* doorbells) {
    if (!is_on()) return;
    const Mapping mapping{va, (va + size_bytes + kPage - 1) & ~(kPage - 1), doorbells};
    if (watch(faults.load(std::memory_order_relaxed), mapping)) mappings->add(mapping);
}

void unmapping(std::uint64_t va, std::size_t size_bytes) {
    if (state.load(std::memory_order_acquire) == State::on)
        mappings->remove(va, (va + size_bytes + kPage - 1) & ~(kPage - 1));
}

void follow_checks() {
    if (!wanted() || state.load(std::memory_order_acquire) != State::on) return;
    mappings->each([](Mapping& mapping) { take_out(mapping); });
}

}  // namespace kfdemu::host_pages
