// Where undefined values come from: a table of the registers and memory that were never written, by number.
//
//     const Origin origin = origins.add({Source::Lds, 64, load});
//     origins.at(origin).inst                                        // the instruction that first read it
//
// An Origin is a number that registers and memory carry beside their undefined bits, with one flag. Thread safety: that
// of its work-group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::check {

/// 0: the register itself, which nothing has read yet. Bit 31: the value was computed, not only moved.
using Origin = std::uint32_t;
inline constexpr Origin kComputed = 1u << 31;

enum class Source : std::uint8_t { Register, Scc, Lds, Scratch, Memory };

struct NeverWritten {
    Source source = Source::Register;
    std::uint64_t where = 0;  ///< register operand, offset or address
    isa::Inst inst{};         ///< that read it first
};

class Origins {
  public:
    void clear();
    /// One number for each source of each instruction: the address is that of the first.
    Origin add(const NeverWritten& never);
    const NeverWritten& at(Origin origin) const { return all_[(origin & ~kComputed) - 1]; }

  private:
    std::vector<NeverWritten> all_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Origin> numbers_;
};

/// "v2", "scc", "LDS at offset 64".
std::string to_string(isa::Target target, const NeverWritten& never);

}  // namespace kfdemu::check
