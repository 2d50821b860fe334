// GFX10 to GFX12 number the formats of buffers one after the other; GFX9 has a number of the layout and one of its
// meaning.
//
//     const unsigned format = separate_format(22, false);    // 32_FLOAT: 4 | 7 << 4
//
// Source: "RDNA 2" ISA manual, "Buffer image format", and "RDNA 3"'s. Pure.
#pragma once

#include <cstdint>

namespace kfdemu::isa {

/// GFX9's data format in bits 3:0 and number format in bits 6:4; 0, which is invalid, of a reserved one. `fewer`: as
/// GFX11 numbers them.
constexpr unsigned separate_format(unsigned unified, bool fewer) {
    struct Run {
        std::uint8_t layout, all, fewer;  // of GFX10 to GFX12: a bit a number format
    };
    enum : std::uint8_t {
        Float = 1 << 7,
        Integers = 0x3f,
        Whole = 1 << 4 | 1 << 5,
        Normal = 1 << 0 | 1 << 1,
        IntegersAndFloat = Integers | Float,
        WholeAndFloat = Whole | Float,
        NormalAndWhole = Normal | Whole,
    };
    constexpr Run runs[] = {{1, Integers, Integers},
                            {2, IntegersAndFloat, IntegersAndFloat},
                            {3, Integers, Integers},
                            {4, WholeAndFloat, WholeAndFloat},
                            {5, IntegersAndFloat, IntegersAndFloat},
                            {6, IntegersAndFloat, Float},
                            {7, IntegersAndFloat, Float},
                            {8, Integers, NormalAndWhole},
                            {9, Integers, Integers},
                            {10, Integers, Integers},
                            {11, WholeAndFloat, WholeAndFloat},
                            {12, IntegersAndFloat, IntegersAndFloat},
                            {13, WholeAndFloat, WholeAndFloat},
                            {14, WholeAndFloat, WholeAndFloat}};
    unsigned next = 1;
    for (const Run& run : runs)
        for (unsigned meaning = 0; meaning < 8; ++meaning)
            if (((fewer ? run.fewer : run.all) >> meaning & 1) != 0 && next++ == unified)
                return run.layout | meaning << 4;
    return 0;
}

/// The first number without a format.
constexpr unsigned unified_formats(bool fewer) { return fewer ? 64 : 78; }

}  // namespace kfdemu::isa
