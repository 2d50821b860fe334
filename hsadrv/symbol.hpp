// Symbol: a named kernel, variable or indirect function of a loaded Executable.
//
//     for (const Symbol& symbol : executable.symbols()) std::puts(symbol.name.c_str());
//
// Thread safety: plain values. Source: hsa.h, hsa_executable_symbol_info_t.
#pragma once

#include "shared/cpp20.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hsadrv {

struct Symbol {
    enum class Kind : std::uint8_t { kernel, variable, indirect_function };
    /// Agent: each GPU has its own. Program: one shared by all GPUs.
    enum class Scope : std::uint8_t { agent, program };

    std::string name;  ///< "counter"; a kernel's ends with ".kd"
    Kind kind = Kind::variable;
    Scope scope = Scope::agent;
    std::uint64_t address = 0;     ///< on the agent; for a kernel, its kernel object
    std::uint64_t size_bytes = 0;  ///< of a variable; 0 if unknown to the runtime
};

/// "kernel", "variable", "indirect function".
std::string_view to_string(Symbol::Kind kind);

}  // namespace hsadrv
