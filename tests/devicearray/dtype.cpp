#include "devicearray/dtype.hpp"

#include <complex>
#include "hsadrv/error.hpp"

#include "tests/support/catch.hpp"

using namespace hsadrv;

static_assert(dtype_of<float>() == dtypes::float32);
static_assert(dtype_of<const double>() == dtypes::float64);
static_assert(dtype_of<bool>() == dtypes::boolean);
static_assert(dtype_of<std::complex<float>>() == dtypes::complex64);
static_assert(dtype_of<long>() == dtype_of<long long>(), "identified by kind and size, not by the C++ name");
static_assert(dtype_of<unsigned char>() == dtypes::uint8 && dtype_of<std::byte>() == dtypes::uint8);
static_assert(dtypes::float16 != dtypes::bfloat16 && dtypes::float16 != dtypes::int16);
static_assert(dtypes::float8_e5m2 != dtypes::float8_e5m2fnuz && dtypes::float8_e5m2 != dtypes::int8);
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

TEST_CASE("an unknown type name is refused with the known names", "[dtype]") {
    CHECK_THROWS_AS(DType::from_name("float31"), InvalidArgument);
    CHECK_THROWS_WITH(DType::from_name("float31"),
                      test_support::Contains("float31") && test_support::Contains("float32"));
}

TEST_CASE("a program's own 16-bit float becomes an element type by one specialisation", "[dtype]") {
    CHECK(dtype_of<Half>().name() == "float16");
}

TEST_CASE("a record places its fields packed, or aligned as in C", "[dtype]") {
    const std::vector<FieldSpec> fields{{"a", dtypes::int8}, {"b", dtypes::float64}, {"c", dtypes::int16}};
    const DType packed = DType::record(fields);
    CHECK(packed.itemsize() == 11);
    CHECK(packed.alignment() == 1);
    CHECK(packed.field("c").offset == 9);
    const DType aligned = DType::record(fields, {.aligned = true});
    CHECK(aligned.itemsize() == 24);
    CHECK(aligned.alignment() == 8);
    CHECK(aligned.field("b").offset == 8);
    CHECK(aligned != packed);
    CHECK(aligned.kind() == Kind::raw);
    CHECK(aligned.is_record());
    CHECK_FALSE(aligned.is_scalar());
    CHECK(DType::record(fields, {.itemsize = 20}).itemsize() == 20);
    CHECK(DType::record({}).itemsize() == 0);
    CHECK(DType::record({}).is_record());
}

TEST_CASE("records may have inner records, subarrays and titles", "[dtype]") {
    const DType inner = DType::record({{"x", dtypes::float32}, {"y", dtypes::float32}});
    const DType outer = DType::record({{"at", inner}, {"m", DType::subarray(inner, {2, 3}), {}, "Matrix"}});
    CHECK(outer.itemsize() == 56);
    CHECK(outer.field("at").type.field("y").offset == 4);
    CHECK(outer.field("m").type.is_subarray());
    CHECK(outer.field("m").type.base() == inner);
    CHECK(outer.field("m").type.subarray_shape() == Dims{2, 3});
    CHECK(&outer.field("Matrix") == &outer.field("m"));
    CHECK(outer.find_field("z") == nullptr);
    CHECK_THROWS_WITH(outer.field("z"), test_support::Contains("'at', 'm'"));
    CHECK_THROWS_WITH(dtypes::int8.field("z"), test_support::Contains("int8 is not a record"));
    CHECK(DType::subarray(DType::subarray(dtypes::int8, {3}), {2}) == DType::subarray(dtypes::int8, {2, 3}));
    CHECK(DType::subarray(dtypes::int8, {}) == dtypes::int8);
    CHECK(dtypes::int8.base() == dtypes::int8);
    CHECK(dtypes::int8.fields().empty());
}

TEST_CASE("records are equal if names, titles, offsets, types and size are", "[dtype]") {
    const auto record = [](const char* name, DType type, std::size_t offset, const char* title, std::size_t size) {
        return DType::record({{"first", dtypes::int8}, {name, type, offset, title}}, {.itemsize = size});
    };
    const DType one = record("a", dtypes::int32, 4, "", 8);
    CHECK(one == record("a", dtypes::int32, 4, "", 8));
    CHECK(one != record("b", dtypes::int32, 4, "", 8));
    CHECK(one != record("a", dtypes::float32, 4, "", 8));
    CHECK(one != record("a", dtypes::int32, 3, "", 8));
    CHECK(one != record("a", dtypes::int32, 4, "t", 8));
    CHECK(one != record("a", dtypes::int32, 4, "", 9));
    CHECK(one == DType::record({{"first", dtypes::int8}, {"a", dtypes::int32}}, {.aligned = true}));
    CHECK(one != DType::raw(8));
    CHECK(DType::subarray(dtypes::int8, {8}) != DType::raw(8));
    CHECK(DType::subarray(dtypes::int8, {8}) != DType::subarray(dtypes::int8, {2, 4}));
}

TEST_CASE("an invalid record is refused, naming the field", "[dtype]") {
    struct Row {
        std::vector<FieldSpec> fields;
        RecordOptions options;
        const char* says;
    };
    const Row rows[] = {
        {{{"", dtypes::int8}}, {}, "no name"},
        {{{"a", dtypes::int8}, {"a", dtypes::int8}}, {}, "'a'"},
        {{{"a", dtypes::int8}, {"b", dtypes::int8, {}, "a"}}, {}, "'a'"},
        {{{"a", dtypes::int32, 2}}, {.aligned = true}, "'a' at offset 2"},
        {{{"a", dtypes::int32}}, {.itemsize = 3}, "need 4 B"},
        {{{"a", dtypes::int32}}, {.itemsize = 6, .aligned = true}, "multiple"},
        {{{"a", dtypes::int32, ~std::size_t{0}}}, {}, "ends after"},
        {{{"a", DType::raw(0x7fffffff)}, {"b", dtypes::int8}}, {}, "'b'"},
        {{{"a", dtypes::int8}}, {.itemsize = std::size_t{1} << 40}, "1099511627776"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.says);
        CHECK_THROWS_AS(DType::record(row.fields, row.options), InvalidArgument);
        CHECK_THROWS_WITH(DType::record(row.fields, row.options), test_support::Contains(row.says));
    }
    CHECK_THROWS_AS(DType::subarray(dtypes::int8, {-1}), InvalidArgument);
    CHECK_THROWS_AS(DType::subarray(dtypes::int8, {INT64_MAX, 4}), InvalidArgument);
    CHECK_THROWS_AS(DType::raw(std::size_t{1} << 31), InvalidArgument);
}

TEST_CASE("copies of a record share its description, also after assignment and the original's end", "[dtype]") {
    DType copy = dtypes::int8;
    {
        const DType original = DType::record({{"a name longer than any small string", dtypes::int32}});
        copy = original;
        const DType& same = copy;
        copy = same;
    }
    CHECK(copy.fields()[0].name == "a name longer than any small string");
    std::vector<DType> many(100, copy);
    many.erase(many.begin(), many.begin() + 50);
    copy = dtypes::int8;
    CHECK(many.back().field("a name longer than any small string").type == dtypes::int32);
}
