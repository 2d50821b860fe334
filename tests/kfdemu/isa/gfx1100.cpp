// What GFX11 does differently. Words are llvm-mc's.
#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/kfdemu/isa/tiles.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/text/disassemble.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

struct Gfx11 : Machine {
    explicit Gfx11(Target target = Target::gfx1100) : Machine{target, best_level(), 32} { exec(0xffffffff); }
};

std::string text_of(const std::vector<u32>& code, Target target = Target::gfx1100) {
    return disassemble(target, Decoder{target, best_level(), 32}.decode(kCodeBase, code));
}

int product(unsigned row, unsigned column) {
    int sum = 0;
    for (unsigned k = 0; k < 16; ++k) sum += left(row, k) * right(column, k);
    return sum;
}

/// A and B in the registers from 8 and 16 on, `width` bits a factor; the copies of upper lanes, too.
void fill_factors(Machine& m, unsigned width, u32 (*code)(int)) {
    for (unsigned lane = 0; lane < m.wave().width; ++lane)
        for (unsigned k = 0; k < 16; ++k) {
            const u32 mask = width == 32 ? ~0u : (1u << width) - 1;
            m.put_packed(8, lane, k, width, code(left(lane % 16, k)) & mask);
            m.put_packed(16, lane, k, width, code(right(lane % 16, k)) & mask);
        }
}

/// The register and lane of an element of C and D.
struct Place {
    unsigned number, lane;
};
Place place(unsigned row, unsigned column, unsigned lanes) {
    const unsigned apart = lanes / 16;
    return {row / apart, row % apart * 16 + column};
}

}  // namespace

TEST_CASE("both operations of an instruction read before either writes", "[isa][gfx1100]") {
    Gfx11 m;
    m.vgpr(0, 10);
    m.vgpr(1, 11);
    REQUIRE(m.run({0xca100101, 0x00000100}) == Stop::End);  // v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0
    CHECK(m.lane(0, 31) == 11);
    CHECK(m.lane(1, 31) == 10);
    m.vgpr(2, bits(1.0f));
    m.vgpr(3, bits(2.0f));
    m.vgpr(4, bits(3.0f));
    m.exec(1);
    m.vgpr(5, 7);
    const std::vector<u32> code{0xc8080903, 0x02040502};
    CHECK(text_of(code) == "v_dual_fmac_f32 v2, v3, v4 :: v_dual_add_f32 v5, v2, v2");
    REQUIRE(m.run(code) == Stop::End);
    CHECK(as_float(m.lane(2, 0)) == 7);
    CHECK(as_float(m.lane(5, 0)) == 2);
    CHECK(as_float(m.lane(2, 1)) == 1);
    CHECK(m.lane(5, 1) == 7);
}

TEST_CASE("two operations of waves of 64 lanes are illegal", "[isa][gfx1100]") {
    Machine m{Target::gfx1100};
    CHECK(m.run({0xca100101, 0x00000100}) == Stop::Illegal);
}

TEST_CASE("a register's number says which half of it has 16 bits", "[isa][gfx1100]") {
    struct Row {
        u32 code;
        const char* text;
        u32 result;
    };
    const Row rows[] = {
        {0x65020782, "v_add_f16_e32 v1.h, v2.h, v3", 0x4200beef},  // 2 + 1
        {0x7f023902, "v_mov_b16_e32 v1.h, v2.l", 0x1234beef},
        {0x7f02b782, "v_floor_f16_e32 v1.h, v2.h", 0x4000beef},     // 2
        {0x6d020782, "v_fmac_f16_e32 v1.h, v2.h, v3", 0x4400beef},  // 2 * 1 + 2
        {0x64020782, "v_add_f16_e32 v1, v2.h, v3", 0x40004200},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(text_of({row.code}) == row.text);
        Gfx11 m;
        m.vgpr(1, 0x4000beef);
        m.vgpr(2, 0x40001234);
        m.vgpr(3, 0x3c00);
        REQUIRE(m.run({row.code}) == Stop::End);
        CHECK(m.lane(1, 31) == row.result);
    }
}

