// Translated global loads and stores give the interpreter's bits and faults, wherever their addresses are.
#include <sys/mman.h>

#include <array>
#include <cstring>

#include "tests/kfdemu/isa/machine.hpp"
#include "tests/kfdemu/isa/random.hpp"
#include "tests/kfdemu/jit/programs.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/base/page.hpp"
#include "tools/kfdemu/isa/memory/tlb.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/jit/run_plan.hpp"

using namespace test_isa;
using kfdemu::AddressSpace;

namespace {

constexpr u32 kNoSaddr = 0x7f;

std::vector<u32> global(u32 op, u32 address, u32 data_or_dst, u32 saddr, int offset, u32 flags = 0) {
    const bool stores = op >= 0x18;
    return {0xdc008000u | op << 18 | flags | (static_cast<u32>(offset) & 0x1fff),
            (stores ? data_or_dst << 8 : data_or_dst << 24) | saddr << 16 | address};
}
constexpr u32 kLoad = 0x14, kStore = 0x1c;
std::vector<u32> s_load(u32 log_dwords, u32 dst, u32 base, int offset) {
    return {0xc0020000u | log_dwords << 18 | dst << 6 | base / 2, static_cast<u32>(offset) & 0x1fffff};
}

struct Place {
    u64 begin, bytes;
    u32 access;
};
/// Two that touch, one that cannot be written, one around 4 GiB, and more than a Tlb holds.
std::vector<Place> places() {
    constexpr u32 both = kfdemu::kRead | kfdemu::kWrite;
    std::vector<Place> all{
        {0x100000, 4096, both}, {0x101000, 4096, both}, {0x200000, 4096, kfdemu::kRead}, {0xfffff000, 8192, both}};
    for (u64 n = 0; n < 10; ++n) all.push_back({0x7f0000400000 + n * 0x10000, 4096, both});
    return all;
}

enum class Where : std::uint8_t { adjacent, same, apart, unaligned, far, mixed };

/// Into the middle of `place`, if `base` is there.
u64 address(Where where, const Place& place, u32 base, u32 lane, Random& random) {
    const u32 middle = static_cast<u32>(place.bytes) - 1024;
    switch (where) {
        case Where::adjacent:
            return place.begin + base + 4 * lane;
        case Where::same:
            return place.begin + base;
        case Where::apart:
            return place.begin + 256 + 4 * random.below(middle / 4);
        case Where::unaligned:
            return place.begin + 256 + random.below(middle);
        case Where::far: {
            const auto all = places();
            return all[random.below(2)].begin + 256 + 4 * random.below(500);
        }
        case Where::mixed:
            break;
    }
    return place.begin + (lane < 16   ? base + 4 * lane
                          : lane < 32 ? base
                          : lane < 48 ? 256 + 8 * lane
                                      : 256 + 4 * random.below(200));
}

struct Wave {
    Wave(Level level, bool translates, unsigned lanes = 64) : machine(Target::gfx90a, level, lanes) {
        if (translates) machine.use_translation();
        std::size_t bytes = 0;
        for (const Place& place : places()) bytes += place.bytes;
        memory.resize(bytes);
        std::byte* host = memory.data();
        for (const Place& place : places()) {
            space.map({place.begin, place.begin + place.bytes, host, place.access, 1, false});
            host += place.bytes;
        }
        machine.wave().memory = &space;
        machine.wave().tlb = &tlb;
    }
    /// `wild`: addresses that fault.
    void fill(u64 seed, bool wild) {
        Random random(seed);
        for (u32 n = 0; n < memory.size() / 4; ++n) {
            const u32 value = 0x3f800000u + n * 0x1003;
            std::memcpy(memory.data() + 4 * std::size_t{n}, &value, sizeof value);
        }
        const u64 some = u64{random.bits(31)} << 33 | random.bits(31);
        const u64 masks[] = {kAll, kAll, kAll, some, 0xffff, u64{0xff} << 40, 1, 0};
        const u64 exec = masks[random.below(std::size(masks))];
        machine.exec(exec);
        for (u32 n = 8; n < 24; ++n) machine.number_lanes(n, n * 0x1000000);
        const auto all = places();
        for (u32 n = 0; n < 6; n += 2) {
            const auto where = static_cast<Where>(random.below(6));
            const Place& place = one_of(all, wild, random);
            const u32 most = static_cast<u32>(place.bytes) / 4 - 256;
            const u32 base = 4 * (64 + random.below(most)) + (wild ? 4 * random.below(160) : 0);
            for (u32 lane = 0; lane < machine.wave().width; ++lane) {
                u64 va = address(where, place, base, lane, random);
                if (wild && random.one_in(2000)) va = random.bits(30) << 2;
                if ((exec >> lane & 1) == 0 && random.one_in(2)) va = random.bits(30);
                machine.lane(n, lane) = static_cast<u32>(va);
                machine.lane(n + 1, lane) = static_cast<u32>(va >> 32);
            }
        }
        // v6 and v7, from s[4:5] and s[6:7].
        for (u32 n = 6; n < 8; ++n) {
            const Place& place = one_of(all, wild, random);
            const u64 base = place.begin - (random.one_in(2) ? 512 : 0);
            machine.wave().set_s64(static_cast<kfdemu::isa::Operand>(2 * n - 8), base);
            const auto where = static_cast<Where>(random.below(4));
            for (u32 lane = 0; lane < machine.wave().width; ++lane)
                machine.lane(n, lane) = static_cast<u32>(address(where, place, 256, lane, random) - base);
        }
        machine.wave().set_s64(8, all[random.below(2)].begin);
        for (u32 n = 10; n < 24; ++n) machine.sgpr(n) = random.bits(31);
        machine.wave().scc = random.one_in(2);
        machine.wave().translated = 0;
    }
    /// One that cannot be written among them only if `wild`.
    static const Place& one_of(const std::vector<Place>& all, bool wild, Random& random) {
        for (;;) {
            const Place& place = all[random.one_in(3) ? random.below(3) : random.below(static_cast<u32>(all.size()))];
            if (wild || (place.access & kfdemu::kWrite) != 0) return place;
        }
    }
    Stop run(const std::vector<u32>& code) {
        const AddressSpace::Hold hold{space};
        if (++runs % 4 == 0) tlb.flush();
        Stop stop = machine.run(code);
        while (stop == Stop::Budget) stop = machine.resume();
        return stop;
    }
    Machine machine;
    std::vector<std::byte> memory;
    AddressSpace space;
    kfdemu::isa::Tlb tlb;
    unsigned runs = 0;
};

/// Loads into v[8:23], now and then into an address; stores, scalars, and what uses them.
std::vector<u32> program(Random& random, bool wild, std::string& text) {
    std::vector<u32> words;
    for (u32 left = 3 + random.below(16); left > 0; --left) {
        const u32 a = 8 + random.below(13), b = 8 + random.below(13), s = 10 + random.below(6);
        const auto any_s = [&] { return random.one_in(2) ? 10 + random.below(8) : 128 + random.below(64); };
        const bool based = random.one_in(3);
        const u32 from = based ? 6 + random.below(2) : 2 * random.below(3);
        const u32 saddr = based ? from * 2 - 8 : kNoSaddr;
        const int offset = random.one_in(3) ? static_cast<int>(random.below(64)) * 4 - 128 : 0;
        constexpr const char* scalars[] = {"s_and_b32", "s_or_b32",  "s_xor_b32",  "s_add_u32",  "s_addc_u32",
                                           "s_sub_u32", "s_mul_i32", "s_lshl_b32", "s_lshr_b32", "s_ashr_i32"};
        const auto add = [&](const char* what, const std::vector<u32>& more) {
            words = words + more;
            text += std::string(what) + "; ";
        };
        switch (random.below(12)) {
            case 0:
                add("fma", vop3("v_fma_f32", a, v(b), v(8 + random.below(13)), v(a)));
                break;
            case 1:
                add("mov", vop2("v_add_u32", a, any_s(), b));
                break;
            case 2:
                add("address", vop2("v_add_u32", from, 128 + 4 * random.below(4), from));
                break;
            case 3:
            case 4: {
                const char* const name = scalars[random.below(std::size(scalars))];
                add(name, sop2(name, s, any_s(), any_s()));
                break;
            }
            case 5:
                add("s_load",
                    s_load(random.below(3), 12 + 4 * random.below(2), 8, 4 * static_cast<int>(random.below(9))));
                break;
            case 6:
                add("store", global(kStore, from, a, saddr, offset));
                break;
            case 7:
                add("compare", vop3("v_cmp_lt_u32", 10 + 2 * random.below(3), v(a), any_s()));
                break;
            default:
                add("load", global(kLoad, from, wild && random.one_in(8) ? random.below(6) : a, saddr, offset));
                break;
        }
    }
    return words;
}

void compare(bool wild, unsigned programs) {
    const unsigned lanes = GENERATE(from_range(widths()));
    for (const Level level : levels()) {
        if (level == Level::V2) continue;
        Wave interpreted(level, false, lanes), translated(level, true, lanes);
        Random random(static_cast<u64>(level) + wild);
        u64 ran = 0, faults = 0;
        for (unsigned n = 0; n < programs; ++n) {
            std::string text;
            const std::vector<u32> code = program(random, wild, text);
            interpreted.fill(n, wild);
            translated.fill(n, wild);
            INFO("program " << n << " of " << lanes << " lanes at " << kfdemu::isa::name(level) << ": " << text);
            const Stop stop = interpreted.run(code);
            REQUIRE(translated.run(code) == stop);
            REQUIRE(translated.machine.wave().pc == interpreted.machine.wave().pc);
            REQUIRE(translated.memory == interpreted.memory);
            ran += translated.machine.wave().translated;
            if (stop == Stop::End) {
                REQUIRE(test_jit::difference(translated.machine, interpreted.machine) == "");
                continue;
            }
            const auto &fault = translated.machine.wave().fault, &expected = interpreted.machine.wave().fault;
            REQUIRE(fault.address == expected.address);
            REQUIRE(fault.lane == expected.lane);
            REQUIRE(fault.access == expected.access);
            ++faults;
        }
        CHECK(ran > programs * 2);
        CHECK(faults >= (wild ? programs / (lanes == 64 ? 5 : 8) : 0));  // fewer lanes fault less often
        CHECK(faults < (wild ? programs : programs / 10));
    }
}

}  // namespace

