#include "tools/kfdemu/resources/smi_events.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "tools/kfdemu/base/page.hpp"

namespace kfdemu {
namespace {

// Causes: KFD_MIGRATE_TRIGGER_PREFETCH, KFD_QUEUE_EVICTION_TRIGGER_SUSPEND, KFD_SVM_UNMAP_TRIGGER_UNMAP_FROM_CPU.
constexpr int kPrefetch = 0, kSuspend = 3, kUnmapFromCpu = 2;

/// "TIME -PID".
std::string who_and_when() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return fmt::format("{} -{}", std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec, getpid());
}

/// "@PAGE(PAGES)".
std::string pages(std::uint64_t begin, std::uint64_t end) {
    return fmt::format("@{:x}({:x})", begin / kPage, (end - begin) / kPage);
}

}  // namespace

SmiEvents::~SmiEvents() {
    for (const Client& client : clients_) ::close(client.fd);
}

int SmiEvents::open(std::uint32_t gpu_id, int& fd) {
    int ends[2];
    // Reads never block, as in the kernel: without an event they fail with EAGAIN.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    fcntl(ends[0], F_SETFD, 0);
    char task[16] = "";
    prctl(PR_GET_NAME, task);
    std::lock_guard lock{mutex_};
    forget_closed();
    clients_.push_back({.gpu_id = gpu_id, .fd = ends[1], .task = task});
    fd = ends[0];
    return 0;
}

/// Takes the last mask that the program wrote. False: it has closed the file.
bool SmiEvents::read_mask(Client& client) {
    for (;;) {
        std::uint64_t mask = 0;
        const ssize_t size = recv(client.fd, &mask, sizeof mask, MSG_DONTWAIT);
        if (size == sizeof mask)
            client.wanted = mask;
        else if (size <= 0)
            return size < 0 && (errno == EAGAIN || errno == EINTR);
    }
}

void SmiEvents::forget_closed() {
    std::erase_if(clients_, [](Client& client) {
        const bool open = read_mask(client);
        if (!open) ::close(client.fd);
        return !open;
    });
}

template <class Text>
void SmiEvents::send(std::uint32_t gpu_id, Kind kind, Text&& text) {
    forget_closed();
    for (const Client& client : clients_) {
        if (client.gpu_id != gpu_id || !(client.wanted >> (kind - 1) & 1)) continue;
        const std::string line = fmt::format("{:x} {}\n", static_cast<unsigned>(kind), text(client));
        // A file whose reader is late loses events, as in the kernel.
        (void)!::send(client.fd, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void SmiEvents::vm_fault(std::uint32_t gpu_id) {
    std::lock_guard lock{mutex_};
    send(gpu_id, kVmFault, [](const Client& client) { return fmt::format("{:x}:{}", getpid(), client.task); });
}

void SmiEvents::reset_begins(std::uint32_t gpu_id) {
    std::lock_guard lock{mutex_};
    const std::uint32_t sequence = ++resets_[gpu_id];
    send(gpu_id, kPreReset, [&](const Client&) { return fmt::format("{:x}", sequence); });
}

void SmiEvents::reset_ended(std::uint32_t gpu_id) {
    std::lock_guard lock{mutex_};
    send(gpu_id, kPostReset, [&](const Client&) { return fmt::format("{:x}", resets_[gpu_id]); });
}

void SmiEvents::prefetched(std::uint32_t gpu_id, const Migration& migration) {
    const auto& [begin, end, from, to, prefetch, preferred] = migration;
    const std::string path = fmt::format("{} {:x}->{:x}", pages(begin, end), from, to);
    std::lock_guard lock{mutex_};
    send(gpu_id, kMigrateStart, [&, prefetch = prefetch, preferred = preferred](const Client&) {
        return fmt::format("{} {} {:x}:{:x} {}", who_and_when(), path, prefetch, preferred, kPrefetch);
    });
    send(gpu_id, kMigrateEnd, [&](const Client&) { return fmt::format("{} {} {}", who_and_when(), path, kPrefetch); });
}

void SmiEvents::unmapped(std::uint32_t gpu_id, std::uint64_t begin, std::uint64_t end) {
    std::lock_guard lock{mutex_};
    send(gpu_id, kUnmapFromGpu, [&](const Client&) {
        return fmt::format("{} {} {:x} {}", who_and_when(), pages(begin, end), gpu_id, kUnmapFromCpu);
    });
}

void SmiEvents::evicted_by_reset(std::uint32_t gpu_id) {
    std::lock_guard lock{mutex_};
    send(gpu_id, kQueueEviction,
         [&](const Client&) { return fmt::format("{} {:x} {}", who_and_when(), gpu_id, kSuspend); });
}

}  // namespace kfdemu
