// What a library needs that offers C functions beside those of hsadrv.h: results for exceptions, and the C++ objects of
// handles.
//
//   hsadrv_result mylib_clear(hsadrv_stream stream, const mylib_range* range) noexcept {
//       return c::call("mylib_clear", [&](const char* name) {
//           const auto on = c::stream_of(name, stream);  // throws InvalidHandle
//           c::required(name, "range", range);
//           const auto given = c::read_structure(name, "range", range, sizeof(mylib_range));
//           on->fill_async(given.data, given.size_bytes, …);
//       });
//   }
//
// No exception leaves call(): a failure is the thread's last error (hsadrv_last_error_message). Structures begin with
// struct_size; they only grow at their end, and zero is every field's default. Thread safety: any thread; the last
// error is thread-local.
#pragma once

#include "shared/cpp20.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "hsadrv/c/error.h"
#include "hsadrv/c/memory.h"
#include "hsadrv/c/stream.h"
#include "hsadrv/deadline.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::c {

/// Makes the exception that is being handled the thread's last error, and returns its result.
hsadrv_result keep_current_exception() noexcept;

template <class Work>
hsadrv_result call(const char* name, Work&& work) noexcept {
    try {
        refuse_in_forked_child(name);
        work(name);
        return HSADRV_SUCCESS;
    } catch (...) {
        return keep_current_exception();
    }
}

[[noreturn]] void refuse_null(const char* call, const char* name);

/// What a function returns through a pointer, set to zero first. Throws InvalidArgument if it is null.
template <class T>
T& output(const char* call, const char* name, T* pointer) {
    if (pointer == nullptr) [[unlikely]]
        refuse_null(call, name);
    *pointer = T{};
    return *pointer;
}

/// A pointer that may not be null.
template <class T>
T* required(const char* call, const char* name, T* pointer) {
    if (pointer == nullptr) [[unlikely]]
        refuse_null(call, name);
    return pointer;
}

inline Deadline deadline_of(std::uint64_t timeout_ns) {
    if (timeout_ns > static_cast<std::uint64_t>(INT64_MAX)) return {};
    return std::chrono::nanoseconds(static_cast<std::int64_t>(timeout_ns));
}

// ---- structures

/// Throws unless `given_bytes` is a plausible size of a structure that began with `first_bytes` bytes.
void check_size(const char* call, const char* name, std::size_t given_bytes, std::size_t first_bytes);
/// Throws unless the fields that this library does not know are zero.
void check_unknown_fields(const char* call, const char* name, const void* given, std::size_t given_bytes,
                          std::size_t known_bytes);

/// What the caller gave, with zero for what it does not have. `first_bytes`: the size in the first version.
template <class T>
T read_structure(const char* call, const char* name, const T* given, std::size_t first_bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    check_size(call, name, given->struct_size, first_bytes);
    check_unknown_fields(call, name, given, given->struct_size, sizeof(T));
    T known{};
    std::memcpy(&known, given, std::min(given->struct_size, sizeof(T)));
    return known;
}

/// Writes as much as the caller has room for, and zero to what this library does not know.
template <class T>
void write_structure(T* to, T facts) {
    facts.struct_size = to->struct_size;
    const std::size_t known_bytes = std::min(facts.struct_size, sizeof(T));
    if (facts.struct_size > known_bytes)
        std::memset(reinterpret_cast<std::byte*>(to) + known_bytes, 0, facts.struct_size - known_bytes);
    std::memcpy(to, &facts, known_bytes);
}

// ---- objects

/// The stream lives at least as long as the pointer.
std::shared_ptr<Stream> stream_of(const char* call, hsadrv_stream stream);
AgentRef device_of(const char* call, hsadrv_device device);

struct MemoryOf {
    void* data;
    std::size_t size_bytes;
    std::shared_ptr<const void> owner;
};
/// `name`: of the parameter.
MemoryOf memory_of(const char* call, const char* name, hsadrv_memory memory);
/// A handle of memory that `owner` owns. gpu: whose access launches on other GPUs check; null: not checked.
hsadrv_memory new_memory(void* data, std::size_t size_bytes, AgentRef gpu, std::shared_ptr<const void> owner);

}  // namespace hsadrv::c
