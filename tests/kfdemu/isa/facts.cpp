// What rows say of their instructions holds when these execute: the registers and bits that are read and written, and
// the bytes of memory.
#include <cstring>
#include <optional>

#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/kfdemu/isa/samples.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/turn.hpp"
#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/isa/encodings/family.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

constexpr unsigned kScalars = 128, kRegisters = kAcc0 + 256;

/// Registers by operand; SCC by name.
struct Facts {
    bool reads[kRegisters] = {}, writes[kRegisters] = {};
    bool reads_scc = false, writes_scc = false;

    explicit Facts(const Inst& inst) {
        const Row& row = rows()[inst.row];
        for (const kfdemu::check::RegisterUse& use : kfdemu::check::register_uses(inst))
            std::fill_n((use.writes ? writes : reads) + use.first, use.count, true);
        const bool scalar = row.format <= Format::Sopp;
        reads_scc = row.is(kReadsScc), writes_scc = row.is(kWritesScc);
        mark(reads, kM0, 1, row.is(kReadsM0));
        mark(writes, kM0, 1, row.is(kWritesM0));
        mark(reads, kVcc, inst.mask_dwords(), row.is(kReadsVcc));
        mark(reads, kExec, 2, row.is(kReadsExec) || !scalar);
        mark(writes, kExec, 2, row.is(kWritesExec));
    }
    static void mark(bool* of, unsigned first, unsigned count, bool yes) {
        if (yes) std::fill_n(of + first, count, true);
    }
};

class Waves {
  public:
    explicit Waves(Target target, unsigned width = kMostLanes)
        : target_{target},
          first_{target, best_level(), width},
          second_{target, best_level(), width},
          decoder_{target, best_level(), width},
          width_{width} {}

    /// The instruction executes on two waves that agree only in what it reads: they agree in what it writes, and
    /// nothing else changes.
    void check(const Row& row, const Words& words) {
        const Inst inst = decoder_.decode(kCodeBase, words);
        if (inst.row != static_cast<std::size_t>(&row - rows().data()) || inst.has(kScalarSetup)) return;
        const Facts facts{inst};
        fill(facts, keeps(inst, row));
        const Stop stop = first_.run(words), other = second_.run(words);
        INFO(row.name << " " << std::hex << words[0] << " " << (words.size() > 1 ? words[1] : 0) << " on "
                      << name(target_));
        REQUIRE(stop == other);
        if (stop == Stop::Illegal) return;
        REQUIRE(first_.wave().pc == second_.wave().pc);
        for (unsigned n = 0; n < kScalars; ++n) compare(facts, n, 1);
        for (unsigned n = kVgpr0; n < kRegisters; ++n) compare(facts, n, width_);
        require(facts.writes_scc || first_.wave().scc == before_scc_, "SCC", "changes");
        require(!facts.writes_scc || first_.wave().scc == second_.wave().scc, "SCC", "depends on what is not read");
    }

  private:
    /// It may keep a part of its destination because of its form, or all of it because of the wave's width.
    static bool keeps(const Inst& inst, const Row& row) {
        return inst.moves_lanes() || (inst.flags & kFinish) != 0 || row.is(kLowHalf) || row.is(kHighHalf) ||
               row.is(kNamedLane) || (inst.has(kWave32) && inst.row == index(Op::v_permlane64_b32));
    }
    u32 word() { return random_.bits(16) | random_.bits(16) << 16; }
    static void require(bool yes, const char* what, const char* does) {
        if (yes) return;
        INFO(what << " " << does);
        FAIL("");
    }
    static u32* registers(Machine& machine, unsigned n) {
        return n < kVgpr0 ? machine.wave().s + n : machine.wave().lanes(static_cast<Operand>(n));
    }
    void fill(const Facts& facts, bool keeps) {
        for (unsigned n = 0; n < kScalars; ++n) fill(facts, n, 1, keeps);
        for (unsigned n = kVgpr0; n < kRegisters; ++n) fill(facts, n, width_, keeps);
        before_scc_ = random_.one_in(2);
        first_.wave().scc = before_scc_;
        second_.wave().scc = facts.reads_scc ? before_scc_ : !before_scc_;
        first_.wave().mode = second_.wave().mode = first_mode_;
        if (!facts.reads[kM0]) return;
        first_.sgpr(kM0) = second_.sgpr(kM0) = before_[kM0][0] = random_.bits(4);
    }
    void fill(const Facts& facts, unsigned n, unsigned lanes, bool keeps) {
        const bool same = facts.reads[n] || (facts.writes[n] && keeps);
        for (unsigned l = 0; l < lanes; ++l) {
            before_[n][l] = word();
            if (n == kExec || n == kExec + 1) before_[n][l] = ~0u;  // all lanes are written
            registers(first_, n)[l] = before_[n][l];
            registers(second_, n)[l] = same || n == kExec || n == kExec + 1 ? before_[n][l] : word();
        }
    }
    void compare(const Facts& facts, unsigned n, unsigned lanes) {
        const u32 *one = registers(first_, n), *two = registers(second_, n);
        const std::string name = kfdemu::check::register_name(target_, static_cast<Operand>(n), 1);
        if (facts.writes[n])
            require(std::memcmp(one, two, 4 * lanes) == 0, name.c_str(), "depends on what is not read");
        else
            require(std::memcmp(one, before_[n], 4 * lanes) == 0, name.c_str(), "changes");
    }

