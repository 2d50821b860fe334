// Copies to and from memory that an ioctl argument points to. A bad pointer gives EFAULT, as in the kernel
// (copy_from_user, copy_to_user), not a signal.
//
//     abi::EventId id;
//     if (int error = user::read(id, pointer)) return error;
//     if (int error = user::write(pointer, id)) return error;
//
// Thread safety: every function, any thread. Concurrent writes by other threads may be seen in part.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kfdemu::user {

/// 0, or EFAULT if part of the range is not accessible; some bytes may then have been copied.
int copy_in(void* to, std::uint64_t from, std::size_t size_bytes);
int copy_out(std::uint64_t to, const void* from, std::size_t size_bytes);

template <class T>
int read(T& value, std::uint64_t from) {
    return copy_in(&value, from, sizeof value);
}
template <class T>
int write(std::uint64_t to, const T& value) {
    return copy_out(to, &value, sizeof value);
}

}  // namespace kfdemu::user
