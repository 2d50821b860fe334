#include "fields.hpp"

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

bool Fields::two_words() const {
    if (words.size() < 2) return false;
    inst.size = 2;
    inst.dwords[1] = words[1];
    return true;
}

bool Fields::source(unsigned n, unsigned encoding, Type type) const {
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
    // 16-bit float instructions read constants as 16-bit floats; 16-bit integer instructions read the low half of the
    // 32-bit float.
    const bool half = type == Type::f16 || type == Type::pkf16;
    if (half && encoding >= kFloats && encoding <= kFloats + 8)
        operand = static_cast<Operand>(encoding - kFloats + kHalfFloats);
    return true;
}

bool Fields::scalar_destination(Operand& to, unsigned encoding, Type type) const {
    to = static_cast<Operand>(encoding);
    return is_register(encoding) && aligned_registers(encoding, dwords(type));
}

}  // namespace kfdemu::isa
