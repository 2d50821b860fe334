// What somebody who misspelt a word may have meant.
//
//     nearest("completoin", words);   // "completion"
//
// Pure. Thread safety: no state.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tools {

/// Of the words that a few letters put in, left out or changed make of `word`, the nearest; the first of equally near
/// ones. Empty if there is none: a few are two, or a quarter of a long word.
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace tools
