// Internal: a host function, and its pointer until the last copy of its std::function is gone.
//
//   const auto host = std::make_shared<HostFunction>(call, function, user);
//   stream.call([host] { (*host)(); });
//   host->release = release;                // only what succeeded releases
//
// Thread safety: set `release` before the last copy can be gone on another thread: while the caller has one.
#pragma once

#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/stream.h"

namespace hsadrv::c {

struct HostFunction {
    const char* call;  // that was given it; a literal
    hsadrv_host_function function;
    void* user;
    hsadrv_release_function release = nullptr;

    HostFunction(const char* its_call, hsadrv_host_function its_function, void* its_user) noexcept
        : call(its_call), function(its_function), user(its_user) {}
    HostFunction(const HostFunction&) = delete;
    HostFunction& operator=(const HostFunction&) = delete;
    ~HostFunction() {
        if (release) release(user);
    }
    void operator()() const {
        const int result = function(user);
        if (result != 0)
            throw HostFunctionFailed(std::string(call) + ": the host function returned " + std::to_string(result));
    }
};

}  // namespace hsadrv::c
