#include "tools/kfdemu/base/user_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace kfdemu::user {
namespace {

/// Copies through a pipe, whose read() and write() check pointers. For hosts that forbid process_vm_readv and
/// process_vm_writev, even within a process.
int copy_through_pipe(void* to, const void* from, std::size_t size_bytes) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return EFAULT;
    auto* target = static_cast<char*>(to);
    const auto* source = static_cast<const char*>(from);
    int error = 0;
    while (size_bytes) {
        // At most PIPE_BUF bytes: an empty pipe takes them without blocking.
        const ssize_t sent = ::write(ends[1], source, std::min<std::size_t>(size_bytes, 4096));
        if (sent <= 0 || ::read(ends[0], target, static_cast<std::size_t>(sent)) != sent) {
            error = EFAULT;
            break;
        }
        target += sent, source += sent, size_bytes -= static_cast<std::size_t>(sent);
    }
    ::close(ends[0]);
    ::close(ends[1]);
    return error;
}

/// `copy` is process_vm_readv or process_vm_writev.
template <class Copy>
int copy_within(Copy copy, iovec own, iovec callers, void* to, const void* from) {
    if (own.iov_len == 0) return 0;
    const ssize_t done = copy(getpid(), &own, 1, &callers, 1, 0);
    if (done == static_cast<ssize_t>(own.iov_len)) return 0;
    if (done < 0 && (errno == ENOSYS || errno == EPERM)) return copy_through_pipe(to, from, own.iov_len);
    return EFAULT;
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

int copy_in(void* to, std::uint64_t from, std::size_t size_bytes) {
    return copy_within(process_vm_readv, {to, size_bytes}, {pointer(from), size_bytes}, to, pointer(from));
}

int copy_out(std::uint64_t to, const void* from, std::size_t size_bytes) {
    return copy_within(process_vm_writev, {const_cast<void*>(from), size_bytes}, {pointer(to), size_bytes}, pointer(to),
                       from);
}

}  // namespace kfdemu::user
