// The types that random programs compute with.
//
//     name(Type::u16x2) == std::string{"u16x2"}
//
// Thread safety: pure functions.
#pragma once

namespace random_programs {

// clang-format off
enum class Type { b, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32,
                  f64, u8x4, u16x2, i16x2, u32x2, u32x4, f16x2, f32x2 };
inline constexpr const char* kTypeNames[] = {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32",
                                             "f64", "u8x4", "u16x2", "i16x2", "u32x2", "u32x4", "f16x2", "f32x2"};
// clang-format on
inline constexpr unsigned kTypes = sizeof kTypeNames / sizeof *kTypeNames;

inline const char* name(Type type) { return kTypeNames[static_cast<unsigned>(type)]; }
/// One whole number.
inline bool is_integer(Type type) { return type >= Type::i8 && type <= Type::u64; }
inline bool is_float(Type type) { return type >= Type::f16 && type <= Type::f64; }
/// Bits of a number, or of a vector's element.
inline unsigned width(Type type) {
    constexpr unsigned widths[] = {1, 8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 8, 16, 16, 32, 32, 16, 32};
    return widths[static_cast<unsigned>(type)];
}

}  // namespace random_programs
