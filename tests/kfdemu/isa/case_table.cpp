#include "tests/kfdemu/isa/case_table.hpp"

#include "tests/support/catch.hpp"

namespace test_isa {
namespace {

using kfdemu::isa::dwords;
using kfdemu::isa::Row;
using kfdemu::isa::Type;

void set(Machine& m, unsigned n, Type type, u64 value) {
    m.vgpr(n, static_cast<u32>(value));
    if (dwords(type) == 2) m.vgpr(n + 1, static_cast<u32>(value >> 32));
}

void check(const Case& test, Level level, u64 exec) {
    INFO(test.name << " on " << name(level) << ", EXEC " << std::hex << exec << ", MODE " << test.mode << ": " << test.a
                   << " " << test.b << " " << test.c << " modifiers " << test.low << " " << test.high);
    const Row& row = row_of(test.name);
    Machine m{Target::gfx90a, level};
    const u64 old = row.is(kfdemu::isa::kReadsDst) ? test.c : 0x1111111122222222;
    set(m, 10, Type::b64, old);
    set(m, 20, row.src[0], test.a);
    set(m, 30, row.src[1], test.b);
    set(m, 40, row.src[2], test.c);
    m.exec(exec);
    set_mode(m.wave(), test.mode);
    REQUIRE(m.run(vop3(test.name, 10, v(20), v(30), v(40), test.low, test.high)) == Stop::End);
    const bool wide = dwords(row.dst) == 2;
    const u64 places = wide ? kAll : 0xffffffff;
    for (unsigned lane = 0; lane < 64; ++lane) {
        const u64 got = m.lane64(10, lane) & places;
        const u64 wanted = (exec >> lane & 1 ? test.expected : old) & places;
        if (got == wanted) continue;
        INFO("lane " << lane);
        CHECK(got == wanted);
        return;
    }
    CHECK(m.lane(11, 5) ==
          (wide && (exec >> 5 & 1) ? static_cast<u32>(test.expected >> 32) : static_cast<u32>(old >> 32)));
}

}  // namespace

void check_all(const std::string& section, const std::vector<Case>& cases) {
    INFO(section);
    for (const Level level : levels()) {
        for (const Case& test : cases) {
            for (const u64 exec : {kAll, u64{0xf0f0'1234'8000'0001}, u64{0}}) check(test, level, exec);
        }
    }
}

}  // namespace test_isa
