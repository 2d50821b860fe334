// From dwords of code to Inst.
//
//     const Decoder decoder{Target::gfx90a};
//     Inst inst = decoder.decode(pc, dwords, count);
//
// Thread safety: constant after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "inst.hpp"
#include "row.hpp"

namespace kfdemu::gfx9 {

/// x86 levels that executors can be compiled for.
enum class Level : std::uint8_t { V2, V3, V4 };
const char* name(Level level);
/// Those that they are compiled for: -Dlevels=. Never empty.
std::span<const Level> built_levels();
/// Whether the level is built, and this CPU has what it needs.
bool supported(Level level);
/// The highest that is supported; a built one where none is.
Level best_level();
/// Why nothing can be executed on this CPU, and what to do; empty where a level is supported.
std::string no_level_message();
/// One handler a row, indexed by Op; illegal_handler() where a row has no meaning.
struct Handlers {
    std::array<Handler, kRowCount> general;  ///< take every form of the row
    std::array<Handler, kRowCount> plain;    ///< take is_plain() ones only, and are faster where there is a difference
};
const Handlers& handlers(Level level);
/// Whether a vector instruction takes its operands and leaves its result as they stand: no modifiers, no SDWA, no DPP.
bool is_plain(const Inst& inst);

/// Stops the wave: the instruction is unknown, reserved, or not implemented.
Handler illegal_handler();
/// Behind the last instruction of a page: goes on at Inst::pc, through Wave::fetch.
Handler page_end_handler();

class Decoder {
  public:
    explicit Decoder(Target target, Level level = best_level());

    Target target() const { return target_; }
    /// Decodes what begins at dwords[0]; `count` dwords are readable. What cannot be decoded comes back with
    /// the illegal handler, row kNoRow and size 1. `target` stays null.
    Inst decode(std::uint64_t pc, std::span<const std::uint32_t> dwords) const;
    /// Fills one Inst a dword plus two ends: slots.size() == count + 2. `dwords` may be longer than `count`,
    /// so that an instruction that straddles the end is seen whole. Branches inside the page get their target.
    void decode_page(std::uint64_t base, std::span<const std::uint32_t> dwords, std::span<Inst> slots) const;
    /// The row of an opcode, or nullptr.
    const Row* find(Format format, unsigned opcode) const;

    static constexpr std::uint16_t kNoRow = 0xffff;

  private:
    Target target_;
    const Handlers& handlers_;
    const std::uint16_t (*index_)[1024];  // [format][opcode], of this target
};

/// The format and opcode number that the first dword claims, known or not.
struct Encoding {
    Format format;
    unsigned opcode;
};
Encoding encoding_of(std::uint32_t dword);
const char* name(Format format);

}  // namespace kfdemu::gfx9
