// GFX9: which format a dword is of; decoding of SMEM, FLAT, MUBUF, MTBUF and DS.
#include "tools/kfdemu/isa/encodings/fields.hpp"

namespace kfdemu::isa {
namespace gfx9 {
namespace {

bool returns_what_it_cannot(const BitFields& f) {
    return f.row.is(kFloatAtomic) && !f.traits.returns_float_atomics &&
           f.bit(0, f.row.format == Format::Flat ? 16 : 14);
}

bool loads_to_lds_what_it_cannot(const BitFields& f) {
    return (f.inst.flags & kLds) != 0 && dwords(f.row.dst) > 2 && !f.traits.wide_loads_to_lds;
}

bool smem(const BitFields& f) {
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

bool flat(const BitFields& f) {
    Inst& i = f.inst;
    if (!f.two_words() || f.bits(0, 15, 14) == 3 || returns_what_it_cannot(f)) return false;
    i.segment = static_cast<Segment>(f.bits(0, 15, 14));
    if (i.segment != Segment::Global) i.sdst = kFlatScratch;
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

bool buffer(const BitFields& f) {
    const bool top = f.bit(1, 23);  // ACC, or TFE, used only by images and page-faulting loads
    if (top && !f.traits.unified_registers) return false;
    return decode_buffer(f, {.offen = f.bit(0, 12), .idxen = f.bit(0, 13), .accumulator = top});
}

bool mubuf(const BitFields& f) {
    if (!f.two_words() || returns_what_it_cannot(f)) return false;
    f.flag(f.bit(0, 17), kSlc);
    f.flag(f.bit(0, 16), kLds);
    if (loads_to_lds_what_it_cannot(f)) return false;
    f.flag(f.traits.scc_bit && f.bit(0, 15), kScc);
    return buffer(f);
}

bool mtbuf(const BitFields& f) {
    if (!f.two_words()) return false;
    f.flag(f.bit(1, 22), kSlc);
    f.flag(f.traits.scc_bit && f.bit(1, 21), kScc);
    f.inst.literal = f.bits(0, 25, 19);
    return buffer(f);
}

bool ds(const BitFields& f) {
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

bool memory(const BitFields& f) {
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

Encoding encoding_of(std::span<const std::uint32_t> words) {
    const std::uint32_t d = words[0];
    const auto field = [d](unsigned high, unsigned low) { return (d >> low) & ((1u << (high - low + 1)) - 1); };
    if (const auto alu = alu_encoding(d)) return *alu;
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

}  // namespace
}  // namespace gfx9

const Family kGfx9{gfx9::encoding_of, gfx9::memory, &Opcodes::gfx9, 0x140, 0x100, 0},
    kGfx940{gfx9::encoding_of, gfx9::memory, &Opcodes::gfx940, 0x140, 0x100, 0};

}  // namespace kfdemu::isa
