#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "devicearray/c/array.h"
#include "devicearray/c/given_array.hpp"
#include "devicearray/device_ndarray.hpp"
#include "devicearray/dlpack.hpp"
#include "devicearray/dlpack_import.hpp"
#include "devicearray/host_ndarray.hpp"
#include "devicearray/ipc_array.hpp"
#include "hsadrv/c_interop.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

AgentRef gpu_of(const char* call, const hsadrv_array& array) {
    const Driver driver = Driver::current(call);
    const auto& gpus = driver.gpus();
    if (array.gpu < gpus.size()) return gpus[array.gpu];
    throw InvalidArgument(std::string(call) + ": there is no GPU " + std::to_string(array.gpu) + "; there are " +
                          std::to_string(gpus.size()));
}

DeviceNDArray gpu_array_of(const char* call, const GivenArray& array) {
    return DeviceNDArray(array.owner, array.data, array.dtype, array.layout, gpu_of(call, array.given));
}

/// The memory of the program has no owner: the tensor does not keep it.
DlpackArray shared_array_of(const char* call, const GivenArray& array) {
    if ((array.given.flags & HSADRV_ARRAY_ON_GPU) != 0) return gpu_array_of(call, array);
    if (array.read_only())
        return HostNDArray(array.owner, static_cast<const void*>(array.data), array.dtype, array.layout);
    return HostNDArray(array.owner, array.data, array.dtype, array.layout);
}

/// Sets all of *array, with a handle of memory for what keeps it.
template <class Array>
void write_new(const char* call, hsadrv_array* array, const Array& made, AgentRef gpu, bool read_only) {
    hsadrv_array facts{};
    if (read_only) facts.flags |= HSADRV_ARRAY_READ_ONLY;
    if (gpu) {
        const Driver driver = Driver::current(call);
        const auto& gpus = driver.gpus();
        facts.flags |= HSADRV_ARRAY_ON_GPU;
        facts.gpu = static_cast<std::uint32_t>(std::find(gpus.begin(), gpus.end(), gpu) - gpus.begin());
    }
    auto* const first = static_cast<std::byte*>(const_cast<void*>(made.data()));
    const ByteRange extent = made.layout().extent();
    if (made.keep_alive())
        facts.memory = new_memory(first ? first + extent.begin : nullptr, static_cast<std::size_t>(extent.size_bytes()),
                                  gpu, made.keep_alive());
    write_array(array, facts, made.dtype(), made.layout(), first);
}

}  // namespace

hsadrv_result hsadrv_array_export_ipc(const hsadrv_array* array, char* text, size_t capacity, size_t* size) noexcept {
    return call("hsadrv_array_export_ipc", [&](const char* name) {
        output(name, "size", size) = 0;
        const GivenArray whole(name, "array", array);
        const std::string line = to_ipc(gpu_array_of(name, whole));
        *size = line.size() + 1;
        if (text == nullptr && capacity == 0) return;
        required(name, "text", text);
        if (capacity <= line.size())
            throw InvalidArgument(std::string(name) + ": the text has " + std::to_string(*size) + " B, the room " +
                                  std::to_string(capacity) + " B");
        std::memcpy(text, line.c_str(), *size);
    });
}

hsadrv_result hsadrv_array_attach_ipc(hsadrv_device device, const char* text, hsadrv_array* array) noexcept {
    return call("hsadrv_array_attach_ipc", [&](const char* name) {
        const AgentRef gpu = device_of(name, device);
        require_room(name, "array", array);
        write_new(name, array, from_ipc(required(name, "text", text), gpu), gpu, false);
    });
}

hsadrv_result hsadrv_array_export_dlpack(const hsadrv_array* array, uint32_t versioned, void** tensor) noexcept {
    return call("hsadrv_array_export_dlpack", [&](const char* name) {
        output(name, "tensor", tensor) = nullptr;
        const GivenArray whole(name, "array", array);
        const DlpackArray shared = shared_array_of(name, whole);
        *tensor = versioned != 0 ? static_cast<void*>(to_dlpack_versioned(shared).release())
                                 : static_cast<void*>(to_dlpack(shared).release());
    });
}

hsadrv_result hsadrv_array_release_dlpack(void* tensor, uint32_t versioned) noexcept {
    return call("hsadrv_array_release_dlpack", [&](const char* name) {
        required(name, "tensor", tensor);
        if (versioned != 0)
            DlpackDeleter()(static_cast<DLManagedTensorVersioned*>(tensor));
        else
            DlpackDeleter()(static_cast<DLManagedTensor*>(tensor));
    });
}

void hsadrv_array_end_capsule(void* capsule) noexcept {
    const auto is_valid = reinterpret_cast<int (*)(void*, const char*)>(::dlsym(RTLD_DEFAULT, "PyCapsule_IsValid"));
    const auto pointer = reinterpret_cast<void* (*)(void*, const char*)>(::dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer"));
    if (is_valid == nullptr || pointer == nullptr) return;  // no interpreter
    for (const auto& [name, versioned] : {std::pair{"dltensor", 0u}, std::pair{"dltensor_versioned", 1u}})
        if (is_valid(capsule, name) != 0) hsadrv_array_release_dlpack(pointer(capsule, name), versioned);
}

hsadrv_result hsadrv_array_import_dlpack(void* tensor, uint32_t versioned, hsadrv_array* array) noexcept {
    return call("hsadrv_array_import_dlpack", [&](const char* name) {
        require_room(name, "array", array);
        const auto [made, read_only] = detail::import_dlpack(required(name, "tensor", tensor), versioned != 0);
        if (const auto* const on_gpu = std::get_if<DeviceNDArray>(&made))
            write_new(name, array, *on_gpu, on_gpu->agent(), read_only);
        else
            write_new(name, array, std::get<HostNDArray>(made), {}, read_only);
    });
}