TEST_CASE("DPP moves what comparisons, VOP3 and VOP3P read", "[isa][gfx1100]") {
    Gfx11 m;
    m.number_lanes(1);
    m.vgpr(2, 2);
    m.sgpr(6) = 0;
    // v_cmp_lt_u32_e64_dpp s6, v1, v2 row_shr:1: lane l compares l - 1; the first of a row has nothing to read.
    REQUIRE(m.run({0xd4490006, 0x000204fa, 0xff011101}) == Stop::End);
    CHECK(m.sgpr(6) == 0x6);
    // v_add_nc_u32_e64_dpp v0, v1, v2 quad_perm:[1,1,1,1]
    REQUIRE(m.run({0xd5250000, 0x000204fa, 0xff005501}) == Stop::End);
    CHECK(m.lane(0, 7) == 7);
    CHECK(m.lane(0, 8) == 11);
    // v_fma_mix_f32_e64_dpp v0, v1, v2, v3 op_sel_hi:[1,0,0] quad_perm:[1,1,1,1]
    m.vgpr(1, 0x3c00);
    m.lane(1, 1) = 0x4200;
    m.vgpr(2, bits(2.0f));
    m.vgpr(3, bits(1.0f));
    REQUIRE(m.run({0xcc200000, 0x0c0e04fa, 0xff005501}) == Stop::End);
    CHECK(as_float(m.lane(0, 0)) == 7);
    CHECK(as_float(m.lane(0, 4)) == 3);
    // v_dot2_f32_bf16_e64_dpp v0, v1, v2, v3 quad_perm:[1,1,1,1]
    m.vgpr(1, 0x3f803f80);
    m.lane(1, 1) = 0x40404000;
    m.vgpr(2, 0x3f803f80);
    REQUIRE(m.run({0xcc1a4000, 0x1c0e04fa, 0xff005501}) == Stop::End);
    CHECK(as_float(m.lane(0, 0)) == 6);
    CHECK(as_float(m.lane(0, 4)) == 3);
}

TEST_CASE("products of tiles: elements are where the manual has them", "[isa][gfx1100][matrix]") {
    struct Row {
        const char* name;
        u32 word, second;
        unsigned width;
        u32 (*factor)(int);
        u32 (*result)(int);
    };
    const auto single = [](int n) { return bits(static_cast<float>(n)); };
    const Row rows[] = {
        {"v_wmma_f32_16x16x16_f16", 0xcc404000, 0x1c022108, 16, half_code, single},
        {"v_wmma_f32_16x16x16_bf16", 0xcc414000, 0x1c022108, 16, brain_code, single},
        {"v_wmma_i32_16x16x16_iu8, signed", 0xcc444000, 0x7c022108, 8, integer_code, integer_code},
        {"v_wmma_i32_16x16x16_iu4, signed", 0xcc454000, 0x7c022108, 4, integer_code, integer_code},
    };
    for (const Row& row : rows)
        for (const unsigned lanes : {32u, 64u}) {
            INFO(row.name << ", " << lanes << " lanes");
            Machine m{Target::gfx1100, best_level(), lanes};
            m.exec(1);  // has no effect
            fill_factors(m, row.width, row.factor);
            for (unsigned n = 0; n < 8; ++n) m.vgpr(n, row.result(100 * static_cast<int>(n)));
            REQUIRE(m.run({row.word, row.second}) == Stop::End);
            for (unsigned r = 0; r < 16; ++r)
                for (unsigned c = 0; c < 16; ++c) {
                    const Place at = place(r, c, lanes);
                    REQUIRE(m.lane(at.number, at.lane) ==
                            row.result(product(r, c) + 100 * static_cast<int>(at.number)));
                }
        }
}

TEST_CASE("tiles of halves are in the halves that OP_SEL names, and keep the others", "[isa][gfx1100][matrix]") {
    for (const bool upper : {false, true}) {
        Gfx11 m;
        fill_factors(m, 16, half_code);
        for (unsigned n = 0; n < 8; ++n) m.vgpr(n, upper ? 0x00001234 : 0x12340000);
        const u32 op_sel = upper ? 1u << 13 : 0;
        REQUIRE(m.run({0xcc424000 | op_sel, 0x1c022108}) == Stop::End);
        for (unsigned r = 0; r < 16; ++r)
            for (unsigned c = 0; c < 16; ++c) {
                const Place at = place(r, c, 32);
                const u32 word = m.lane(at.number, at.lane), other = upper ? word & 0xffff : word >> 16;
                REQUIRE(value_of_half(upper ? word >> 16 : word & 0xffff) == product(r, c));
                REQUIRE(other == 0x1234);
            }
    }
}

