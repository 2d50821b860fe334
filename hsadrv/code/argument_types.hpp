// Internal: the types of kernels' arguments that a code object states beside its metadata (HSADRV_ARGUMENT_TYPES in
// shared/device/argument_types.hpp, which describes the format).
//
//     add_argument_types(kernels, elf.argument_types);    // fills in ArgumentMetadata::type_name where it is empty
//
// Pure function of bytes. Thread safety: no state. Throws: InvalidCodeObject for a record that ends too early, and for
// types that do not fit the kernel's metadata. Records of kernels that are not there are ignored.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hsadrv/metadata.hpp"

namespace hsadrv::detail {

/// The section's name.
inline constexpr const char* argument_types_section = ".hsadrv.types";

void add_argument_types(std::vector<KernelMetadata>& kernels, std::span<const std::byte> section);

}  // namespace hsadrv::detail
