// Waves of 32 lanes: every row computes in each lane what it does in a wave of 64 of which the other half is inactive,
// and masks of lanes are one SGPR.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/kfdemu/isa/samples.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/isa/memory/tlb.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

constexpr unsigned kNarrow = 32, kVgprs = 256, kSgprs = 108;
constexpr u64 kFirst32 = 0xffffffff;
constexpr u32 kMapped = 0x40000, kLdsBytes = 0x10000, kAddress = 0x8000;

#define NEEDS_NARROW_WAVES() \
    if (!is_built(kNarrow)) SKIP_BECAUSE("no executor of 32 lanes is built: -Dwidths=64,32")

/// A wave with LDS, and with memory from address 0 on.
class Scene {
  public:
    Scene(Target target, Level level, unsigned width) : machine{target, level, width} {
        space_.map({0, kMapped, memory.data(), kfdemu::kRead | kfdemu::kWrite, 1, false});
        Wave& wave = machine.wave();
        wave.memory = &space_;
        wave.tlb = &tlb_;
        wave.lds = lds.data();
        wave.lds_size_bytes = kLdsBytes;
        wave.scratch_va = 0x20000;
        wave.scratch_size_bytes = 0x10000;
    }
    Stop run(const Words& words) {
        const kfdemu::AddressSpace::Hold hold{space_};
        tlb_.flush();
        return machine.run(words);
    }

    Machine machine;
    std::vector<std::byte> memory = std::vector<std::byte>(kMapped), lds = std::vector<std::byte>(kLdsBytes);

  private:
    kfdemu::AddressSpace space_;
    kfdemu::isa::Tlb tlb_;
};

/// Two waves that differ in their width alone.
struct Pair {
    Pair(Target target, Level level) : wide{target, level, 64}, narrow{target, level, kNarrow} {}

    /// `value(n, lane)`: of VGPR n. The other lanes of the wide wave have the same.
    template <class Value>
    void set_vgprs(Value&& value) {
        for (unsigned n = 0; n < kVgprs; ++n)
            for (unsigned lane = 0; lane < kNarrow; ++lane) {
                const u32 now = value(n, lane);
                narrow.machine.lane(n, lane) = wide.machine.lane(n, lane) = now;
                wide.machine.lane(n, lane + kNarrow) = now;
            }
    }
    /// EXEC and VCC have no upper half.
    template <class Value>
    void set_sgprs(Value&& value, u32 exec) {
        for (Scene* scene : {&wide, &narrow}) {
            std::fill_n(&scene->machine.sgpr(0), kExec, 0);
            for (unsigned n = 0; n < kSgprs; ++n) scene->machine.sgpr(n) = value(n);
            scene->machine.sgpr(kVcc + 1) = 0;
            scene->machine.sgpr(kM0) = 0x100;
            scene->machine.wave().scc = false;
            scene->machine.exec(exec);
        }
    }
    void set_memory(u32 seed) {
        Random random{seed};
        for (std::byte& byte : wide.memory) byte = static_cast<std::byte>(random.bits(8));
        for (std::byte& byte : wide.lds) byte = static_cast<std::byte>(random.bits(8));
        std::copy(wide.memory.begin(), wide.memory.end(), narrow.memory.begin());
        std::copy(wide.lds.begin(), wide.lds.end(), narrow.lds.begin());
    }
    bool same_vgprs() {
        for (unsigned n = 0; n < kVgprs; ++n)
            if (std::memcmp(&wide.machine.lane(n, 0), &narrow.machine.lane(n, 0), kNarrow * sizeof(u32)) != 0)
                return false;
        return true;
    }
    /// But for `kept`, the upper half of a mask in the wide wave.
    bool same_sgprs(unsigned kept) {
        for (unsigned n = 0; n < kConstants; ++n)
            if (n != kept && wide.machine.sgpr(n) != narrow.machine.sgpr(n)) return false;
        return true;
    }

    Scene wide, narrow;
};

/// What depends on how many lanes there are is tested by itself, below.
bool crosses_lanes(const Row& row, const Inst& inst) {
    const bool dpp_of_the_wave = inst.form == Form::Dpp && ((inst.literal >> 8) & 0x1f0) == 0x130;
    return row.is(kNamedLane) || row.is(kPermutes) || dpp_of_the_wave;
}
bool is_scratch(const Inst& inst) { return inst.format == Format::Flat && inst.segment == Segment::Scratch; }