TEST_CASE("NEG says which integers are signed", "[isa][gfx1100]") {
    struct Row {
        u32 neg;
        u32 result;
    };
    // Of 0xff: -1 or 255; times 0xfe: -2 or 254.
    const Row rows[] = {{0, 255 * 254 + 5}, {1, 0u - 254 + 5}, {2, 0u - 510 + 5}, {3, 7}};
    for (const Row& row : rows) {
        Gfx11 m;
        m.vgpr(1, 0xff);
        m.vgpr(2, 0xfe);
        m.vgpr(3, 5);
        REQUIRE(m.run({0xcc164000, 0x1c0e0501 | row.neg << 29}) == Stop::End);  // v_dot4_i32_iu8 v0, v1, v2, v3
        CHECK(m.lane(0, 9) == row.result);
    }
}

TEST_CASE("a compare and store has the new value first", "[isa][gfx1100][atomics]") {
    for (const u32 expected : {7u, 8u}) {
        Buffered b{best_level(), Target::gfx1100};
        b.put_lds(16, 7);
        b.machine.vgpr(4, 16);
        b.machine.vgpr(0, 99);
        b.machine.vgpr(1, expected);
        REQUIRE(b.run({0xd8c00000, 0x05010004}) == Stop::End);  // ds_cmpstore_rtn_b32 v5, v4, v0, v1
        CHECK(b.machine.lane(5, 0) == 7);
        CHECK(b.lds(16) == (expected == 7 ? 99 : 7));
    }
}

TEST_CASE("messages return the time, and free registers", "[isa][gfx1100]") {
    Gfx11 m;
    REQUIRE(m.run({0xbe804d83}) == Stop::End);  // s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)
    const u64 first = m.wave().s64(0);
    REQUIRE(m.run({0xbe804d83}) == Stop::End);
    CHECK(first != 0);
    CHECK(m.wave().s64(0) >= first);
    CHECK(m.run({0xbe804d85}) == Stop::Illegal);  // MSG_RTN_GET_TBA: the trap handler's
    CHECK(m.run({0xbfb60003}) == Stop::End);      // s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    CHECK(m.run({0xbfb60001}) == Stop::Message);  // MSG_INTERRUPT
    CHECK(m.wave().argument == 1);
}

TEST_CASE("NULL comes before M0", "[isa][gfx1100]") {
    Gfx11 m;
    REQUIRE(m.run({0xbefd0087, 0xbefc0088}) == Stop::End);  // s_mov_b32 m0, 7; s_mov_b32 null, 8
    CHECK(m.sgpr(kM0) == 7);
}

TEST_CASE("halves of a wave of 64 lanes change places", "[isa][gfx1100]") {
    Machine m{Target::gfx1100};
    m.number_lanes(2);
    m.vgpr(1, 99);
    m.exec(u64{1} << 3 | u64{1} << 40);
    REQUIRE(m.run({0x7e02cf02}) == Stop::End);  // v_permlane64_b32 v1, v2
    CHECK(m.lane(1, 3) == 35);
    CHECK(m.lane(1, 40) == 8);
    CHECK(m.lane(1, 4) == 99);
}

TEST_CASE("the scalar unit has floats from gfx1151 on", "[isa][gfx1151]") {
    Gfx11 m{Target::gfx1151};
    m.sgpr(1) = bits(2.5f);
    m.sgpr(2) = bits(3.0f);
    REQUIRE(m.run({0xa000f201}) == Stop::End);  // s_add_f32 s0, s1, 1.0
    CHECK(as_float(m.sgpr(0)) == 3.5f);
    REQUIRE(m.run({0xa2800201, bits(2.0f)}) == Stop::End);  // s_fmaak_f32 s0, s1, s2, 2.0
    CHECK(as_float(m.sgpr(0)) == 9.5f);
    m.sgpr(1) = 0x42003c00;
    m.sgpr(2) = 0x4000;
    REQUIRE(m.run({0xa4800201}) == Stop::End);  // s_add_f16 s0, s1, s2
    CHECK(m.sgpr(0) == 0x4200);
    REQUIRE(m.run({0xbf510201}) == Stop::End);  // s_cmp_lt_f16 s1, s2
    CHECK(m.wave().scc);
    REQUIRE(m.run({0xbe806a01}) == Stop::End);  // s_cvt_hi_f32_f16 s0, s1
    CHECK(as_float(m.sgpr(0)) == 3);
    Gfx11 older;
    CHECK(older.run({0xa000f201}) == Stop::Illegal);
}

