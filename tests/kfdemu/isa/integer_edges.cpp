// Vector integers at their edges: wrapping, INT_MIN, shifts and fields as wide as the register or wider.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using kfdemu::isa::kVcc;

TEST_CASE("shifts count modulo the operand's width", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.7 VOP2, V_*SHR*REV, V_LSHLREV; 12.12 VOP3, their 64-bit forms",
              {
                  {"v_lshlrev_b32", 0, 0xffffffff, 0, 0xffffffff},
                  {"v_lshlrev_b32", 32, 0xdeadbeef, 0, 0xdeadbeef},
                  {"v_lshlrev_b32", 0xffffffff, 3, 0, kIntMin},
                  {"v_lshrrev_b32", 32, 0xdeadbeef, 0, 0xdeadbeef},
                  {"v_lshrrev_b32", 63, 0xdeadbeef, 0, 1},
                  {"v_ashrrev_i32", 32, kIntMin, 0, kIntMin},
                  {"v_ashrrev_i32", 0xffffffff, kIntMin, 0, 0xffffffff},
                  {"v_lshlrev_b64", 64, 0x123456789abcdef0, 0, 0x123456789abcdef0},
                  {"v_lshlrev_b64", 32, 0x123456789abcdef0, 0, 0x9abcdef000000000},
                  {"v_lshlrev_b64", 0xffffffff, 1, 0, kSign64},
                  {"v_lshrrev_b64", 64, kSign64, 0, kSign64},
                  {"v_lshrrev_b64", 127, kSign64, 0, 1},
                  {"v_ashrrev_i64", 64, kSign64, 0, kSign64},
                  {"v_ashrrev_i64", 32, kSign64, 0, 0xffffffff80000000},
                  {"v_lshlrev_b16", 16, 0x8001, 0, 0x8001},
                  {"v_lshlrev_b16", 15, 0xffff, 0, 0x8000},
                  {"v_lshlrev_b16", 0xffff0001, 0x4000, 0, 0x8000},
                  {"v_lshrrev_b16", 31, 0xffff8000, 0, 1},
                  {"v_lshrrev_b16", 16, 0x8001, 0, 0x8001},
                  {"v_ashrrev_i16", 16, 0x8001, 0, 0x8001},
                  {"v_ashrrev_i16", 31, 0x8000, 0, 0xffff},
                  {"v_lshl_add_u32", 1, 32, 5, 6},
                  {"v_lshl_add_u32", kIntMin, 1, 5, 5},
                  {"v_add_lshl_u32", 0xffffffff, 2, 33, 2},
                  {"v_lshl_or_b32", 3, 63, 1, 0x80000001},
              });
}

TEST_CASE("bit fields of width 0, and wider than the remaining bits", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.12 VOP3, V_BFE_U32, V_BFE_I32, V_BFI_B32, V_BFM_B32, V_ALIGN*, V_PERM_B32",
              {
                  {"v_bfe_u32", 0xffffffff, 31, 31, 1},
                  {"v_bfe_u32", 0xffffffff, 32, 4, 0xf},
                  {"v_bfe_u32", 0xdeadbeef, 0, 0, 0},
                  {"v_bfe_u32", 0xdeadbeef, 4, 32, 0},
                  {"v_bfe_u32", 0xdeadbeef, 4, 36, 0xe},
                  {"v_bfe_u32", 0xdeadbeef, 0, 31, 0x5eadbeef},
                  {"v_bfe_i32", 0xdeadbeef, 0, 32, 0},
                  {"v_bfe_i32", 0x00000001, 0, 1, 0xffffffff},
                  {"v_bfe_i32", 0x40000000, 0, 31, 0xc0000000},
                  {"v_bfe_i32", 0x80000000, 31, 1, 0xffffffff},
                  {"v_bfe_i32", 0x80000000, 31, 31, 0xffffffff},
                  {"v_bfe_i32", 0x7fffffff, 16, 31, 0x7fff},
                  {"v_bfe_i32", 0x00000080, 36, 4, 0xfffffff8},
                  {"v_bfi_b32", 0xffffffff, 1, 2, 1},
                  {"v_bfi_b32", 0, 1, 2, 2},
                  {"v_bfm_b32", 0, 5, 0, 0},
                  {"v_bfm_b32", 32, 0, 0, 0},  // five bits count
                  {"v_bfm_b32", 31, 0, 0, kIntMax},
                  {"v_bfm_b32", 31, 31, 0, kIntMin},
                  {"v_bfm_b32", 1, 32, 0, 1},
                  {"v_bfm_b32", 35, 34, 0, 0x1c},
                  {"v_alignbit_b32", 0x11223344, 0x55667788, 0, 0x55667788},
                  {"v_alignbit_b32", 0x11223344, 0x55667788, 32, 0x55667788},
                  {"v_alignbit_b32", 0x11223344, 0x55667788, 31, 0x22446688},
                  {"v_alignbyte_b32", 0x11223344, 0x55667788, 0, 0x55667788},
                  {"v_alignbyte_b32", 0x11223344, 0x55667788, 3, 0x22334455},
                  {"v_alignbyte_b32", 0x11223344, 0x55667788, 4, 0x55667788},
                  {"v_perm_b32", 0x80ff007f, 0x017f8000, 0x0b0a0908, 0xff0000ff},
                  {"v_perm_b32", 0x11223344, 0x55667788, 0x07060504, 0x11223344},
                  {"v_perm_b32", 0x11223344, 0x55667788, 0xffff0c0d, 0xffff00ff},
                  {"v_perm_b32", 0x11223344, 0x55667788, 0x100e0f0c, 0xffffff00},
              });
}

