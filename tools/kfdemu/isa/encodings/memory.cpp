// What the memory formats of several families have in common.
#include "tools/kfdemu/isa/encodings/fields.hpp"

namespace kfdemu::isa {

bool data(Operand& to, unsigned number, bool accumulator, Type type) {
    if (type == Type::none) return true;
    to = static_cast<Operand>(number + (accumulator ? kAcc0 : kVgpr0));
    return number + dwords(type) <= 256;
}

bool decode_buffer(const BitFields& f, BufferBits bits) {
    Inst& i = f.inst;
    i.offset = static_cast<std::int32_t>(f.bits(0, 11, 0));
    f.flag(bits.offen, kOffen);
    f.flag(bits.idxen, kIdxen);
    f.flag(f.bit(0, 14), kGlc);
    const bool moves_lds = f.row.is(kStore) && f.row.src[1] == Type::none;
    // buffer_wbinvl1 and similar.
    if (f.row.dst == Type::none && f.row.src[1] == Type::none && !moves_lds) return true;
    const Type address = bits.offen && bits.idxen ? Type::b64 : Type::b32;
    if (!data(i.src[0], f.bits(1, 7, 0), false, address)) return false;
    const Type value = f.row.src[1] != Type::none ? f.row.src[1] : f.row.dst;
    if (!data(i.src[1], f.bits(1, 15, 8), bits.accumulator, value)) return false;
    i.dst = i.src[1];
    if (!f.scalar_destination(i.src[2], f.bits(1, 20, 16) * 4, Type::b128)) return false;
    // SOFFSET is a scalar source without a literal.
    const Operand resource = i.src[2];
    const bool known = f.bits(1, 31, 24) != kLiteral && f.source(2, f.bits(1, 31, 24), Type::b32);
    i.sdst = i.src[2];
    i.src[2] = resource;
    return known;
}

bool decode_data_share(const BitFields& f) {
    Inst& i = f.inst;
    if (!f.two_words()) return false;
    i.offset = static_cast<std::int32_t>(f.bits(0, 15, 0));
    f.flag(f.bit(0, 17), kLds);
    f.flag(f.row.is(kPermutes) && f.width == kMostLanes, kInHalves);
    if (f.row.is(kGws) && !f.bit(0, 17)) return false;
    return data(i.src[0], f.bits(1, 7, 0), false, f.row.src[0]) &&
           data(i.src[1], f.bits(1, 15, 8), false, f.row.src[1]) &&
           data(i.src[2], f.bits(1, 23, 16), false, f.row.src[2]) && data(i.dst, f.bits(1, 31, 24), false, f.row.dst);
}

}  // namespace kfdemu::isa
