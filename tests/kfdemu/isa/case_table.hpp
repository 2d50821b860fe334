// A table of a vector instruction's results: one row per case, run in its VOP3 form at every x86 level, under full,
// partial and empty EXEC.
//
//     check_all("12.7 VOP2 instructions", {{"v_add_u32", 0xffffffff, 2, 0, 1}});
//
// `section` names where AMD's "Vega" ISA manual says so, or what else says it. Thread safety: one thread at a time.
#pragma once

#include <string>
#include <vector>

#include "tests/kfdemu/isa/machine.hpp"

namespace test_isa {

struct Case {
    const char* name;
    u64 a, b, c;
    u64 expected;
    u32 low = 0;       ///< VOP3 modifiers of the first dword
    u32 high = 0;      ///< and of the second
    u32 mode = 0x2f0;  ///< MODE: as kernels begin, all denormals, IEEE
};

void check_all(const std::string& section, const std::vector<Case>& cases);

/// A row whose result depends on a two-bit field of MODE: one column a value of it.
struct ByMode {
    const char* name;
    u64 a, b, c;
    u64 expected[4];
    u32 low = 0, high = 0;
};
/// `mode(n)` is MODE for column n.
template <class Mode>
void check_columns(const std::string& section, const std::vector<ByMode>& rows, Mode mode) {
    std::vector<Case> cases;
    for (const ByMode& row : rows) {
        for (u32 n = 0; n < 4; ++n)
            cases.push_back({row.name, row.a, row.b, row.c, row.expected[n], row.low, row.high, mode(n)});
    }
    check_all(section, cases);
}

/// A section.
inline constexpr const char* kModeRegister = "\"Vega\" ISA manual, 3.5 Mode register: ";

// VOP3 modifiers: of the first dword, of the second.
inline constexpr u32 kClamp = 1u << 15, kOpSelHi2 = 1u << 14;
inline constexpr u32 kTimes2 = 1u << 27, kTimes4 = 2u << 27, kHalved = 3u << 27, kOpSelHi = 3u << 27;
constexpr u32 abs_of(u32 source) { return 1u << (8 + source); }
constexpr u32 neg_of(u32 source) { return 1u << (29 + source); }
constexpr u32 op_sel(u32 bits) { return bits << 11; }

// Floats by their bits.
inline constexpr u32 kInf = 0x7f800000, kMinusInf = 0xff800000, kNan = 0x7fc00000, kMinusNan = 0xffc00000;
inline constexpr u32 kSignalling = 0x7f800001, kMinusZero = 0x80000000, kOne = 0x3f800000, kMinusOne = 0xbf800000;
inline constexpr u32 kUlp = 0x3f800001, kBelow = 0x3f7fffff;  // next to 1
inline constexpr u32 kDenormal = 1, kMinNormal = 0x00800000, kMaxFloat = 0x7f7fffff;
inline constexpr u64 kInf64 = 0x7ff0000000000000, kNan64 = 0x7ff8000000000000, kSign64 = 0x8000000000000000;
inline constexpr u64 kMaxDouble = 0x7fefffffffffffff, kMinNormal64 = 0x0010000000000000;
inline constexpr u32 kIntMin = 0x80000000, kIntMax = 0x7fffffff;

inline u32 f(float value) { return bits(value); }
inline u64 f(double value) { return bits(value); }
/// Two dwords of a register pair.
constexpr u64 pair(u32 low, u32 high) { return low | u64{high} << 32; }
/// An integer source of 32 bits.
constexpr u32 whole(int value) { return static_cast<u32>(value); }

}  // namespace test_isa
