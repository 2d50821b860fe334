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
#include <string>
#include <vector>

#include "hsadrv/c/handle_table.hpp"
#include "hsadrv/c/memory.h"
#include "hsadrv/compile.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/event.hpp"
#include "hsadrv/executable.hpp"
#include "hsadrv/graph.hpp"
#include "hsadrv/graph_builder.hpp"
#include "hsadrv/kernel.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/registration.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/virtual_memory.hpp"

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

/// Memory of any origin: allocated, attached, imported, managed, mapped, or a resource's.
struct MemoryObject {
    static constexpr HandleKind kind = HandleKind::memory;
    void* data;
    std::size_t size_bytes;
    std::uint64_t agent;  // whose access launches on other agents check; 0: not checked
    std::shared_ptr<const void> owner;
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
    std::timed_mutex mutex;  // orders updates; held while one waits for replays
};

struct SignalObject {
    static constexpr HandleKind kind = HandleKind::signal;
    Signal signal;
};

struct PhysicalMemoryObject {
    static constexpr HandleKind kind = HandleKind::physical_memory;
    PhysicalMemory memory;
};

struct VirtualRangeObject {
    static constexpr HandleKind kind = HandleKind::virtual_range;
    VirtualRange range;
};

struct GraphBuilderObject {
    static constexpr HandleKind kind = HandleKind::graph_builder;
    explicit GraphBuilderObject(AgentRef gpu) : builder(gpu) {}
    GraphBuilder builder;
    std::mutex mutex;  // of the builder
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

/// The GPUs of a list of handles; never empty. Throws InvalidArgument for a list that is.
std::vector<AgentRef> gpus_of(const char* call, const hsadrv_device* devices, std::size_t count);

/// The pool of a hsadrv_memory_kind. Throws InvalidArgument for another kind, NotOffered if the GPU has none.
MemPool pool_of(const char* call, AgentRef gpu, std::uint32_t kind);
/// Whether a hsadrv_memory_kind is a GPU's own.
bool of_device(std::uint32_t kind) noexcept;

/// A handle of memory that `owner` owns: its data(), and the given size.
template <class Owner>
hsadrv_memory memory_handle(Owner owner, std::size_t size_bytes, std::uint64_t agent) {
    auto kept = std::make_shared<const Owner>(std::move(owner));
    void* const data = kept->data();
    return handle_of<hsadrv_memory>(std::make_shared<MemoryObject>(data, size_bytes, agent, std::move(kept)));
}

/// Throws InvalidArgument unless the memory has this range, which is not empty. Returns its first byte.
std::byte* range_of(const char* call, const MemoryObject& memory, std::size_t offset_bytes, std::size_t size_bytes);

/// The agent to be checked for memory that was mapped for these GPUs alone.
inline std::uint64_t checked_agent(const std::vector<AgentRef>& gpus) {
    return gpus.size() == 1 ? gpus.front().native().handle : 0;
}

}  // namespace hsadrv::c
