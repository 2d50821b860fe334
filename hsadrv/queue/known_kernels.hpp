// Internal: what messages know of kernels: their names and arguments, by kernel object.
//
// A kernel is noted when it is first looked up and forgotten when its executable is unloaded.
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hsadrv/metadata.hpp"

namespace hsadrv::detail {

void note_kernel(std::uint64_t kernel_object, std::string name, std::vector<ArgumentMetadata> arguments = {},
                 std::weak_ptr<const void> code = {});
void forget_kernel(std::uint64_t kernel_object) noexcept;

/// Keeps its code loaded; null if it was not noted.
std::shared_ptr<const void> kernel_code(std::uint64_t kernel_object);

/// "vector_add", or "kernel object 0x…" for one that nobody noted.
std::string kernel_name(std::uint64_t kernel_object);

/// "kernel vector_add", or "kernel object 0x…" for one that nobody noted.
std::string kernel_label(std::uint64_t kernel_object);

/// The same with the arguments in `kernarg`, the hidden ones left out: "kernel scale(data = 0x7f…, n = 1024)".
/// `kernarg` may be null.
std::string kernel_call_text(std::uint64_t kernel_object, const std::byte* kernarg);

/// One argument's value: a pointer or a structure in hexadecimal, a number as its type says.
std::string argument_text(const ArgumentMetadata& argument, const std::byte* kernarg);

}  // namespace hsadrv::detail
