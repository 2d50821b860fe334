// Executable: code loaded on one GPU.
//
//     auto code = Executable::load(gpu, "vector_add.hsaco");      // an ELF code object, or a bundle of several
//     Kernel kernel = code.kernel("vector_add");
//     DeviceGlobal scale = code.global("scale");
//
// Of several code objects: executable_builder.hpp. The file is read once, and everything in it is validated before the
// runtime's loader sees it. Owns: the loaded code, shared with its Kernels, DeviceGlobals and with copies of itself;
// when the last of them goes it is unloaded, after what is in flight on its GPU's streams then. What runs otherwise,
// in a Graph that was captured before or in queues of your own, needs it kept. Keeps alive: the runtime. Thread
// safety: const functions from any thread. Source: hsa.h, "Code Objects and Executables".
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/bound_kernel.hpp"
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
    /// Throws InvalidCodeObject: unreadable, truncated, malformed, for another target (which one is wanted
    /// and given), or refused by the runtime; Error if the file cannot be opened or is not a regular file.
    static Executable load(AgentRef gpu, const FilePath& file);

    /// The same from memory. `name` is how messages call it. Copies what it needs of `bytes`.
    static Executable load(AgentRef gpu, std::span<const std::byte> bytes, std::string name = "code object in memory");

    /// Throws InvalidArgument listing the kernels there are, when the name is unknown; InvalidCodeObject when
    /// the kernel needs what we do not provide (see hidden_arguments.hpp).
    Kernel kernel(std::string_view name) const;

    /// A variable by its symbol's name, those given to ExecutableBuilder::define among them. Throws InvalidArgument
    /// listing the variables there are.
    DeviceGlobal global(std::string_view name) const;

    /// Everything that has a name: kernels, variables and what else the runtime's loader made public.
    std::vector<Symbol> symbols() const;

    /// What was loaded, in the order of loading. Throws InvalidArgument if there are not so many.
    const CodeObject& code_object(std::size_t index = 0) const;
    std::size_t code_object_count() const noexcept;
    AgentRef agent() const noexcept;

  private:
    friend class ExecutableBuilder;
    explicit Executable(std::shared_ptr<detail::ExecutableState> state) noexcept : state_(std::move(state)) {}

    std::shared_ptr<detail::ExecutableState> state_;
};

}  // namespace hsadrv
