// GFX10 numbers the formats of buffers one after the other; GFX9 has a number of the layout and one of its meaning.
//
//     const unsigned format = separate_format(22);    // 32_FLOAT: 4 | 7 << 4
//
// Source: "RDNA 2" ISA manual, "Buffer image format". Pure.
#pragma once

#include <cstdint>

namespace kfdemu::isa {

inline constexpr unsigned kUnifiedFormats = 78;

/// GFX9's data format in bits 3:0 and number format in bits 6:4; 0, which is invalid, of a reserved one.
constexpr unsigned separate_format(unsigned unified) {
    struct Run {
        std::uint8_t layout, meanings;
    };
    enum : std::uint8_t { Integers, IntegersAndFloat, Whole };  // number formats 0-5; those and 7; 4, 5 and 7
    constexpr Run runs[] = {
        {1, Integers},         {2, IntegersAndFloat},  {3, Integers}, {4, Whole},    {5, IntegersAndFloat},
        {6, IntegersAndFloat}, {7, IntegersAndFloat},  {8, Integers}, {9, Integers}, {10, Integers},
        {11, Whole},           {12, IntegersAndFloat}, {13, Whole},   {14, Whole}};
    constexpr unsigned kFloat = 7;
    unsigned n = unified - 1;
    if (unified == 0) return 0;
    for (const Run& run : runs) {
        const unsigned count = run.meanings == Integers ? 6 : run.meanings == Whole ? 3 : 7;
        if (n >= count) {
            n -= count;
            continue;
        }
        const bool is_float = run.meanings != Integers && n == count - 1;
        return run.layout | (is_float ? kFloat : run.meanings == Whole ? n + 4 : n) << 4;
    }
    return 0;
}

}  // namespace kfdemu::isa
