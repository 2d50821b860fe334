// What an array's elements are: NumPy's scalar types, as small values known at compile time from C++ types.
//
//     DType t = dtype_of<float>();          // == dtypes::float32
//     t.name();  t.itemsize();              // "float32", 4
//     DType::from_name("int16");            // throws InvalidArgument for what is not in the table
//
// Values: any thread may use any object; nothing is allocated. Byte order is the machine's own, as the
// device's is the same.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace hsadrv {

/// NumPy's `dtype.kind` letters. NumPy has no bfloat16; its letter here is the one ml_dtypes registers it
/// under.
enum class Kind : char {
    boolean = 'b',
    signed_integer = 'i',
    unsigned_integer = 'u',
    floating = 'f',
    brain_floating = 'E',
    complex = 'c',
};

/// A scalar type: its kind and size. Two are equal if both agree, whatever C++ type they came from (long and
/// long long).
class DType {
  public:
    constexpr Kind kind() const { return kind_; }
    constexpr std::size_t itemsize() const { return itemsize_; }
    /// Bytes that an element's address is a multiple of, in packed and in padded data alike.
    constexpr std::size_t alignment() const { return kind_ == Kind::complex ? itemsize_ / 2 : itemsize_; }
    /// NumPy's name, such as "float32".
    std::string name() const;

    /// The inverse of name(). Throws InvalidArgument, listing the known names.
    static DType from_name(std::string_view name);

    friend constexpr bool operator==(DType, DType) = default;

    /// For the table in `dtypes` and for DTypeOf only: does not check that such a type exists.
    static constexpr DType unchecked(Kind kind, std::size_t itemsize) {
        return DType(kind, static_cast<std::uint8_t>(itemsize));
    }

  private:
    constexpr DType(Kind kind, std::uint8_t itemsize) : kind_(kind), itemsize_(itemsize) {}

    Kind kind_;
    std::uint8_t itemsize_;
};

namespace dtypes {
inline constexpr DType boolean = DType::unchecked(Kind::boolean, 1);
inline constexpr DType int8 = DType::unchecked(Kind::signed_integer, 1);
inline constexpr DType int16 = DType::unchecked(Kind::signed_integer, 2);
inline constexpr DType int32 = DType::unchecked(Kind::signed_integer, 4);
inline constexpr DType int64 = DType::unchecked(Kind::signed_integer, 8);
inline constexpr DType uint8 = DType::unchecked(Kind::unsigned_integer, 1);
inline constexpr DType uint16 = DType::unchecked(Kind::unsigned_integer, 2);
inline constexpr DType uint32 = DType::unchecked(Kind::unsigned_integer, 4);
inline constexpr DType uint64 = DType::unchecked(Kind::unsigned_integer, 8);
inline constexpr DType float16 = DType::unchecked(Kind::floating, 2);
inline constexpr DType bfloat16 = DType::unchecked(Kind::brain_floating, 2);
inline constexpr DType float32 = DType::unchecked(Kind::floating, 4);
inline constexpr DType float64 = DType::unchecked(Kind::floating, 8);
inline constexpr DType complex64 = DType::unchecked(Kind::complex, 8);
inline constexpr DType complex128 = DType::unchecked(Kind::complex, 16);
}  // namespace dtypes

/// Which DType a C++ type has, in `value`. Specialise it for a type of your own, such as a 16-bit float
/// class.
template <class T>
struct DTypeOf {};

template <>
struct DTypeOf<bool> {
    static constexpr DType value = dtypes::boolean;
};
template <>
struct DTypeOf<std::byte> {
    static constexpr DType value = dtypes::uint8;
};
template <>
struct DTypeOf<float> {
    static constexpr DType value = dtypes::float32;
};
template <>
struct DTypeOf<double> {
    static constexpr DType value = dtypes::float64;
};
template <>
struct DTypeOf<std::complex<float>> {
    static constexpr DType value = dtypes::complex64;
};
template <>
struct DTypeOf<std::complex<double>> {
    static constexpr DType value = dtypes::complex128;
};

namespace detail {
// Character types other than char hold text, whose encoding no array knows.
template <class T>
concept ArrayInteger =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
    !std::same_as<T, char16_t> && !std::same_as<T, char32_t> && sizeof(T) <= 8;
}  // namespace detail

template <detail::ArrayInteger T>
struct DTypeOf<T> {
    static constexpr DType value =
        DType::unchecked(std::is_signed_v<T> ? Kind::signed_integer : Kind::unsigned_integer, sizeof(T));
};

/// Types that an array may hold.
template <class T>
concept ArrayElement = std::is_trivially_copyable_v<T> && requires {
    { DTypeOf<std::remove_cv_t<T>>::value } -> std::convertible_to<DType>;
};

template <ArrayElement T>
constexpr DType dtype_of() {
    constexpr DType type = DTypeOf<std::remove_cv_t<T>>::value;
    static_assert(type.itemsize() == sizeof(T), "DTypeOf<T>::value has another size than T");
    return type;
}

}  // namespace hsadrv
