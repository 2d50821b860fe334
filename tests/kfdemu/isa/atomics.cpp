// Memory and return value of every atomic instruction: DS, FLAT, GLOBAL, MUBUF and SMEM. Expected values
// come from the "Vega" ISA manual's definitions, those of 64-bit floats from the MI200 one's.
#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

struct AtomicCase {
    std::string name;
    bool wide;
    u64 memory, first, second;
    u64 expected;
};

constexpr u64 kMinus = ~u64{0}, kHigh = u64{1} << 40;

/// The common operations, also in 64 bits.
std::vector<AtomicCase> integers() {
    std::vector<AtomicCase> all = {
        {"add", false, 0xffffffff, 3, 0, 2},
        {"sub", false, 1, 3, 0, 0xfffffffe},
        {"smin", false, 5, 0xffffffff, 0, 0xffffffff},
        {"smax", false, 5, 0xffffffff, 0, 5},
        {"umin", false, 5, 0xffffffff, 0, 5},
        {"umax", false, 5, 0xffffffff, 0, 0xffffffff},
        {"and", false, 6, 3, 0, 2},
        {"or", false, 6, 3, 0, 7},
        {"xor", false, 6, 3, 0, 5},
        {"inc", false, 6, 7, 0, 7},
        {"inc", false, 7, 7, 0, 0},
        {"inc", false, 9, 7, 0, 0},
        {"dec", false, 6, 7, 0, 5},
        {"dec", false, 0, 7, 0, 7},
        {"dec", false, 9, 7, 0, 7},
        {"swap", false, 6, 7, 0, 7},
        {"cmpswap", false, 6, 7, 6, 7},  // new, then expected
        {"cmpswap", false, 6, 7, 5, 6},
        {"add_x2", true, kMinus, 3, 0, 2},
        {"sub_x2", true, 1, 3, 0, kMinus - 1},
        {"smin_x2", true, 5, kMinus, 0, kMinus},
        {"smax_x2", true, 5, kMinus, 0, 5},
        {"umin_x2", true, 5, kHigh, 0, 5},
        {"umax_x2", true, 5, kHigh, 0, kHigh},
        {"and_x2", true, 6 * kHigh, 3 * kHigh, 0, 2 * kHigh},
        {"or_x2", true, 6 * kHigh, 3 * kHigh, 0, 7 * kHigh},
        {"xor_x2", true, 6 * kHigh, 3 * kHigh, 0, 5 * kHigh},
        {"inc_x2", true, 0xffffffff, kHigh, 0, 0x100000000},
        {"inc_x2", true, kHigh, kHigh, 0, 0},
        {"dec_x2", true, kHigh, kHigh, 0, kHigh - 1},
        {"dec_x2", true, 0, kHigh, 0, kHigh},
        {"swap_x2", true, 6, kHigh, 0, kHigh},
        {"cmpswap_x2", true, 6, kHigh, 6, kHigh},
        {"cmpswap_x2", true, 6, kHigh, 6 + kHigh, 6},
    };
    return all;
}

std::vector<AtomicCase> floats() {
    return {
        {"add_f32", false, bits(1.5f), bits(2.0f), 0, bits(3.5f)},
        {"add_f32", false, 1, 1, 0, 0},  // denormals are flushed in L2
        {"pk_add_f16", false, 0x40003c00, 0xc0003800, 0, 0x00003e00},
        {"pk_add_f16", false, 0x00010000, 0x00010000, 0, 0x00020000},
        {"add_f64", true, bits(1.5), bits(2.0), 0, bits(3.5)},
        {"min_f64", true, bits(1.5), bits(-2.0), 0, bits(-2.0)},
        {"max_f64", true, bits(1.5), bits(-2.0), 0, bits(1.5)},
    };
}

u64 places(bool wide) { return wide ? kMinus : 0xffffffff; }

void set_operands(Machine& m, unsigned n, const AtomicCase& test) {
    m.vgpr64(n, test.first);
    if (test.wide)
        m.vgpr64(n + 2, test.second);
    else if (test.second != 0)
        m.vgpr(n + 1, static_cast<u32>(test.second));
}

/// FLAT or GLOBAL: address in v[2:3], data from v4, result in v[12:13].
void check_flat(const AtomicCase& test, Level level, u32 segment, bool returns) {
    INFO((segment ? "global " : "flat ") << test.name << " on " << name(level));
    Buffered b{level};
    b.put(0x80, test.memory);
    b.machine.vgpr64(2, kBase + 0x80);
    b.machine.vgpr64(12, 77);
    set_operands(b.machine, 4, test);
    const u32 opcode = row_of("flat_atomic_" + test.name).opcodes.gfx9.number;
    REQUIRE(b.run({0xdc000000u | opcode << 18 | segment << 14 | u32{returns} << 16,
                   2u | 4u << 8 | (segment ? 0x7fu << 16 : 0) | 12u << 24}) == Stop::End);
    CHECK((b.at<u64>(0x80) & places(test.wide)) == test.expected);
    CHECK((b.machine.lane64(12, 0) & places(test.wide)) == (returns ? test.memory : 77));
}

