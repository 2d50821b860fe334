#include "tests/kfdemu/isa/machine.hpp"

#include <cstring>
#include <stdexcept>

#include "tools/kfdemu/isa/encodings/family.hpp"

namespace test_isa {

using namespace kfdemu::isa;

Machine::Machine(Target target, Level level, unsigned width) : level_{level}, decoder_{target, level, width} {
    wave_.width = static_cast<std::uint8_t>(width);
    std::memset(registers_.get(), 0, sizeof *registers_);
    std::memset(wave_.s, 0, sizeof wave_.s);
    wave_.v = registers_->dword;
    wave_.acc = registers_->dword + 256 * width;
    wave_.shared_base = u64{1} << 56;
    wave_.private_base = u64{2} << 56;
    wave_.fetcher = this;
    wave_.fetch = &Machine::fetch;
    set_traits(wave_, traits_of(target));
    set_constants(wave_);
    set_mode(wave_, 0x2f0);  // as kernels begin: all denormals, IEEE
    exec(kAll);
}

const Inst* Machine::fetch(Wave& wave, u64 pc) {
    Machine& self = *static_cast<Machine*>(wave.fetcher);
    const u64 slot = (pc - kCodeBase) / 4;
    if (pc >= kCodeBase && slot + Decoder::kEnds < self.slots_.size()) return &self.slots_[slot];
    wave.pc = pc;
    wave.stop = Stop::FetchFault;
    return nullptr;
}

void Machine::vgpr(unsigned n, u32 value) {
    for (unsigned l = 0; l < wave_.width; ++l) lane(n, l) = value;
}

void Machine::vgpr64(unsigned n, u64 value) {
    vgpr(n, static_cast<u32>(value));
    vgpr(n + 1, static_cast<u32>(value >> 32));
}

u32 Machine::packed(unsigned first, unsigned lane, unsigned n, unsigned width) {
    u32 number = 0;
    for (unsigned bit = 0; bit < width; ++bit) {
        const unsigned at = n * width + bit;
        number |= (this->lane(first + at / 32, lane) >> at % 32 & 1) << bit;
    }
    return number;
}
void Machine::put_packed(unsigned first, unsigned lane, unsigned n, unsigned width, u32 number) {
    for (unsigned bit = 0; bit < width; ++bit) {
        const unsigned at = n * width + bit;
        u32& word = this->lane(first + at / 32, lane);
        word = (word & ~(1u << at % 32)) | (number >> bit & 1) << at % 32;
    }
}

Stop Machine::run(const std::vector<u32>& code, u64 budget) {
    std::vector<u32> words = code;
    words.push_back(0xbf800000 | opcode_of(rows()[index(Op::s_endpgm)], decoder_.target()) << 16);
    slots_.resize(words.size() + Decoder::kEnds);
    decoder_.decode_page(kCodeBase, words, slots_);
    runs_ = kfdemu::jit::PageRuns{slots_, level_, wave_.width, translated_};
    if (general_ != nullptr)
        for (Inst& inst : slots_)
            if (inst.row != Decoder::kNoRow && inst.handler != illegal_handler())
                inst.handler = general_->general[inst.row];
    wave_.next = nullptr;
    wave_.pc = kCodeBase;
    return kfdemu::isa::run(wave_, budget);
}

std::vector<Level> levels() {
    std::vector<Level> all;
    for (const Level level : {Level::V2, Level::V3, Level::V4}) {
        if (supported(level)) all.push_back(level);
    }
    return all;
}

std::vector<unsigned> widths() {
    std::vector<unsigned> all;
    for (const unsigned width : {64u, 32u})
        if (kfdemu::isa::is_built(width)) all.push_back(width);
    return all;
}

const Row& row_of(const std::string& mnemonic, Target target) {
    for (const Row& row : rows()) {
        if (mnemonic == row.name && row.on(target)) return row;
    }
    throw std::runtime_error("no row " + mnemonic);
}

std::vector<u32> vop1(const std::string& mnemonic, u32 d, u32 a, Target target) {
    return {0x7e000000u | d << 17 | opcode_of(row_of(mnemonic, target), target) << 9 | a};
}

std::vector<u32> vop2(const std::string& mnemonic, u32 d, u32 a, u32 b, Target target) {
    const Row& row = row_of(mnemonic, target);
    if (row.format == Format::Vopc) return {0x7c000000u | opcode_of(row, target) << 17 | (b & 255) << 9 | a};
    return {opcode_of(row, target) << 25 | d << 17 | (b & 255) << 9 | a};
}

std::vector<u32> vop3(const std::string& mnemonic, u32 d, u32 a, u32 b, u32 c, u32 low, u32 high, Target target) {
    const Row& row = row_of(mnemonic, target);
    const kfdemu::isa::Family& family = kfdemu::isa::family_of(target);
    const bool gfx9 = !kfdemu::isa::traits_of(target).unified_formats;
    const u32 base = row.format == Format::Vop2   ? family.vop2_in_vop3
                     : row.format == Format::Vop1 ? family.vop1_in_vop3
                                                  : 0;
    const u32 first =
        row.format == Format::Vop3p ? (gfx9 ? 0xd3800000u : 0xcc000000u) : (gfx9 ? 0xd0000000u : 0xd4000000u);
    return {first | (base + opcode_of(row, target)) << 16 | d | low, a | b << 9 | c << 18 | high};
}

std::vector<u32> sop1(const std::string& mnemonic, u32 d, u32 a) {
    return {0xbe800000u | d << 16 | opcode_of(row_of(mnemonic), Target::gfx90a) << 8 | a};
}
std::vector<u32> sop2(const std::string& mnemonic, u32 d, u32 a, u32 b) {
    return {0x80000000u | opcode_of(row_of(mnemonic), Target::gfx90a) << 23 | d << 16 | b << 8 | a};
}
std::vector<u32> sopc(const std::string& mnemonic, u32 a, u32 b) {
    return {0xbf000000u | opcode_of(row_of(mnemonic), Target::gfx90a) << 16 | b << 8 | a};
}
std::vector<u32> sopk(const std::string& mnemonic, u32 d, u32 k) {
    return {0xb0000000u | opcode_of(row_of(mnemonic), Target::gfx90a) << 23 | d << 16 | (k & 0xffff)};
}
std::vector<u32> sopp(const std::string& mnemonic, u32 k) {
    return {0xbf800000u | opcode_of(row_of(mnemonic), Target::gfx90a) << 16 | (k & 0xffff)};
}
std::vector<u32> operator+(std::vector<u32> a, const std::vector<u32>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

u32 bits(float value) { return __builtin_bit_cast(u32, value); }
u64 bits(double value) { return __builtin_bit_cast(u64, value); }
float as_float(u32 value) { return __builtin_bit_cast(float, value); }
double as_double(u64 value) { return __builtin_bit_cast(double, value); }

}  // namespace test_isa
