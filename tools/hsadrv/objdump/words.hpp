// What hsadrv objdump calls the parts of metadata, in text and JSON alike.
//
// Pure. Thread safety: no state.
#pragma once

#include <string>
#include <string_view>

#include "hsadrv/metadata.hpp"

namespace hsadrv_tool::objdump {

/// "global"; empty where there is none.
std::string_view to_string(hsadrv::AddressSpace space);
/// "read_only"; empty where nothing is stated.
std::string_view to_string(hsadrv::Access access);
std::string_view to_string(hsadrv::KernelKind kind);

/// "global_buffer", or the compiler's word where it is not a known one.
std::string kind_text(const hsadrv::ArgumentMetadata& argument);

/// The source's name for a C++ symbol; empty if it is none.
std::string demangled(const std::string& symbol);

/// For a terminal: control characters of names and messages, but for line ends, are shown instead of sent.
std::string printable(std::string_view text);

}  // namespace hsadrv_tool::objdump
