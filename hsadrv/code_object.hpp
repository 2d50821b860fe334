// CodeObject: the validated facts of one code object: its target, version and kernels.
//
//     CodeObject code = read_code_object(extract_code_object(file_bytes, agent_targets));
//     if (const KernelMetadata* kernel = code.find("vector_add")) use(kernel->arguments);
//
// Needs no device and no HSA. Owns: its facts; it does not refer to the bytes. Thread safety: a plain value. Source:
// LLVM AMDGPUUsage, Code Object.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/elf_image.hpp"
#include "hsadrv/metadata.hpp"
#include "hsadrv/target_id.hpp"

namespace hsadrv {

struct CodeObject {
    unsigned version = 0;  ///< 3 to 6, as in -mcode-object-version
    TargetId target;
    std::vector<KernelMetadata> kernels;
    std::vector<std::string> printf_formats;  ///< "ID:number of arguments:their sizes:format"
    std::vector<VariableFacts> variables;
    std::vector<std::string> functions;  ///< visible device functions, without kernels
    std::vector<std::string> undefined;  ///< symbols that another code object or the caller must define
    bool has_symbol_table = true;        ///< false: stripped
    /// Device-library functions that need a host service or a device heap are linked in. hsadrv provides neither.
    bool calls_hostcall = false, calls_device_malloc = false;

    const KernelMetadata* find(std::string_view kernel_name) const;  ///< null if unknown
    std::string kernel_names() const;                                ///< "'a', 'b'", for messages
};

/// Reads and validates one ELF code object: offsets, segments, symbols, relocations, kernel descriptors and metadata,
/// and their consistency. Throws InvalidCodeObject naming the defect and its place.
CodeObject read_code_object(std::span<const std::byte> file);

}  // namespace hsadrv