TEST_CASE("a constant addend of 16 bits is in both halves", "[isa][gfx1100][matrix]") {
    struct Row {
        const char* name;
        u32 word, second;
        u32 (*factor)(int);
        u32 addend;
    };
    // 1.0 and 1: of integers, the smallest denormal.
    const Row rows[] = {{"v_wmma_f16_16x16x16_f16 with 1.0", 0xcc424000, 0x1bca2108, half_code, 0x3c00},
                        {"v_wmma_f16_16x16x16_f16 with 1", 0xcc424000, 0x1a062108, half_code, 1},
                        {"v_wmma_bf16_16x16x16_bf16 with 1.0", 0xcc434000, 0x1bca2108, brain_code, 0x3f80},
                        {"v_wmma_bf16_16x16x16_bf16 with 1", 0xcc434000, 0x1a062108, brain_code, 1}};
    for (const Row& row : rows)
        for (const bool upper : {false, true}) {
            INFO(row.name << (upper ? ", upper" : ", lower"));
            Gfx11 m;
            for (unsigned n = 8; n < 24; ++n) m.vgpr(n, 0);
            REQUIRE(m.run({row.word | (upper ? 1u << 13 : 0), row.second}) == Stop::End);
            for (unsigned n = 0; n < 8; ++n) REQUIRE((m.lane(n, 5) >> (upper ? 16 : 0) & 0xffff) == row.addend);
        }
}

TEST_CASE("signs of packed sources are both halves'", "[isa][gfx1100]") {
    Gfx11 m;
    m.vgpr(1, 0x40003c00);  // 2, 1
    m.vgpr(2, 0x42004000);  // 3, 2
    m.vgpr(3, 0x3c00);
    REQUIRE(m.run({0xd6660000, 0x240e0501}) == Stop::End);  // v_dot2_f16_f16 v0, -v1, v2, v3
    CHECK(value_of_half(m.lane(0, 0) & 0xffff) == -7);
    m.vgpr(1, 0xc000bc00);
    REQUIRE(m.run({0xd6660100, 0x040e0501}) == Stop::End);  // v_dot2_f16_f16 v0, |v1|, v2, v3
    CHECK(value_of_half(m.lane(0, 0) & 0xffff) == 9);
}

TEST_CASE("halves of registers change places, those of one register, too", "[isa][gfx1100]") {
    Gfx11 m;
    m.exec(1);
    m.vgpr(0, 0x11112222);
    m.vgpr(1, 0x33334444);
    REQUIRE(m.run({0x7f00cd01}) == Stop::End);  // v_swap_b16 v0.h, v1.l
    CHECK(m.lane(0, 0) == 0x44442222);
    CHECK(m.lane(1, 0) == 0x33331111);
    CHECK(m.lane(0, 1) == 0x11112222);
    REQUIRE(m.run({0x7f00cd00}) == Stop::End);  // v_swap_b16 v0.h, v0.l
    CHECK(m.lane(0, 0) == 0x22224444);
}

TEST_CASE("the distance of an alignment is in the half that OP_SEL names", "[isa][gfx1100]") {
    Gfx11 m;
    m.vgpr(1, 0x12345678);
    m.vgpr(2, 0x9abcdef0);
    m.vgpr(3, 0x00020008);
    REQUIRE(m.run({0xd6162000, 0x040e0501}) == Stop::End);  // v_alignbit_b32 v0, v1, v2, v3.h
    CHECK(m.lane(0, 0) == 0x26af37bc);
    REQUIRE(m.run({0xd6160000, 0x040e0501}) == Stop::End);  // v_alignbit_b32 v0, v1, v2, v3.l
    CHECK(m.lane(0, 0) == 0x789abcde);
    REQUIRE(m.run({0xd6172000, 0x040e0501}) == Stop::End);  // v_alignbyte_b32 v0, v1, v2, v3.h
    CHECK(m.lane(0, 0) == 0x56789abc);
}