TEST_CASE("counting bits of 0, of -1, and of single ones", "[isa][edges]") {
    check_all(
        "\"Vega\" ISA manual, 12.8 VOP1, V_FFBH_U32, V_FFBL_B32, V_FFBH_I32, V_BFREV_B32; 12.12 "
        "V_BCNT_U32_B32",
        {
            {"v_ffbh_u32", 0x800000ff, 0, 0, 0},
            {"v_ffbh_u32", 0x100000ff, 0, 0, 3},
            {"v_ffbh_u32", 1, 0, 0, 31},
            {"v_ffbh_u32", 0, 0, 0, 0xffffffff},
            {"v_ffbl_b32", 0xff000001, 0, 0, 0},
            {"v_ffbl_b32", 0xff000008, 0, 0, 3},
            {"v_ffbl_b32", kIntMin, 0, 0, 31},
            {"v_ffbl_b32", 0xffffffff, 0, 0, 0},
            {"v_ffbh_i32", 0, 0, 0, 0xffffffff},
            {"v_ffbh_i32", 0x40000000, 0, 0, 1},
            {"v_ffbh_i32", kIntMin, 0, 0, 1},
            {"v_ffbh_i32", 0x0fffffff, 0, 0, 4},
            {"v_ffbh_i32", 0xffff0000, 0, 0, 16},
            {"v_ffbh_i32", 1, 0, 0, 31},
            {"v_bfrev_b32", 0x80000003, 0, 0, 0xc0000001},
            {"v_bcnt_u32_b32", 0xffffffff, 0xffffffff, 0, 31},
            {"v_bcnt_u32_b32", 0, 7, 0, 7},
            {"v_not_b32", 0xffffffff, 0, 0, 0},
        });
}

