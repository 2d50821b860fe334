// Disassembles code objects with LLVM's disassembler.
//
//     const Disassembler disassembler;                      // throws Failure, naming a package that has one
//     std::vector<Listing> all = disassembler.list(bytes, {"saxpy"});
//
// The code object is passed as a temporary file. The disassembler runs without LD_PRELOAD: it needs no GPU. A signal
// ends it and throws tools::Interrupted. Thread safety: one thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/process.hpp"
#include "tools/common/scratch_folder.hpp"
#include "tools/hsadrv/objdump/facts.hpp"

namespace hsadrv_tool::objdump {

class Disassembler {
  public:
    /// Throws Failure if there is none.
    Disassembler();

    /// Of those symbols, or of all if none is named. Throws Failure with what the disassembler says.
    std::vector<Listing> list(std::span<const std::byte> code_object, const std::vector<std::string>& symbols) const;

  private:
    tools::Interruptions interruptions_;
    tools::ScratchFolder scratch_;
    std::string program_;
};

/// Parses the output of llvm-objdump. Padding after the last real instruction, to the next cache line or page, is left
/// out.
std::vector<Listing> parse_listings(std::string_view printed);

}  // namespace hsadrv_tool::objdump