TEST_CASE("a dot product of BF16 is one of two operations", "[isa][gfx1100]") {
    Gfx11 m;
    m.vgpr(0, bits(1.0f));
    m.vgpr(1, 0x40003f80);  // 2, 1
    m.vgpr(2, 0x40404000);  // 3, 2
    m.vgpr(6, 9);
    REQUIRE(m.run({0xcb500501, 0x00040106}) ==
            Stop::End);  // v_dual_dot2acc_f32_bf16 v0, v1, v2 :: v_dual_mov_b32 v5, v6
    CHECK(as_float(m.lane(0, 3)) == 9);
    CHECK(m.lane(5, 3) == 9);
}

TEST_CASE("from gfx1151 on, DPP leaves source 1 to scalars", "[isa][gfx1100][gfx1151]") {
    const std::vector<u32> codes[] = {{0xd5030000, 0x000004fa, 0xff00e401},   // v_add_f32 v0, v1, s2
                                      {0xcc134000, 0x1c0c04fa, 0xff00e401}};  // v_dot2_f32_f16 v0, v1, s2, v3
    for (const auto& code : codes) {
        Gfx11 older, newer{Target::gfx1151};
        CHECK(older.run(code) == Stop::Illegal);
        newer.sgpr(2) = code[0] == 0xcc134000 ? 0x3c003c00 : bits(2.0f);
        newer.vgpr(1, code[0] == 0xcc134000 ? 0x3c003c00 : bits(1.0f));
        newer.vgpr(3, bits(1.0f));
        REQUIRE(newer.run(code) == Stop::End);
        CHECK(as_float(newer.lane(0, 4)) == 3);
    }
}

TEST_CASE("M0 is not one of two scalars", "[isa][gfx1030][gfx1100]") {
    Gfx11 m;
    CHECK(m.run({0xbe80017d}) == Stop::Illegal);  // s_mov_b64 s[0:1], and M0's number
    CHECK(m.run({0xbe80017c}) == Stop::End);      // null
    Machine older{Target::gfx1030, best_level(), 32};
    CHECK(older.run({0xbe80047c}) == Stop::Illegal);
}

TEST_CASE("SWIZZLE_ENABLE of GFX11 has two bits", "[isa][gfx1030][gfx1100][buffers]") {
    struct Row {
        Target target;
        u32 word1;  // beside a stride of 8
        u32 place;  // of the second dword of record 9; 0: refused
    };
    constexpr u32 linear = 9 * 8 + 4, interleaved = (8 + 4) * 8 + 1 * 4;  // INDEX_STRIDE 8, elements of 4 bytes
    const Row rows[] = {{Target::gfx1030, 0, linear},        {Target::gfx1030, 1u << 31, interleaved},
                        {Target::gfx1030, 1u << 30, linear},  // CACHE_SWIZZLE
                        {Target::gfx1100, 0, linear},        {Target::gfx1100, 1u << 30, interleaved},
                        {Target::gfx1100, 2u << 30, 0},      {Target::gfx1100, 3u << 30, 0}};
    for (const Row& row : rows) {
        INFO(name(row.target) << ", " << row.word1);
        Buffered b{best_level(), row.target};
        b.machine.sgpr(9) = row.word1 | 8u << 16;
        for (u32 n = 0; n < 256; n += 4) b.put(n, n);
        b.machine.vgpr(5, 9);
        // buffer_load_b32 v4, v5, s[8:11], 0 idxen offset:4
        const bool gfx11 = row.target == Target::gfx1100;
        const std::vector<u32> code{gfx11 ? 0xe0500004 : 0xe0302004, gfx11 ? 0x80820405 : 0x80020405};
        REQUIRE(b.run(code) == (row.place != 0 ? Stop::End : Stop::Illegal));
        if (row.place != 0) CHECK(b.machine.lane(4, 0) == row.place);
    }
}