    Target target_;
    Machine first_, second_;
    Decoder decoder_;
    unsigned width_;
    Random random_{7};
    u32 before_[kRegisters][64];
    bool before_scc_ = false;
    u32 first_mode_ = first_.wave().mode;
};

/// Memory, registers that M0 or MODE selects, the time, and what the work-group answers.
bool is_left_out(const Row& row) {
    const bool forks = row.is(kJump) && row.is(kWritesExec),
               answers = row.format == Format::Sop1 && row.src[0] == Type::message,
               meets = &row == &rows()[index(Op::s_barrier_signal_isfirst)] ||
                       &row == &rows()[index(Op::s_get_barrier_state)];
    return kfdemu::check::may_access(row.format) || row.src[0] == Type::hwreg || row.is(kMovesFrom) ||
           row.is(kMovesTo) || forks || answers || meets;
}

/// The newest of GFX9, if one has it; else the first of the others.
Target newest(const Row& row) {
    std::optional<Target> found;
    for (const Target target : kTargets)
        if (row.on(target) && (!found || !traits_of(target).wave32)) found = target;
    return found.value();
}

}  // namespace

TEST_CASE("instructions read and write what their rows say", "[isa][facts]") {
    for (const Target target : kTargets) {
        auto waves = std::make_unique<Waves>(target);
        for (const Row& row : rows()) {
            if (newest(row) != target || is_left_out(row)) continue;
            for (const Words& words : samples(row, target)) waves->check(row, words);
        }
    }
}

TEST_CASE("on RDNA, they do in waves of 64 and of 32 lanes", "[isa][facts]") {
    unsigned long number = 0;
    for (const Target target : {Target::gfx1030, Target::gfx1100, Target::gfx1151, Target::gfx1201})
        for (const unsigned width : {kMostLanes, 32u}) {
            if (!is_built(width) || !test_support::has_turn(number++, 4)) continue;
            auto waves = std::make_unique<Waves>(target, width);
            for (const Row& row : rows()) {
                if (!row.on(target) || is_left_out(row)) continue;
                for (const Words& words : samples(row, target, width)) waves->check(row, words);
            }
        }
}

namespace {

constexpr unsigned kAt = 64, kAround = 24, kAddress = 0, kData = 8, kSecondData = 12, kResult = 16;

/// One lane's access of memory or LDS at kAt, by GLOBAL, MUBUF or DS.
class OneLane {
  public:
    OneLane(const Row& row, Target target) : row_{row}, m_{kfdemu::isa::best_level(), target} {}

    unsigned bytes() {
        const Inst inst = Decoder{newest(row_)}.decode(kCodeBase, code());
        kfdemu::check::Segments segments;
        start(0);
        kfdemu::check::find_accesses(m_.machine.wave(), inst, segments);
        REQUIRE(segments.count > 0);
        return segments.access[0].bytes;
    }
    /// Byte `changed` of those around kAt has other bits; 0: none.
    void run(u32 seed, unsigned changed = kAround, unsigned char bits = 0) {
        start(seed);
        if (changed < kAround) set(changed, static_cast<unsigned char>(byte(changed) ^ bits));
        REQUIRE(m_.run(code()) == Stop::End);
    }
    u32 result(unsigned dword) { return row_.is(kToLds) ? m_.lds(4 * dword) : m_.machine.lane(kResult + dword, 0); }
    unsigned char byte(unsigned n) { return is_local() ? lds(n) : m_.at<unsigned char>(kAt - 8 + n); }

  private:
    bool is_local() const { return row_.format == Format::Ds; }
    unsigned char lds(unsigned n) { return static_cast<unsigned char>(m_.lds((kAt - 8 + n) & ~3u) >> 8 * (n % 4)); }
    void set(unsigned n, unsigned char value) {
        if (!is_local()) return m_.put(kAt - 8 + n, value);
        const u32 rest = m_.lds((kAt - 8 + n) & ~3u) & ~(0xffu << 8 * (n % 4));
        m_.put_lds((kAt - 8 + n) & ~3u, rest | u32{value} << 8 * (n % 4));
    }
    /// The same bytes and registers for the same seed.
    void start(u32 seed) {
        Random random{seed + 1};
        for (unsigned n = 0; n < kAround; ++n) set(n, static_cast<unsigned char>(random.bits(8) & 0x7f));
        for (unsigned n = 0; n < 32; ++n) m_.machine.vgpr(n, random.bits(16) | random.bits(15) << 16);
        m_.machine.vgpr64(kAddress, row_.format == Format::Flat ? kBase + kAt : kAt);
    }
    Words code() const {
        const u32 op = opcode_of(row_, newest(row_));
        const bool gfx11 = &family_of(newest(row_)) == &kGfx11;
        if (&family_of(newest(row_)) == &kGfx12) return gfx12_code(op);
        const u32 no_saddr = gfx11 ? 0x7c : newest(row_) == Target::gfx1030 ? 0x7d : 0x7f;
        if (row_.format == Format::Flat)
            return {0xdc000000 | op << 18 | 2 << (gfx11 ? 16 : 14),
                    kAddress | data() << 8 | no_saddr << 16 | kResult << 24};
        if (row_.format == Format::Mubuf && gfx11)
            return {0xe0000000 | op << 18, kAddress | data() << 8 | 2 << 16 | 1 << 22 | 128u << 24};
        if (row_.format == Format::Mubuf) return {0xe0001000 | op << 18, kAddress | data() << 8 | 2 << 16 | 128u << 24};
        return {0xd8000000 | op << 17, kAddress | kData << 8 | kSecondData << 16 | kResult << 24};
    }
    Words gfx12_code(u32 op) const {
        if (row_.format == Format::Flat) return {0xee00007c | op << 14, kResult | data() << 23, kAddress};
        if (row_.format == Format::Mubuf) return {0xc400007c | op << 14, data() | 8 << 9 | 1u << 30, kAddress};
        return {0xd8000000 | op << 18, kAddress | kData << 8 | kSecondData << 16 | kResult << 24};
    }
    u32 data() const { return row_.format == Format::Mubuf && !row_.is(kStore) ? kResult : kData; }

