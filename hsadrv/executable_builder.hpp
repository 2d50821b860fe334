// ExecutableBuilder: loads several code objects, and variables defined by the program, as one Executable.
//
//     Executable code = ExecutableBuilder(gpu)
//                           .define("table", table.data(), table.size_bytes())  // extern int table[]; in the kernels
//                           .add("library.hsaco")                               // the others use its variables
//                           .add("kernels.hsaco")
//                           .build();
//
// Every code object is validated when it is added, before the runtime's loader sees it. They may use each
// other's variables, not each other's functions: the HSA loader does not link those. They may be added in any order.
// Owns: what was added, until build(). Borrows the memory of define() for as long as the Executable lives, unless
// keep_alive is given. Thread safety: none, one thread builds. Throws: see each function; what was added before stays.
// Source: hsa.h, hsa_executable_load_agent_code_object and hsa_executable_agent_global_variable_define.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/executable.hpp"
#include "hsadrv/file_path.hpp"
#include "hsadrv/target_id.hpp"

namespace hsadrv {

class ExecutableBuilder {
  public:
    explicit ExecutableBuilder(AgentRef gpu);
    ExecutableBuilder(ExecutableBuilder&&) noexcept;
    ExecutableBuilder& operator=(ExecutableBuilder&&) noexcept;
    ~ExecutableBuilder();

    /// An ELF code object or a bundle, read once. Throws InvalidCodeObject if the file is unreadable, truncated,
    /// malformed, for another target (both are named), or defines a symbol that another one defines (both are named);
    /// Error if it cannot be opened or is not a regular file.
    ExecutableBuilder& add(const FilePath& file);

    /// The same from memory. `name` is its name in messages. Copies what it needs of `bytes`.
    ExecutableBuilder& add(std::span<const std::byte> bytes, const std::string& name = "code object in memory");

    /// Gives the variable `name`, which the code objects declare and do not define, an address: device
    /// memory, pinned or registered host memory. Throws InvalidArgument if no agent can access the memory, if it is too
    /// small, and for a second definition.
    ExecutableBuilder& define(std::string name, void* address, std::size_t size_bytes,
                              std::shared_ptr<const void> keep_alive = {});

    /// Loads everything. Throws InvalidCodeObject for an undefined variable, for code objects that need each other's
    /// variables, and if the runtime refuses one (then with the newest version that it loads); OutOfMemory. The builder
    /// is empty once loading has begun.
    Executable build();

  private:
    void check_free(const std::string& symbol, const std::string& owner) const;
    bool defined(const std::string& symbol, std::size_t loaded_parts) const;
    void sort_by_need();
    [[noreturn]] void refuse_undefined(std::size_t loaded_parts) const;

    std::vector<TargetId> targets_;
    std::shared_ptr<detail::ExecutableState> state_;
};

}  // namespace hsadrv
