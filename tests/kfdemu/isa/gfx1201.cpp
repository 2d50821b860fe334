// What GFX12 does differently, but for matrices (gfx1201_tiles.cpp). Words are llvm-mc's.
#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/text/disassemble.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

struct Gfx12 : Machine {
    explicit Gfx12(unsigned width = 32) : Machine{Target::gfx1201, best_level(), width} {
        exec(width == 32 ? 0xffffffff : kAll);
    }
};
struct Memory : Buffered {
    explicit Memory(unsigned width = kMostLanes) : Buffered{best_level(), Target::gfx1201, width} {}
    void point(unsigned vgpr, u64 offset) { machine.vgpr64(vgpr, kBase + offset); }
};

std::string gfx12_text(const std::vector<u32>& code) {
    return disassemble(Target::gfx1201, Decoder{Target::gfx1201, best_level(), 32}.decode(kCodeBase, code));
}

}  // namespace

TEST_CASE("a number wins over NaN, the first of two NaNs over the second, and -0 is less than +0", "[isa][gfx1201]") {
    struct Row {
        u32 a, b, least, greatest;
    };
    const Row rows[] = {
        {kOne, kNan, kOne, kOne},
        {kSignalling, kOne, kOne, kOne},
        {kSignalling, 0x7fc00123, 0x7fc00001, 0x7fc00001},
        {0x7fc00123, kSignalling, 0x7fc00123, 0x7fc00123},
        {0, kMinusZero, kMinusZero, 0},
        {kMinusZero, 0, kMinusZero, 0},
    };
    for (const Row& row : rows) {
        INFO(std::hex << row.a << " " << row.b);
        Gfx12 m;
        m.vgpr(1, row.a);
        m.vgpr(2, row.b);
        REQUIRE(m.run({0x2a000501}) == Stop::End);  // v_min_num_f32 v0, v1, v2
        CHECK(m.lane(0, 31) == row.least);
        REQUIRE(m.run({0x2c000501}) == Stop::End);  // v_max_num_f32
        CHECK(m.lane(0, 31) == row.greatest);
    }
}

TEST_CASE("V_MINIMUM and V_MAXIMUM keep NaN, a signalling one first", "[isa][gfx1201]") {
    struct Row {
        u32 a, b, least, greatest;
    };
    const Row rows[] = {
        {kOne, 0xffc00123, 0xffc00123, 0xffc00123},
        {0x7fc00123, kSignalling, 0x7fc00001, 0x7fc00001},
        {0x7fc00123, 0xffc00456, 0x7fc00123, 0x7fc00123},
        {0, kMinusZero, kMinusZero, 0},
        {kMinusOne, kInf, kMinusOne, kInf},
    };
    for (const Row& row : rows) {
        INFO(std::hex << row.a << " " << row.b);
        Gfx12 m;
        m.vgpr(1, row.a);
        m.vgpr(2, row.b);
        REQUIRE(m.run({0xd7650000, 0x00020501}) == Stop::End);  // v_minimum_f32 v0, v1, v2
        CHECK(m.lane(0, 31) == row.least);
        REQUIRE(m.run({0xd7660000, 0x00020501}) == Stop::End);  // v_maximum_f32
        CHECK(m.lane(0, 31) == row.greatest);
        m.sgpr(1) = row.a;
        m.sgpr(2) = row.b;
        REQUIRE(m.run({0xa7800201}) == Stop::End);  // s_minimum_f32 s0, s1, s2
        CHECK(m.sgpr(0) == row.least);
    }
    Gfx12 m;
    m.vgpr(1, bits(5.0f));
    m.vgpr(2, bits(3.0f));
    m.vgpr(3, bits(4.0f));
    REQUIRE(m.run({0xd66c0000, 0x040e0501}) == Stop::End);  // v_minimummaximum_f32 v0, v1, v2, v3
    CHECK(as_float(m.lane(0, 0)) == 4);
    m.vgpr(1, 0xc000);
    m.vgpr(2, 0x7e01);
    m.vgpr(0, 0x12340000);
    REQUIRE(m.run({0xd7670000, 0x00020501}) == Stop::End);  // v_minimum_f16 v0, v1, v2
    CHECK(m.lane(0, 0) == 0x12347e01);
}

