// Comparisons at their edges: every relation of every type, NaN, -0, denormals, signs; classes of numbers.
#include "tests/kfdemu/isa/case_table.hpp"
#include "tests/support/catch.hpp"

using namespace test_isa;
using kfdemu::isa::set_mode;

namespace {

enum Relation { Less, Equal, Greater, Unordered };

struct Pair {
    u64 a, b;
    Relation relation;
};

/// The results of the sixteen float comparisons for less, equal, greater, unordered ("Vega" ISA manual, 12.9 VOPC).
const struct {
    const char* name;
    bool holds[4];
} kFloatCompares[] = {
    {"f", {false, false, false, false}}, {"lt", {true, false, false, false}}, {"eq", {false, true, false, false}},
    {"le", {true, true, false, false}},  {"gt", {false, false, true, false}}, {"lg", {true, false, true, false}},
    {"ge", {false, true, true, false}},  {"o", {true, true, true, false}},    {"u", {false, false, false, true}},
    {"nge", {true, false, false, true}}, {"nlg", {false, true, false, true}}, {"ngt", {true, true, false, true}},
    {"nle", {false, false, true, true}}, {"neq", {true, false, true, true}},  {"nlt", {false, true, true, true}},
    {"tru", {true, true, true, true}},
};
const struct {
    const char* name;
    bool holds[3];
} kIntegerCompares[] = {
    {"f", {false, false, false}}, {"lt", {true, false, false}}, {"eq", {false, true, false}},
    {"le", {true, true, false}},  {"gt", {false, false, true}}, {"ne", {true, false, true}},
    {"ge", {false, true, true}},  {"t", {true, true, true}},
};

template <class Compares>
void check_compares(const std::string& type, const Compares& compares, const std::vector<Pair>& pairs,
                    u32 mode = 0x2f0) {
    for (const Level level : levels()) {
        for (const Pair& p : pairs) {
            Machine m{Target::gfx90a, level};
            set_mode(m.wave(), mode);
            m.vgpr64(2, p.a);
            m.vgpr64(4, p.b);
            for (const auto& compare : compares) {
                INFO("v_cmp_" << compare.name << "_" << type << " on " << name(level) << std::hex << " " << p.a << " "
                              << p.b);
                const u64 mask = 0x8000'0000'0000'00f1, wanted = compare.holds[p.relation] ? mask : 0;
                m.exec(mask);
                m.run(vop2(std::string{"v_cmp_"} + compare.name + "_" + type, 0, v(2), 4));
                CHECK(m.wave().vcc() == wanted);
                m.run(vop3(std::string{"v_cmpx_"} + compare.name + "_" + type, 20, v(2), v(4)));
                CHECK(m.wave().s64(20) == wanted);
                CHECK(m.wave().exec() == wanted);
            }
        }
    }
}

}  // namespace

TEST_CASE("floats compare: NaN is unordered, -0 equals +0, denormals follow MODE", "[isa][edges]") {
    const u32 nan = kNan, loud = kSignalling;
    check_compares("f32", kFloatCompares,
                   {{kOne, f(2.0f), Less},
                    {kOne, kOne, Equal},
                    {f(2.0f), kOne, Greater},
                    {0, kMinusZero, Equal},
                    {kMinusInf, kInf, Less},
                    {kInf, kInf, Equal},
                    {kInf, kMaxFloat, Greater},
                    {nan, kOne, Unordered},
                    {kOne, nan, Unordered},
                    {nan, nan, Unordered},
                    {loud, kInf, Unordered},
                    {kDenormal, 0, Greater},
                    {0x80000001, 0, Less},
                    {0x80000002, 0x80000001, Less}});
    check_compares("f32", kFloatCompares, {{kDenormal, 0x80000001, Equal}, {kMinNormal, kDenormal, Greater}}, 0x2c0);
    check_compares("f32", kFloatCompares, {{kDenormal, 0x80000001, Equal}}, 0x2e0);    // flushes sources alone
    check_compares("f32", kFloatCompares, {{kDenormal, 0x80000001, Greater}}, 0x2d0);  // and results alone
    check_compares("f64", kFloatCompares,
                   {{f(1.0), f(2.0), Less},
                    {f(1.0), f(1.0), Equal},
                    {kSign64, 0, Equal},
                    {kInf64, kMaxDouble, Greater},
                    {kNan64, 0, Unordered},
                    {0, kInf64 | 1, Unordered},
                    {1, 0, Greater},
                    {kSign64 | 1, 1, Less},
                    {0x3ff0000000000001, f(1.0), Greater}});
    check_compares("f64", kFloatCompares, {{1, kSign64 | 1, Equal}}, 0x230);
    check_compares("f16", kFloatCompares,
                   {{0x3c00, 0x4000, Less},
                    {0x3c00, 0x3c00, Equal},
                    {0x8000, 0x0000, Equal},
                    {0x7c00, 0x7bff, Greater},
                    {0xfc00, 0x7c00, Less},
                    {0x7e00, 0x3c00, Unordered},
                    {0x3c00, 0x7c01, Unordered},
                    {0x0001, 0x0000, Greater},
                    {0x8001, 0x0001, Less},
                    {0x12343c00, 0x43213c00, Equal}});  // the upper half does not count
    check_compares("f16", kFloatCompares, {{0x0001, 0x8001, Equal}}, 0x230);
}

