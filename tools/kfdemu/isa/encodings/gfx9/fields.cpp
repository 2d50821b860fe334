#include "tools/kfdemu/isa/encodings/gfx9/fields.hpp"

namespace kfdemu::isa {
namespace {

bool aligned_registers(unsigned encoding, unsigned count) {
    const unsigned alignment = count >= 4 ? 4 : count >= 2 ? 2 : 1;
    return encoding % alignment == 0 && encoding + count <= kConstants;
}

/// Encodings 0-127 that are registers.
bool is_register(unsigned encoding) { return encoding < kConstants && encoding != 125; }

bool is_constant(unsigned encoding) {
    return (encoding >= 128 && encoding <= 208) || (encoding >= kSharedBase && encoding <= kPrivateLimit) ||
           (encoding >= kFloats && encoding <= kFloats + 8) || (encoding >= kVccz && encoding <= kScc253);
}

}  // namespace

bool Gfx9Fields::two_words() const {
    if (words.size() < 2) return false;
    inst.size = 2;
    inst.dwords[1] = words[1];
    return true;
}

bool Gfx9Fields::source(unsigned n, unsigned encoding, Type type) const {
    Operand& operand = inst.src[n];
    operand = static_cast<Operand>(encoding);
    if (encoding >= kVgpr0) return encoding + dwords(type) <= kVgpr0 + 256;
    if (is_register(encoding)) return aligned_registers(encoding, dwords(type));
    if (encoding == kLiteral) {
        // VOP3, SDWA and DPP have no literals on GFX9: the second dword is in use.
        if (inst.size != 1 || !two_words()) return false;
        inst.literal = words[1];
        flag(true, kScalarSetup);
        return true;
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

bool Gfx9Fields::scalar_destination(Operand& to, unsigned encoding, Type type) const {
    to = static_cast<Operand>(encoding);
    return is_register(encoding) && aligned_registers(encoding, dwords(type));
}

namespace {

Encoding gfx9_encoding(std::uint32_t d) {
    const auto field = [d](unsigned high, unsigned low) { return (d >> low) & ((1u << (high - low + 1)) - 1); };
    if (!(d >> 31)) {
        if (field(30, 25) == 0x3f) return {Format::Vop1, field(16, 9)};
        if (field(30, 25) == 0x3e) return {Format::Vopc, field(24, 17)};
        return {Format::Vop2, field(30, 25)};
    }
    if (field(31, 30) == 2) {
        if (field(31, 23) == 0x17d) return {Format::Sop1, field(15, 8)};
        if (field(31, 23) == 0x17e) return {Format::Sopc, field(22, 16)};
        if (field(31, 23) == 0x17f) return {Format::Sopp, field(22, 16)};
        if (field(31, 28) == 0xb) return {Format::Sopk, field(27, 23)};
        return {Format::Sop2, field(29, 23)};
    }
    switch (field(31, 26)) {
        case 0x30:
            return {Format::Smem, field(25, 18)};
        case 0x31:
            return {Format::Exp, 0};
        case 0x34:
            if (field(31, 23) == 0x1a7) return {Format::Vop3p, field(22, 16)};
            return {Format::Vop3, field(25, 16)};
        case 0x35:
            return {Format::Vintrp, field(17, 16)};
        case 0x36:
            return {Format::Ds, field(24, 17)};
        case 0x37:
            return {Format::Flat, field(24, 18)};
        case 0x38:
            return {Format::Mubuf, field(24, 18)};
        case 0x3a:
            return {Format::Mtbuf, field(18, 15)};
        case 0x3c:
            return {Format::Mimg, field(24, 18)};
        default:
            return {Format::Unknown, 0};
    }
}

bool gfx9_decode(const Fields& fields) {
    const Gfx9Fields f{fields};
    switch (f.row.format) {
        case Format::Sop1:
        case Format::Sop2:
        case Format::Sopc:
        case Format::Sopk:
        case Format::Sopp:
            return decode_scalar(f);
        case Format::Smem:
        case Format::Flat:
        case Format::Mubuf:
        case Format::Mtbuf:
        case Format::Ds:
            return decode_memory(f);
        default:
            return decode_vector(f);
    }
}

}  // namespace

const Family kGfx9{gfx9_encoding, gfx9_decode, &Opcodes::gfx9, 0x140, 0x100, 0},
    kGfx940{gfx9_encoding, gfx9_decode, &Opcodes::gfx940, 0x140, 0x100, 0};

}  // namespace kfdemu::isa
