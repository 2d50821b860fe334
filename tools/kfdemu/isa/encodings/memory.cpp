// What the memory formats of GFX9 and GFX10 have in common.
#include "tools/kfdemu/isa/encodings/fields.hpp"

namespace kfdemu::isa {

bool data(Operand& to, unsigned number, bool accumulator, Type type) {
    if (type == Type::none) return true;
    to = static_cast<Operand>(number + (accumulator ? kAcc0 : kVgpr0));
    return number + dwords(type) <= 256;
}

bool decode_buffer(const BitFields& f) {
    Inst& i = f.inst;
    i.offset = static_cast<std::int32_t>(f.bits(0, 11, 0));
    f.flag(f.bit(0, 12), kOffen);
    f.flag(f.bit(0, 13), kIdxen);
    f.flag(f.bit(0, 14), kGlc);
    const bool top = f.bit(1, 23);  // ACC, or TFE, used only by images and page-faulting loads
    if (top && !f.traits.unified_registers) return false;
    const bool moves_lds = f.row.is(kStore) && f.row.src[1] == Type::none;
    // buffer_wbinvl1 and similar.
    if (f.row.dst == Type::none && f.row.src[1] == Type::none && !moves_lds) return true;
    const unsigned address_dwords = f.bit(0, 12) && f.bit(0, 13) ? 2 : 1;
    if (!data(i.src[0], f.bits(1, 7, 0), false, address_dwords == 2 ? Type::b64 : Type::b32)) return false;
    const Type value = f.row.src[1] != Type::none ? f.row.src[1] : f.row.dst;
    if (!data(i.src[1], f.bits(1, 15, 8), top, value)) return false;
    i.dst = i.src[1];
    if (!f.scalar_destination(i.src[2], f.bits(1, 20, 16) * 4, Type::b128)) return false;
    // SOFFSET is a scalar source without a literal.
    const Operand resource = i.src[2];
    const bool known = f.bits(1, 31, 24) != kLiteral && f.source(2, f.bits(1, 31, 24), Type::b32);
    i.sdst = i.src[2];
    i.src[2] = resource;
    return known;
}

}  // namespace kfdemu::isa