TEST_CASE("MODE has neither IEEE nor DX10_CLAMP, and CLAMP turns NaN into 0", "[isa][gfx1201]") {
    Gfx12 m;
    REQUIRE(m.run({0xb880f801}) == Stop::End);  // s_getreg_b32 s0, hwreg(HW_REG_WAVE_MODE)
    CHECK(m.sgpr(0) == 0xf0);
    REQUIRE(m.run({0xb9801801, 0x0000000f, 0xb880f801}) == Stop::End);  // s_setreg_imm32_b32 …(…, 0, 4), 15
    CHECK(m.sgpr(0) == 0xff);
    REQUIRE(m.run({0xb9801801, 0}) == Stop::End);
    m.vgpr(1, kNan);
    REQUIRE(m.run({0xd5038000, 0x00020301}) == Stop::End);  // v_add_f32_e64 v0, v1, v1 clamp
    CHECK(m.lane(0, 0) == 0);
    REQUIRE(m.run({0xb880f81d}) == Stop::End);  // HW_REG_SHADER_CYCLES_LO
    CHECK(m.sgpr(0) != 0);
}

TEST_CASE("STATUS says whether there are several waves, and how wide they are", "[isa][gfx1201]") {
    Gfx12 m;
    constexpr u32 kVccIsZero = 1u << 10, kValid = 1u << 16;
    m.wave().set_s64(kVcc, 0);
    m.wave().scc = true;
    REQUIRE(m.run({0xb880f802}) == Stop::End);  // s_getreg_b32 s0, hwreg(HW_REG_WAVE_STATUS)
    CHECK(m.sgpr(0) == (kVccIsZero | kValid));
    m.wave().status = kInGroup;
    REQUIRE(m.run({0xb880f802}) == Stop::End);
    CHECK(m.sgpr(0) == (kVccIsZero | kValid | kInGroup));
    CHECK(m.run({0xb880f804}) == Stop::Illegal);  // HW_REG_WAVE_STATE_PRIV: its fields are not emulated
}

