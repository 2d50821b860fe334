// Internal: the messages in what clang and its linker print.
//
//     for (const Diagnostic& said : diagnostics_in("k.cpp:3:5: error: expected ';'\n")) …   // line 3, column 5
//
// Pure. Thread safety: no state. Source: clang's manual, "Formatting of Diagnostics"; LLVM's SMDiagnostic; ld.lld.
#pragma once

#include <string_view>
#include <vector>

#include "hsadrv/compile.hpp"

namespace hsadrv::detail {

/// In order. Quoted source lines and lines that belong to no message are skipped.
std::vector<Diagnostic> diagnostics_in(std::string_view printed);

}  // namespace hsadrv::detail
