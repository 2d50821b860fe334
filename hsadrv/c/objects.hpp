// Internal: what the handles of the C interface refer to.
//
//   auto stream = object<StreamObject>("hsadrv_stream_query", "stream", handle);   // throws InvalidHandle
//   stream->stream.query();
//
// Thread safety: as the C++ objects that they contain, and as their mutexes say.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "hsadrv/c/driver.h"
#include "hsadrv/c/handle_table.hpp"
#include "hsadrv/compile.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/event.hpp"
#include "hsadrv/executable.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/kernel.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/registration.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::c {

/// HSADRV_ERROR_INVALID_HANDLE.
class InvalidHandle : public InvalidArgument {
    using InvalidArgument::InvalidArgument;
};

/// HSADRV_ERROR_HOST_FUNCTION.
class HostFunctionFailed : public Error {
    using Error::Error;
};

struct DriverObject {
    static constexpr HandleKind kind = HandleKind::driver;
    Driver driver;
    std::mutex mutex;            // of the devices
    std::vector<void*> devices;  // handles by index, null until asked for
};

struct DeviceObject {
    static constexpr HandleKind kind = HandleKind::device;
    Driver driver;
    AgentRef agent;
};

struct MemoryObject {
    static constexpr HandleKind kind = HandleKind::memory;
    Allocation allocation;
    std::size_t size_bytes;
    bool of_device;
};

struct RegistrationObject {
    static constexpr HandleKind kind = HandleKind::registration;
    Registration registration;
};

struct StreamObject {
    static constexpr HandleKind kind = HandleKind::stream;
    Stream stream;
};

struct EventObject {
    static constexpr HandleKind kind = HandleKind::event;
    Event event;
};

struct ExecutableObject {
    static constexpr HandleKind kind = HandleKind::executable;
    Executable executable;
    std::vector<std::string> kernels;  // names, in the order of the code object
};

struct KernelObject {
    static constexpr HandleKind kind = HandleKind::kernel;
    Kernel kernel;
};

struct CompiledObject {
    static constexpr HandleKind kind = HandleKind::compiled;
    Compiled compiled;
};

struct GraphObject {
    static constexpr HandleKind kind = HandleKind::graph;
    Graph graph;
    std::shared_timed_mutex mutex;  // launches share it, an update excludes them
};

[[noreturn]] void refuse_handle(const char* call, const char* name, const void* handle, HandleKind wanted);

/// The object of a handle. Throws InvalidHandle naming `call` and the parameter `name`.
template <class Object>
std::shared_ptr<Object> object(const char* call, const char* name, const void* handle) {
    auto found = HandleTable::process().find(handle, Object::kind);
    if (!found) [[unlikely]]
        refuse_handle(call, name, handle, Object::kind);
    return std::static_pointer_cast<Object>(std::move(found));
}

/// Destroys a handle and returns its object.
template <class Object>
std::shared_ptr<Object> take_object(const char* call, const char* name, const void* handle) {
    auto found = HandleTable::process().take(handle, Object::kind);
    if (!found) [[unlikely]]
        refuse_handle(call, name, handle, Object::kind);
    return std::static_pointer_cast<Object>(std::move(found));
}

/// A new handle.
template <class Handle, class Object>
Handle handle_of(std::shared_ptr<Object> object) {
    return reinterpret_cast<Handle>(HandleTable::process().put(Object::kind, std::move(object)));
}

}  // namespace hsadrv::c
