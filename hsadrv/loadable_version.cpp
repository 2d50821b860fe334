#include "hsadrv/loadable_version.hpp"

#include <elf.h>
#include <hsa/hsa.h>

#include <cstring>
#include <vector>

#include "hsadrv/executable_state.hpp"

namespace hsadrv {
namespace {

// V4 to V6 write their features alike (LLVM AMDGPUUsage, e_flags); V6 adds the generic version in the highest
// byte.
constexpr unsigned oldest_of_that_kind = 4;
constexpr std::uint32_t generic_version_mask = 0xff000000;

std::vector<std::byte> relabelled(std::span<const std::byte> bytes, unsigned version) {
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    Elf64_Ehdr header;
    std::memcpy(&header, copy.data(), sizeof header);
    header.e_ident[EI_ABIVERSION] = static_cast<std::uint8_t>(version - 2);
    header.e_flags &= ~generic_version_mask;
    std::memcpy(copy.data(), &header, sizeof header);
    return copy;
}

bool loads(AgentRef gpu, std::span<const std::byte> bytes, const CodeObject& code) {
    hsa_code_object_reader_t native_reader{};
    if (hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &native_reader) !=
        HSA_STATUS_SUCCESS)
        return false;
    const UniqueHandle<detail::ReaderTraits> reader(native_reader);
    hsa_executable_t native{};
    if (hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                  &native) != HSA_STATUS_SUCCESS)
        return false;
    const UniqueHandle<detail::ExecutableTraits> executable(native);
    // What others define, that they are not there must not be why. Nothing runs, so any address will do.
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
        if (loads(gpu, relabelled(bytes, --version), code)) return version;
    }
    return std::nullopt;
}

}  // namespace hsadrv
