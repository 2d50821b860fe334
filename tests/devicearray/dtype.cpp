#include "devicearray/dtype.hpp"

#include "hsadrv/error.hpp"
#include "support/catch.hpp"

using namespace hsadrv;

static_assert(dtype_of<float>() == dtypes::float32);
static_assert(dtype_of<const double>() == dtypes::float64);
static_assert(dtype_of<bool>() == dtypes::boolean);
static_assert(dtype_of<std::complex<float>>() == dtypes::complex64);
static_assert(dtype_of<long>() == dtype_of<long long>(), "kind and size decide, not the C++ name");
static_assert(dtype_of<unsigned char>() == dtypes::uint8 && dtype_of<std::byte>() == dtypes::uint8);
static_assert(dtypes::float16 != dtypes::bfloat16 && dtypes::float16 != dtypes::int16);
static_assert(!ArrayElement<wchar_t> && !ArrayElement<std::string> && !ArrayElement<long double>);

namespace {
struct Half {
    std::uint16_t bits;
};
}  // namespace
template <>
struct hsadrv::DTypeOf<Half> {
    static constexpr DType value = dtypes::float16;
};

TEST_CASE("a scalar type knows its NumPy name, size and alignment", "[dtype]") {
    struct Row {
        DType type;
        const char* name;
        std::size_t itemsize, alignment;
    };
    const Row rows[] = {
        {dtypes::boolean, "bool", 1, 1},           {dtypes::int8, "int8", 1, 1},
        {dtypes::uint16, "uint16", 2, 2},          {dtypes::float16, "float16", 2, 2},
        {dtypes::bfloat16, "bfloat16", 2, 2},      {dtypes::int32, "int32", 4, 4},
        {dtypes::float32, "float32", 4, 4},        {dtypes::uint64, "uint64", 8, 8},
        {dtypes::float64, "float64", 8, 8},        {dtypes::complex64, "complex64", 8, 4},
        {dtypes::complex128, "complex128", 16, 8},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CHECK(row.type.name() == row.name);
        CHECK(row.type.itemsize() == row.itemsize);
        CHECK(row.type.alignment() == row.alignment);
        CHECK(DType::from_name(row.name) == row.type);
    }
}

TEST_CASE("an unknown type name is refused with the names there are", "[dtype]") {
    CHECK_THROWS_AS(DType::from_name("float31"), InvalidArgument);
    CHECK_THROWS_WITH(DType::from_name("float31"),
                      test_support::Contains("float31") && test_support::Contains("float32"));
}

TEST_CASE("a program's own 16-bit float becomes an element type by one specialisation", "[dtype]") {
    CHECK(dtype_of<Half>().name() == "float16");
}
