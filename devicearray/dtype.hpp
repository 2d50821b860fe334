// The element type of an array: NumPy's scalar types, and records and subarrays of them, as values. Those of C++ types
// are known at compile time.
//
//     DType t = dtype_of<float>();          // == dtypes::float32
//     t.name();  t.itemsize();              // "float32", 4
//     DType::record({{"x", dtypes::float32}, {"v", DType::subarray(dtypes::float32, {3})}});
//
// From NumPy's descriptions: dtype_numpy.hpp; from buffer formats: dtype_buffer.hpp; from DLPack: dtype_dlpack.hpp;
// from structs: record.hpp. Byte order is little-endian, the host's and the device's: descriptions in big-endian order
// are refused.
//
// Values: any thread may use any object. Scalars and the types of structs allocate nothing. Owns: the copies of a
// record made at run time share one immutable description. Throws InvalidArgument, naming the field and the numbers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "devicearray/dims.hpp"

namespace hsadrv {

/// NumPy's `dtype.kind` letters. NumPy has neither bfloat16 nor 8-bit floats; their letters are the `dtype.char` that
/// ml_dtypes registers.
enum class Kind : char {
    boolean = 'b',
    signed_integer = 'i',
    unsigned_integer = 'u',
    floating = 'f',
    brain_floating = 'E',
    float8_e3m4 = '3',
    float8_e4m3 = '7',
    float8_e4m3b11fnuz = 'L',
    float8_e4m3fn = '4',
    float8_e4m3fnuz = 'G',
    float8_e5m2 = '5',
    float8_e5m2fnuz = 'C',
    float8_e8m0fnu = 'W',
    complex = 'c',
    raw = 'V',  ///< uninterpreted bytes, records and subarrays
};

struct Field;
struct FieldSpec;
struct RecordOptions;
namespace detail {
struct Structure;
void share(const Structure& structure) noexcept;
void unshare(const Structure& structure) noexcept;
}  // namespace detail

/// A scalar type, a record or a subarray. Two scalars are equal if kind and size agree, whatever C++ type they came
/// from (long and long long). Two records are equal if their sizes and their fields' names, titles, offsets and types
/// agree.
class DType {
  public:
    constexpr DType(const DType& other) noexcept;
    constexpr DType& operator=(const DType& other) noexcept;
    constexpr ~DType();

    constexpr Kind kind() const { return kind_; }
    constexpr std::size_t itemsize() const { return itemsize_; }
    /// Element addresses are multiples of this, in packed and padded data alike. 1 for a record that was not declared
    /// aligned.
    constexpr std::size_t alignment() const;
    /// As NumPy's str() spells it: "float32", "|V8", "[('x', '<f4'), ('v', '<f4', (3,))]", "('<f4', (3,))".
    std::string name() const;

    /// The inverse of name() for scalars. Throws InvalidArgument, listing the known names.
    static DType from_name(std::string_view name);
    /// `size_bytes` uninterpreted bytes.
    static DType raw(std::size_t size_bytes);
    /// An element that is itself an array, in C order. A subarray of a subarray joins both shapes.
    static DType subarray(const DType& base, const Dims& shape);
    /// Throws InvalidArgument for an empty or duplicate name or title, a field beyond the item size, and misaligned
    /// offsets in an aligned record.
    static DType record(const std::vector<FieldSpec>& fields, const RecordOptions& options);
    static DType record(const std::vector<FieldSpec>& fields);

    constexpr bool is_record() const;
    constexpr bool is_subarray() const;
    constexpr bool is_scalar() const { return structure_ == nullptr && kind_ != Kind::raw; }
    /// A scalar that NumPy has only with ml_dtypes: bfloat16 and the 8-bit floats.
    constexpr bool is_extension() const {
        return is_scalar() && kind_ != Kind::boolean && kind_ != Kind::signed_integer &&
               kind_ != Kind::unsigned_integer && kind_ != Kind::floating && kind_ != Kind::complex;
    }

