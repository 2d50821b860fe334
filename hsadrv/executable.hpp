// Executable: a code object loaded on one GPU.
//
//     auto code = Executable::load(gpu, "vector_add.hsaco");      // an ELF code object, or a bundle of
//     several Kernel kernel = code.kernel("vector_add");
//
// The file is read once, and everything in it is validated before the runtime's loader sees it. Owns: the
// loaded code, shared with its Kernels and with copies of itself; it is unloaded when the last of them goes,
// which must not be while a kernel of it runs. Keeps alive: the runtime. Thread safety: const functions from
// any thread. Source: hsa.h, "Code Objects and Executables".
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hsadrv/agent.hpp"
#include "hsadrv/code_object.hpp"
#include "hsadrv/kernel.hpp"

namespace hsadrv {

namespace detail {
struct ExecutableState;
}

class Executable {
  public:
    /// Throws InvalidCodeObject: unreadable, truncated, malformed, for another target (which one is wanted
    /// and given), or refused by the runtime; Error if the file cannot be opened or is not a regular file.
    static Executable load(AgentRef gpu, const std::filesystem::path& file);

    /// The same from memory. `name` is how messages call it. Copies what it needs of `bytes`.
    static Executable load(AgentRef gpu, std::span<const std::byte> bytes,
                           std::string name = "code object in memory");

    /// Throws InvalidArgument listing the kernels there are, when the name is unknown; InvalidCodeObject when
    /// the kernel needs what we do not provide (see hidden_arguments.hpp).
    Kernel kernel(std::string_view name) const;

    const CodeObject& code_object() const noexcept;
    AgentRef agent() const noexcept;

  private:
    explicit Executable(std::shared_ptr<detail::ExecutableState> state) noexcept : state_(std::move(state)) {}

    std::shared_ptr<detail::ExecutableState> state_;
};

}  // namespace hsadrv
