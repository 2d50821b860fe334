#include "decode.hpp"

#include <array>

#include "fields.hpp"

namespace kfdemu::isa {
namespace {

constexpr unsigned kFormats = static_cast<unsigned>(Format::Unknown);
constexpr unsigned kOpcodes = 1024;
// VOP3 opcode offsets of the short encodings ("Vega" ISA manual, "VOP3A").
constexpr unsigned kVop2InVop3 = 0x100, kVop1InVop3 = 0x140;

using Opcodes = std::uint16_t[kOpcodes];
struct Index {
    Opcodes rows[kFormats];
};

Index build(Target target) {
    Index index;
    for (auto& opcodes : index.rows) {
        for (auto& row : opcodes) row = Decoder::kNoRow;
    }
    auto& vop3 = index.rows[static_cast<unsigned>(Format::Vop3)];
    for (std::uint16_t n = 0; n < rows().size(); ++n) {
        const Row& row = rows()[n];
        if (!row.on(target)) continue;
        const unsigned opcode = row.opcodes.gfx9;
        index.rows[static_cast<unsigned>(row.format)][opcode] = n;
        if (row.is(kNoVop3)) continue;
        if (row.format == Format::Vopc) vop3[opcode] = n;
        if (row.format == Format::Vop2) vop3[kVop2InVop3 + opcode] = n;
        if (row.format == Format::Vop1) vop3[kVop1InVop3 + opcode] = n;
    }
    return index;
}

const Index& index_of(Target target) {
    static const std::array<Index, 4> all = {build(Target::gfx900), build(Target::gfx906), build(Target::gfx908),
                                             build(Target::gfx90a)};
    return all[static_cast<unsigned>(target)];
}

bool decode_fields(const Fields& f) {
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

Inst blank(std::uint64_t pc, std::uint32_t dword) {
    Inst inst{};
    inst.handler = illegal_handler();
    inst.pc = pc;
    inst.row = Decoder::kNoRow;
    inst.size = 1;
    inst.dst = inst.sdst = inst.src[0] = inst.src[1] = inst.src[2] = kNoOperand;
    inst.format = encoding_of(dword).format;
    inst.dwords[0] = dword;
    return inst;
}

}  // namespace

Encoding encoding_of(std::uint32_t d) {
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

const char* name(Format format) {
    constexpr const char* names[] = {"SOP1",  "SOP2",  "SOPC", "SOPK",  "SOPP",   "SMEM", "VOP1",
                                     "VOP2",  "VOPC",  "VOP3", "VOP3P", "VINTRP", "DS",   "FLAT",
                                     "MUBUF", "MTBUF", "MIMG", "EXP",   "unknown"};
    return names[static_cast<unsigned>(format)];
}

bool is_plain(const Inst& inst) {
    return (inst.form == Form::Plain || inst.form == Form::Vop3) && !inst.has(kPrepare) && !inst.has(kFinish);
}

Decoder::Decoder(Target target, Level level)
    : target_{target}, handlers_{handlers(level)}, index_{index_of(target).rows} {}

const Row* Decoder::find(Format format, unsigned opcode) const {
    if (format == Format::Unknown || opcode >= kOpcodes) return nullptr;
    const std::uint16_t row = index_[static_cast<unsigned>(format)][opcode];
    return row == kNoRow ? nullptr : &rows()[row];
}

Inst Decoder::decode(std::uint64_t pc, std::span<const std::uint32_t> words) const {
    const Encoding encoding = encoding_of(words[0]);
    const Row* row = find(encoding.format, encoding.opcode);
    Inst inst = blank(pc, words[0]);
    if (words.size() > 1) inst.dwords[1] = words[1];
    if (!row) return inst;
    Inst known = inst;
    known.row = static_cast<std::uint16_t>(row - rows().data());
    known.format = row->format;
    if (!decode_fields(Fields{known, *row, target_, words})) return inst;
    known.handler = (is_plain(known) ? handlers_.plain : handlers_.general)[known.row];
    return known;
}

void Decoder::decode_page(std::uint64_t base, std::span<const std::uint32_t> words, std::span<Inst> slots) const {
    const std::size_t count = slots.size() - 2;
    for (std::size_t n = 0; n < count; ++n) {
        Inst& inst = slots[n];
        inst = decode(base + 4 * n, words.subspan(n));
        const std::uint64_t distance = inst.target_pc() - base;
        if (inst.has(kBranch) && distance < 4 * count) inst.target = &slots[distance / 4];
    }
    for (std::size_t n = count; n < count + 2; ++n) {
        slots[n] = blank(base + 4 * n, 0);
        slots[n].handler = page_end_handler();
    }
}

}  // namespace kfdemu::isa
