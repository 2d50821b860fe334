// Executable: code loaded on one GPU.
//
//     auto code = Executable::load(gpu, "vector_add.hsaco");      // an ELF code object, or a bundle of several
//     Kernel kernel = code.kernel("vector_add");
//     DeviceGlobal scale = code.global("scale");
//
// Of several code objects: executable_builder.hpp. The file is read once, and validated before the runtime's loader
// sees it. Owns: the loaded code, shared with its Kernels, DeviceGlobals and copies. When the last of them is
// destroyed, the code is unloaded after the work then in flight on its GPU's streams. For a captured Graph and for
// packets on your own queues, keep the Executable alive. Keeps alive: the runtime. Thread safety: const functions from
// any thread. Source: hsa.h, "Code Objects and Executables".
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/code_object.hpp"
#include "hsadrv/device_global.hpp"
#include "hsadrv/file_path.hpp"
#include "hsadrv/kernel.hpp"
#include "hsadrv/symbol.hpp"

namespace hsadrv {

namespace detail {
struct ExecutableState;
}

class Executable {
  public:
    /// Throws InvalidCodeObject if the file is unreadable, truncated, malformed, for another target (both are named),
    /// or refused by the runtime; Error if it cannot be opened or is not a regular file.
    static Executable load(AgentRef gpu, const FilePath& file);

    /// The same from memory. `name` is its name in messages. Copies what it needs of `bytes`.
    static Executable load(AgentRef gpu, std::span<const std::byte> bytes, std::string name = "code object in memory");

    /// Throws InvalidArgument listing the kernels if the name is unknown; InvalidCodeObject if the kernel needs a
    /// service that hsadrv does not provide (see hidden_arguments.hpp).
    Kernel kernel(std::string_view name) const;

    /// A variable by its symbol's name, including those given to ExecutableBuilder::define. Throws InvalidArgument
    /// listing the variables if the name is unknown.
    DeviceGlobal global(std::string_view name) const;

    /// All exported symbols: kernels, variables and others that the runtime's loader reports.
    std::vector<Symbol> symbols() const;

    /// The loaded code objects, in the order of loading. Throws InvalidArgument if the index is out of range.
    const CodeObject& code_object(std::size_t index = 0) const;
    std::size_t code_object_count() const noexcept;
    AgentRef agent() const noexcept;

  private:
    friend class ExecutableBuilder;
    explicit Executable(std::shared_ptr<detail::ExecutableState> state) noexcept : state_(std::move(state)) {}

    std::shared_ptr<detail::ExecutableState> state_;
};

}  // namespace hsadrv