constexpr unsigned kNone = ~0u;
/// The SGPR after the mask that the instruction writes.
unsigned after_mask(const Row& row, const Inst& inst) {
    const bool writes = row.format == Format::Vopc || row.is(kCarryOut) || row.is(kVop3b);
    return writes ? inst.sdst + 1u : kNone;
}

}  // namespace

TEST_CASE("a vector row computes the same in a wave of 32 lanes", "[isa][width]") {
    NEEDS_NARROW_WAVES();
    unsigned compared = 0;
    for (const Level level : levels())
        for (const Target target : {Target::gfx900, Target::gfx90a}) {
            Pair pair{target, level};
            const Decoder decoder{target, level};
            for (const Row& row : rows()) {
                if (!row.on(target) || !is_vector(row.format)) continue;
                Random random{row.opcodes.gfx9.number * 1000u + static_cast<u32>(row.format)};
                for (const Words& words : samples(row, target)) {
                    const Inst inst = decoder.decode(0, words);
                    if (row.is(kMatrix) || crosses_lanes(row, inst)) continue;
                    INFO(row.name << " " << std::hex << words[0] << " " << words.back() << " on " << name(level));
                    pair.set_vgprs(
                        [&](unsigned, unsigned) { return random.one_in(4) ? random.below(64) : random.word(); });
                    std::vector<u32> sgprs(kSgprs);
                    for (u32& sgpr : sgprs) sgpr = random.word();
                    pair.set_sgprs([&](unsigned n) { return sgprs[n]; }, random.one_in(2) ? ~0u : random.word() | 1);
                    const unsigned mask_end = after_mask(row, inst);
                    const u32 before = mask_end == kNone ? 0 : pair.narrow.machine.sgpr(mask_end);
                    CHECK(pair.wide.run(words) == pair.narrow.run(words));
                    CHECK(pair.same_vgprs());
                    CHECK(pair.same_sgprs(mask_end));
                    if (mask_end != kNone) CHECK(pair.narrow.machine.sgpr(mask_end) == before);
                    ++compared;
                }
            }
        }
    CHECK(compared > 5000 * levels().size());
}

TEST_CASE("a memory row does the same in a wave of 32 lanes", "[isa][width]") {
    NEEDS_NARROW_WAVES();
    unsigned compared = 0;
    for (const Level level : levels())
        for (const Target target : {Target::gfx900, Target::gfx90a}) {
            Pair pair{target, level};
            const Decoder decoder{target, level};
            for (const Row& row : rows()) {
                if (!row.on(target) || !is_vector_memory(row.format) || row.is(kGws)) continue;
                for (const Words& words : samples(row, target)) {
                    const Inst inst = decoder.decode(0, words);
                    if (inst.row == Decoder::kNoRow || crosses_lanes(row, inst) || is_scratch(inst)) continue;
                    INFO(row.name << " " << std::hex << words[0] << " " << words.back() << " on " << name(level));
                    Random random{++compared};
                    const bool apart = random.one_in(2);
                    const u32 pitch = apart ? 32 : 4;
                    pair.set_vgprs([&](unsigned n, unsigned lane) { return n % 2 == 0 ? kAddress + lane * pitch : 0; });
                    pair.set_sgprs([](unsigned n) { return n % 4 == 0   ? kAddress
                                                           : n % 4 == 2 ? 0x10000u
                                                                        : 0; },
                                   random.one_in(2) ? ~0u : random.word() | 1);
                    if (compared % 16 == 1) pair.set_memory(compared);
                    CHECK(pair.wide.run(words) == pair.narrow.run(words));
                    CHECK(pair.same_vgprs());
                    CHECK(pair.wide.memory == pair.narrow.memory);
                    CHECK(pair.wide.lds == pair.narrow.lds);
                }
            }
        }
    CHECK(compared > 1000 * levels().size());
}

