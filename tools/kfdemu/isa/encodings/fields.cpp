#include "tools/kfdemu/isa/encodings/fields.hpp"

namespace kfdemu::isa {
namespace {

/// M0 is not one of several.
bool aligned_registers(unsigned encoding, unsigned count) {
    const unsigned alignment = count >= 4 ? 4 : count >= 2 ? 2 : 1;
    return encoding % alignment == 0 && encoding + count <= kConstants && (count == 1 || encoding != kM0);
}

constexpr unsigned kNullEncoding = 125;

/// Encodings 0-127 that are registers.
bool is_register(unsigned encoding) { return encoding < kConstants && encoding != kNullEncoding; }

bool is_constant(unsigned encoding) {
    return (encoding >= 128 && encoding <= 208) || (encoding >= kSharedBase && encoding <= kPrivateLimit) ||
           (encoding >= kFloats && encoding <= kFloats + 8) || (encoding >= kVccz && encoding <= kScc253);
}

}  // namespace

bool BitFields::two_words() const {
    if (words.size() < 2) return false;
    inst.size = 2;
    inst.dwords[1] = words[1];
    return true;
}

/// VOP3's follows its two dwords, where there is one; SDWA's and DPP's second dword is in use. Several operands may
/// read the same.
bool BitFields::literal() const {
    const bool in_vop3 = inst.form == Form::Vop3;
    if (inst.form == Form::Sdwa || inst.moves_lanes() || (in_vop3 && !traits.literals_everywhere)) return false;
    const unsigned at = in_vop3 ? 2 : 1;
    if (words.size() <= at) return false;
    inst.size = static_cast<std::uint8_t>(at + 1);
    inst.dwords[1] = words[1];
    inst.literal = words[at];
    flag(true, kScalarSetup);
    return true;
}

/// As GFX10 numbers operands.
unsigned BitFields::known_number(unsigned encoding) const {
    return traits.null_before_m0 && (encoding == kM0 || encoding == kNullEncoding) ? encoding ^ 1 : encoding;
}

bool BitFields::source(unsigned n, unsigned encoding, Type type) const {
    encoding = known_number(encoding);
    Operand& operand = inst.src[n];
    operand = static_cast<Operand>(encoding);
    if (encoding >= kVgpr0) return encoding + count(type) <= kVgpr0 + 256;
    if (is_register(encoding)) return aligned_registers(encoding, count(type));
    if (encoding == kLiteral) return literal();
    if (encoding == kNullEncoding && traits.null_register) {
        operand = kNull;
        return count(type) <= 2;
    }
    if (!is_constant(encoding)) return false;
    flag(encoding >= kVccz, kScalarSetup);
    // 16-bit float instructions read constants as 16-bit floats, BF16 (LLVM's isInlinableLiteralBF16) or others; 16-bit
    // integer instructions read the low half of the 32-bit float.
    const bool half = type == Type::f16 || type == Type::pkf16, brain = type == Type::bf16 || type == Type::pkbf16;
    if ((half || brain) && encoding >= kFloats && encoding <= kFloats + 8)
        operand = static_cast<Operand>(encoding - kFloats + (brain ? kBrainFloats : kHalfFloats));
    return true;
}

bool BitFields::scalar_destination(Operand& to, unsigned encoding, Type type) const {
    encoding = known_number(encoding);
    to = static_cast<Operand>(encoding);
    if (encoding == kNullEncoding && traits.null_register) {
        to = row.is(kReadsDst) && row.is(kNoResult) ? kNull : kDiscarded;
        return count(type) <= 4;
    }
    return is_register(encoding) && aligned_registers(encoding, count(type));
}

std::optional<Encoding> alu_encoding(std::uint32_t d) {
    const auto field = [d](unsigned high, unsigned low) { return (d >> low) & ((1u << (high - low + 1)) - 1); };
    if (!(d >> 31)) {
        if (field(30, 25) == 0x3f) return Encoding{Format::Vop1, field(16, 9)};
        if (field(30, 25) == 0x3e) return Encoding{Format::Vopc, field(24, 17)};
        return Encoding{Format::Vop2, field(30, 25)};
    }
    if (field(31, 30) == 2) {
        if (field(31, 23) == 0x17d) return Encoding{Format::Sop1, field(15, 8)};
        if (field(31, 23) == 0x17e) return Encoding{Format::Sopc, field(22, 16)};
        if (field(31, 23) == 0x17f) return Encoding{Format::Sopp, field(22, 16)};
        if (field(31, 28) == 0xb) return Encoding{Format::Sopk, field(27, 23)};
        return Encoding{Format::Sop2, field(29, 23)};
    }
    return {};
}

}  // namespace kfdemu::isa