TEST_CASE("doubles have short forms", "[isa][gfx1201]") {
    Gfx12 m;
    m.vgpr64(2, bits(1.5));
    m.vgpr64(4, bits(2.25));
    REQUIRE(m.run({0x04000902}) == Stop::End);  // v_add_f64_e32 v[0:1], v[2:3], v[4:5]
    CHECK(as_double(m.lane64(0, 31)) == 3.75);
    m.vgpr64(2, 0x8000'0000'0000'0001);
    REQUIRE(m.run({0x3e000484}) == Stop::End);  // v_lshlrev_b64_e32 v[0:1], 4, v[2:3]
    CHECK(m.lane64(0, 0) == 16);
}

TEST_CASE("lanes of rows read those that a register names", "[isa][gfx1201]") {
    Gfx12 m;
    m.number_lanes(1, 100);
    for (unsigned l = 0; l < 32; ++l) m.lane(2, l) = (l * 3 + 5) | 0xf0;
    REQUIRE(m.run({0xd70f0000, 0x00020501}) == Stop::End);  // v_permlane16_var_b32 v0, v1, v2
    for (unsigned l = 0; l < 32; ++l) REQUIRE(m.lane(0, l) == 100 + (l & 16) + (l * 3 + 5) % 16);
    REQUIRE(m.run({0xd7100000, 0x00020501}) == Stop::End);  // v_permlanex16_var_b32
    for (unsigned l = 0; l < 32; ++l) REQUIRE(m.lane(0, l) == 100 + ((l & 16) ^ 16) + (l * 3 + 5) % 16);
    m.vgpr(0, 7);
    m.vgpr(2, 3);
    m.exec(1);
    REQUIRE(m.run({0xd70f0000, 0x00020501}) == Stop::End);  // lane 3 is not active
    CHECK(m.lane(0, 0) == 7);
    REQUIRE(m.run({0xd70f0800, 0x00020501}) == Stop::End);  // … op_sel:[1,0]: FI
    CHECK(m.lane(0, 0) == 103);
}

TEST_CASE("of three, NaN is kept and denormals are flushed as of two", "[isa][gfx1201]") {
    Gfx12 m;
    const std::vector<u32> least{0xd62d0000, 0x040e0501}, greatest{0xd62e0000, 0x040e0501};  // v0, v1, v2, v3
    m.vgpr(1, 0x7fc12345);
    m.vgpr(2, kOne);
    m.vgpr(3, kOne);
    REQUIRE(m.run(least) == Stop::End);
    CHECK(m.lane(0, 0) == 0x7fc12345);
    m.vgpr(3, 0x7f800001);
    REQUIRE(m.run(greatest) == Stop::End);
    CHECK(m.lane(0, 0) == 0x7fc00001);
    set_mode(m.wave(), 0);  // flushes
    for (const unsigned n : {1, 2, 3}) m.vgpr(n, 0x123);
    REQUIRE(m.run(least) == Stop::End);
    CHECK(m.lane(0, 0) == 0);
}

TEST_CASE("atomics of floats: a number wins over NaN, and -0 is less than +0", "[isa][gfx1201][atomics]") {
    struct Row {
        u32 memory, data, least, greatest;
    };
    const Row rows[] = {
        {kNan, kOne, kOne, kOne},
        {kOne, kNan, kOne, kOne},
        {kNan, 0xffc00123, 0xffc00123, 0xffc00123},
        {kNan, kSignalling, 0x7fc00001, 0x7fc00001},
        {0, kMinusZero, kMinusZero, 0},
        {kMinusZero, 0, kMinusZero, 0},
        {0xc0000000, kOne, 0xc0000000, kOne},
    };
    for (const Row& row : rows)
        for (const bool greatest : {false, true}) {
            INFO(std::hex << row.memory << " " << row.data << (greatest ? ", greatest" : ", least"));
            const u32 expected = greatest ? row.greatest : row.least;
            Memory b;
            b.put_lds(16, row.memory);
            b.machine.vgpr(4, 16);
            b.machine.vgpr(0, row.data);
            // ds_min_num_rtn_f32 v5, v4, v0; ds_max_num_rtn_f32
            REQUIRE(b.run({greatest ? 0xd8cc0000 : 0xd8c80000, 0x05000004}) == Stop::End);
            CHECK(b.machine.lane(5, 0) == row.memory);
            CHECK(b.lds(16) == expected);
            b.put(32, row.memory);
            b.point(2, 32);
            // global_atomic_min_num_f32 v5, v[2:3], v0, off th:TH_ATOMIC_RETURN; global_atomic_max_num_f32
            REQUIRE(b.run({greatest ? 0xee14807c : 0xee14407c, 0x00100005, 0x00000002}) == Stop::End);
            CHECK(b.machine.lane(5, 0) == row.memory);
            CHECK(b.at<u32>(32) == expected);
        }
    Memory wide;
    wide.machine.vgpr(4, 16);
    wide.put_lds(16, 0);
    wide.put_lds(20, 0x7ff80000);  // NaN
    wide.machine.vgpr64(0, 0x3ff0000000000000);
    REQUIRE(wide.run({0xd9c80000, 0x06000004}) == Stop::End);  // ds_min_num_rtn_f64 v[6:7], v4, v[0:1]
    CHECK(wide.lds(20) == 0x3ff00000);
}

TEST_CASE("ds_bpermute_fi_b32 reads inactive lanes, too", "[isa][gfx1201]") {
    Memory b;
    b.machine.number_lanes(2, 100);
    b.machine.vgpr(1, 4 * 5);
    REQUIRE(b.run({0xdacc0000, 0x00000201}) == Stop::End);  // ds_bpermute_b32 v0, v1, v2
    CHECK(b.machine.lane(0, 0) == 0);
    REQUIRE(b.run({0xdb340000, 0x00000201}) == Stop::End);
    CHECK(b.machine.lane(0, 0) == 105);
}

TEST_CASE("transcendental functions of scalars", "[isa][gfx1201]") {
    Gfx12 m;
    m.exec(0);
    m.sgpr(1) = bits(3.0f);
    REQUIRE(m.run({0xd6800000, 0x00000001}) == Stop::End);  // v_s_exp_f32 s0, s1
    CHECK(as_float(m.sgpr(0)) == 8);
    m.sgpr(1) = bits(4.0f);
    REQUIRE(m.run({0xd6840100, 0x20000001}) == Stop::End);  // v_s_rcp_f32 s0, -|s1|
    CHECK(as_float(m.sgpr(0)) == -0.25f);
    REQUIRE(m.run({0xd6820000, 0x000000f4}) == Stop::End);  // v_s_log_f32 s0, 2.0
    CHECK(as_float(m.sgpr(0)) == 1);
    REQUIRE(m.run({0xd6808000, 0x00000081}) == Stop::End);  // v_s_exp_f32 s0, 1 clamp
    CHECK(as_float(m.sgpr(0)) == 1);
    m.sgpr(0) = 0xffffffff;
    m.sgpr(1) = 0x12344c00;                                 // 16
    REQUIRE(m.run({0xd6890000, 0x00000001}) == Stop::End);  // v_s_sqrt_f16 s0, s1
    CHECK(m.sgpr(0) == 0x4400);
}

TEST_CASE("bytes are floats as the Open Compute Project has them", "[isa][gfx1201]") {
    Gfx12 m;
    m.vgpr(1, 0xc0384030);                      // FP8: 0.5, 2, 1, -2
    REQUIRE(m.run({0x7e00d901}) == Stop::End);  // v_cvt_f32_fp8_e32 v0, v1
    CHECK(as_float(m.lane(0, 31)) == 0.5f);
    REQUIRE(m.run({0xd5ec1000, 0x00000101}) == Stop::End);  // … byte_sel:1
    CHECK(as_float(m.lane(0, 31)) == 2);
    REQUIRE(m.run({0xd5ec0800, 0x00000101}) == Stop::End);  // … byte_sel:2
    CHECK(as_float(m.lane(0, 31)) == 1);
    m.vgpr(1, 0xbc000000);
    REQUIRE(m.run({0xd5ed1800, 0x00000101}) == Stop::End);  // v_cvt_f32_bf8_e64 v0, v1 byte_sel:3
    CHECK(as_float(m.lane(0, 31)) == -1);
    m.vgpr(2, 0x403c4030);
    REQUIRE(m.run({0x7e00dd02}) == Stop::End);  // v_cvt_pk_f32_fp8_e32 v[0:1], v2
    CHECK(as_float(m.lane(0, 31)) == 0.5f);
    CHECK(as_float(m.lane(1, 31)) == 2);
    REQUIRE(m.run({0xd5ef0800, 0x00000102}) == Stop::End);  // v_cvt_pk_f32_bf8_e64 v[0:1], v2 op_sel:[1,0]
    CHECK(as_float(m.lane(0, 31)) == 1);
    CHECK(as_float(m.lane(1, 31)) == 2);
    m.vgpr(0, 0xaaaabbbb);
    m.vgpr(1, bits(1.0f));
    m.vgpr(2, bits(-500.0f));
    REQUIRE(m.run({0xd7694000, 0x00020501}) == Stop::End);  // v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]
    CHECK(m.lane(0, 0) == 0xff38bbbb);                      // too large: NaN
    m.vgpr(2, 0);
    REQUIRE(m.run({0xd76c4000, 0x00020501}) == Stop::End);  // v_cvt_sr_bf8_f32 v0, v1, v2 byte_sel:2
    CHECK(m.lane(0, 0) == 0xff3cbbbb);
    m.vgpr(1, 0x38403830);  // FP8: 0.5, 1, 2, 1
    m.vgpr(2, 0x3c3c4044);  // BF8: 4, 2, 1, 1
    m.vgpr(3, bits(10.0f));
    REQUIRE(m.run({0xcc244000, 0x1c0e0501}) == Stop::End);  // v_dot4_f32_fp8_bf8 v0, v1, v2, v3
    CHECK(as_float(m.lane(0, 0)) == 17);
    m.vgpr(3, bits(-10.0f));
    REQUIRE(m.run({0xcc244400, 0x9c0e0501}) == Stop::End);  // … neg_lo:[0,0,1] neg_hi:[0,0,1]: -|v3|
    CHECK(as_float(m.lane(0, 0)) == -3);
}

TEST_CASE("the scalar unit has integers of 64 bits", "[isa][gfx1201]") {
    Gfx12 m;
    m.wave().set_s64(2, 0xffff'ffff'0000'0003);
    m.wave().set_s64(4, 0x1'0000'0005);
    m.wave().scc = true;
    REQUIRE(m.run({0xa9800402}) == Stop::End);  // s_add_nc_u64 s[0:1], s[2:3], s[4:5]
    CHECK(m.wave().s64(0) == 8);
    CHECK(m.wave().scc);
    REQUIRE(m.run({0xaa800402}) == Stop::End);  // s_mul_u64
    CHECK(m.wave().s64(0) == 0xffff'ffff'0000'0003 * 0x1'0000'0005);
}

TEST_CASE("a kernel does not write the ids of its work-group", "[isa][gfx1201]") {
    Gfx12 m;
    CHECK(m.run({0xbef50080}) == Stop::Illegal);              // s_mov_b32 ttmp9, 0
    CHECK(m.run({0xbef20180}) == Stop::Illegal);              // s_mov_b64 ttmp[6:7], 0
    CHECK(m.run({0xf4001d40, 0xf8000000}) == Stop::Illegal);  // s_load_b32 ttmp9, s[0:1], 0x0
    CHECK(m.run({0xf4007a00, 0xf8000000}) == Stop::Illegal);  // s_load_b256 s[104:111], s[0:1], 0x0
    CHECK(m.run({0xd44a0075, 0x00020280}) == Stop::Illegal);  // v_cmp_eq_u32_e64 ttmp9, 0, v1
    CHECK(m.run({0x7c940280}) == Stop::End);                  // v_cmp_eq_u32_e32 vcc_lo, 0, v1
    CHECK(m.run({0xbe800075}) == Stop::End);                  // s_mov_b32 s0, ttmp9
}

TEST_CASE("a barrier has two steps, and only the work-group's is known", "[isa][gfx1201]") {
    Gfx12 m;
    CHECK(m.run({0xbe804ec1}) == Stop::Signal);  // s_barrier_signal -1
    CHECK(m.wave().argument == 0);
    CHECK(m.resume() == Stop::End);
    CHECK(m.run({0xbe804fc1}) == Stop::Signal);  // s_barrier_signal_isfirst -1
    CHECK(m.wave().argument == 1);
    CHECK(m.run({0xbf94ffff}) == Stop::BarrierWait);  // s_barrier_wait -1
    CHECK(m.resume() == Stop::End);
    CHECK(m.run({0xbe8550c1}) == Stop::BarrierState);  // s_get_barrier_state s5, -1
    CHECK(m.wave().argument == 5);
    CHECK(m.run({0xbe804e80, 0xbf940000}) == Stop::End);  // s_barrier_signal 0; s_barrier_wait 0
    CHECK(m.run({0xbe8550c2}) == Stop::Illegal);
    CHECK(m.run({0xbe804ec2}) == Stop::Illegal);  // s_barrier_signal -2: the trap handler's
    CHECK(m.run({0xbf94fffe}) == Stop::Illegal);
    CHECK(m.run({0xbe805385}) == Stop::Illegal);  // s_alloc_vgpr 5
    m.sgpr(1) = 5;
    CHECK(m.run({0xbe805801}) == Stop::Sleep);  // s_sleep_var s1
    CHECK(m.wave().argument == 5);
}

TEST_CASE("scalar loads of bytes, halves and three dwords", "[isa][gfx1201]") {
    Memory b;
    b.machine.wave().set_s64(4, kBase);
    b.put<u32>(0, 0x8001'f2f3);
    b.put<u64>(4, 0x2222'2222'1111'1111);
    b.put<u32>(12, 0x33333333);
    b.machine.sgpr(3) = 99;
    REQUIRE(b.run({0xf4012002, 0xf8000001}) == Stop::End);  // s_load_u8 s0, s[4:5], 0x1
    CHECK(b.machine.sgpr(0) == 0xf2);
    REQUIRE(b.run({0xf4014002, 0xf8000002}) == Stop::End);  // s_load_i16 s0, s[4:5], 0x2
    CHECK(b.machine.sgpr(0) == 0xffff8001);
    REQUIRE(b.run({0xf4030004, 0xf8000003}) == Stop::End);  // s_buffer_load_i8 s0, s[8:11], 0x3
    CHECK(b.machine.sgpr(0) == 0xffffff80);
    b.machine.sgpr(10) = 3;
    REQUIRE(b.run({0xf4030004, 0xf8000003}) == Stop::End);  // outside
    CHECK(b.machine.sgpr(0) == 0);
    REQUIRE(b.run({0xf400a002, 0xf8000004}) == Stop::End);  // s_load_b96 s[0:2], s[4:5], 0x4
    CHECK(b.machine.sgpr(0) == 0x11111111);
    CHECK(b.machine.sgpr(2) == 0x33333333);
    CHECK(b.machine.sgpr(3) == 99);
    CHECK(b.run({0xf404c202, 0xf8000010}) == Stop::End);  // s_prefetch_data s[4:5], 0x10, null, 8
}

TEST_CASE("offsets of memory instructions are signed and have 24 bits", "[isa][gfx1201]") {
    Memory b;
    b.put<u32>(56, 7);
    b.put<u32>(80, 8);
    b.point(2, 64);
    REQUIRE(b.run({0xee05007c, 0x00000000, 0xfffff802}) == Stop::End);  // global_load_b32 v0, v[2:3], off offset:-8
    CHECK(b.machine.lane(0, 0) == 7);
    b.machine.wave().set_s64(4, kBase);
    b.machine.vgpr(1, 64);
    REQUIRE(b.run({0xee050004, 0x001c0000, 0x00001001}) == Stop::End);  // global_load_b32 v0, v1, s[4:5] offset:16 …
    CHECK(b.machine.lane(0, 0) == 8);
    b.machine.vgpr64(2, kBase + 64 - 8388600);
    b.machine.vgpr64(0, 0x5'0000'0006);
    REQUIRE(b.run({0xee06c07c, 0x00000000, 0x7ffff802}) == Stop::End);  // global_store_b64 … offset:8388600
    CHECK(b.at<u64>(64) == 0x5'0000'0006);
    CHECK(b.run({0xee0ac07c, 0x00080000, 0x00000000}) == Stop::End);      // global_inv scope:SCOPE_DEV
    CHECK(b.run({0xee16007c, 0x00000000, 0x00000002}) == Stop::Illegal);  // global_load_tr_b64
    CHECK(b.run({0xee15c07c, 0x00000000, 0x00000002}) == Stop::Illegal);  // global_load_tr_b128 in 64 lanes
}

TEST_CASE("a transposing load gives each of eight lanes a half of each", "[isa][gfx1201]") {
    Memory b{32};
    b.machine.exec(0xffffffff);
    for (unsigned n = 0; n < 256; ++n) b.put<std::uint16_t>(2 * n, static_cast<std::uint16_t>(n));
    for (unsigned l = 0; l < 32; ++l) b.machine.lane(2, l) = static_cast<u32>(kBase) + 16 * l;
    b.machine.vgpr(3, 0);
    REQUIRE(b.run({0xee15c07c, 0x00000000, 0x00000002}) == Stop::End);  // global_load_tr_b128 v[0:3], v[2:3], off
    for (unsigned l = 0; l < 32; ++l)
        for (unsigned n = 0; n < 8; ++n) REQUIRE(b.machine.packed(0, l, n, 16) == (l / 8 * 8 + n) * 8 + l % 8);
    b.machine.exec(0x7fffffff);
    CHECK(b.run({0xee15c07c, 0x00000000, 0x00000002}) == Stop::Illegal);
}

TEST_CASE("an atomic returns the old value if its temporal hint says so", "[isa][gfx1201][atomics]") {
    Memory b;
    b.point(2, 64);
    b.put<u32>(64, 40);
    b.machine.vgpr(0, 99);
    b.machine.vgpr(1, 2);
    REQUIRE(b.run({0xee0d407c, 0x00800000, 0x00000002}) == Stop::End);  // global_atomic_add_u32 v[2:3], v1, off
    CHECK(b.machine.lane(0, 0) == 99);
    REQUIRE(b.run({0xee0d407c, 0x00900000, 0x00000002}) == Stop::End);  // … v0, … th:TH_ATOMIC_RETURN
    CHECK(b.machine.lane(0, 0) == 42);
    CHECK(b.at<u32>(64) == 44);
    for (const u32 subtrahend : {45u, 44u}) {
        b.machine.vgpr(1, subtrahend);
        REQUIRE(b.run({0xee14007c, 0x00900000, 0x00000002}) == Stop::End);  // global_atomic_cond_sub_u32
        CHECK(b.machine.lane(0, 0) == 44);
        CHECK(b.at<u32>(64) == (subtrahend == 45 ? 44 : 0));
    }
    b.put<u32>(64, 0x3c004000);  // 2, 1
    b.machine.vgpr(1, 0x3c003c00);
    REQUIRE(b.run({0xec16407c, 0x00900000, 0x00000002}) == Stop::End);  // flat_atomic_pk_add_f16 v0, v[2:3], v1 …
    CHECK(b.machine.lane(0, 0) == 0x3c004000);
    CHECK(b.at<u32>(64) == 0x40004200);
    b.put_lds(16, 10);
    b.machine.vgpr(4, 16);
    b.machine.vgpr(0, 11);
    REQUIRE(b.run({0xdaa00000, 0x05000004}) == Stop::End);  // ds_cond_sub_rtn_u32 v5, v4, v0
    CHECK(b.machine.lane(5, 0) == 10);
    CHECK(b.lds(16) == 10);
    REQUIRE(b.run({0xda640000, 0x00000004}) == Stop::End);  // ds_sub_clamp_u32 v4, v0
    CHECK(b.lds(16) == 0);
}

TEST_CASE("buffer instructions have three dwords", "[isa][gfx1201]") {
    Memory b;
    b.put<u32>(68, 7);
    b.machine.vgpr(1, 64);
    REQUIRE(b.run({0xc405007c, 0x40801000, 0x00000401}) == Stop::End);  // buffer_load_b32 v0, v1, s[8:11], null offen …
    CHECK(b.machine.lane(0, 0) == 7);
    b.machine.vgpr(0, 9);
    REQUIRE(b.run({0xc40cc07c, 0x00901000, 0x00001000}) == Stop::End);  // buffer_atomic_swap_b32 … offset:16 …
    CHECK(b.machine.lane(0, 0) == 0);
    CHECK(b.at<u32>(16) == 9);
    b.put<u32>(0, 0x1234);
    REQUIRE(b.run({0xc420007c, 0x02801000, 0x00000000}) == Stop::End);  // tbuffer_load_format_x … BUF_FMT_8_UINT
    CHECK(b.machine.lane(0, 0) == 0x34);
    CHECK(b.run({0xc445007c, 0x40801000, 0x00000401}) == Stop::Illegal);  // tfe
}

TEST_CASE("M0 says which registers a block access moves", "[isa][gfx1201]") {
    Memory b;
    b.point(2, 64);
    for (u32 n = 0; n < 32; ++n) b.put<u32>(64 + 4 * n, 100 + n);
    for (u32 n = 8; n < 40; ++n) b.machine.vgpr(n, n);
    b.machine.sgpr(kM0) = 0x80000005;
    REQUIRE(b.run({0xee14c07c, 0x00000008, 0x00000002}) == Stop::End);  // global_load_block v[8:39], v[2:3], off
    for (u32 n = 0; n < 32; ++n) REQUIRE(b.machine.lane(8 + n, 0) == (n == 0 || n == 2 || n == 31 ? 100 + n : 8 + n));
    b.machine.sgpr(kM0) = 2;
    REQUIRE(b.run({0xee15007c, 0x04000000, 0x00000002}) == Stop::End);  // global_store_block v[2:3], v[8:39], off
    CHECK(b.at<u32>(64) == 100);
    CHECK(b.at<u32>(68) == 9);
}

TEST_CASE("GFX12's texts", "[isa][gfx1201]") {
    struct Row {
        std::vector<u32> code;
        const char* text;
    };
    const Row rows[] = {
        {{0xee050004, 0x001c0000, 0x00001001},
         "global_load_b32 v0, v1, s[4:5] offset:16 th:TH_LOAD_NT scope:SCOPE_SYS"},
        {{0xf404c202, 0xf8000010}, "s_prefetch_data s[4:5], 0x10, null, 8"},
        {{0xca960902, 0x00000b03}, "v_dual_max_num_f32 v0, v2, v4 :: v_dual_min_num_f32 v1, v3, v5"},
        {{0xbfc80000}, "s_wait_loadcnt_dscnt 0x0"},
        {{0x7e003902}, "v_mov_b16_e32 v0.l, v2.l"},
    };
    for (const Row& row : rows) CHECK(gfx12_text(row.code) == row.text);
}
