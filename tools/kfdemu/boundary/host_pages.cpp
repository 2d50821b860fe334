#include "boundary/host_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
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
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "check/process.hpp"

namespace kfdemu::host_pages {
namespace {

constexpr std::uint64_t kPage = 4096;
// While nothing is in flight, so many pages are given at once.
constexpr std::uint64_t kPagesAtOnce = 64;
// Until a doorbell's store is visible: it follows the fault at once, unless its thread is preempted.
constexpr std::uint64_t kStoreNs = 1'000'000;

struct Mapping {
    std::uint64_t begin = 0, end = 0;
    const std::byte* doorbells = nullptr;
};

// Never destroyed: the thread outlives static objects.
struct Pages {
    std::mutex mutex;
    std::vector<Mapping> mappings;
    int fd = -1;
    bool refused = false;
};

Pages& pages() {
    static Pages* const made = new Pages;
    return *made;
}

std::atomic<bool> any_mapped{false};  // release: pages() is made

bool wanted() { return check::is_switched_on(Check::fence); }

int open_faults() {
    const auto fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
    if (fd < 0) return -1;
    uffdio_api api{};
    api.api = UFFD_API;
    api.features =
        UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EXACT_ADDRESS;
    if (ioctl(fd, UFFDIO_API, &api) == 0) return fd;
    ::close(fd);
    return -1;
}

/// Fails for memory that is not shared, which take_out() would erase.
bool watch(int fd, const Mapping& mapping) {
    uffdio_register range{};
    range.range = {mapping.begin, mapping.end - mapping.begin};
    range.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR;
    return ioctl(fd, UFFDIO_REGISTER, &range) == 0;
}

/// Their content stays in the file.
void take_out(const Mapping& mapping) {
    madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED);
}

std::optional<Mapping> find(std::uint64_t va) {
    const std::lock_guard lock{pages().mutex};
    for (const Mapping& mapping : pages().mappings)
        if (va >= mapping.begin && va < mapping.end) return mapping;
    return {};
}

/// False: there is no such page in the mapping.
bool give_page(int fd, std::uint64_t va) {
    uffdio_continue present{};
    present.range = {va, kPage};
    if (ioctl(fd, UFFDIO_CONTINUE, &present) == 0 || errno == EEXIST) return true;
    uffdio_zeropage fresh{};
    fresh.range = {va, kPage};
    return ioctl(fd, UFFDIO_ZEROPAGE, &fresh) == 0 || errno == EEXIST;
}

void give(int fd, std::uint64_t va, std::uint64_t end, std::uint64_t count) {
    const std::uint64_t first = va & ~(kPage - 1), last = std::min(end, first + count * kPage);
    for (std::uint64_t page = first; page < last && give_page(fd, page);) page += kPage;
    uffdio_range woken{first, kPage};
    ioctl(fd, UFFDIO_WAKE, &woken);  // also if the page was there, or could not be given: the access is tried again
}

/// Where the thread is, which waits for its page; 0: not known.
std::uint64_t pc_of(std::uint32_t thread) {
    char path[64], text[256] = {};
    std::snprintf(path, sizeof path, "/proc/self/task/%u/syscall", thread);
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const auto bytes = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    const char* last = bytes > 0 ? std::strrchr(text, ' ') : nullptr;
    return last != nullptr ? std::strtoull(last, nullptr, 16) : 0;
}

/// The program rings. What it accesses from now on may be in use.
void ring(int fd, const Mapping& mapping, std::uint64_t va) {
    if (!wanted()) return give(fd, va, mapping.end, 1);
    auto& process = check::process_checks();
    const auto now = process.operations.now();
    {
        const std::lock_guard lock{pages().mutex};
        for (const Mapping& each : pages().mappings)
            if (each.doorbells == nullptr) take_out(each);
    }
    const auto offset = (va - mapping.begin) & ~std::uint64_t{7};
    const auto* doorbell = reinterpret_cast<const volatile std::uint64_t*>(mapping.doorbells + offset);
    const std::uint64_t before = __atomic_load_n(doorbell, __ATOMIC_RELAXED), since = clock::now_ns();
    give(fd, va, mapping.end, 1);
    std::uint64_t value = before;
    while (value == before && clock::now_ns() - since < kStoreNs) value = __atomic_load_n(doorbell, __ATOMIC_RELAXED);
    if (value != before) process.host_touches.rang(doorbell, value, now);
    const std::lock_guard lock{pages().mutex};
    take_out(mapping);
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

void serve(int fd) {
    uffd_msg fault;
    while (::read(fd, &fault, sizeof fault) == sizeof fault) {
        if (fault.event != UFFD_EVENT_PAGEFAULT) continue;
        const std::uint64_t va = fault.arg.pagefault.address;
        const auto mapping = find(va);
        if (!mapping)
            give(fd, va, va + 1, 1);
        else if (mapping->doorbells != nullptr && (fault.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0)
            ring(fd, *mapping, va);
        else
            touch(fd, *mapping, fault);
    }
    ::close(fd);
}

bool start_thread(int fd) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
        std::thread{serve, fd}.detach();
    } catch (const std::system_error&) {
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

/// With the lock held.
void start() {
    Pages& all = pages();
    if (all.fd >= 0 || all.refused) return;
    all.fd = open_faults();
    if (all.fd < 0 || !start_thread(all.fd)) {
        all.refused = true;
        check::process_checks().report.note(std::string{"fence: the host's accesses of memory are not watched: "
                                                        "userfaultfd: "} +
                                            std::strerror(errno));
        return;
    }
    std::erase_if(all.mappings, [&](const Mapping& mapping) { return !watch(all.fd, mapping); });
}

/// In a child of fork() nothing is watched until it maps a device's memory of its own.
void in_child() {
    Pages& all = pages();
    all.mappings.clear();
    if (all.fd >= 0) ::close(all.fd);
    all.fd = -1;
    all.mutex.unlock();
}

void follow_forks() {
    static const int followed = pthread_atfork([] { pages().mutex.lock(); }, [] { pages().mutex.unlock(); }, in_child);
    (void)followed;
}

}  // namespace

void mapped(std::uint64_t va, std::size_t size_bytes, const std::byte* doorbells) {
    follow_forks();
    Pages& all = pages();
    const std::lock_guard lock{all.mutex};
    const Mapping mapping{va, (va + size_bytes + kPage - 1) & ~(kPage - 1), doorbells};
    if (wanted()) start();
    if (all.fd >= 0 && !watch(all.fd, mapping)) return;
    all.mappings.push_back(mapping);
    any_mapped.store(true, std::memory_order_release);
}

void unmapping(std::uint64_t va, std::size_t size_bytes) {
    if (!any_mapped.load(std::memory_order_acquire)) return;
    Pages& all = pages();
    const std::uint64_t end = (va + size_bytes + kPage - 1) & ~(kPage - 1);
    const std::lock_guard lock{all.mutex};
    const auto overlaps = [&](const Mapping& mapping) { return mapping.begin < end && va < mapping.end; };
    if (std::ranges::none_of(all.mappings, overlaps)) return;
    std::vector<Mapping> rest;
    for (Mapping& mapping : all.mappings) {
        if (!overlaps(mapping)) {
            rest.push_back(mapping);
            continue;
        }
        if (mapping.begin < va) rest.push_back({mapping.begin, va, mapping.doorbells});
        if (mapping.end > end)
            rest.push_back(
                {end, mapping.end, mapping.doorbells != nullptr ? mapping.doorbells + (end - mapping.begin) : nullptr});
    }
    all.mappings = std::move(rest);
}

void follow_checks() {
    Pages& all = pages();
    const std::lock_guard lock{all.mutex};
    if (!wanted()) return;
    start();
    if (all.fd >= 0)
        for (const Mapping& mapping : all.mappings) take_out(mapping);
}

}  // namespace kfdemu::host_pages
