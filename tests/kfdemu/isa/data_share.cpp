// DS: LDS of one wave, lane permutes, and global wave sync. Expected values come from the
// "Vega" ISA manual's definitions.
#include "tests/kfdemu/isa/bytes.hpp"
#include "tests/kfdemu/isa/machine.hpp"
#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/memory/gws.hpp"

using namespace test_isa;
using namespace kfdemu::isa;

namespace {

std::vector<u32> ds(const std::string& mnemonic, u32 offset, u32 address, u32 data0 = 0, u32 data1 = 0, u32 d = 0,
                    Target target = Target::gfx900) {
    const Row& row = row_of(mnemonic, target);
    const u32 gds = row.is(kGws) ? 1u << 16 : 0;
    return {0xd8000000u | u32{row.opcodes.gfx9.number} << 17 | gds | offset,
            address | data0 << 8 | data1 << 16 | d << 24};
}

/// A wave with its own LDS.
struct Shared : Bytes<1024> {
    explicit Shared(Level level, Target target = Target::gfx900) : machine{target, level} {
        machine.wave().lds = data();
        machine.wave().lds_size_bytes = sizeof(Bytes);
    }

    Machine machine;
};

struct Src2 {
    const char* name;
    u64 a, b, expected;
};

}  // namespace

TEST_CASE("ds_*_src2 take both operands from LDS", "[isa][ds]") {
    const u64 minus = ~u64{0};
    const Src2 cases[] = {
        {"ds_add_src2_u32", 5, 7, 12},
        {"ds_sub_src2_u32", 5, 7, 0xfffffffe},
        {"ds_rsub_src2_u32", 5, 7, 2},
        {"ds_inc_src2_u32", 7, 7, 0},
        {"ds_inc_src2_u32", 6, 7, 7},
        {"ds_dec_src2_u32", 0, 7, 7},
        {"ds_dec_src2_u32", 8, 7, 7},
        {"ds_dec_src2_u32", 7, 7, 6},
        {"ds_min_src2_i32", 5, 0xffffffff, 0xffffffff},
        {"ds_max_src2_i32", 5, 0xffffffff, 5},
        {"ds_min_src2_u32", 5, 0xffffffff, 5},
        {"ds_max_src2_u32", 5, 0xffffffff, 0xffffffff},
        {"ds_and_src2_b32", 6, 3, 2},
        {"ds_or_src2_b32", 6, 3, 7},
        {"ds_xor_src2_b32", 6, 3, 5},
        {"ds_write_src2_b32", 6, 3, 3},
        {"ds_min_src2_f32", bits(2.0f), bits(-1.0f), bits(-1.0f)},
        {"ds_max_src2_f32", bits(2.0f), bits(-1.0f), bits(2.0f)},
        {"ds_add_src2_f32", bits(2.0f), bits(-1.0f), bits(1.0f)},
        {"ds_add_src2_u64", minus, 1, 0},
        {"ds_sub_src2_u64", 0, 1, minus},
        {"ds_rsub_src2_u64", 1, 0, minus},
        {"ds_inc_src2_u64", 1ull << 40, minus, (1ull << 40) + 1},
        {"ds_dec_src2_u64", 0, 1ull << 40, 1ull << 40},
        {"ds_min_src2_i64", 5, minus, minus},
        {"ds_max_src2_i64", 5, minus, 5},
        {"ds_min_src2_u64", 5, minus, 5},
        {"ds_max_src2_u64", 5, minus, minus},
        {"ds_and_src2_b64", 6ull << 40, 3ull << 40, 2ull << 40},
        {"ds_or_src2_b64", 6ull << 40, 3ull << 40, 7ull << 40},
        {"ds_xor_src2_b64", 6ull << 40, 3ull << 40, 5ull << 40},
        {"ds_write_src2_b64", 6, 3ull << 40, 3ull << 40},
        {"ds_min_src2_f64", bits(2.0), bits(-1.0), bits(-1.0)},
        {"ds_max_src2_f64", bits(2.0), bits(-1.0), bits(2.0)},
    };
    for (const Level level : levels()) {
        for (const Src2& test : cases) {
            INFO(test.name << " on " << name(level));
            const bool wide = std::strstr(test.name, "64") != nullptr;
            const u64 places = wide ? kAll : 0xffffffff;
            Shared shared{level};
            shared.put(0x100, test.a);
            shared.put(0x140, test.b);
            shared.machine.exec(1u << 9);
            shared.machine.vgpr(1, 0x100);
            REQUIRE(shared.machine.run(ds(test.name, 0x10, 1)) == Stop::End);  // 16 dwords further
            CHECK((shared.at<u64>(0x100) & places) == test.expected);
            shared.put(0x100, test.a);
            shared.put(0xc0, test.b);
            REQUIRE(shared.machine.run(ds(test.name, 0x7ff0, 1)) == Stop::End);  // 16 dwords before
            CHECK((shared.at<u64>(0x100) & places) == test.expected);
            shared.put(0x100, test.a);
            shared.machine.vgpr(1, 0x100 | 16u << 17);  // the address holds the distance
            shared.put(0xc0, u64{77});
            REQUIRE(shared.machine.run(ds(test.name, 0x8000, 1)) == Stop::End);
            CHECK((shared.at<u64>(0x100) & places) == test.expected);
        }
    }
}