TEST_CASE("lanes of a narrow wave are numbered modulo 32", "[isa][width]") {
    NEEDS_NARROW_WAVES();
    for (const Level level : levels()) {
        INFO(name(level));
        Scene scene{Target::gfx900, level, kNarrow};
        Machine& m = scene.machine;
        m.exec(kFirst32);
        m.number_lanes(1, 100);
        m.sgpr(4) = 35;
        CHECK(m.run(vop3("v_readlane_b32", 5, v(1), 4)) == Stop::End);
        CHECK(m.sgpr(5) == 103);
        CHECK(m.run(vop3("v_writelane_b32", 1, 4, 4)) == Stop::End);
        CHECK(m.lane(1, 3) == 35);
        CHECK(m.lane(2, 3) == 0);

        const auto dpp = [](u32 control) { return std::vector<u32>{0x7e0002fa | 3 << 17, 0xff000001 | control << 8}; };
        m.number_lanes(1, 100);
        CHECK(m.run(dpp(0x134)) == Stop::End);  // wave_rol
        CHECK(m.lane(3, 30) == 131);
        CHECK(m.lane(3, 31) == 100);
        m.vgpr(3, 7);
        CHECK(m.run(dpp(0x138)) == Stop::End);  // wave_shr
        CHECK(m.lane(3, 0) == 7);
        CHECK(m.lane(3, 31) == 130);

        const auto permute = [](u32 opcode) {
            return std::vector<u32>{0xd8000000 | opcode << 17, 2 | 1 << 8 | 3u << 24};
        };
        for (u32 lane = 0; lane < kNarrow; ++lane) m.lane(2, lane) = (lane + 33) * 4;
        CHECK(m.run(permute(0x3f)) == Stop::End);  // ds_bpermute_b32
        CHECK(m.lane(3, 0) == 101);
        CHECK(m.lane(3, 31) == 100);
        CHECK(m.run(permute(0x3e)) == Stop::End);  // ds_permute_b32
        CHECK(m.lane(3, 1) == 100);
        CHECK(m.lane(3, 0) == 131);
    }
}

TEST_CASE("branches on EXEC and VCC ask for the lanes that a narrow wave has", "[isa][width]") {
    NEEDS_NARROW_WAVES();
    for (const Level level : levels())
        for (const auto& [branch, at] : {std::pair{"s_cbranch_execz", kExec}, {"s_cbranch_vccz", kVcc}}) {
            INFO(branch << " on " << name(level));
            Machine m{Target::gfx900, level, kNarrow};
            m.sgpr(at) = 0;
            m.sgpr(at + 1) = 1;  // an SGPR like any other
            m.sgpr(0) = 0;
            CHECK(m.run(sopp(branch, 1) + sop1("s_mov_b32", 0, 129)) == Stop::End);
            CHECK(m.sgpr(0) == 0);
            CHECK(m.sgpr(at + 1) == 1);
        }
}

TEST_CASE("scratch of a narrow wave has its 32 lanes beside each other", "[isa][width]") {
    NEEDS_NARROW_WAVES();
    const auto scratch = [](u32 opcode, u32 data, u32 d) {
        return std::vector<u32>{0xdc004000 | opcode << 18, 2 | data << 8 | 0x7fu << 16 | d << 24};
    };
    for (const Level level : levels()) {
        INFO(name(level));
        Scene scene{Target::gfx900, level, kNarrow};
        Machine& m = scene.machine;
        m.exec(kFirst32);
        m.wave().set_s64(kFlatScratch, m.wave().scratch_va);
        m.vgpr(2, 8);  // the third dword of each lane
        m.number_lanes(4, 1000);
        m.number_lanes(5, 2000);
        CHECK(scene.run(scratch(0x1d, 4, 0)) == Stop::End);  // scratch_store_dwordx2
        for (unsigned lane = 0; lane < kNarrow; ++lane) {
            u32 stored[2];
            const std::byte* at = scene.memory.data() + m.wave().scratch_va + 8 * kNarrow + 4 * lane;
            std::memcpy(&stored[0], at, 4);
            std::memcpy(&stored[1], at + 4 * kNarrow, 4);
            CHECK(stored[0] == 1000 + lane);
            CHECK(stored[1] == 2000 + lane);
        }
        CHECK(scene.run(scratch(0x15, 0, 6)) == Stop::End);  // scratch_load_dwordx2
        CHECK(m.lane64(6, 31) == (2031ull << 32 | 1031));
    }
}

TEST_CASE("a width that is not built is refused by name", "[isa][width]") {
    CHECK(is_built(64));
    CHECK_THROWS_WITH(handlers(best_level(), 16), test_support::Contains("waves of 16 lanes"));
}
