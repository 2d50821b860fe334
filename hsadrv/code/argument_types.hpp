// Internal: the types of kernels' arguments that a code object states beside its metadata: in a section (see
// shared/device/kernel_types.hpp, which describes the format), and in the mangled names of C++ kernels.
//
//     add_argument_types(kernels, elf.argument_types);    // fills in ArgumentMetadata::type_name where it is empty
//     add_mangled_types(kernels);                         // likewise
//
// Pure function of bytes. Thread safety: no state. Throws: InvalidCodeObject for a record that ends too early. Records
// of kernels that are not there are ignored, and types that do not fit the kernel's metadata.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hsadrv/metadata.hpp"

namespace hsadrv::detail {

/// The section's name.
inline constexpr const char* argument_types_section = ".hsadrv.types";

void add_argument_types(std::vector<KernelMetadata>& kernels, std::span<const std::byte> section);

/// Names of the Itanium C++ ABI.
void add_mangled_types(std::vector<KernelMetadata>& kernels);

}  // namespace hsadrv::detail
