// The facts as text for people.
//
//     session.print(as_text(facts, options, session.terminal));
//
// Pure. Thread safety: no state.
#pragma once

#include <string>

#include "tools/hsadrv/objdump/facts.hpp"
#include "tools/hsadrv/objdump/options.hpp"
#include "tools/hsadrv/terminal.hpp"

namespace hsadrv_tool::objdump {

/// At most 100 columns, unless names are longer. Kernels have their arguments with --kernel or --verbose. Files with an
/// error are left out.
std::string as_text(const Facts& facts, const Options& options, const Terminal& terminal);

}  // namespace hsadrv_tool::objdump
