// Buffer instructions that convert, and loads directly into LDS. Expected values come from the "Vega" ISA
// manual's definitions of the formats.
#include <array>

#include "tests/kfdemu/isa/buffered.hpp"
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

enum : u32 { kInvalid, k8, k16, k8_8, k32, k16_16, k10_11_11, k11_11_10, k10_10_10_2, k2_10_10_10, k8_8_8_8, k32_32 };
enum : u32 { k16_16_16_16 = 12, k32_32_32, k32_32_32_32, kReserved };
enum : u32 { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kReserved6, kFloat };
constexpr u32 kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// Data in v4 and its successors, the resource in s[8:11], no addresses but OFFSET.
std::vector<u32> typed(const std::string& mnemonic, u32 data_format, u32 number_format, u32 offset = 0) {
    return {0xe8000000u | u32{row_of(mnemonic).opcodes.gfx9.number} << 15 | data_format << 19 | number_format << 23 |
                offset,
            4u << 8 | 2u << 16 | 128u << 24};
}
std::vector<u32> untyped(const std::string& mnemonic, u32 modifiers = 0, u32 operands = 4u << 8) {
    return {0xe0000000u | u32{row_of(mnemonic).opcodes.gfx9.number} << 18 | modifiers,
            operands | 2u << 16 | 128u << 24};
}

using Values = std::array<u32, 4>;

struct FormatCase {
    u32 data, number;
    Values memory, shader;
};

constexpr u32 kAllOnes = 0xffffffff;

}  // namespace

TEST_CASE("typed loads convert every format", "[isa][buffers]") {
    const u32 one = f(1.0f);
    const FormatCase cases[] = {
        {k8, kUnorm, {0xff}, {one, 0, 0, one}},
        {k8, kUnorm, {0x33}, {f(0.2f), 0, 0, one}},
        {k8, kSnorm, {0x80}, {f(-1.0f), 0, 0, one}},
        {k8, kSnorm, {0x81}, {f(-1.0f), 0, 0, one}},
        {k8, kSnorm, {0x7f}, {one, 0, 0, one}},
        {k8, kUscaled, {0xc8}, {f(200.0f), 0, 0, one}},
        {k8, kSscaled, {0xc8}, {f(-56.0f), 0, 0, one}},
        {k8, kUint, {0xff}, {255, 0, 0, 1}},
        {k8, kSint, {0xff}, {kAllOnes, 0, 0, 1}},
        {k16, kUnorm, {0xffff}, {one, 0, 0, one}},
        {k16, kFloat, {0xc000}, {f(-2.0f), 0, 0, one}},
        {k16, kFloat, {0x0001}, {f(0x1p-24f), 0, 0, one}},
        {k16, kSint, {0x8000}, {0xffff8000, 0, 0, 1}},
        {k8_8, kUint, {0x0201}, {1, 2, 0, 1}},
        {k32, kFloat, {f(3.5f)}, {f(3.5f), 0, 0, one}},
        {k32, kUint, {0x80000000}, {0x80000000, 0, 0, 1}},
        {k16_16, kSint, {0xffff0005}, {5, kAllOnes, 0, 1}},
        {k16_16, kFloat, {0x40003c00}, {one, f(2.0f), 0, one}},
        {k10_11_11, kFloat, {0x3c0 | 0x400 << 11 | 0x1c0u << 22}, {one, f(2.0f), f(0.5f), one}},
        {k10_11_11, kUint, {5 | 2047 << 11 | 1023u << 22}, {5, 2047, 1023, 1}},
        {k11_11_10, kFloat, {0x1e0 | 0x400 << 10 | 0x380u << 21}, {one, f(2.0f), f(0.5f), one}},
        {k11_11_10, kSint, {1023 | 7 << 10 | 1024u << 21}, {kAllOnes, 7, static_cast<u32>(-1024), 1}},
        {k10_10_10_2, kUint, {2 | 5 << 2 | 6 << 12 | 1023u << 22}, {2, 5, 6, 1023}},
        {k2_10_10_10, kUnorm, {1023 | 1023u << 20 | 3u << 30}, {one, 0, one, one}},
        {k2_10_10_10, kSnorm, {512 | 511 << 10 | 2u << 30}, {f(-1.0f), one, 0, f(-1.0f)}},
        {k2_10_10_10, kUint, {1 | 2 << 10 | 3 << 20 | 2u << 30}, {1, 2, 3, 2}},
        {k8_8_8_8, kUnorm, {0xff00ff33}, {f(0.2f), one, 0, one}},
        {k8_8_8_8, kSint, {0x807f01ff}, {kAllOnes, 1, 127, static_cast<u32>(-128)}},
        {k32_32, kSint, {7, kAllOnes}, {7, kAllOnes, 0, 1}},
        {k16_16_16_16, kFloat, {0x40003c00, 0xbc003800}, {one, f(2.0f), f(0.5f), f(-1.0f)}},
        {k16_16_16_16, kSscaled, {0xffff0001, 0x00030002}, {one, f(-1.0f), f(2.0f), f(3.0f)}},
        {k32_32_32, kFloat, {1, 2, 3}, {1, 2, 3, one}},
        {k32_32_32_32, kUint, {1, 2, 3, 4}, {1, 2, 3, 4}},
        {kInvalid, kFloat, {1, 2, 3, 4}, {0, 0, 0, 0}},
    };
    const char* const names[] = {"tbuffer_load_format_x", "tbuffer_load_format_xy", "tbuffer_load_format_xyz",
                                 "tbuffer_load_format_xyzw"};
    for (const Level level : levels()) {
        for (const FormatCase& test : cases) {
            INFO(name(level) << " data format " << test.data << " number format " << test.number);
            Buffered b{level};
            set_mode(b.machine.wave(), 0x0f);  // MODE does not matter
            for (unsigned n = 0; n < 4; ++n) b.put(16 + 4 * n, test.memory[n]);
            for (unsigned count = 1; count <= 4; ++count) {
                for (unsigned n = 0; n < 4; ++n) b.machine.vgpr(4 + n, 0x77);
                REQUIRE(b.run(typed(names[count - 1], test.data, test.number, 16)) == Stop::End);
                for (unsigned n = 0; n < 4; ++n) CHECK(b.machine.lane(4 + n, 0) == (n < count ? test.shader[n] : 0x77));
                CHECK(b.machine.lane(4, 1) == 0x77);
            }
        }
    }
}

