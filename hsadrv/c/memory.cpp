#include "hsadrv/c/memory.h"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/stream.h"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

[[noreturn]] void refuse_kind(const char* call, uint32_t kind, const char* known) {
    throw InvalidArgument(std::string(call) + ": there is no memory kind " + std::to_string(kind) + " here; use " +
                          known);
}

HostMemory registered_kind(const char* call, uint32_t kind) {
    if (kind == HSADRV_MEMORY_HOST) return HostMemory::fine_grained;
    if (kind == HSADRV_MEMORY_HOST_COARSE) return HostMemory::coarse_grained;
    refuse_kind(call, kind, "HSADRV_MEMORY_HOST or HSADRV_MEMORY_HOST_COARSE");
}

}  // namespace

namespace hsadrv::c {

bool of_device(uint32_t kind) noexcept { return kind == HSADRV_MEMORY_DEVICE || kind == HSADRV_MEMORY_DEVICE_FINE; }

MemPool pool_of(const char* call, AgentRef gpu, uint32_t kind) {
    switch (kind) {
        case HSADRV_MEMORY_DEVICE:
            return device_pool(gpu);
        case HSADRV_MEMORY_DEVICE_FINE:
            if (const auto pool = device_fine_pool(gpu)) return *pool;
            throw NotOffered(std::string(call) + ": " + gpu.label() + " has no fine-grained memory");
        case HSADRV_MEMORY_HOST:
            return host_pool(HostMemory::fine_grained);
        case HSADRV_MEMORY_HOST_COARSE:
            return host_pool(HostMemory::coarse_grained);
        default:
            refuse_kind(call, kind, "a hsadrv_memory_kind");
    }
}

}  // namespace hsadrv::c

hsadrv_result hsadrv_memory_create(hsadrv_device device, uint32_t kind, size_t size_bytes,
                                   hsadrv_memory* memory) noexcept {
    return call("hsadrv_memory_create", [&](const char* name) {
        output(name, "memory", memory) = nullptr;
        const auto gpu = object<DeviceObject>(name, "device", device);
        Allocation allocation = Allocation::from_pool(pool_of(name, gpu->agent, kind), size_bytes);
        // Host memory is accessible to all GPUs, and its owner is a CPU.
        const uint64_t agent = allocation && of_device(kind) ? allocation.owner().native().handle : 0;
        *memory = memory_handle(std::move(allocation), size_bytes, agent);
    });
}

hsadrv_result hsadrv_memory_destroy(hsadrv_memory memory) noexcept {
    return call("hsadrv_memory_destroy",
                [&](const char* name) { take_object<MemoryObject>(name, "memory", memory).reset(); });
}

hsadrv_result hsadrv_memory_destroy_on(hsadrv_memory memory, hsadrv_stream stream) noexcept {
    return call("hsadrv_memory_destroy_on", [&](const char* name) {
        const auto last = object<StreamObject>(name, "stream", stream);
        last->stream.keep_alive(object<MemoryObject>(name, "memory", memory));
        take_object<MemoryObject>(name, "memory", memory).reset();
    });
}

hsadrv_result hsadrv_memory_address(hsadrv_memory memory, void** address) noexcept {
    return call("hsadrv_memory_address", [&](const char* name) {
        output(name, "address", address) = nullptr;
        *address = object<MemoryObject>(name, "memory", memory)->data;
    });
}

hsadrv_result hsadrv_memory_size(hsadrv_memory memory, size_t* size_bytes) noexcept {
    return call("hsadrv_memory_size", [&](const char* name) {
        output(name, "size_bytes", size_bytes) = 0;
        *size_bytes = object<MemoryObject>(name, "memory", memory)->size_bytes;
    });
}

hsadrv_result hsadrv_memory_allow_access(hsadrv_memory memory, hsadrv_device device) noexcept {
    return call("hsadrv_memory_allow_access", [&](const char* name) {
        const auto shared = object<MemoryObject>(name, "memory", memory);
        const AgentRef gpu = object<DeviceObject>(name, "device", device)->agent;
        if (shared->data) allow_access(shared->data, std::span(&gpu, 1));
    });
}

hsadrv_result hsadrv_registration_create(hsadrv_device device, void* host, size_t size_bytes, uint32_t kind,
                                         hsadrv_registration* registration) noexcept {
    return call("hsadrv_registration_create", [&](const char* name) {
        output(name, "registration", registration) = nullptr;
        std::vector<AgentRef> gpus;
        if (device) gpus.push_back(object<DeviceObject>(name, "device", device)->agent);
        required(name, "host", host);
        Registration made(host, size_bytes, gpus, registered_kind(name, kind));
        *registration = handle_of<hsadrv_registration>(std::make_shared<RegistrationObject>(std::move(made)));
    });
}

hsadrv_result hsadrv_registration_destroy(hsadrv_registration registration) noexcept {
    return call("hsadrv_registration_destroy",
                [&](const char* name) { take_object<RegistrationObject>(name, "registration", registration).reset(); });
}

hsadrv_result hsadrv_registration_address(hsadrv_registration registration, void** address) noexcept {
    return call("hsadrv_registration_address", [&](const char* name) {
        output(name, "address", address) = nullptr;
        *address = object<RegistrationObject>(name, "registration", registration)->registration.device_address();
    });
}
