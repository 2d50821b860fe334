// GFX10: which format dwords are of; decoding of SMEM, FLAT, MUBUF, MTBUF and DS. Source: "RDNA 2" ISA manual, chapter
// "Microcode Formats".
#include "tools/kfdemu/isa/encodings/fields.hpp"
#include "tools/kfdemu/isa/memory/unified_format.hpp"

namespace kfdemu::isa {
namespace gfx10 {
namespace {

/// SADDR of GLOBAL and SCRATCH, SOFFSET of SMEM: no register. A SCRATCH address may do without a VGPR, too.
constexpr unsigned kNoRegister = 0x7d, kNoRegisterAtAll = 0x7f;

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
    f.flag(f.bit(0, 14), kDlc);
    if (base == Type::none) return true;
    if (!f.source(0, f.bits(0, 5, 0) * 2, base)) return false;
    const unsigned soffset = f.bits(1, 31, 25);
    i.offset = sign_extended(f.bits(1, 20, 0), 21);
    f.flag(i.offset != 0 || soffset == kNoRegister, kImm);
    return soffset == kNoRegister || f.scalar_destination(i.src[1], soffset, Type::b32);
}

bool flat(const BitFields& f) {
    Inst& i = f.inst;
    if (!f.two_words() || f.bits(0, 15, 14) == 3) return false;
    i.segment = static_cast<Segment>(f.bits(0, 15, 14));
    const bool is_flat = i.segment == Segment::Flat, is_scratch = i.segment == Segment::Scratch;
    if (f.row.is(kOnlyGlobal) && i.segment != Segment::Global) return false;
    if (f.row.is(kNoScratch) && is_scratch) return false;
    // FLAT has an unsigned offset of 11 bits; GLOBAL and SCRATCH have a signed offset of 12.
    if (is_flat && f.bit(0, 11)) return false;
    i.offset = sign_extended(f.bits(0, 11, 0), 12);
    f.flag(f.bit(0, 12), kDlc);
    f.flag(f.bit(0, 13), kLds);
    f.flag(f.bit(0, 16), kGlc);
    f.flag(f.bit(0, 17), kSlc);
    if (i.has(kLds) && (is_flat || dwords(f.row.dst) > 1)) return false;

    const unsigned saddr = f.bits(1, 22, 16);
    const bool no_address = f.row.is(kByLane), no_vgpr = is_scratch && saddr != kNoRegister;
    const bool has_saddr = !is_flat && saddr != kNoRegister && !(no_vgpr && saddr == kNoRegisterAtAll);
    const Type base = is_scratch ? Type::b32 : Type::b64;
    if (has_saddr && !f.scalar_destination(i.src[2], saddr, base)) return false;
    const Type address = has_saddr || is_scratch ? Type::b32 : Type::b64;
    if (!no_address && !no_vgpr && !data(i.src[0], f.bits(1, 7, 0), false, address)) return false;
    return data(i.src[1], f.bits(1, 15, 8), false, f.row.src[1]) && data(i.dst, f.bits(1, 31, 24), false, f.row.dst);
}

bool buffer(const BitFields& f) {
    const bool texture_fail = f.bit(1, 23);  // TFE, used only by images and page-faulting loads
    return !texture_fail && decode_buffer(f, {.offen = f.bit(0, 12), .idxen = f.bit(0, 13), .accumulator = false});
}

bool mubuf(const BitFields& f) {
    if (!f.two_words()) return false;
    f.flag(f.bit(0, 15), kDlc);
    f.flag(f.bit(0, 16), kLds);
    f.flag(f.bit(1, 22), kSlc);
    if (f.inst.has(kLds) && dwords(f.row.dst) > 1) return false;
    return buffer(f);
}

bool mtbuf(const BitFields& f) {
    if (!f.two_words()) return false;
    f.flag(f.bit(0, 15), kDlc);
    f.flag(f.bit(1, 22), kSlc);
    f.inst.literal = separate_format(f.bits(0, 25, 19), f.traits.fewer_formats);
    return buffer(f);
}

Encoding encoding_of(std::span<const std::uint32_t> words) {
    const std::uint32_t d = words[0], second = words.size() > 1 ? words[1] : 0;
    const auto field = [d](unsigned high, unsigned low) { return (d >> low) & ((1u << (high - low + 1)) - 1); };
    if (const auto alu = alu_encoding(d)) return *alu;
    switch (field(31, 26)) {
        case 0x32:
            return {Format::Vintrp, field(17, 16)};
        case 0x33:
            return {field(25, 23) == 0 ? Format::Vop3p : Format::Unknown, field(22, 16)};
        case 0x35:
            return {Format::Vop3, field(25, 16)};
        case 0x36:
            return {Format::Ds, field(25, 18)};
        case 0x37:
            return {Format::Flat, field(24, 18)};
        case 0x38:
            return {Format::Mubuf, field(24, 18) | field(25, 25) << 7};
        case 0x3a:
            return {Format::Mtbuf, field(18, 16) | (second >> 21 & 1) << 3};
        case 0x3c:
            return {Format::Mimg, field(24, 18) | field(0, 0) << 7};
        case 0x3d:
            return {Format::Smem, field(25, 18)};
        case 0x3e:
            return {Format::Exp, 0};
        default:
            return {Format::Unknown, 0};
    }
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
            return decode_data_share(f);
    }
}

}  // namespace
}  // namespace gfx10

const Family kGfx10{gfx10::encoding_of, gfx10::memory, &Opcodes::gfx10, 0x180, 0x100, 0};

}  // namespace kfdemu::isa
