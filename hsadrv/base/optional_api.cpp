#include "hsadrv/optional_api.hpp"

#include <dlfcn.h>

#include <type_traits>

#include "hsadrv/error.hpp"

namespace hsadrv {

namespace {

// Passed by value and in arrays, so the layout is part of the ABI.
static_assert(sizeof(VmemHandle) == 8 && std::is_trivially_copyable_v<VmemHandle>);
static_assert(sizeof(VmemAccess) == 16 && offsetof(VmemAccess, agent) == 8);

/// The runtime that this process has already loaded, by the soname that all releases share. Not RTLD_DEFAULT, because
/// the global scope does not include a library loaded with RTLD_LOCAL.
void* loaded_runtime() {
    if (void* runtime = ::dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD)) return runtime;
    return RTLD_DEFAULT;
}

OptionalApi look_up() {
    void* runtime = loaded_runtime();
    const auto find = [&](const char* name) { return ::dlsym(runtime, name); };
#define HSADRV_OPTIONAL(member, since) .member = {"hsa_amd_" #member, since, find("hsa_amd_" #member)}
    OptionalApi api{
        HSADRV_OPTIONAL(memory_async_copy_on_engine, "5.6"),
        HSADRV_OPTIONAL(memory_copy_engine_status, "5.6"),
        HSADRV_OPTIONAL(portable_export_dmabuf, "5.6"),
        HSADRV_OPTIONAL(portable_close_dmabuf, "5.6"),
        HSADRV_OPTIONAL(vmem_address_reserve, "6.0"),
        HSADRV_OPTIONAL(vmem_address_free, "6.0"),
        HSADRV_OPTIONAL(vmem_handle_create, "6.0"),
        HSADRV_OPTIONAL(vmem_handle_release, "6.0"),
        HSADRV_OPTIONAL(vmem_map, "6.0"),
        HSADRV_OPTIONAL(vmem_unmap, "6.0"),
        HSADRV_OPTIONAL(vmem_set_access, "6.0"),
        HSADRV_OPTIONAL(vmem_get_access, "6.0"),
        HSADRV_OPTIONAL(vmem_export_shareable_handle, "6.0"),
        HSADRV_OPTIONAL(vmem_import_shareable_handle, "6.0"),
        HSADRV_OPTIONAL(signal_wait_all, "6.4"),
        HSADRV_OPTIONAL(queue_get_info, "6.2"),
    };
#undef HSADRV_OPTIONAL
    // Drops the reference that dlopen took: this library is linked to the runtime and keeps it loaded.
    if (runtime != RTLD_DEFAULT) ::dlclose(runtime);
    return api;
}

}  // namespace

const OptionalApi& optional_api() {
    static const OptionalApi api = look_up();
    return api;
}

std::string runtime_build_version() {
    const char* build = nullptr;
    const auto attribute = static_cast<hsa_system_info_t>(HSA_AMD_SYSTEM_INFO_BUILD_VERSION);
    if (hsa_system_get_info(attribute, &build) != HSA_STATUS_SUCCESS || build == nullptr) return {};
    std::string text = build;
    std::erase(text, '"');  // some builds include the quotes of a macro
    return text;
}

std::string runtime_version_text() {
    if (const std::string build = runtime_build_version(); !build.empty()) return "ROCR " + build;
    std::uint16_t major = 0, minor = 0;
    if (hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS &&
        hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor) == HSA_STATUS_SUCCESS)
        return "HSA runtime " + std::to_string(major) + "." + std::to_string(minor);
    return "HSA runtime, not initialised";
}

void throw_not_offered(const char* name, const char* since) {
    throw NotOffered(std::string(name) + "(): not offered by this runtime (" + runtime_version_text() +
                     "): it came with ROCm " + since);
}

}  // namespace hsadrv
