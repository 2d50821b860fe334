// Internal: how each function of the C interface runs: no exception leaves it, and its failure is the thread's last
// error.
//
//   hsadrv_result hsadrv_stream_query(hsadrv_stream stream, int* done) noexcept {
//       return call("hsadrv_stream_query", [&](const char* name) { output(name, "done", done) = …; });
//   }
//
// Thread safety: any thread; the last error is thread-local.
#pragma once

#include <string>

#include "hsadrv/c_interop.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::c {

/// The result of an exception, and its text.
struct Failure {
    hsadrv_result result;
    std::string message;
};
Failure failure_of_current_exception();

}  // namespace hsadrv::c
