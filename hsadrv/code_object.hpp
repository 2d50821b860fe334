// CodeObject: the facts of one code object, validated: for which target, of which version, with which kernels.
//
//     CodeObject code = read_code_object(extract_code_object(file_bytes, agent_targets));
//     if (const KernelMetadata* kernel = code.find("vector_add")) use(kernel->arguments);
//
// Bytes in, facts out; no device, no HSA. Owns: its facts, nothing of the bytes. Thread safety: a plain
// value. Source: LLVM AMDGPUUsage, Code Object.
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
    unsigned version = 0;  ///< 3 to 6, what -mcode-object-version said
    TargetId target;
    std::vector<KernelMetadata> kernels;
    std::vector<std::string> printf_formats;  ///< "ID:number of arguments:their sizes:format"
    std::vector<VariableFacts> variables;
    std::vector<std::string> functions;  ///< visible device functions, kernels left out
    std::vector<std::string> undefined;  ///< what another code object or the caller must define
    bool has_symbol_table = true;        ///< false: stripped
    /// Device-library functions that need the host or a device heap are linked in. What they need, we do not provide.
    bool calls_hostcall = false, calls_device_malloc = false;

    const KernelMetadata* find(std::string_view kernel_name) const;  ///< null if there is none
    std::string kernel_names() const;                                ///< "'a', 'b'", for messages
};

/// Reads and validates one ELF code object: offsets, segments, symbols, relocations, kernel descriptors and
/// metadata, and that these agree. Throws InvalidCodeObject saying what is wrong where.
CodeObject read_code_object(std::span<const std::byte> file);

}  // namespace hsadrv
