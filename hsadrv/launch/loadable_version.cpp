#include "hsadrv/launch/loadable_version.hpp"

#include <elf.h>
#include <hsa/hsa.h>

#include <cstring>
#include <vector>

#include "hsadrv/launch/executable_state.hpp"
#include "hsadrv/target_id.hpp"

namespace hsadrv {
namespace {

// V4 to V6 encode features alike (LLVM AMDGPUUsage, e_flags); V6 adds the generic version in the highest byte.
constexpr unsigned oldest_of_that_kind = 4;
constexpr std::uint32_t generic_version_mask = 0xff000000;

// V3 has one bit per feature and no encoding for "any": such code is for a GPU with the feature, or for one without.
constexpr std::uint32_t processor_mask = 0xff, v3_xnack = 0x100, v3_sramecc = 0x200;

std::uint32_t v3_flags(std::uint32_t flags, AgentRef gpu) {
    const TargetId target = TargetId::parse(gpu.isas().front().name);
    return (flags & processor_mask) | (target.xnack == TargetFeature::on ? v3_xnack : 0) |
           (target.sramecc == TargetFeature::on ? v3_sramecc : 0);
}

std::vector<std::byte> relabelled(std::span<const std::byte> bytes, unsigned version, AgentRef gpu) {
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    Elf64_Ehdr header;
    std::memcpy(&header, copy.data(), sizeof header);
    header.e_ident[EI_ABIVERSION] = static_cast<std::uint8_t>(version - 2);
    header.e_flags =
        version < oldest_of_that_kind ? v3_flags(header.e_flags, gpu) : header.e_flags & ~generic_version_mask;
    std::memcpy(copy.data(), &header, sizeof header);
    return copy;
}

bool loads(AgentRef gpu, std::span<const std::byte> bytes, const CodeObject& code) {
    hsa_code_object_reader_t native_reader{};
    if (hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &native_reader) != HSA_STATUS_SUCCESS)
        return false;
    const UniqueHandle<detail::ReaderTraits> reader(native_reader);
    hsa_executable_t native{};
    if (hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &native) !=
        HSA_STATUS_SUCCESS)
        return false;
    const UniqueHandle<detail::ExecutableTraits> executable(native);
    // Undefined symbols must not be the reason. Nothing runs, so any address will do.
    for (const std::string& name : code.undefined) {
        void* const somewhere = const_cast<std::byte*>(bytes.data());
        hsa_executable_agent_global_variable_define(native, gpu.native(), name.c_str(), somewhere);
    }
    return hsa_executable_load_agent_code_object(native, gpu.native(), native_reader, nullptr, nullptr) ==
           HSA_STATUS_SUCCESS;
}

}  // namespace

std::optional<unsigned> newest_loadable_version(AgentRef gpu, std::span<const std::byte> bytes,
                                                const CodeObject& code) {
    for (unsigned version = code.version; version > oldest_of_that_kind;) {
        if (loads(gpu, relabelled(bytes, --version, gpu), code)) return version;
    }
    return std::nullopt;
}

std::vector<unsigned> loadable_versions(AgentRef gpu, std::span<const std::byte> bytes, const CodeObject& code) {
    constexpr unsigned oldest = 3, newest = 6;
    std::vector<unsigned> versions;
    for (unsigned version = oldest; version <= newest; ++version)
        if (loads(gpu, relabelled(bytes, version, gpu), code)) versions.push_back(version);
    return versions;
}

}  // namespace hsadrv