TEST_CASE("global loads and stores give the same bits translated and interpreted", "[jit][global]") {
    compare(false, 3000);
}

TEST_CASE("global loads and stores fault as they do interpreted", "[jit][global]") { compare(true, 3000); }

TEST_CASE("a page that the program has protected faults at the same instruction", "[jit][global]") {
    if (kfdemu::isa::best_level() == Level::V2) SKIP_BECAUSE("nothing is translated at this level");
    using kfdemu::kPage;
    auto* const pages =
        static_cast<std::byte*>(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages != MAP_FAILED);
    std::memset(pages, 1, 3 * kPage);
    REQUIRE(mprotect(pages + kPage, kPage, PROT_NONE) == 0);
    kfdemu::host_fault::install();
    kfdemu::host_fault::accept_in_this_thread();
    const auto add = vop2("v_add_u32", 9, 129, 9);
    for (unsigned way = 0; way < 8; ++way) {
        const bool stores = way & 1, apart = way & 2, translates = way & 4;
        const auto code = add + add + global(stores ? kStore : kLoad, 0, 8, kNoSaddr, 0) + add;
        Wave wave(kfdemu::isa::best_level(), translates);
        wave.space.map({0x500000, 0x500000 + 3 * kPage, pages, kfdemu::kRead | kfdemu::kWrite, 2, true});
        Machine& m = wave.machine;
        m.exec(kAll);
        m.number_lanes(8);
        m.vgpr(9, 0);
        // Lane 20 and later ones are in the second page.
        for (u32 lane = 0; lane < 64; ++lane)
            m.lane(0, lane) =
                0x500000 + static_cast<u32>(kPage) - 80 + (apart && lane < 16 ? 4 * (15 - lane) : 4 * lane);
        m.vgpr(1, 0);
        m.wave().translated = 0;
        CHECK(wave.run(code) == Stop::MemoryFault);
        CHECK(m.wave().pc == kCodeBase + 8);
        CHECK(m.wave().fault.address / kPage == 0x500000 / kPage + 1);
        CHECK(m.wave().fault.access == (stores ? kfdemu::kWrite : kfdemu::kRead));
        // What came before is done once for each lane.
        CHECK(m.lane(9, 0) == 2);
        CHECK(m.lane(9, 63) == 2);
    }
    munmap(pages, 3 * kPage);
}