void check_buffer(const AtomicCase& test, Level level, bool returns) {
    INFO("buffer " << test.name << " on " << name(level));
    Buffered b{level};
    b.put(0x80, test.memory);
    set_operands(b.machine, 4, test);
    const u32 opcode = row_of("buffer_atomic_" + test.name).opcodes.gfx9.number;
    REQUIRE(b.run({0xe0000000u | opcode << 18 | u32{returns} << 14 | 0x80, 4u << 8 | 2u << 16 | 128u << 24}) ==
            Stop::End);
    CHECK((b.at<u64>(0x80) & places(test.wide)) == test.expected);
    CHECK((b.machine.lane64(4, 0) & places(test.wide)) == (returns ? test.memory : test.first & places(test.wide)));
}

/// Base in s[20:21] or s[8:11], data from s24.
void check_scalar(const AtomicCase& test, const std::string& prefix, u32 base, bool returns) {
    INFO(prefix << test.name);
    Buffered b;
    b.put(0x80, test.memory);
    b.machine.wave().set_s64(20, kBase);
    b.machine.wave().set_s64(24, test.first);
    if (test.wide)
        b.machine.wave().set_s64(26, test.second);
    else if (test.second != 0)
        b.machine.sgpr(25) = static_cast<u32>(test.second);
    const u32 opcode = row_of(prefix + test.name).opcodes.gfx9.number;
    REQUIRE(b.run({0xc0000000u | opcode << 18 | 1u << 17 | u32{returns} << 16 | 24u << 6 | base >> 1, 0x80}) ==
            Stop::End);
    CHECK((b.at<u64>(0x80) & places(test.wide)) == test.expected);
    CHECK((b.machine.wave().s64(24) & places(test.wide)) == (returns ? test.memory : test.first & places(test.wide)));
}

}  // namespace

TEST_CASE("FLAT, GLOBAL and buffer atomics", "[isa][atomics]") {
    std::vector<AtomicCase> cases = integers();
    const std::vector<AtomicCase> more = floats();
    cases.insert(cases.end(), more.begin(), more.end());
    for (const Level level : levels()) {
        for (const AtomicCase& test : cases) {
            for (const bool returns : {false, true}) {
                if (!row_of("flat_atomic_" + test.name).is(kOnlyGlobal)) check_flat(test, level, 0, returns);
                check_flat(test, level, 2, returns);
                check_buffer(test, level, returns);
            }
        }
    }
}

TEST_CASE("scalar atomics", "[isa][atomics]") {
    for (const AtomicCase& test : integers()) {
        for (const bool returns : {false, true}) {
            check_scalar(test, "s_atomic_", 20, returns);
            check_scalar(test, "s_buffer_atomic_", 8, returns);
        }
    }
}

TEST_CASE("gfx908's float atomics of memory return no value", "[isa][atomics]") {
    Buffered b{best_level(), Target::gfx908};
    b.put(0x80, bits(1.5f));
    b.machine.vgpr64(2, kBase + 0x80);
    b.machine.vgpr(4, bits(2.0f));
    REQUIRE(b.run({0xdc000000u | 0x4du << 18 | 2u << 14, 2u | 4u << 8 | 0x7fu << 16}) == Stop::End);
    CHECK(b.at<u32>(0x80) == bits(3.5f));
    CHECK(b.run({0xdc000000u | 0x4du << 18 | 2u << 14 | 1u << 16, 2u | 4u << 8 | 0x7fu << 16}) == Stop::Illegal);
}

TEST_CASE("an atomic across its alignment stops the wave", "[isa][atomics]") {
    Buffered b;
    b.machine.vgpr64(2, kBase + 0x84);
    CHECK(b.run({0xdc000000u | 0x62u << 18 | 2u << 14, 2u | 4u << 8 | 0x7fu << 16}) == Stop::Misaligned);
    CHECK(b.machine.wave().fault.address == kBase + 0x84);
}

