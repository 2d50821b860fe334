#include "tools/kfdemu/isa/encodings/decode.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "tools/kfdemu/isa/encodings/dual.hpp"
#include "tools/kfdemu/isa/encodings/fields.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {
namespace {

constexpr unsigned kFormats = static_cast<unsigned>(Format::Unknown);
constexpr unsigned kOpcodes = 1024;

struct Index {
    std::uint16_t rows[kFormats][kOpcodes];

    std::uint16_t& at(Format format, unsigned opcode) { return rows[static_cast<unsigned>(format)][opcode]; }
};

Index build(Target target) {
    const Family& family = family_of(target);
    Index index;
    for (auto& opcodes : index.rows) std::fill(std::begin(opcodes), std::end(opcodes), Decoder::kNoRow);
    for (std::uint16_t n = 0; n < rows().size(); ++n) {
        const Row& row = rows()[n];
        if (!row.on(target)) continue;
        const unsigned opcode = opcode_of(row, target);
        index.at(row.format, opcode) = n;
        if (row.is(kNoVop3)) continue;
        if (row.format == Format::Vopc) index.at(Format::Vop3, family.vopc_in_vop3 + opcode) = n;
        if (row.format == Format::Vop2) index.at(Format::Vop3, family.vop2_in_vop3 + opcode) = n;
        if (row.format == Format::Vop1) index.at(Format::Vop3, family.vop1_in_vop3 + opcode) = n;
    }
    return index;
}

const Index& index_of(Target target) {
    static const auto all = [] {
        std::array<Index, std::size(kTargets)> made;
        for (const Target each : kTargets) made[static_cast<unsigned>(each)] = build(each);
        return made;
    }();
    return all[static_cast<unsigned>(target)];
}

Inst blank(std::uint64_t pc, std::uint32_t dword, Format format) {
    Inst inst{};
    inst.handler = illegal_handler();
    inst.pc = pc;
    inst.row = Decoder::kNoRow;
    inst.size = 1;
    inst.dst = inst.sdst = inst.src[0] = inst.src[1] = inst.src[2] = kNoOperand;
    inst.format = format;
    inst.dwords[0] = dword;
    return inst;
}

/// False for reserved encodings.
bool fill(const BitFields& f, const Family& family) {
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
            return family.decode_memory(f);
        case Format::Vopd:
            return decode_dual(f);
        default:
            return decode_vector(f);
    }
}

/// TTMPs, which the hardware does not let a kernel write, and kfdemu stops at.
bool writes_trap_registers(const Inst& inst, const Row& row) {
    const auto has_one = [](Operand first, unsigned count) { return first < kTtmp0 + 16 && kTtmp0 < first + count; };
    if (row.is(kNoResult) || row.is(kStore)) return false;
    return has_one(inst.dst, dwords(row.dst)) || (is_vector(row.format) && has_one(inst.sdst, 1));
}

}  // namespace

const Family& family_of(Target target) {
    if (target >= Target::gfx1201) return kGfx12;
    if (target >= Target::gfx1100) return kGfx11;
    if (target == Target::gfx1030) return kGfx10;
    return target >= Target::gfx942 ? kGfx940 : kGfx9;
}

unsigned opcode_of(const Row& row, Target target) { return (row.opcodes.*family_of(target).opcode).number; }

const char* mnemonic_of(const Row& row, Target target) {
    const char* const mnemonic = (row.opcodes.*family_of(target).opcode).mnemonic;
    return mnemonic != nullptr ? mnemonic : row.name;
}

const char* name(Format format) {
    constexpr const char* names[] = {"SOP1", "SOP2",  "SOPC",  "SOPK",  "SOPP", "SMEM",   "VOP1",
                                     "VOP2", "VOPC",  "VOP3",  "VOP3P", "VOPD", "VINTRP", "DS",
                                     "FLAT", "MUBUF", "MTBUF", "MIMG",  "EXP",  "LDSDIR", "unknown"};
    return names[static_cast<unsigned>(format)];
}

bool is_plain(const Inst& inst) {
    return (inst.form == Form::Plain || inst.form == Form::Vop3) && !inst.has(kPrepare) && !inst.has(kFinish);
}

Decoder::Decoder(Target target, Level level, unsigned width)
    : target_{target}, width_{width}, handlers_{handlers(level, width)}, index_{index_of(target).rows} {}

const Row* Decoder::find(Format format, unsigned opcode) const {
    if (format == Format::Unknown || opcode >= kOpcodes) return nullptr;
    const std::uint16_t row = index_[static_cast<unsigned>(format)][opcode];
    return row == kNoRow ? nullptr : &rows()[row];
}

Inst Decoder::decode(std::uint64_t pc, std::span<const std::uint32_t> words) const {
    const Family& family = family_of(target_);
    const Encoding encoding = family.encoding_of(words);
    const Row* row = find(encoding.format, encoding.opcode);
    Inst inst = blank(pc, words[0], encoding.format);
    if (words.size() > 1) inst.dwords[1] = words[1];
    if (!row) return inst;
    Inst known = inst;
    known.row = static_cast<std::uint16_t>(row - rows().data());
    known.format = row->format;
    if (width_ != kMostLanes) known.flags |= kWave32;
    if (!fill({known, *row, traits_of(target_), words, width_}, family)) return inst;
    if (!writes_trap_registers(known, *row))
        known.handler = (is_plain(known) ? handlers_.plain : handlers_.general)[known.row];
    return known;
}

void Decoder::decode_page(std::uint64_t base, std::span<const std::uint32_t> words, std::span<Inst> slots) const {
    const std::size_t count = slots.size() - kEnds;
    for (std::size_t n = 0; n < count; ++n) {
        Inst& inst = slots[n];
        inst = decode(base + 4 * n, words.subspan(n));
        const std::uint64_t distance = inst.target_pc() - base;
        if (inst.has(kBranch) && distance < 4 * count) inst.target = &slots[distance / 4];
    }
    for (std::size_t n = count; n < slots.size(); ++n) {
        slots[n] = blank(base + 4 * n, 0, Format::Unknown);
        slots[n].handler = page_end_handler();
    }
}

}  // namespace kfdemu::isa