TEST_CASE("if lanes store to one dword, the last lane's value stays, and later loads see it", "[jit][global]") {
    if (kfdemu::isa::best_level() == Level::V2) SKIP_BECAUSE("nothing is translated at this level");
    const auto add = vop2("v_add_u32", 9, 129, 8);
    for (const bool translates : {false, true}) {
        Wave wave(kfdemu::isa::best_level(), translates);
        Machine& m = wave.machine;
        m.exec(kAll);
        m.number_lanes(8, 100);
        // Sixteen dwords, in which lane 63 is the last; then each lane loads from another part's.
        for (u32 lane = 0; lane < 64; ++lane) {
            m.lane(0, lane) = 0x100000 + 4 * (lane % 16);
            m.lane(2, lane) = 0x100000 + 4 * (15 - lane % 16);
        }
        m.vgpr(1, 0);
        m.vgpr(3, 0);
        m.wave().translated = 0;
        CHECK(wave.run(add + add + global(kStore, 0, 9, kNoSaddr, 0) + add + add + global(kLoad, 2, 10, kNoSaddr, 0)) ==
              Stop::End);
        CHECK((m.wave().translated > 0) == translates);
        for (u32 lane = 0; lane < 64; ++lane) REQUIRE(m.lane(10, lane) == 101 + 48 + 15 - lane % 16);
    }
}

TEST_CASE("the last address is not memory", "[jit][global]") {
    if (kfdemu::isa::best_level() == Level::V2) SKIP_BECAUSE("nothing is translated at this level");
    const auto add = vop2("v_add_u32", 9, 129, 8);
    for (const u32 op : {kLoad, kStore})
        for (const bool based : {false, true}) {
            Wave wave(kfdemu::isa::best_level(), true);
            Machine& m = wave.machine;
            m.exec(kAll);
            for (u32 lane = 0; lane < 64; ++lane) m.lane(0, lane) = based ? 4 * lane : ~0u;
            m.vgpr(1, ~0u);
            m.wave().set_s64(4, ~u64{0});
            CHECK(wave.run(add + add + global(op, 0, 9, based ? 4 : kNoSaddr, 0)) == Stop::MemoryFault);
            CHECK(m.wave().fault.address == ~u64{0});
        }
}
