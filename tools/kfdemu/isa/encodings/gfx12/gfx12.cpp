// GFX12: which format dwords are of; decoding of SMEM, VFLAT, VGLOBAL, VSCRATCH, VBUFFER and VDS. Source: "RDNA 4" ISA
// manual, chapter "Microcode Formats". Scope and temporal hint have no effect but that an atomic returns the old value;
// text reads them from the dwords.
#include "tools/kfdemu/isa/encodings/fields.hpp"
#include "tools/kfdemu/isa/memory/unified_format.hpp"

namespace kfdemu::isa {
namespace gfx12 {
namespace {

/// NULL as an address or offset: no register.
constexpr unsigned kNoRegister = 124;

bool three_words(const BitFields& f) {
    if (f.words.size() < 3) return false;
    f.inst.size = 3;
    f.inst.dwords[1] = f.words[1];
    return true;
}

bool smem(const BitFields& f) {
    Inst& i = f.inst;
    if (!f.two_words() || f.bits(0, 20, 19) != 0) return false;
    const Type base = f.row.src[0];
    const unsigned sdata = f.bits(0, 12, 6), soffset = f.bits(1, 31, 25);
    const bool number = f.row.dst == Type::uimm || f.row.dst == Type::length;  // s_atc_probe, prefetches: of five bits
    if (number && sdata > 31) return false;
    if (number)
        i.dst = static_cast<Operand>(sdata);
    else if (f.row.dst != Type::none && !f.scalar_destination(i.dst, sdata, f.row.dst))
        return false;
    if (base == Type::none && !number) return true;
    if (base != Type::none && !f.source(0, f.bits(0, 5, 0) * 2, base)) return false;
    i.offset = sign_extended(f.bits(1, 23, 0), 24);
    f.flag(true, kImm);
    if (base == Type::b128 && i.offset < 0) return false;  // of buffers, offsets are unsigned
    return soffset == kNoRegister || f.scalar_destination(i.src[1], soffset, Type::b32);
}

/// VFLAT, VGLOBAL and VSCRATCH.
bool flat(const BitFields& f) {
    Inst& i = f.inst;
    if (!three_words(f) || f.bits(0, 25, 24) == 3 || f.bit(0, 7)) return false;
    i.segment = static_cast<Segment>(f.bits(0, 25, 24));
    const bool is_flat = i.segment == Segment::Flat, is_scratch = i.segment == Segment::Scratch;
    const bool also_flat = f.row.is(kFloatAtomic) && f.traits.flat_float_atomics && is_flat;
    if (f.row.is(kOnlyGlobal) && i.segment != Segment::Global && !also_flat) return false;
    if (f.row.is(kNoScratch) && is_scratch) return false;
    const bool is_block = f.row.dst == Type::b1024 || f.row.src[1] == Type::b1024;
    if (is_block && is_flat) return false;
    i.offset = sign_extended(f.bits(2, 31, 8), 24);
    f.flag(f.row.is(kAtomic) && f.bit(1, 20), kGlc);

    const unsigned saddr = f.bits(0, 6, 0);
    const bool adds_vgpr = f.bit(1, 17);  // SVE: of SCRATCH alone
    const bool has_saddr = saddr != kNoRegister;
    if ((adds_vgpr && !is_scratch) || (has_saddr && (is_flat || f.row.is(kScoped)))) return false;
    const Type base = is_scratch ? Type::b32 : Type::b64;
    if (has_saddr && !f.scalar_destination(i.src[2], saddr, base)) return false;
    const Type address = has_saddr || is_scratch ? Type::b32 : Type::b64;
    const bool has_address = !f.row.is(kByLane) && !f.row.is(kScoped) && (!is_scratch || adds_vgpr);
    if (has_address && !data(i.src[0], f.bits(2, 7, 0), false, address)) return false;
    return data(i.src[1], f.bits(1, 30, 23), false, f.row.src[1]) && data(i.dst, f.bits(1, 7, 0), false, f.row.dst);
}

bool buffer(const BitFields& f) {
    Inst& i = f.inst;
    const bool texture_fail = f.bit(0, 22);
    if (!three_words(f) || texture_fail || f.bit(0, 7) || f.bit(2, 31)) return false;
    i.offset = static_cast<std::int32_t>(f.bits(2, 31, 8));
    f.flag(f.bit(1, 30), kOffen);
    f.flag(f.bit(1, 31), kIdxen);
    f.flag(f.row.is(kAtomic) && f.bit(1, 20), kGlc);
    const Type address = i.has(kOffen) && i.has(kIdxen) ? Type::b64 : Type::b32;
    if (!data(i.src[0], f.bits(2, 7, 0), false, address)) return false;
    const Type value = f.row.src[1] != Type::none ? f.row.src[1] : f.row.dst;
    if (!data(i.src[1], f.bits(1, 7, 0), false, value)) return false;
    i.dst = i.src[1];
    if (!f.source(2, f.bits(0, 6, 0), Type::b32)) return false;
    i.sdst = i.src[2];
    return f.bits(1, 17, 9) < kConstants && f.scalar_destination(i.src[2], f.bits(1, 17, 9), Type::b128);
}

bool typed_buffer(const BitFields& f) {
    if (f.words.size() < 2) return false;
    f.inst.literal = separate_format(f.bits(1, 29, 23), f.traits.fewer_formats);
    return buffer(f);
}

bool data_share(const BitFields& f) {
    if (f.bit(0, 17) || !decode_data_share(f)) return false;
    // DS_PERMUTE and DS_BPERMUTE reach all lanes of a wave ("RDNA 4" ISA manual, "DS Permute").
    f.inst.flags = static_cast<std::uint16_t>(f.inst.flags & ~kInHalves);
    return true;
}

Encoding encoding_of(std::span<const std::uint32_t> words) {
    const std::uint32_t d = words[0];
    const auto field = [d](unsigned high, unsigned low) { return (d >> low) & ((1u << (high - low + 1)) - 1); };
    if (const auto alu = alu_encoding(d)) return *alu;
    switch (field(31, 26)) {
        case 0x31:
            return {field(21, 21) != 0 ? Format::Mtbuf : Format::Mubuf, field(20, 14)};
        case 0x32:
            return {Format::Vopd, field(25, 22)};
        case 0x33:
            if (field(25, 23) == 0) return {Format::Vop3p, field(22, 16)};
            if (field(25, 24) == 1) return {Format::Vintrp, field(22, 16)};
            return {field(25, 24) == 2 ? Format::Ldsdir : Format::Unknown, field(21, 20)};
        case 0x34:
        case 0x39:
            return {Format::Mimg, field(21, 14)};
        case 0x35:
            return {Format::Vop3, field(25, 16)};
        case 0x36:
            return {Format::Ds, field(25, 18)};
        case 0x3b:
            return {Format::Flat, field(21, 14)};
        case 0x3d:
            return {Format::Smem, field(18, 13)};
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
            return buffer(f);
        case Format::Mtbuf:
            return typed_buffer(f);
        default:
            return data_share(f);
    }
}

}  // namespace
}  // namespace gfx12

const Family kGfx12{gfx12::encoding_of, gfx12::memory, &Opcodes::gfx12, 0x180, 0x100, 0};

}  // namespace kfdemu::isa