    /// A record's fields in the order of their declaration; empty for another type.
    constexpr std::span<const Field> fields() const;
    /// Declared aligned: offsets and size are multiples of the alignment, as in a C struct.
    constexpr bool is_aligned_record() const;
    /// By name or title; null if there is none.
    constexpr const Field* find_field(std::string_view name) const;
    /// Throws InvalidArgument, listing the known names.
    const Field& field(std::string_view name) const;

    /// A subarray's element type and shape; for another type, the type itself and ().
    constexpr DType base() const;
    constexpr Dims subarray_shape() const;

    friend constexpr bool operator==(const DType& a, const DType& b);

    /// For the table in `dtypes`, DTypeOf and records of structs only: does not check that the type exists.
    static constexpr DType unchecked(Kind kind, std::size_t itemsize, const detail::Structure* structure = nullptr) {
        return DType(kind, static_cast<std::uint32_t>(itemsize), structure);
    }

  private:
    constexpr DType(Kind kind, std::uint32_t itemsize, const detail::Structure* structure)
        : kind_(kind), itemsize_(itemsize), structure_(structure) {}

    Kind kind_;
    std::uint32_t itemsize_;
    const detail::Structure* structure_;  // static, or shared among the copies
};

/// A field of a record. Borrows: the strings, from the record's type, until its last copy is destroyed.
struct Field {
    std::string_view name;
    DType type;
    std::size_t offset = 0;       ///< bytes
    std::string_view title = {};  ///< optional second name
};

/// A field of a record to be created; without an offset it follows the previous field.
struct FieldSpec {
    std::string name;
    DType type;
    std::optional<std::size_t> offset = {};
    std::string title = {};
};

struct RecordOptions {
    std::optional<std::size_t> itemsize = {};  ///< default: as the fields need
    bool aligned = false;
};

namespace detail {

/// The parts of a record or subarray.
struct Structure {
    std::span<const Field> fields = {};
    const DType* base = nullptr;  ///< of a subarray
    Dims shape = {};
    std::size_t alignment = 1;
    bool aligned = false;
    bool counted = false;  ///< made at run time: freed with its last DType
};

}  // namespace detail

constexpr DType::DType(const DType& other) noexcept
    : kind_(other.kind_), itemsize_(other.itemsize_), structure_(other.structure_) {
    if (structure_ && structure_->counted) detail::share(*structure_);
}

constexpr DType& DType::operator=(const DType& other) noexcept {
    const detail::Structure* const old = structure_;
    if (other.structure_ && other.structure_->counted) detail::share(*other.structure_);
    kind_ = other.kind_;
    itemsize_ = other.itemsize_;
    structure_ = other.structure_;
    if (old && old->counted) detail::unshare(*old);
    return *this;
}

constexpr DType::~DType() {
    if (structure_ && structure_->counted) detail::unshare(*structure_);
}

constexpr std::size_t DType::alignment() const {
    if (structure_) return structure_->alignment;
    if (kind_ == Kind::raw) return 1;
    return kind_ == Kind::complex ? itemsize_ / 2 : itemsize_;
}

constexpr bool DType::is_record() const { return structure_ && !structure_->base; }
constexpr bool DType::is_subarray() const { return structure_ && structure_->base; }
constexpr bool DType::is_aligned_record() const { return is_record() && structure_->aligned; }
constexpr std::span<const Field> DType::fields() const {
    return structure_ ? structure_->fields : std::span<const Field>();
}
constexpr DType DType::base() const { return is_subarray() ? *structure_->base : *this; }
constexpr Dims DType::subarray_shape() const { return is_subarray() ? structure_->shape : Dims(); }

constexpr const Field* DType::find_field(std::string_view name) const {
    for (const Field& field : fields()) {
        if (field.name == name || (!field.title.empty() && field.title == name)) return &field;
    }
    return nullptr;
}

constexpr bool operator==(const DType& a, const DType& b) {
    if (a.kind_ != b.kind_ || a.itemsize_ != b.itemsize_) return false;
    if (a.structure_ == b.structure_) return true;
    if (a.is_record() != b.is_record() || a.is_subarray() != b.is_subarray()) return false;
    if (a.is_subarray()) return a.structure_->shape == b.structure_->shape && a.base() == b.base();
    if (a.fields().size() != b.fields().size()) return false;
    for (std::size_t i = 0; i < a.fields().size(); ++i) {
        const Field &x = a.fields()[i], &y = b.fields()[i];
        if (x.name != y.name || x.title != y.title || x.offset != y.offset || !(x.type == y.type)) return false;
    }
    return true;
}

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
// ml_dtypes' 8-bit floats: bits of exponent and mantissa; f: finite only, n: one NaN, uz: no negative zero, u:
// unsigned. OCP's are e4m3fn, e5m2 and e8m0fnu (gfx950, gfx12); gfx942 computes with the fnuz ones.
inline constexpr DType float8_e3m4 = DType::unchecked(Kind::float8_e3m4, 1);
inline constexpr DType float8_e4m3 = DType::unchecked(Kind::float8_e4m3, 1);
inline constexpr DType float8_e4m3b11fnuz = DType::unchecked(Kind::float8_e4m3b11fnuz, 1);
inline constexpr DType float8_e4m3fn = DType::unchecked(Kind::float8_e4m3fn, 1);
inline constexpr DType float8_e4m3fnuz = DType::unchecked(Kind::float8_e4m3fnuz, 1);
inline constexpr DType float8_e5m2 = DType::unchecked(Kind::float8_e5m2, 1);
inline constexpr DType float8_e5m2fnuz = DType::unchecked(Kind::float8_e5m2fnuz, 1);
inline constexpr DType float8_e8m0fnu = DType::unchecked(Kind::float8_e8m0fnu, 1);
inline constexpr DType float32 = DType::unchecked(Kind::floating, 4);
inline constexpr DType float64 = DType::unchecked(Kind::floating, 8);
inline constexpr DType complex64 = DType::unchecked(Kind::complex, 8);
inline constexpr DType complex128 = DType::unchecked(Kind::complex, 16);

/// Every scalar type.
inline constexpr DType all[] = {boolean,       int8,
                                int16,         int32,
                                int64,         uint8,
                                uint16,        uint32,
                                uint64,        float16,
                                bfloat16,      float32,
                                float64,       complex64,
                                complex128,    float8_e3m4,
                                float8_e4m3,   float8_e4m3b11fnuz,
                                float8_e4m3fn, float8_e4m3fnuz,
                                float8_e5m2,   float8_e5m2fnuz,
                                float8_e8m0fnu};
}  // namespace dtypes

