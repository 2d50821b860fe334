// The facts as text for people.
//
//     session.print(as_text(facts, options, session.terminal));
//
// Pure. Thread safety: no state.
#pragma once

#include <string>

#include "../terminal.hpp"
#include "facts.hpp"
#include "options.hpp"

namespace hsadrv_tool::objdump {

/// Of 100 columns at most, where names allow it. Kernels have their arguments where one is asked for, or with
/// --verbose. Files with an error are left out.
std::string as_text(const Facts& facts, const Options& options, const Terminal& terminal);

}  // namespace hsadrv_tool::objdump
