// Spelling suggestion: the known word nearest to a misspelt one.
//
//     nearest("completoin", words);   // "completion"
//
// Pure. Thread safety: no state.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tools {

/// The word with the smallest edit distance from `word`, the first of equal ones. Empty if none is within two edits, or
/// within a quarter of a long word's length.
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace tools