TEST_CASE("typed stores convert every format, and write whole elements", "[isa][buffers]") {
    const u32 one = f(1.0f), nan = 0x7fc00000, fill = 0xeeeeeeee;
    const FormatCase cases[] = {
        {k8, kUnorm, {0xeeeeee80}, {f(0.5f)}},  // 127.5 to even
        {k8, kUnorm, {0xeeeeeeff}, {f(7.0f)}},
        {k8, kUnorm, {0xeeeeee00}, {nan}},
        {k8, kSnorm, {0xeeeeee81}, {f(-2.0f)}},
        {k8, kUscaled, {0xeeeeeec8}, {f(200.75f)}},
        {k8, kSscaled, {0xeeeeee80}, {f(-1000.0f)}},
        {k8, kUint, {0xeeeeee34}, {0x1234}},
        {k16, kFloat, {0xeeeec000}, {f(-2.0f)}},
        {k16, kFloat, {0xeeee7c00}, {f(1e6f)}},
        {k16_16, kUnorm, {0x0000ffff}, {one, f(-1.0f)}},
        {k10_11_11, kFloat, {0x3c0 | 0x400 << 11 | 0x1c0u << 22}, {one, f(2.0f), f(0.5f)}},
        {k10_11_11, kFloat, {0x3c0}, {f(1.0078125f), f(-2.0f), 0}},  // half a last bit; nothing negative
        {k10_10_10_2, kUint, {2 | 5 << 2 | 6 << 12 | 1023u << 22}, {2, 5, 6, 1023}},
        {k2_10_10_10, kSnorm, {513 | 511 << 10 | 1u << 30}, {f(-1.0f), one, 0, one}},
        {k8_8_8_8, kSint, {0x807f01ff}, {kAllOnes, 1, 127, 0x80}},
        {k32, kFloat, {nan}, {nan}},
        {k32_32, kUint, {7, 8}, {7, 8}},
        {k16_16_16_16, kFloat, {0x40003c00, 0xbc003800}, {one, f(2.0f), f(0.5f), f(-1.0f)}},
        {k32_32_32_32, kUint, {1, 2, 3, 4}, {1, 2, 3, 4}},
        {kInvalid, kFloat, {fill}, {1, 2, 3, 4}},
    };
    for (const Level level : levels()) {
        for (const FormatCase& test : cases) {
            INFO(name(level) << " data format " << test.data << " number format " << test.number);
            Buffered b{level};
            for (unsigned n = 0; n < 5; ++n) b.put(16 + 4 * n, fill);
            for (unsigned n = 0; n < 4; ++n) b.machine.vgpr(4 + n, test.shader[n]);
            REQUIRE(b.run(typed("tbuffer_store_format_xyzw", test.data, test.number, 16)) == Stop::End);
            constexpr unsigned words[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
            for (unsigned n = 0; n < 5; ++n)
                CHECK(b.at<u32>(16 + 4 * n) == (n < words[test.data] ? test.memory[n] : fill));
        }
    }
    Buffered b;
    b.put(0, fill);
    b.machine.vgpr(4, 0x12);
    REQUIRE(b.run(typed("tbuffer_store_format_x", k8_8_8_8, kUint)) == Stop::End);
    CHECK(b.at<u32>(0) == 0x12);  // components without data are 0
}

TEST_CASE("16-bit components are packed by twos", "[isa][buffers]") {
    Buffered b;
    b.put(0, u64{0x0003'0002'0001'8000});
    b.machine.vgpr(4, 0x77777777);
    b.machine.vgpr(5, 0x77777777);
    REQUIRE(b.run(typed("tbuffer_load_format_d16_xyz", k16_16_16_16, kUint)) == Stop::End);
    CHECK(b.machine.lane(4, 0) == 0x00018000);
    CHECK(b.machine.lane(5, 0) == 0x77770002);
    REQUIRE(b.run(typed("tbuffer_load_format_d16_xyzw", k16_16_16_16, kSscaled)) == Stop::End);
    CHECK(b.machine.lane(4, 0) == 0x3c00f800);
    CHECK(b.machine.lane(5, 0) == 0x42004000);
    REQUIRE(b.run(typed("tbuffer_store_format_d16_xyzw", k8_8_8_8, kSscaled, 8)) == Stop::End);
    CHECK(b.at<u32>(8) == 0x03020180);
    b.resource(k16_16, kFloat, kIdentity);
    b.put(0, 0x3c004000);
    b.machine.vgpr(4, 0x77777777);
    REQUIRE(b.run(untyped("buffer_load_format_d16_hi_x")) == Stop::End);
    CHECK(b.machine.lane(4, 0) == 0x40007777);
    REQUIRE(b.run(untyped("buffer_store_format_d16_hi_x", 4)) == Stop::End);
    CHECK(b.at<u32>(4) == 0x00004000);
}

TEST_CASE("buffer_load_format takes format and order of components from the resource", "[isa][buffers]") {
    Buffered b;
    b.put(0, 0x04030201);
    b.resource(k8_8_8_8, kUint, 7 | 4 << 3 | 1 << 6 | 0 << 9);  // w, x, 1, 0
    REQUIRE(b.run(untyped("buffer_load_format_xyzw")) == Stop::End);
    for (u32 n = 0; n < 4; ++n) CHECK(b.machine.lane(4 + n, 0) == Values{4, 1, 1, 0}[n]);
    for (u32 n = 0; n < 4; ++n) b.machine.vgpr(4 + n, n + 5);
    REQUIRE(b.run(untyped("buffer_store_format_xyzw", 4)) == Stop::End);  // which a store does not look at
    CHECK(b.at<u32>(4) == 0x08070605);
    REQUIRE(b.run(untyped("buffer_load_format_xyzw", 1022)) == Stop::End);  // sticks out of the buffer
    for (u32 n = 0; n < 4; ++n) CHECK(b.machine.lane(4 + n, 0) == 0);
    b.put(1020, u64{0xeeeeeeeeeeeeeeee});
    REQUIRE(b.run(untyped("buffer_store_format_xyzw", 1022)) == Stop::End);
    CHECK(b.at<u64>(1020) == 0xeeeeeeeeeeeeeeee);
}

TEST_CASE("invalid formats stop, faults have an address", "[isa][buffers]") {
    Buffered b;
    constexpr u32 formats[][2] = {
        {kReserved, kUint}, {k8, kReserved6}, {k8, kFloat}, {k32, kUnorm}, {k2_10_10_10, kFloat}};
    for (const auto& [data, number] : formats) {
        INFO(data << " " << number);
        CHECK(b.run(typed("tbuffer_load_format_x", data, number)) == Stop::Illegal);
        CHECK(b.run(typed("tbuffer_store_format_x", data, number)) == Stop::Illegal);
    }
    b.machine.sgpr(8) = kBase + kSize - 2;
    CHECK(b.run(typed("tbuffer_load_format_x", k32, kUint)) == Stop::MemoryFault);
    CHECK(b.machine.wave().fault.address == kBase + kSize);
    CHECK(b.run(typed("tbuffer_store_format_x", k32, kUint)) == Stop::MemoryFault);
}

TEST_CASE("loads go straight into LDS, a dword a lane from M0 on", "[isa][buffers]") {
    constexpr u32 kLdsBit = 1u << 16, kOffen = 1u << 12;
    for (const Level level : levels()) {
        INFO(name(level));
        Buffered b{level};
        for (u32 n = 0; n < 64; ++n) b.put(4 * n, 0x01000080 + n);
        b.machine.sgpr(124) = 0x40;
        b.machine.exec(0xf0);
        for (u32 l = 0; l < 64; ++l) b.machine.lane(2, l) = 4 * (63 - l);
        REQUIRE(b.run(untyped("buffer_load_dword", kLdsBit | kOffen | 8, 2)) == Stop::End);
        CHECK(b.lds(0x48 + 4 * 4) == 0x01000080 + 61);  // OFFSET counts in memory and in LDS
        CHECK(b.lds(0x48 + 4 * 7) == 0x01000080 + 58);
        CHECK(b.lds(0x48 + 4 * 3) == 0);
        REQUIRE(b.run(untyped("buffer_load_sbyte", kLdsBit | kOffen, 2)) == Stop::End);
        CHECK(b.lds(0x40 + 4 * 4) == 0xffffffbb);
        b.resource(k8_8, kUint, 5);
        REQUIRE(b.run(untyped("buffer_load_format_x", kLdsBit | kOffen, 2)) == Stop::End);
        CHECK(b.lds(0x40 + 4 * 4) == 0);  // DST_SEL_X is Y
        b.machine.lane(2, 5) = 2000;      // outside the buffer
        REQUIRE(b.run(untyped("buffer_load_dword", kLdsBit | kOffen, 2)) == Stop::End);
        CHECK(b.lds(0x40 + 4 * 5) == 0);
        CHECK(b.lds(0x40 + 4 * 6) == 0x01000080 + 57);
        CHECK(b.run(untyped("buffer_load_dwordx2", kLdsBit | kOffen, 2)) == Stop::Illegal);

        b.machine.sgpr(6) = static_cast<u32>(kBase);
        b.machine.sgpr(7) = 0;
        b.machine.vgpr(2, 12);
        REQUIRE(b.run({0xdc000000u | 0x14 << 18 | 2 << 14 | 1 << 13, 2u | 6u << 16}) ==
                Stop::End);  // global_load_dword
        CHECK(b.lds(0x40 + 4 * 6) == 0x01000083);
        b.machine.vgpr(3, 0);
        CHECK(b.run({0xdc000000u | 0x14 << 18 | 1 << 13, 2u}) == Stop::Illegal);  // FLAT cannot
    }
}

TEST_CASE("buffer_store_lds_dword stores from LDS", "[isa][buffers]") {
    Buffered b;
    b.machine.sgpr(124) = 0x40;
    b.machine.exec(0x8);
    b.put_lds(0x44 + 12, 0x1234);
    b.machine.sgpr(11) = 1u << 23;  // ADD_TID_ENABLE
    b.machine.sgpr(9) = 8u << 16;   // stride
    REQUIRE(b.run(untyped("buffer_store_lds_dword", 1u << 16 | 4, 0)) == Stop::End);
    CHECK(b.at<u32>(4 + 3 * 8) == 0x1234);
    CHECK(b.run(untyped("buffer_store_lds_dword", 4, 0)) == Stop::Illegal);
}
