#include "tools/kfdemu/isa/encodings/dual.hpp"

#include <array>

namespace kfdemu::isa {
namespace {

constexpr unsigned kOperations = 32;

/// By opcode; kNone: there is none.
constexpr std::uint16_t kNone = 0xffff;
using Operations = std::array<std::uint16_t, kOperations>;
Operations operations_in(Opcode Opcodes::* family) {
    Operations made;
    made.fill(kNone);
    for (std::uint16_t n = 0; n < rows().size(); ++n) {
        const unsigned number = (rows()[n].opcodes.*family).number;
        if (rows()[n].format == Format::Vopd && number < kOperations) made[number] = n;
    }
    return made;
}
const Operations& operations(const Traits& traits) {
    static const Operations gfx11 = operations_in(&Opcodes::gfx11), gfx12 = operations_in(&Opcodes::gfx12);
    return traits.temporal_hints ? gfx12 : gfx11;
}

/// K follows the two dwords; source 0 may read it, too.
bool has_literal(const BitFields& f) { return (!f.row.is(kMadk) && !f.row.is(kMadmk)) || f.literal(); }

}  // namespace

bool decode_dual(const BitFields& f) {
    Inst& i = f.inst;
    if (f.width != 32 || !f.two_words()) return false;
    i.form = Form::Vop3;
    const std::uint16_t row = operations(f.traits)[f.bits(0, 21, 17)];
    if (row == kNone) return false;
    // The destinations are an even and an odd register.
    const unsigned first = f.bits(1, 31, 24), second = f.bits(1, 23, 17) << 1 | (~first & 1);
    Inst other = i;
    const BitFields g{other, rows()[row], f.traits, f.words, f.width};
    if (!g.source(0, f.bits(1, 8, 0), g.row.src[0]) || !has_literal(g)) return false;
    i.literal = other.literal;
    i.size = other.size;
    i.flags |= other.flags;
    if (!f.source(0, f.bits(0, 8, 0), f.row.src[0]) || !has_literal(f)) return false;
    i.src[1] = static_cast<Operand>(kVgpr0 + f.bits(0, 16, 9));
    i.dst = static_cast<Operand>(kVgpr0 + first);
    imply_operands(i, f.row);
    keep_second(i, row, other.src[0], f.bits(1, 16, 9), second);
    return true;
}

}  // namespace kfdemu::isa
