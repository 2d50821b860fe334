// The names of metadata values in hsadrv objdump, in text and JSON.
//
// Pure. Thread safety: no state.
#pragma once

#include <string>
#include <string_view>

#include "hsadrv/metadata.hpp"

namespace hsadrv_tool::objdump {

/// "global"; empty if there is none.
std::string_view to_string(hsadrv::AddressSpace space);
/// "read_only"; empty if not stated.
std::string_view to_string(hsadrv::Access access);
std::string_view to_string(hsadrv::KernelKind kind);

/// "global_buffer", or the compiler's word if it is unknown.
std::string kind_text(const hsadrv::ArgumentMetadata& argument);

/// The demangled name of a C++ symbol; empty for other symbols.
std::string demangled(const std::string& symbol);

/// For a terminal: escapes control characters in names and messages, except newlines.
std::string printable(std::string_view text);

}  // namespace hsadrv_tool::objdump
