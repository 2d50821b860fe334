// Internal: the files that a rule for make, as clang -MD writes it, lists.
//
//     prerequisites_of("k.o: a.hpp \\\n  my\\ folder/b.hpp\n")   // "a.hpp", "my folder/b.hpp"
//
// Pure. Thread safety: no state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hsadrv::detail {

/// Names as the file system has them. The first word, the target, is skipped.
std::vector<std::string> prerequisites_of(std::string_view rule);

}  // namespace hsadrv::detail
