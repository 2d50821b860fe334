#include "hsadrv/c/executable.h"

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

hsadrv_executable handle_of_code(Executable executable) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < executable.code_object_count(); ++i) {
        for (const KernelMetadata& kernel : executable.code_object(i).kernels) names.push_back(kernel.name);
    }
    return handle_of<hsadrv_executable>(std::make_shared<ExecutableObject>(std::move(executable), std::move(names)));
}

}  // namespace

hsadrv_result hsadrv_executable_load(hsadrv_device device, const void* bytes, size_t size_bytes, const char* name,
                                     hsadrv_executable* executable) noexcept {
    return call("hsadrv_executable_load", [&](const char* function) {
        output(function, "executable", executable) = nullptr;
        const AgentRef gpu = object<DeviceObject>(function, "device", device)->agent;
        const std::span code(static_cast<const std::byte*>(required(function, "bytes", bytes)), size_bytes);
        *executable = handle_of_code(Executable::load(gpu, code, name ? name : "code object in memory"));
    });
}

hsadrv_result hsadrv_executable_load_file(hsadrv_device device, const char* path,
                                          hsadrv_executable* executable) noexcept {
    return call("hsadrv_executable_load_file", [&](const char* name) {
        output(name, "executable", executable) = nullptr;
        const AgentRef gpu = object<DeviceObject>(name, "device", device)->agent;
        *executable = handle_of_code(Executable::load(gpu, FilePath(required(name, "path", path))));
    });
}

hsadrv_result hsadrv_executable_destroy(hsadrv_executable executable) noexcept {
    return call("hsadrv_executable_destroy",
                [&](const char* name) { take_object<ExecutableObject>(name, "executable", executable).reset(); });
}

hsadrv_result hsadrv_executable_kernel_count(hsadrv_executable executable, size_t* count) noexcept {
    return call("hsadrv_executable_kernel_count", [&](const char* name) {
        output(name, "count", count) = 0;
        *count = object<ExecutableObject>(name, "executable", executable)->kernels.size();
    });
}

hsadrv_result hsadrv_executable_kernel_name(hsadrv_executable executable, size_t index,
                                            const char** kernel_name) noexcept {
    return call("hsadrv_executable_kernel_name", [&](const char* name) {
        output(name, "name", kernel_name) = nullptr;
        const auto code = object<ExecutableObject>(name, "executable", executable);
        if (index >= code->kernels.size())
            throw InvalidArgument(std::string(name) + ": there is no kernel " + std::to_string(index) + ", but " +
                                  std::to_string(code->kernels.size()) + ", numbered from 0");
        *kernel_name = code->kernels[index].c_str();
    });
}

hsadrv_result hsadrv_executable_kernel(hsadrv_executable executable, const char* kernel_name,
                                       hsadrv_kernel* kernel) noexcept {
    return call("hsadrv_executable_kernel", [&](const char* name) {
        output(name, "kernel", kernel) = nullptr;
        const auto code = object<ExecutableObject>(name, "executable", executable);
        Kernel found = code->executable.kernel(required(name, "name", kernel_name));
        *kernel = handle_of<hsadrv_kernel>(std::make_shared<KernelObject>(std::move(found)));
    });
}

hsadrv_result hsadrv_executable_global(hsadrv_executable executable, const char* variable, void** address,
                                       size_t* size_bytes) noexcept {
    return call("hsadrv_executable_global", [&](const char* name) {
        output(name, "address", address) = nullptr;
        output(name, "size_bytes", size_bytes) = 0;
        const auto code = object<ExecutableObject>(name, "executable", executable);
        const DeviceGlobal global = code->executable.global(required(name, "name", variable));
        *address = global.address();
        *size_bytes = global.size_bytes();
    });
}