TEST_CASE("src2 reads zero outside LDS, and its writes there are dropped", "[isa][ds]") {
    Shared shared{best_level()};
    shared.put(0x100, u32{5});
    shared.machine.vgpr(1, 0x100);
    shared.machine.exec(1);
    REQUIRE(shared.machine.run(ds("ds_write_src2_b32", 0x3fff, 1)) == Stop::End);
    CHECK(shared.at<u32>(0x100) == 0);
    shared.machine.vgpr(1, 0x4000);
    CHECK(shared.machine.run(ds("ds_add_src2_u32", 0, 1)) == Stop::End);
}

TEST_CASE("ds_swizzle_b32 in all its modes", "[isa][ds]") {
    struct Swizzle {
        u32 offset, lane, from;
    };
    const Swizzle cases[] = {
        {0x041f, 6, 7},                                        // xor 1
        {0x0010, 21, 16}, {0x0010, 53, 48},                    // and 0x10
        {0x00a0, 40, 37},                                      // and 0, or 5: lane 5 of each half
        {0x801b, 5, 6},   {0x80e4, 5, 5},                      // quad 3, 2, 1, 0; as it is
        {0xc060, 30, 1},  {0xc060, 62, 33},                    // rotate left by 3
        {0xc460, 1, 30},                                       // right
        {0xc078, 30, 25},                                      // by 3, but bits 4:3 are kept
        {0xe000, 1, 16},  {0xe000, 6, 12},  {0xe000, 33, 48},  // FFT: five bits reversed
        {0xe010, 1, 8},   {0xe010, 17, 24},                    // the top bit kept, four reversed
        {0xe01f, 13, 13},                                      // all kept
    };
    for (const Level level : levels()) {
        for (const Swizzle& test : cases) {
            INFO(name(level) << std::hex << " offset " << test.offset << std::dec << " lane " << test.lane);
            Shared shared{level};
            shared.machine.number_lanes(1, 100);
            REQUIRE(shared.machine.run(ds("ds_swizzle_b32", test.offset, 1, 0, 0, 2)) == Stop::End);
            CHECK(shared.machine.lane(2, test.lane) == 100 + test.from);
            shared.machine.exec(~(u64{1} << test.from) | u64{1} << test.lane);
            REQUIRE(shared.machine.run(ds("ds_swizzle_b32", test.offset, 1, 0, 0, 2)) == Stop::End);
            CHECK(shared.machine.lane(2, test.lane) == (test.from == test.lane ? 100 + test.from : 0));
        }
    }
}

TEST_CASE("permutes: without a sender the result is zero, the highest sender wins, inactive lanes do not send",
          "[isa][ds]") {
    for (const Level level : levels()) {
        Shared shared{level};
        Machine& m = shared.machine;
        m.number_lanes(1, 100);
        m.vgpr(3, 4 * 9);  // all to lane 9
        m.vgpr(2, 7);
        m.exec(0xffff);
        REQUIRE(m.run(ds("ds_permute_b32", 0, 3, 1, 0, 2)) == Stop::End);
        CHECK(m.lane(2, 9) == 115);
        CHECK(m.lane(2, 8) == 0);
        CHECK(m.lane(2, 16) == 7);
        for (u32 l = 0; l < 64; ++l) m.lane(3, l) = 4 * (l + 63);           // modulo 64: from the lane before
        REQUIRE(m.run(ds("ds_bpermute_b32", 8, 3, 1, 0, 2)) == Stop::End);  // + 8 bytes: the next lane
        CHECK(m.lane(2, 3) == 104);
        CHECK(m.lane(2, 15) == 0);
    }
}

