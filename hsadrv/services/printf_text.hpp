// Internal: formats what a kernel's printf sends.
//
//     std::string text = printf_text(words);   // words: the format, padded to whole words, and its arguments
//
// Each number or pointer is one word, and a string is as many as it and its zero take. Conversions and flags are those
// of C's printf, but for %n and wide characters. Nothing that a kernel sends is trusted: an argument that is missing is
// formatted as "%…" itself, and nothing outside of `words` is read. Pure. Thread safety: no state but the C locale.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hsadrv::detail {

/// The words of a kernel's message, read from the front.
class MessageReader {
  public:
    explicit MessageReader(std::span<const std::uint64_t> words) noexcept : words_(words) {}
    bool empty() const noexcept { return words_.empty(); }
    /// 0 if there is none.
    std::uint64_t word() noexcept;
    /// Up to its zero, or to the end of the words.
    std::string_view text() noexcept;

  private:
    std::span<const std::uint64_t> words_;
};

std::string printf_text(std::span<const std::uint64_t> words);

}  // namespace hsadrv::detail
