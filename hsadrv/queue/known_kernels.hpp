// Internal: names and arguments of kernels for messages, by kernel object.
//
// A kernel is recorded when it is first looked up and removed when its executable is unloaded. Thread safety: any
// thread.
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

/// Keeps the kernel's code loaded; null if it was not recorded.
std::shared_ptr<const void> kernel_code(std::uint64_t kernel_object);

/// "vector_add", or "kernel object 0x…" if it was not recorded.
std::string kernel_name(std::uint64_t kernel_object);

/// "kernel vector_add", or "kernel object 0x…" if it was not recorded.
std::string kernel_label(std::uint64_t kernel_object);

/// The same with the visible arguments in `kernarg`: "kernel scale(data = 0x7f…, n = 1024)". `kernarg` may be null.
std::string kernel_call_text(std::uint64_t kernel_object, const std::byte* kernarg);

/// One argument's value: a pointer or a structure in hexadecimal, a number formatted by its type.
std::string argument_text(const ArgumentMetadata& argument, const std::byte* kernarg);

}  // namespace hsadrv::detail
