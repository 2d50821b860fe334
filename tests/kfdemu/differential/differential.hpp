// The same kernel on the host and on emulated GPUs: as many code objects as there are, one set of random inputs.
//
// Which code objects: KFDEMU_DIFFERENTIAL="folder: 19.gfx90a.O2 14.gfx900.O0 …" (a clang, a target and a level each),
// or those of the build. Each unit has to be there for each of them, as folder/UNIT.clang-19.gfx90a.O2.hsaco, unless
// a word UNIT=gfx900,gfx90a says that only these targets have it.
// KFDEMU_DIFFERENTIAL_SEEDS="1 2 3" takes other inputs than seed 1's.
// Results are equal bit for bit, but any NaN is as good as another: its sign and payload are each machine's own.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "tests/kfdemu/differential/host_half.hpp"
#include "tests/support/catch.hpp"

namespace differential {

enum class Kind { U8, I8, U16, I16, U32, I32, U64, I64, F16, F32, F64 };
std::size_t bytes_of(Kind kind);

template <class T>
inline constexpr Kind kind = std::is_same_v<T, f16>      ? Kind::F16
                             : std::is_same_v<T, float>  ? Kind::F32
                             : std::is_same_v<T, double> ? Kind::F64
                             : sizeof(T) == 1            ? std::is_signed_v<T> ? Kind::I8 : Kind::U8
                             : sizeof(T) == 2            ? std::is_signed_v<T> ? Kind::I16 : Kind::U16
                             : sizeof(T) == 4            ? std::is_signed_v<T> ? Kind::I32 : Kind::U32
                             : std::is_signed_v<T>       ? Kind::I64
                                                         : Kind::U64;

enum class Values {
    Any,   ///< edges (0, -0, inf, NaN, denormals, the smallest and largest), any bits, small numbers
    Tame,  ///< finite numbers from about -1000 to 1000, for integers 0 to 1000
};

struct Options {
    std::uint32_t items = 512, group = 64;
    /// In place of these: a grid of up to three dimensions and its groups. A grid need be no multiple of its groups.
    std::array<std::uint32_t, 3> grid{}, groups{};
    /// Elements of each array for each work-item.
    std::uint32_t a = 1, b = 1, out = 1;
    Values a_values = Values::Any, b_values = Values::Any;
    bool out_random = false;                          ///< `out` begins with random values, not with zeros
    std::uint32_t stack_bytes = 0;                    ///< for calls of unknown depth
    std::uint32_t lds_bytes = 0;                      ///< of an array that has its size from the launch
    std::uint32_t ulps = 0;                           ///< how far a floating-point result may be off
    const char* why_ulps = "";                        ///< and why
    std::uint32_t from_gfx = 0x900, from_clang = 14;  ///< the first target and clang that compile it
    std::uint32_t before_gfx = 0xfff;                 ///< the first target after it that does not
};

struct Case {
    const char *unit, *kernel;
    Kind a, b, out;
    Options options;
    void (*twin)(const void* a, const void* b, void* out, std::uint32_t n);
};

/// Fails the running test case if a code object's results differ from the twin's.
void check(const Case& test);

}  // namespace differential