/// Maps a C++ type to its DType, in `value`. Specialise it for other types, such as a 16-bit float class; for structs
/// use HSADRV_RECORD of record.hpp.
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

namespace detail {
// std::complex of float or double, and similar types: two parts, the real one first. Matched by structure, because
// including <complex> adds a tenth of a second of compile time.
template <class T>
concept ArrayComplex = requires(const T& number) {
    requires std::same_as<typename T::value_type, float> || std::same_as<typename T::value_type, double>;
    requires sizeof(T) == 2 * sizeof(typename T::value_type);
    { number.real() } -> std::convertible_to<typename T::value_type>;
    { number.imag() } -> std::convertible_to<typename T::value_type>;
};

// Character types other than char hold text, whose encoding an array does not know.
template <class T>
concept ArrayInteger =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
    !std::same_as<T, char16_t> && !std::same_as<T, char32_t> && sizeof(T) <= 8;
}  // namespace detail

template <detail::ArrayComplex T>
struct DTypeOf<T> {
    static constexpr DType value = sizeof(T) == 8 ? dtypes::complex64 : dtypes::complex128;
};
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
    constexpr const DType& type = DTypeOf<std::remove_cv_t<T>>::value;
    static_assert(type.itemsize() == sizeof(T), "DTypeOf<T>::value has another size than T");
    return type;
}

}  // namespace hsadrv