TEST_CASE("integers compare by their sign or without one", "[isa][edges]") {
    check_compares(
        "i32", kIntegerCompares,
        {{kIntMin, kIntMax, Less}, {0xffffffff, 0, Less}, {kIntMin, kIntMin, Equal}, {0, 0xffffffff, Greater}});
    check_compares(
        "u32", kIntegerCompares,
        {{kIntMin, kIntMax, Greater}, {0xffffffff, 0, Greater}, {0xffffffff, 0xffffffff, Equal}, {0, 1, Less}});
    check_compares("i16", kIntegerCompares, {{0x8000, 0x7fff, Less}, {0x1234ffff, 0, Less}, {0x10001, 0x20001, Equal}});
    check_compares("u16", kIntegerCompares,
                   {{0x8000, 0x7fff, Greater}, {0xffff, 0, Greater}, {0x10001, 0x20001, Equal}});
    check_compares("i64", kIntegerCompares,
                   {{kSign64, kAll, Less}, {kAll, 0, Less}, {u64{1} << 32, 0xffffffff, Greater}});
    check_compares("u64", kIntegerCompares,
                   {{kSign64, 1, Greater}, {kAll, kAll, Equal}, {0xffffffff, u64{1} << 32, Less}});
}

TEST_CASE("v_cmp_class sorts each number into one of ten classes, denormals kept or not", "[isa][edges]") {
    // "Vega" ISA manual, 12.9 VOPC, V_CMP_CLASS_F32: signalling and quiet NaN, -inf, -normal, -denormal, -0, and up.
    const struct {
        u64 value;
        u32 number;
    } singles[] = {{kSignalling, 0}, {kMinusInf | 0x3fffff, 0}, {kNan, 1},       {0xffffffff, 1},
                   {kMinusInf, 2},   {0xff7fffff, 3},           {0x80800000, 3}, {0x807fffff, 4},
                   {0x80000001, 4},  {kMinusZero, 5},           {0, 6},          {1, 7},
                   {0x007fffff, 7},  {kMinNormal, 8},           {kMaxFloat, 8},  {kInf, 9}},
      doubles[] = {{kInf64 | 1, 0},
                   {kNan64 | kSign64, 1},
                   {kInf64 | kSign64, 2},
                   {kMinNormal64 | kSign64, 3},
                   {kSign64 | 1, 4},
                   {kSign64, 5},
                   {0, 6},
                   {0x000fffffffffffff, 7},
                   {kMinNormal64, 8},
                   {kInf64, 9},
                   {0x7ff0000000000000 | u64{1} << 50, 0}},
      halves[] = {{0x7c01, 0}, {0xfdff, 0}, {0x7e00, 1}, {0xffff, 1},    {0xfc00, 2}, {0xfbff, 3},
                  {0x8400, 3}, {0x83ff, 4}, {0x8000, 5}, {0, 6},         {0x03ff, 7}, {1, 7},
                  {0x0400, 8}, {0x7bff, 8}, {0x7c00, 9}, {0xffff0000, 6}};
    const auto check = [](const char* mnemonic, u64 value, u32 number) {
        for (const Level level : levels()) {
            for (const u32 mode : {0x2f0u, 0x200u, 0u}) {
                INFO(mnemonic << " of " << std::hex << value << " on " << name(level) << ", MODE " << mode);
                Machine m{Target::gfx90a, level};
                set_mode(m.wave(), mode);
                m.vgpr64(2, value);
                for (u32 asked = 0; asked < 10; ++asked) {
                    m.vgpr(4, 1u << asked);
                    m.run(vop2(mnemonic, 0, v(2), 4));
                    CHECK((m.wave().vcc() == kAll) == (asked == number));
                }
                m.vgpr(4, 0x3ff & ~(1u << number));
                m.run(vop2(mnemonic, 0, v(2), 4));
                CHECK(m.wave().vcc() == 0);
            }
        }
    };
    for (const auto& row : singles) check("v_cmp_class_f32", row.value, row.number);
    for (const auto& row : doubles) check("v_cmp_class_f64", row.value, row.number);
    for (const auto& row : halves) check("v_cmp_class_f16", row.value, row.number);
}

TEST_CASE("v_cndmask_b32 passes bits unchanged", "[isa][edges]") {
    // "Vega" ISA manual, 12.7 VOP2, V_CNDMASK_B32.
    for (const Level level : levels()) {
        Machine m{Target::gfx90a, level};
        set_mode(m.wave(), 0);
        m.vgpr(1, kSignalling);
        m.vgpr(2, kDenormal);
        m.wave().set_s64(kfdemu::isa::kVcc, 0xff00);
        m.run(vop2("v_cndmask_b32", 0, v(1), 2));
        CHECK(m.lane(0, 0) == kSignalling);
        CHECK(m.lane(0, 8) == kDenormal);
    }
}