    const Row& row_;
    Buffered m_;
};

bool is_one_access(const Row& row) {
    const bool memory = row.format == Format::Flat || row.format == Format::Mubuf || row.format == Format::Ds;
    return memory && row.shape.element != Element::nothing && !is_converted(row.shape.element) && !row.is(kReadsM0) &&
           !row.is(kAtomic) && !row.is(kByLane) && transposed_bits(row.shape.element) == 0;
}

}  // namespace

TEST_CASE("loads and stores access the bytes that their rows say, and place them so", "[isa][facts]") {
    for (const Row& row : rows()) {
        if (!is_one_access(row)) continue;
        INFO(row.name);
        OneLane lane{row, newest(row)};
        const unsigned bytes = lane.bytes();
        const Element element = row.shape.element;
        if (row.is(kStore)) {
            lane.run(1);
            unsigned char before[kAround], changed = 0;
            for (unsigned n = 0; n < kAround; ++n) before[n] = lane.byte(n);
            Random untouched{2};
            for (unsigned n = 0; n < kAround; ++n) {
                const bool differs = before[n] != (untouched.bits(8) & 0x7f);
                changed = static_cast<unsigned char>(changed + differs);
                REQUIRE((!differs || (n >= 8 && n < 8 + bytes)));
            }
            REQUIRE(changed > 0);
            continue;
        }
        lane.run(1);
        u32 result[4];
        for (unsigned k = 0; k < 4; ++k) result[k] = lane.result(k);
        for (unsigned n = 0; n < kAround; ++n) {
            lane.run(1, n, 1);
            bool differs = false;
            for (unsigned k = 0; k < 4; ++k) differs |= lane.result(k) != result[k];
            INFO("byte " << int(n) - 8 << " of " << bytes);
            REQUIRE(differs == (n >= 8 && n < 8 + bytes));
        }
        if (narrow_bytes(element) == 0 || bytes > 4) continue;
        lane.run(1, 8 + bytes - 1, 0x80);  // the sign
        const u32 flipped = lane.result(0) ^ result[0], sign = 1u << (8 * bytes - 1);
        const u32 half = 0u - sign, all = is_half(element) ? half & 0xffff : half;
        REQUIRE(flipped == (is_signed(element) ? all : sign) << (is_high_half(element) ? 16 : 0));
        lane.run(2);
        Random random{3};
        const u32 other_half = is_high_half(element) ? 0xffff : is_half(element) ? 0xffff0000 : 0;
        for (unsigned n = 0; n < kAround; ++n) random.bits(8);
        u32 old = 0;
        for (unsigned n = 0; n <= kResult; ++n) old = random.bits(16), old |= random.bits(15) << 16;
        REQUIRE((lane.result(0) & other_half) == (old & other_half));
    }
}

TEST_CASE("global_load_dword_addtid accesses a dword for each lane", "[isa][facts]") {
    constexpr u32 kBaseRegister = 4, kOffset = 16;
    constexpr u32 kCode[] = {0xdc000000 | 0x16 << 18 | 2 << 14 | kOffset, kBaseRegister << 16 | kResult << 24};
    const Inst inst = Decoder{Target::gfx1030, best_level(), 32}.decode(kCodeBase, kCode);
    REQUIRE(inst.row == index(Op::flat_load_dword_addtid));
    Machine machine{Target::gfx1030, best_level(), 32};
    machine.exec(0xffff'ffff);
    machine.wave().set_s64(kBaseRegister, 0x1234'5678'9000);
    kfdemu::check::Segments segments;
    kfdemu::check::find_accesses(machine.wave(), inst, segments);
    REQUIRE(segments.count == 1);
    REQUIRE(segments.access[0].bytes == 4);
    for (unsigned l = 0; l < 32; ++l) REQUIRE(segments.access[0].at[l] == 0x1234'5678'9000ull + kOffset + 4 * l);
}
