// traced(): whether `hsadrv trace` records this process (HSADRV_TRACE).
//
// It reads the rings when a doorbell rings, and the time of each packet from a signal of its own: so doorbells go
// through the runtime, and packets that the stream counts follow the kernels instead of being them.
// Thread safety: any thread.
#pragma once

#include <cstdlib>

namespace hsadrv::detail {

inline bool traced() noexcept {
    static const bool is_traced = [] {
        const char* const file = ::secure_getenv("HSADRV_TRACE");
        return file != nullptr && *file != 0;
    }();
    return is_traced;
}

}  // namespace hsadrv::detail