TEST_CASE("products keep the half in their name", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.7 VOP2, V_MUL_*_24; 12.12 VOP3, V_MUL_LO_U32, V_MUL_HI_*, V_MAD_*",
              {
                  {"v_mul_lo_u32", 0xffffffff, 0xffffffff, 0, 1},
                  {"v_mul_lo_u32", kIntMin, 2, 0, 0},
                  {"v_mul_hi_u32", kIntMin, 2, 0, 1},
                  {"v_mul_hi_u32", 0xffffffff, 1, 0, 0},
                  {"v_mul_hi_i32", kIntMin, 1, 0, 0xffffffff},
                  {"v_mul_hi_i32", 0xffffffff, 0xffffffff, 0, 0},
                  {"v_mul_hi_i32", kIntMin, kIntMax, 0, 0xc0000000},
                  {"v_mul_i32_i24", 0x00800000, 0x00800000, 0, 0},  // -2^23 squared
                  {"v_mul_i32_i24", 0xff000003, 0x7f000005, 0, 15},
                  {"v_mul_hi_i32_i24", 0x00800000, 0x00800000, 0, 0x4000},
                  {"v_mul_hi_i32_i24", 0x00ffffff, 1, 0, 0xffffffff},
                  {"v_mul_u32_u24", 0x00ffffff, 0x00ffffff, 0, 0xfe000001},
                  {"v_mul_hi_u32_u24", 0xffffffff, 0xffffffff, 0, 0xffff},
                  {"v_mad_i32_i24", 0x00800000, 0x00800000, 0xffffffff, 0xffffffff},
                  {"v_mad_u32_u24", 0x01000001, 0x02000002, 0xffffffff, 1},
                  {"v_mul_lo_u16", 0xffff, 0xffff, 0, 1},
                  {"v_mad_u16", 0xffff, 2, 3, 0x22220001},
                  {"v_mad_i16", 0x8000, 2, 0xffff, 0x2222ffff},
                  {"v_mad_legacy_u16", 0xffff, 2, 3, 0x00000001},
                  {"v_mad_legacy_i16", 0x8000, 2, 0xffff, 0x0000ffff},
                  {"v_mad_u32_u16", 0xffff, 0xffff, 0xffffffff, 0xfffe0000},
                  {"v_mad_i32_i16", 0x8000, 0x8000, 0xc0000000, 0},
                  {"v_xad_u32", 0xffffffff, 0, 1, 0},
                  {"v_add3_u32", 0xffffffff, 0xffffffff, 3, 1},
              });
}

TEST_CASE("64-bit multiply-add carries out of the addition", "[isa][edges]") {
    // "Vega" ISA manual, 12.12 VOP3, V_MAD_U64_U32 and V_MAD_I64_I32.
    const struct {
        const char* name;
        u32 a, b;
        u64 c, sum;
        bool carry;
    } rows[] = {{"v_mad_u64_u32", 0xffffffff, 0xffffffff, 0x1fffffffe, kAll, false},
                {"v_mad_u64_u32", 0xffffffff, 0xffffffff, 0x1ffffffff, 0, true},
                {"v_mad_u64_u32", 0, 0, kAll, kAll, false},
                {"v_mad_u64_u32", 1, 1, kAll, 0, true},
                // The 65th bit is the sign of the exact sum, whether it fits or not.
                {"v_mad_i64_i32", 1, 1, 0, 1, false},
                {"v_mad_i64_i32", 0xffffffff, 1, 0, kAll, true},
                {"v_mad_i64_i32", kIntMin, kIntMin, 0x3fffffffffffffff, 0x7fffffffffffffff, false},
                {"v_mad_i64_i32", kIntMin, kIntMin, 0x4000000000000000, kSign64, false},
                {"v_mad_i64_i32", kIntMin, kIntMax, kSign64, 0x4000000080000000, true}};
    for (const Level level : levels()) {
        for (const auto& row : rows) {
            INFO(row.name << " on " << name(level) << std::hex << " " << row.a << " " << row.b << " " << row.c);
            Machine m{Target::gfx90a, level};
            m.vgpr(1, row.a);
            m.vgpr(2, row.b);
            m.vgpr64(4, row.c);
            m.exec(0xff);
            m.run(vop3(row.name, 6, v(1), v(2), v(4), 20u << 8));
            CHECK(m.lane64(6, 3) == row.sum);
            CHECK(m.wave().s64(20) == (row.carry ? 0xff : 0));
        }
    }
}

TEST_CASE("carries and borrows ripple", "[isa][edges]") {
    // "Vega" ISA manual, 12.7 VOP2, V_ADD_CO_U32 to V_SUBBREV_CO_U32.
    const struct {
        const char* name;
        u32 a, b;
        bool in;
        u32 result;
        bool out;
    } rows[] = {
        {"v_add_co_u32", 0xffffffff, 1, false, 0, true},
        {"v_add_co_u32", kIntMax, 1, false, kIntMin, false},
        {"v_sub_co_u32", 0, 1, false, 0xffffffff, true},
        {"v_sub_co_u32", 5, 5, false, 0, false},
        {"v_subrev_co_u32", 1, 0, false, 0xffffffff, true},
        {"v_addc_co_u32", 0xffffffff, 0, true, 0, true},
        {"v_addc_co_u32", 0xffffffff, 0xffffffff, true, 0xffffffff, true},
        {"v_addc_co_u32", 0xfffffffe, 0, true, 0xffffffff, false},
        {"v_subb_co_u32", 0, 0, true, 0xffffffff, true},
        {"v_subb_co_u32", 0, 0xffffffff, true, 0, true},
        {"v_subb_co_u32", 1, 0, true, 0, false},
        {"v_subbrev_co_u32", 0xffffffff, 0xffffffff, true, 0xffffffff, true},
        {"v_subbrev_co_u32", 0, 1, true, 0, false},
    };
    for (const Level level : levels()) {
        for (const auto& row : rows) {
            INFO(row.name << " on " << name(level) << std::hex << " " << row.a << " " << row.b);
            Machine m{Target::gfx90a, level};
            m.vgpr(1, row.a);
            m.vgpr(2, row.b);
            m.wave().set_s64(kVcc, row.in ? kAll : 0);
            m.run(vop2(row.name, 0, v(1), 2));
            CHECK(m.lane(0, 60) == row.result);
            CHECK(m.wave().vcc() == (row.out ? kAll : 0));
        }
    }
}

