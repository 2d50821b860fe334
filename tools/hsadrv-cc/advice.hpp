// Advice: what a user can do about errors of clang and of its linker that do not say it.
//
//     throw Failure(status, advice_on(what_clang_said));   // "" where there is nothing to add
//
//     const std::string warning = warning_on(clang.major, options.level);   // before it compiles
//
// Pure. Thread safety: no state.
#pragma once

#include <string>
#include <string_view>

namespace hsadrv_cc {

/// On mathematical functions, for which no library is linked: `said` is clang's output.
std::string advice_on(const std::string& said);

/// What that version of clang makes wrong at that level of optimisation (-O); "" if nothing is known.
std::string warning_on(unsigned clang_major, std::string_view level);

}  // namespace hsadrv_cc
