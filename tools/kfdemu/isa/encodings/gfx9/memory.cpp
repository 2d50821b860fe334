// GFX9: decoding of SMEM, FLAT, MUBUF, MTBUF and DS.
#include "tools/kfdemu/isa/encodings/gfx9/fields.hpp"

namespace kfdemu::isa {
namespace {

std::int32_t sign_extended(std::uint32_t value, unsigned width) {
    return static_cast<std::int32_t>(value << (32 - width)) >> (32 - width);
}

/// A data register: a VGPR, or with an ACC bit an AccVGPR. False if it extends past the last register.
bool data(Operand& to, unsigned number, bool accumulator, Type type) {
    if (type == Type::none) return true;
    to = static_cast<Operand>(number + (accumulator ? kAcc0 : kVgpr0));
    return number + dwords(type) <= 256;
}

bool returns_what_it_cannot(const Gfx9Fields& f) {
    return f.row.is(kFloatAtomic) && !f.traits.returns_float_atomics &&
           f.bit(0, f.row.format == Format::Flat ? 16 : 14);
}

bool loads_to_lds_what_it_cannot(const Gfx9Fields& f) {
    return (f.inst.flags & kLds) != 0 && dwords(f.row.dst) > 2 && !f.traits.wide_loads_to_lds;
}

bool smem(const Gfx9Fields& f) {
    Inst& i = f.inst;
    if (!f.two_words()) return false;
    const Type base = f.row.src[0];
    const unsigned sdata = f.bits(0, 12, 6);
    if (f.row.dst == Type::uimm)
        i.dst = static_cast<Operand>(sdata);  // the operand of s_atc_probe
    else if (f.row.dst != Type::none && !f.scalar_destination(i.dst, sdata, f.row.dst))
        return false;
    f.flag(f.bit(0, 16), kGlc);
    f.flag(f.bit(0, 15), kNv);
    if (base == Type::none) return true;
    if (!f.source(0, f.bits(0, 5, 0) * 2, base)) return false;
    const bool immediate = f.bit(0, 17), with_register = f.bit(0, 14);
    f.flag(immediate, kImm);
    if (immediate) i.offset = sign_extended(f.bits(1, 20, 0), 21);
    if (!with_register && immediate) return true;
    // The offset register is an SGPR or M0.
    const unsigned encoding = with_register ? f.bits(1, 31, 25) : f.bits(1, 6, 0);
    return f.scalar_destination(i.src[1], encoding, Type::b32);
}

bool flat(const Gfx9Fields& f) {
    Inst& i = f.inst;
    if (!f.two_words() || f.bits(0, 15, 14) == 3 || returns_what_it_cannot(f)) return false;
    i.segment = static_cast<Segment>(f.bits(0, 15, 14));
    const bool also_flat = f.row.is(kFloatAtomic) && f.traits.flat_float_atomics && i.segment == Segment::Flat;
    if (f.row.is(kOnlyGlobal) && i.segment != Segment::Global && !also_flat) return false;
    if (f.row.is(kNoScratch) && i.segment == Segment::Scratch) return false;
    // FLAT has an unsigned offset of 12 bits; GLOBAL and SCRATCH have a signed offset of 13.
    const bool is_flat = i.segment == Segment::Flat;
    if (is_flat && f.bit(0, 12)) return false;
    i.offset = sign_extended(f.bits(0, 12, 0), 13);
    const bool bit13 = f.bit(0, 13);
    if (f.traits.sve_bit && bit13 && i.segment != Segment::Scratch) return false;
    if (f.row.is(kToLds) && is_flat) return false;
    f.flag(f.traits.sve_bit ? f.row.is(kToLds) : bit13, kLds);
    if (loads_to_lds_what_it_cannot(f)) return false;
    f.flag(f.bit(0, 16), kGlc);
    f.flag(f.bit(0, 17), kSlc);
    f.flag(f.traits.scc_bit && f.bit(0, 25), kScc);
    f.flag(f.traits.nv_bit && f.bit(1, 23), kNv);
    const bool acc = f.traits.unified_registers && f.bit(1, 23);

    const unsigned saddr = f.bits(1, 22, 16);
    const bool has_saddr = !is_flat && saddr != 0x7f;
    const Type base = i.segment == Segment::Global ? Type::b64 : Type::b32;
    if (has_saddr && !f.scalar_destination(i.src[2], saddr, base)) return false;
    const bool narrow_address = has_saddr || i.segment == Segment::Scratch;
    const bool address_unused = i.segment == Segment::Scratch && (f.traits.sve_bit ? !bit13 : has_saddr);
    if (!address_unused && !data(i.src[0], f.bits(1, 7, 0), false, narrow_address ? Type::b32 : Type::b64))
        return false;
    return data(i.src[1], f.bits(1, 15, 8), acc, f.row.src[1]) && data(i.dst, f.bits(1, 31, 24), acc, f.row.dst);
}

/// Fields common to MUBUF and MTBUF.
bool buffer(const Gfx9Fields& f) {
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

bool mubuf(const Gfx9Fields& f) {
    if (!f.two_words() || returns_what_it_cannot(f)) return false;
    f.flag(f.bit(0, 17), kSlc);
    f.flag(f.bit(0, 16), kLds);
    if (loads_to_lds_what_it_cannot(f)) return false;
    f.flag(f.traits.scc_bit && f.bit(0, 15), kScc);
    return buffer(f);
}

bool mtbuf(const Gfx9Fields& f) {
    if (!f.two_words()) return false;
    f.flag(f.bit(1, 22), kSlc);
    f.flag(f.traits.scc_bit && f.bit(1, 21), kScc);
    f.inst.literal = f.bits(0, 25, 19);
    return buffer(f);
}

bool ds(const Gfx9Fields& f) {
    Inst& i = f.inst;
    if (!f.two_words()) return false;
    i.offset = static_cast<std::int32_t>(f.bits(0, 15, 0));
    f.flag(f.bit(0, 16), kLds);
    const bool gws = f.row.is(kGws);
    if (gws && !f.bit(0, 16)) return false;
    if (!f.traits.gds && f.bit(0, 16) && !gws) return false;
    const bool acc = f.traits.unified_registers && f.bit(0, 25);
    return data(i.src[0], f.bits(1, 7, 0), acc && gws, f.row.src[0]) &&
           data(i.src[1], f.bits(1, 15, 8), acc, f.row.src[1]) &&
           data(i.src[2], f.bits(1, 23, 16), acc, f.row.src[2]) && data(i.dst, f.bits(1, 31, 24), acc, f.row.dst);
}

}  // namespace

bool decode_memory(const Gfx9Fields& f) {
    switch (f.row.format) {
        case Format::Smem:
            return smem(f);
        case Format::Flat:
            return flat(f);
        case Format::Mubuf:
            return mubuf(f);
        case Format::Mtbuf:
            return mtbuf(f);
        default:
            return ds(f);
    }
}

}  // namespace kfdemu::isa
