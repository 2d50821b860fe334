// Depfiles: what clang -MD writes of each source and target, made one rule for one output.
//
//     std::string rule = merge_depfiles(texts);   // "k.hsaco: \\\n  k.cpp \\\n  k.hpp\n"
//
// Names stay as clang escaped them for make and ninja. Pure. Thread safety: no state.
#pragma once

#include <span>
#include <string>

namespace hsadrv_cc {

/// Each text is one rule with the same target (-MQ). The merged rule has that target and every prerequisite once, in
/// order.
std::string merge_depfiles(std::span<const std::string> texts);

}  // namespace hsadrv_cc
