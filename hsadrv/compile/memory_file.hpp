// Internal: a file in memory alone, for a child process to read or write.
//
//     MemoryFile source("kernel source", text);
//     MemoryFile messages("messages");
//     run({"clang", "-", "-o", "-"}, {.input = &source, .errors = &messages}, deadline);
//
// It ends with the last descriptor of it, this process's or the child's. Closed on exec: a child has the ones that it
// is given. Thread safety: none, but for separate objects. Source: memfd_create(2).
#pragma once

#include <string>
#include <string_view>

namespace hsadrv::detail {

class MemoryFile {
  public:
    /// Throws Error.
    explicit MemoryFile(const char* name, std::string_view content = {});
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    int descriptor() const noexcept { return descriptor_; }
    /// Throws Error.
    std::string content() const;

  private:
    int descriptor_ = -1;
};

}  // namespace hsadrv::detail
