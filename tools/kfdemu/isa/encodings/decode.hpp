// The decoder: dwords of code to Inst.
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

#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/encodings/inst.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {

/// x86-64 levels that executors can be compiled for.
enum class Level : std::uint8_t { V2, V3, V4 };
const char* name(Level level);
/// The levels that this build has executors for: -Dlevels=. Never empty.
std::span<const Level> built_levels();
/// Whether the level is built and this CPU supports it.
bool supported(Level level);
/// The highest supported level, or some built level if none is supported.
Level best_level();
/// Why this CPU cannot execute anything, and the remedy; empty if some level is supported.
std::string no_level_message();
/// One handler per row, indexed by Op; illegal_handler() for rows without a meaning.
struct Handlers {
    std::array<Handler, kRowCount> general;  ///< accept every form of the row
    std::array<Handler, kRowCount> plain;    ///< accept only is_plain() forms; faster for some rows
};
/// Of waves of `width` lanes: 64 or 32. The width must have been built: -Dwidths=.
const Handlers& handlers(Level level, unsigned width = kMostLanes);
bool is_built(unsigned width);
/// Whether a vector instruction uses its operands and result unchanged: no modifiers, no SDWA, no DPP.
bool is_plain(const Inst& inst);

/// Stops the wave: the instruction is unknown, reserved, or not implemented.
Handler illegal_handler();
/// Follows the last instruction of a page: continues at Inst::pc through Wave::fetch.
Handler page_end_handler();

class Decoder {
  public:
    explicit Decoder(Target target, Level level = best_level(), unsigned width = kMostLanes);

    Target target() const { return target_; }
    /// Decodes the instruction at dwords[0]; `count` dwords are readable. Undecodable code yields the illegal handler,
    /// row kNoRow and size 1. `target` stays null.
    Inst decode(std::uint64_t pc, std::span<const std::uint32_t> dwords) const;
    /// Dwords of the longest instruction.
    static constexpr std::size_t kEnds = 3;
    /// Fills one Inst per dword plus kEnds ends: slots.size() == count + kEnds. `dwords` may be longer than `count`, so
    /// that an instruction that straddles the end is complete. Branches inside the page have their target set.
    void decode_page(std::uint64_t base, std::span<const std::uint32_t> dwords, std::span<Inst> slots) const;
    /// The row of an opcode, or nullptr.
    const Row* find(Format format, unsigned opcode) const;

    static constexpr std::uint16_t kNoRow = 0xffff;

  private:
    Target target_;
    unsigned width_;
    const Handlers& handlers_;
    const std::uint16_t (*index_)[1024];  // [format][opcode], of this target
};

const char* name(Format format);

}  // namespace kfdemu::isa
