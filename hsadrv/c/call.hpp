// Internal: how each function of the C interface runs: no exception leaves it, and its failure is the thread's last
// error.
//
//   hsadrv_result hsadrv_stream_query(hsadrv_stream stream, int* done) noexcept {
//       return call("hsadrv_stream_query", [&](const char* name) { output(name, "done", done) = …; });
//   }
//
// Thread safety: any thread; the last error is thread-local.
#pragma once

#include <cstdint>
#include <string>

#include "hsadrv/c/error.h"
#include "hsadrv/deadline.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::c {

/// Makes the exception that is being handled the thread's last error, and returns its result.
hsadrv_result keep_current_exception() noexcept;

/// The result of an exception, and its text.
struct Failure {
    hsadrv_result result;
    std::string message;
};
Failure failure_of_current_exception();

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

}  // namespace hsadrv::c
