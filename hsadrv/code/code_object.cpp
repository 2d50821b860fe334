#include "hsadrv/code_object.hpp"

#include <algorithm>
#include <unordered_map>

#include "hsadrv/code/argument_types.hpp"
#include "hsadrv/error.hpp"
#include "shared/compute_unit.hpp"

namespace hsadrv {
namespace {

void check_equal(const KernelMetadata& kernel, const char* what, std::uint32_t metadata, std::uint32_t descriptor) {
    if (metadata == descriptor) return;
    throw InvalidCodeObject("code object: kernel '" + kernel.name + "': " + what + " is " + std::to_string(metadata) +
                            " in the metadata and " + std::to_string(descriptor) + " in the kernel descriptor");
}

/// What the metadata do not say, or not in every version. COMPUTE_PGM_RSRC1 counts granules less one (AMDGPUUsage,
/// Kernel Descriptor).
void add_descriptor_facts(KernelMetadata& kernel, const KernelDescriptor& descriptor, const shared::ComputeUnit& unit) {
    const std::uint32_t rsrc1 = descriptor.compute_pgm_rsrc1;
    const std::uint32_t vgpr_granule = unit.unified_vgprs || unit.width(kernel.wavefront_size) == 2 ? 8 : 4;
    kernel.vgpr_floor = (rsrc1 & 0x3f) * vgpr_granule + 1;
    if (unit.sgprs) kernel.sgpr_floor = (rsrc1 >> 6 & 0xf) * 8 + 1;
    if (unit.wide_registers) kernel.workgroup_processor_mode = rsrc1 >> 29 & 1;
}

/// The metadata is what we launch by, the descriptor what the device obeys.
void check_descriptors(CodeObject& code, const ElfImage& elf) {
    const shared::ComputeUnit unit = shared::compute_unit(code.target.processor.c_str());
    std::unordered_map<std::string_view, const KernelDescriptor*> descriptors;
    for (const KernelDescriptor& descriptor : elf.kernel_descriptors)
        descriptors.emplace(descriptor.symbol, &descriptor);
    for (KernelMetadata& kernel : code.kernels) {
        const auto found = descriptors.find(kernel.symbol);
        if (found == descriptors.end()) {
            throw InvalidCodeObject("code object: kernel '" + kernel.name + "' has no symbol '" + kernel.symbol + "'");
        }
        const KernelDescriptor& descriptor = *found->second;
        check_equal(kernel, "the group segment size", kernel.group_segment_fixed_bytes,
                    descriptor.group_segment_fixed_size);
        check_equal(kernel, "the private segment size", kernel.private_segment_fixed_bytes,
                    descriptor.private_segment_fixed_size);
        // Compilers before V4 left it out.
        if (descriptor.kernarg_size)
            check_equal(kernel, "the kernarg size", kernel.kernarg_size_bytes, descriptor.kernarg_size);
        if (unit.known()) add_descriptor_facts(kernel, descriptor, unit);
    }
}

/// The ELF flags are the truth; what the metadata says may be spelled otherwise but may not name another processor.
void check_target(const CodeObject& code, const std::string& text) {
    if (text.empty()) return;
    std::string why;
    const auto said = TargetId::try_parse(text, &why);
    if (!said) throw InvalidCodeObject("code object metadata: " + why);
    if (*said != code.target) {
        throw InvalidCodeObject("code object: for " + said->name() + " by its metadata and for " + code.target.name() +
                                " by its ELF flags");
    }
}

}  // namespace

const KernelMetadata* CodeObject::find(std::string_view kernel_name) const {
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const KernelMetadata& kernel) { return kernel.name == kernel_name; });
    return found == kernels.end() ? nullptr : &*found;
}

std::string CodeObject::kernel_names() const {
    std::string text;
    for (const KernelMetadata& kernel : kernels) text += (text.empty() ? "'" : ", '") + kernel.name + "'";
    return text.empty() ? "none" : text;
}

CodeObject read_code_object(std::span<const std::byte> file) {
    ElfImage elf = read_elf_image(file);
    Metadata metadata = read_metadata(elf.metadata_note);

    CodeObject code;
    code.version = elf.code_object_version;
    code.target = elf.target;
    code.kernels = std::move(metadata.kernels);
    code.printf_formats = std::move(metadata.printf_formats);
    code.has_symbol_table = elf.has_symbol_table;
    code.calls_hostcall = elf.calls_hostcall;
    code.calls_device_malloc = elf.calls_device_malloc;
    check_target(code, metadata.target);
    check_descriptors(code, elf);
    detail::add_argument_types(code.kernels, elf.argument_types);
    detail::add_mangled_types(code.kernels);
    code.variables = std::move(elf.variables);
    code.functions = std::move(elf.functions);
    code.undefined = std::move(elf.undefined);
    return code;
}

}  // namespace hsadrv
