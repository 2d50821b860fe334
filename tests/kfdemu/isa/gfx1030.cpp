// What GFX10 does differently, on waves of 32 lanes. Words are llvm-mc's.
#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

struct Narrow : Machine {
    Narrow() : Machine{Target::gfx1030, best_level(), 32} { exec(0xffffffff); }
};

}  // namespace

TEST_CASE("results of 16 bits keep the register's other half", "[isa][gfx1030]") {
    struct Row {
        const char* text;
        std::vector<u32> code;
        u32 source, low;
    };
    const Row rows[] = {
        {"v_cvt_f16_f32 v2, v3", {0x7e041503}, bits(1.0f), 0x3c00},
        {"v_rcp_f16_dpp v2, v3 row_share:0", {0x7e04a8fa, 0xff015003}, 0x4000, 0x3800},
        {"v_cvt_norm_i16_f16 v2, v3", {0x7e04c703}, 0x3c00, 0x7fff},
        {"v_sat_pk_u8_i16 v2, v3", {0x7e04c503}, 0x01000005, 0xff05},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        Narrow m;
        m.vgpr(2, 0xdead0000);
        m.vgpr(3, row.source);
        REQUIRE(m.run(row.code) == Stop::End);
        CHECK(m.lane(2, 31) == (0xdead0000 | row.low));
    }
}

TEST_CASE("float comparisons and exchanges compare with DATA's second half", "[isa][gfx1030][atomics]") {
    struct Row {
        const char* text;
        std::vector<u32> code;
        bool wide;
        u64 memory, desired, expected, after;
    };
    const u64 one = bits(1.0f), two = bits(2.0f);
    const std::vector<u32> narrow{0xdcf98000, 0x02000305}, wide{0xdd798000, 0x02000605};
    const Row rows[] = {
        {"global_atomic_fcmpswap v2, v5, v[3:4], s[0:1] glc", narrow, false, one, two, one, two},
        {"global_atomic_fcmpswap, unequal", narrow, false, one, two, 0, one},
        {"global_atomic_fcmpswap, zeros of either sign", narrow, false, 0, two, 0x80000000, two},
        {"global_atomic_fcmpswap_x2 v[2:3], v5, v[6:9], s[0:1] glc", wide, true, bits(1.0), bits(2.0), bits(1.0),
         bits(2.0)},
        {"global_atomic_fcmpswap_x2, unequal", wide, true, bits(1.0), bits(2.0), 0, bits(1.0)},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        Buffered b{best_level(), Target::gfx1030};
        Machine& m = b.machine;
        m.wave().set_s64(0, kBase);
        b.put(0x80, row.memory);
        m.vgpr(5, 0x80);
        if (row.wide) {
            m.vgpr64(6, row.desired);
            m.vgpr64(8, row.expected);
        } else {
            m.vgpr(3, static_cast<u32>(row.desired));
            m.vgpr(4, static_cast<u32>(row.expected));
        }
        REQUIRE(b.run(row.code) == Stop::End);
        CHECK(b.at<u64>(0x80) == row.after);
        CHECK((row.wide ? m.lane64(2, 0) : m.lane(2, 0)) == row.memory);
    }
}

TEST_CASE("OOB_SELECT says what is outside a buffer", "[isa][gfx1030][buffers]") {
    struct Row {
        const char* text;
        u32 select, stride, records;
        std::vector<u32> code;
        u32 address;
        bool inside;
    };
    const std::vector<u32> offen{0xe0301000, 0x80010203}, idxen_16{0xe0302010, 0x80010203};
    const Row rows[] = {
        {"a structure's offset beyond its stride", 0, 16, 64, idxen_16, 1, false},
        {"within it", 0, 32, 64, idxen_16, 1, true},
        {"a structure without a stride", 0, 0, 64, offen, 0, false},
        {"the index alone", 1, 16, 64, idxen_16, 1, true},
        {"the index beyond the records", 1, 16, 1, idxen_16, 1, false},
        {"no records", 2, 0, 0, offen, 4, false},
        {"any", 2, 0, 1, offen, 64, true},
        {"bytes", 3, 0, 16, offen, 12, true},
        {"bytes beyond", 3, 0, 16, offen, 16, false},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        Buffered b{best_level(), Target::gfx1030};
        Machine& m = b.machine;
        m.sgpr(4) = static_cast<u32>(kBase);
        m.sgpr(5) = row.stride << 16;
        m.sgpr(6) = row.records;
        m.sgpr(7) = row.select << 28 | 22 << 12;
        for (u32 i = 0; i < 128; ++i) b.put(4 * i, 0x77u);
        m.vgpr(3, row.address);
        REQUIRE(b.run(row.code) == Stop::End);
        CHECK(m.lane(2, 0) == (row.inside ? 0x77 : 0));
    }
}

TEST_CASE("scalar registers up to VCC are moved by M0", "[isa][gfx1030]") {
    Narrow m;
    m.sgpr(kM0) = 4;
    m.sgpr(104) = 9;
    m.sgpr(3) = 8;
    REQUIRE(m.run({0xbe822e64, 0xbee43003}) == Stop::End);  // s_movrels_b32 s2, s100; s_movreld_b32 s100, s3
    CHECK(m.sgpr(2) == 9);
    CHECK(m.sgpr(104) == 8);
    m.sgpr(kM0) = 6;
    CHECK(m.run({0xbe822e64}) != Stop::End);
}

TEST_CASE("null is zero where an instruction reads its destination", "[isa][gfx1030]") {
    Narrow m;
    REQUIRE(m.run({0xbefd0387, 0xb4fd0000}) == Stop::End);  // s_mov_b32 null, 7; s_cmpk_eq_u32 null, 0
    CHECK(m.wave().scc);
}

TEST_CASE("MODE has neither VSKIP nor GPR indexing", "[isa][gfx1030]") {
    for (const u32 field : {0xba800701, 0xba8006c1}) {  // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28 or 27, 1), 1
        Narrow m;
        REQUIRE(m.run({field, 1, 0x7e040282}) == Stop::End);  // v_mov_b32 v2, 2
        CHECK(m.lane(2, 0) == 2);
    }
}