TEST_CASE("DS atomics, with and without the old value", "[isa][atomics]") {
    const u32 nan = 0x7fc00000;
    // Names as DS has them; "#" is where rtn_ goes.
    const AtomicCase cases[] = {
        {"ds_add_#u32", false, 0xffffffff, 3, 0, 2},
        {"ds_sub_#u32", false, 1, 3, 0, 0xfffffffe},
        {"ds_rsub_#u32", false, 1, 3, 0, 2},
        {"ds_inc_#u32", false, 7, 7, 0, 0},
        {"ds_inc_#u32", false, 6, 7, 0, 7},
        {"ds_dec_#u32", false, 0, 7, 0, 7},
        {"ds_dec_#u32", false, 7, 7, 0, 6},
        {"ds_min_#i32", false, 5, 0xffffffff, 0, 0xffffffff},
        {"ds_max_#i32", false, 5, 0xffffffff, 0, 5},
        {"ds_min_#u32", false, 5, 0xffffffff, 0, 5},
        {"ds_max_#u32", false, 5, 0xffffffff, 0, 0xffffffff},
        {"ds_and_#b32", false, 6, 3, 0, 2},
        {"ds_or_#b32", false, 6, 3, 0, 7},
        {"ds_xor_#b32", false, 6, 3, 0, 5},
        {"ds_mskor_#b32", false, 0x1234, 0xff, 0x56, 0x1256},
        {"ds_cmpst_#b32", false, 6, 6, 9, 9},  // expected, then new
        {"ds_cmpst_#b32", false, 6, 5, 9, 6},
        {"ds_cmpst_#f32", false, 0x80000000, 0, 9, 9},  // -0 equals 0
        {"ds_cmpst_#f32", false, nan, nan, 9, nan},
        {"ds_min_#f32", false, bits(2.0f), bits(-1.0f), 0, bits(-1.0f)},
        {"ds_max_#f32", false, bits(2.0f), bits(-1.0f), 0, bits(2.0f)},
        {"ds_add_#f32", false, bits(2.0f), bits(-1.0f), 0, bits(1.0f)},
        {"ds_add_#f32", false, 1, 1, 0, 2},  // MODE keeps denormals
        {"ds_add_#u64", true, kMinus, 3, 0, 2},
        {"ds_sub_#u64", true, 1, 3, 0, kMinus - 1},
        {"ds_rsub_#u64", true, 3, 1, 0, kMinus - 1},
        {"ds_inc_#u64", true, kHigh, kHigh, 0, 0},
        {"ds_dec_#u64", true, 0, kHigh, 0, kHigh},
        {"ds_min_#i64", true, 5, kMinus, 0, kMinus},
        {"ds_max_#i64", true, 5, kMinus, 0, 5},
        {"ds_min_#u64", true, 5, kHigh, 0, 5},
        {"ds_max_#u64", true, 5, kHigh, 0, kHigh},
        {"ds_and_#b64", true, 6 * kHigh, 3 * kHigh, 0, 2 * kHigh},
        {"ds_or_#b64", true, 6 * kHigh, 3 * kHigh, 0, 7 * kHigh},
        {"ds_xor_#b64", true, 6 * kHigh, 3 * kHigh, 0, 5 * kHigh},
        {"ds_mskor_#b64", true, 0xff * kHigh, 0xf * kHigh, kHigh, 0xf1 * kHigh},
        {"ds_cmpst_#b64", true, kHigh, kHigh, 9, 9},
        {"ds_cmpst_#f64", true, u64{1} << 63, 0, 9, 9},
        {"ds_min_#f64", true, bits(2.0), bits(-1.0), 0, bits(-1.0)},
        {"ds_max_#f64", true, bits(2.0), bits(-1.0), 0, bits(2.0)},
        {"ds_add_#f64", true, bits(2.0), bits(-1.0), 0, bits(1.0)},
        {"ds_wrxchg_#b32", false, 6, 7, 0, 7},
        {"ds_wrxchg_#b64", true, 6, kHigh, 0, kHigh},
        {"ds_condxchg32_#b64", true, 5 | 6 * kHigh, 0x80000007 | 9 * kHigh, 0, 7 | 6 * kHigh},
    };
    for (const Level level : levels()) {
        for (const AtomicCase& test : cases) {
            const bool only_returns = test.name.find("xchg") != std::string::npos;
            for (const bool returns : {false, true}) {
                if (only_returns && !returns) continue;
                std::string mnemonic = test.name;
                mnemonic.replace(mnemonic.find('#'), 1, returns ? "rtn_" : "");
                INFO(mnemonic << " on " << name(level));
                Buffered b{level};
                b.put_lds(0x48, static_cast<u32>(test.memory));
                b.put_lds(0x4c, static_cast<u32>(test.memory >> 32));
                b.machine.vgpr(2, 0x40);
                b.machine.vgpr64(4, test.first);
                b.machine.vgpr64(6, test.second);
                b.machine.vgpr64(12, 77);
                REQUIRE(b.run({0xd8000000u | u32{row_of(mnemonic).opcodes.gfx9.number} << 17 | 8,
                               2u | 4u << 8 | 6u << 16 | 12u << 24}) == Stop::End);
                const u64 left = b.lds(0x48) | u64{b.lds(0x4c)} << 32;
                CHECK((left & places(test.wide)) == test.expected);
                CHECK((b.machine.lane64(12, 0) & places(test.wide)) == (returns ? test.memory : 77));
                CHECK(b.machine.lane(12, 1) == 77);
            }
        }
    }
}

TEST_CASE("DS exchanges of two places", "[isa][atomics]") {
    Buffered b;
    b.put_lds(0x40 + 4 * 3, 11);
    b.put_lds(0x40 + 4 * 5, 12);
    b.machine.vgpr(2, 0x40);
    b.machine.vgpr(4, 21);
    b.machine.vgpr(6, 22);
    const u32 opcode = row_of("ds_wrxchg2_rtn_b32").opcodes.gfx9.number;
    REQUIRE(b.run({0xd8000000u | opcode << 17 | 3 | 5 << 8, 2u | 4u << 8 | 6u << 16 | 12u << 24}) == Stop::End);
    CHECK(b.machine.lane64(12, 0) == (11 | u64{12} << 32));
    CHECK(b.lds(0x40 + 4 * 3) == 21);
    CHECK(b.lds(0x40 + 4 * 5) == 22);
}