TEST_CASE("addresses from M0 and the lane's number; append, consume, wrap", "[isa][ds]") {
    for (const Level level : levels()) {
        Shared shared{level};
        Machine& m = shared.machine;
        m.number_lanes(1, 100);
        m.sgpr(124) = 0xdead0040;  // only the low half counts
        REQUIRE(m.run(ds("ds_write_addtid_b32", 16, 0, 1)) == Stop::End);
        CHECK(shared.at<u32>(0x50 + 4 * 63) == 163);
        REQUIRE(m.run(ds("ds_read_addtid_b32", 20, 0, 0, 0, 2)) == Stop::End);
        CHECK(m.lane(2, 5) == 106);
        shared.put(0x48, u32{10});
        m.exec(0xf0f);
        REQUIRE(m.run(ds("ds_append", 8, 0, 0, 0, 2)) == Stop::End);
        CHECK(m.lane(2, 3) == 10);
        CHECK(shared.at<u32>(0x48) == 18);
        REQUIRE(m.run(ds("ds_consume", 8, 0, 0, 0, 2)) == Stop::End);
        CHECK(m.lane(2, 11) == 18);
        CHECK(shared.at<u32>(0x48) == 10);
        m.exec(1);
        m.vgpr(3, 0x48);
        m.vgpr(4, 4);
        m.vgpr(5, 100);
        REQUIRE(m.run(ds("ds_wrap_rtn_b32", 0, 3, 4, 5, 2)) == Stop::End);  // 10 >= 4: less 4
        CHECK(m.lane(2, 0) == 10);
        CHECK(shared.at<u32>(0x48) == 6);
        m.vgpr(4, 7);
        REQUIRE(m.run(ds("ds_wrap_rtn_b32", 0, 3, 4, 5, 2)) == Stop::End);  // 6 < 7: plus 100
        CHECK(shared.at<u32>(0x48) == 106);
    }
}

TEST_CASE("global data share is an illegal instruction, on every target", "[isa][ds]") {
    Shared shared{best_level()};
    CHECK(shared.machine.run({0xd8010000u, 1}) == Stop::Illegal);  // ds_add_u32 ... gds
    CHECK(shared.machine.run(ds("ds_ordered_count", 0, 1, 0, 0, 2)) == Stop::Illegal);
    Shared gfx90a{best_level(), Target::gfx90a};
    CHECK(gfx90a.machine.run({0xd8010000u, 1}) == Stop::Illegal);
}

TEST_CASE("a global wave sync semaphore passes as many waves as were released", "[isa][gws]") {
    const auto sema = [](const char* mnemonic, u32 address = 0) { return ds(mnemonic, 3, address); };
    for (const Level level : levels()) {
        Gws gws;
        Machine a{Target::gfx90a, level}, b{Target::gfx90a, level}, c{Target::gfx90a, level};
        CHECK(a.run(sema("ds_gws_sema_v")) == Stop::Illegal);  // without a queue with GWS
        CHECK(a.run(sema("ds_gws_sema_p")) == Stop::Illegal);
        for (Machine* m : {&a, &b, &c}) m->wave().gws = &gws;
        CHECK(a.run(sema("ds_gws_sema_p")) == Stop::Sleep);
        CHECK(b.run(sema("ds_gws_sema_p")) == Stop::Sleep);
        CHECK(a.resume() == Stop::Sleep);
        CHECK(gws.waiting[3] == 2);
        CHECK(c.run(sema("ds_gws_sema_v")) == Stop::End);
        CHECK(b.resume() == Stop::End);
        CHECK(a.resume() == Stop::Sleep);
        CHECK(gws.waiting[3] == 1);
        c.vgpr(2, 2);
        CHECK(c.run(sema("ds_gws_sema_br", 2)) == Stop::End);  // two more
        CHECK(a.resume() == Stop::End);
        CHECK(b.run(sema("ds_gws_sema_p")) == Stop::End);
        CHECK(b.run(sema("ds_gws_sema_p")) == Stop::Sleep);
        CHECK(a.run(sema("ds_gws_sema_p")) == Stop::Sleep);
        CHECK(c.run(sema("ds_gws_sema_release_all")) == Stop::End);
        CHECK(a.resume() == Stop::End);
        CHECK(b.resume() == Stop::End);
        CHECK(gws.waiting[3] == 0);
        CHECK(c.run(sema("ds_gws_sema_p")) == Stop::Sleep);
    }
}
