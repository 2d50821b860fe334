#include "resources/smi_events.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace kfdemu {

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

}  // namespace kfdemu
