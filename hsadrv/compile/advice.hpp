// Internal: remedies for errors of clang and its linker whose messages name none.
//
//     text += advice_on(what_clang_said);   // "" if there is nothing to add
//
//     const std::string warning = warning_on(clang.major, options.level);   // before it compiles
//
// Pure. Thread safety: no state.
#pragma once

#include <string>
#include <string_view>

namespace hsadrv::detail {

/// For mathematical functions, as no library is linked for them: `said` is clang's output.
std::string advice_on(const std::string& said);

/// Known miscompilations of a clang version at an optimisation level (-O); "" if none is known.
std::string warning_on(unsigned clang_major, std::string_view level);

}  // namespace hsadrv::detail
