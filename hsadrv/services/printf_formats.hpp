// Internal: what OpenCL C's printf has left in its buffer, as texts.
//
//     PrintfFormats formats(code.printf_formats);   // of the code object's metadata
//     formats.print(records, [](std::string_view text) { … });
//
// The compiler keeps the format strings, and stores a record for each call: the format's number, and the arguments, of
// whole dwords. Formats are OpenCL's: vectors ("%v4hlf") are printed element by element. Nothing in a buffer is
// trusted. Pure. Thread safety: const functions from any thread. Source: LLVM, AMDGPUPrintfRuntimeBinding.cpp; OpenCL C
// 2.0, printf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hsadrv::detail {

class PrintfFormats {
  public:
    /// Each dword of a buffer, before a kernel writes it.
    static constexpr std::uint32_t unwritten = 0xb5c3a59d;

    /// Lines of the form "number:count:size in bytes:…:format". Ignores others.
    explicit PrintfFormats(std::span<const std::string> lines);

    /// Calls `print` with each record's text. False if a record's format is unknown: where the next begins is unknown,
    /// too.
    bool print(std::span<const std::byte> records, const std::function<void(std::string_view)>& print) const;

  private:
    struct Format {
        std::vector<std::uint32_t> sizes_bytes;  // of the arguments
        std::string text;
    };
    std::map<std::uint32_t, Format> formats_;
};

}  // namespace hsadrv::detail
