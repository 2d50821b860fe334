// Depfiles: merges the rules that clang -MD writes per source and target into one rule for one output.
//
//     std::string rule = merge_depfiles(texts);   // "k.hsaco: \\\n  k.cpp \\\n  k.hpp\n"
//
// Names keep clang's escapes for make and ninja. Pure. Thread safety: no state.
#pragma once

#include <span>
#include <string>

namespace hsadrv_cc {

/// Each text is one rule, all with the same target (-MQ). The merged rule lists every prerequisite once, in order.
std::string merge_depfiles(std::span<const std::string> texts);

}  // namespace hsadrv_cc