TEST_CASE("sums of differences and averages of bytes", "[isa][edges]") {
    check_all(
        "\"Vega\" ISA manual, 12.12 VOP3, V_SAD_*, V_MSAD_U8, V_0x000d00120016001a_PK_U16_U8, "
        "V_M0x000d00120016001a_PK_U16_U8, V_LERP_U8",
        {
            {"v_sad_u8", 0xff00ff00, 0x00ff00ff, 0, 1020},
            {"v_sad_u8", 0xff00ff00, 0x00ff00ff, 0xffffffff, 1019},
            {"v_sad_hi_u8", 0xffffffff, 0, 0xffff, 0x03fcffff},
            {"v_sad_u16", 0xffff0000, 0x0000ffff, 1, 0x1ffff},
            {"v_sad_u32", kIntMin, kIntMax, 0, 1},
            {"v_sad_u32", 0, 0xffffffff, 1, 0},
            {"v_msad_u8", 0xffffffff, 0x00000001, 5, 259},
            {"v_msad_u8", 0xffffffff, 0, 5, 5},
            {"v_qsad_pk_u16_u8", 0x00000000000000ff, 0, 0, 0x00000000000000ff},
            {"v_qsad_pk_u16_u8", 0x0102030405060708, 0, 0xffff000000000000, 0x000d00120016001a},
            {"v_mqsad_pk_u16_u8", 0x00ffffffffffffff, 0x00000001, 0, 0x00fe00fe00fe00fe},
            {"v_lerp_u8", 0xff00ff00, 0xff00ff01, 0x01010101, 0xff00ff01},
            {"v_lerp_u8", 0xff00fe01, 0x00ff0100, 0, 0x7f7f7f00},
            {"v_lerp_u8", 0xff00fe01, 0x00ff0100, 0xfefefefe, 0x7f7f7f00},  // one bit a byte counts
        });
}

TEST_CASE("least, greatest and middle integers", "[isa][edges]") {
    check_all("\"Vega\" ISA manual, 12.7 VOP2, V_MIN_I32 to V_MIN_I16; 12.12 V_MIN3_I32 to V_MED3_U16",
              {
                  {"v_max_i32", kIntMin, kIntMax, 0, kIntMax},
                  {"v_min_u32", kIntMin, kIntMax, 0, kIntMax},
                  {"v_min_i16", 0x8000, 0x7fff, 0, 0x8000},
                  {"v_max_u16", 0x8000, 0x7fff, 0, 0x8000},
                  {"v_min_u16", 0x12348000, 0x7fff, 0, 0x7fff},
                  {"v_min3_i32", 0, kIntMin, kIntMax, kIntMin},
                  {"v_max3_u32", 0, kIntMin, kIntMax, kIntMin},
                  {"v_med3_i32", kIntMin, kIntMax, 0, 0},
                  {"v_med3_u32", kIntMin, kIntMax, 0, kIntMax},
                  {"v_med3_i32", 7, 7, 3, 7},
                  {"v_med3_i16", 0x8000, 0x7fff, 0, 0x22220000},
                  {"v_med3_u16", 0x8000, 0x7fff, 0, 0x22227fff},
                  {"v_min3_i16", 0x8000, 0x7fff, 0, 0x22228000},
                  {"v_max3_u16", 0x8000, 0x7fff, 0, 0x22228000},
              });
}
