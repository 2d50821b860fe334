// Memory that the caller of an ioctl points at. The kernel answers EFAULT to a bad pointer (copy_from_user,
// copy_to_user); so does this, where plain access would end the program with a signal.
//
//     abi::EventId id;
//     if (int error = user::read(id, pointer)) return error;
//     if (int error = user::write(pointer, id)) return error;
//
// Thread safety: every function, any thread. What other threads write meanwhile is seen or not, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kfdemu::user {

/// 0, or EFAULT if any of the bytes is not there; then some may have been copied.
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
