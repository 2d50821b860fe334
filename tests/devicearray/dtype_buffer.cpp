// Types as the buffer protocol describes them. Expected are the results of NumPy 1.24.
#include "devicearray/dtype_buffer.hpp"

#include "devicearray/dtype_numpy.hpp"
#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;

TEST_CASE("a buffer's format becomes NumPy's type for it", "[dtype]") {
    const std::pair<const char*, const char*> rows[] = {
        {"f", "float32"},
        {"?", "bool"},
        {"Zf", "complex64"},
        {"e", "float16"},
        {"l", "int64"},
        {"=l", "int32"},
        {"<q", "int64"},
        {">b", "int8"},
        {"3x", "|V3"},
        {"T{3x:a:}", "[('a', 'V3')]"},
        {"n", "int64"},
        {"3f", "('<f4', (3,))"},
        {"(2,3)f", "('<f4', (2, 3))"},
        {"T{f:x:(3,2)f:v:}", "[('x', '<f4'), ('v', '<f4', (3, 2))]"},
        {"T{<f:x:(3,2)<f:v:}", "[('x', '<f4'), ('v', '<f4', (3, 2))]"},
        {"T{b:a:T{=H:q:?:r:}:in:}", "[('a', 'i1'), ('in', [('q', '<u2'), ('r', '?')])]"},
        {"T{b:a:xxxf:b:}", "{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'offsets': [0, 4], 'itemsize': 8}"},
        {"T{b:a:f:b:}", "{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'offsets': [0, 4], 'itemsize': 8}"},
        {"T{=b:a:f:b:3x}", "{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'offsets': [0, 1], 'itemsize': 8}"},
        {"@bf", "{'names': ['f0', 'f1'], 'formats': ['i1', '<f4'], 'offsets': [0, 4], 'itemsize': 8}"},
        {"f:x:i:y:", "[('x', '<f4'), ('y', '<i4')]"},
        {"T{b:a:T{^d:x:}:y:}", "[('a', 'i1'), ('y', [('x', '<f8')])]"},
        {"T{@b:a:d:b:b:c:}",
         "{'names': ['a', 'b', 'c'], 'formats': ['i1', '<f8', 'i1'], 'offsets': [0, 8, 16], 'itemsize': 24}"},
        {"T{b:a:3T{h:q:b:r:}:s:}",
         "{'names': ['a', 's'], 'formats': ['i1', ({'names': ['q', 'r'], 'formats': ['<i2', 'i1'], "
         "'offsets': [0, 2], 'itemsize': 4}, (3,))], 'offsets': [0, 2], 'itemsize': 14}"},
        {"<f", "float32"},
        {"T{f:x:}", "[('x', '<f4')]"},
    };
    for (const auto& [format, name] : rows) {
        CAPTURE(format);
        CHECK(dtype_from_buffer(format).name() == name);
        CHECK(dtype_from_buffer(format, dtype_from_numpy(name).itemsize()) == dtype_from_numpy(name));
    }
}

TEST_CASE("a type survives conversion to a format and back", "[dtype]") {
    for (const DType& type : dtypes::all) {
        CAPTURE(type.name());
        if (type.is_extension()) continue;
        CHECK(dtype_from_buffer(buffer_format(type), type.itemsize()) == type);
    }
    const char* descriptions[] = {
        "[('x', '<f4'), ('v', '<f4', (3, 2))]",
        "[('a', '|i1'), ('', '|V3'), ('b', '<f4'), ('', '|V4')]",
        "[('a', '|i1'), ('in', [('q', '<u2'), ('r', '|b1'), ('', '|V1')], (2,)), ('z', '<c16')]",
        "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'aligned': True}",
        "('<i8', (4,))",
        "|V5",
        "[('raw', '|V3'), ('', '|V2'), ('some', '|V2', (2,))]",
    };
    for (const char* text : descriptions) {
        const DType type = dtype_from_numpy(text);
        CAPTURE(text, buffer_format(type));
        CHECK(dtype_from_buffer(buffer_format(type), type.itemsize()) == type);
    }
    CHECK(buffer_format(dtypes::float32) == "f");
    CHECK(buffer_format(dtype_from_numpy("[('a', '|i1'), ('', '|V3'), ('b', '<f4', (3,))]")) == "T{=b:a:3x(3)f:b:}");
}

TEST_CASE("a type without a format is refused", "[dtype]") {
    CHECK_THROWS_WITH(buffer_format(dtypes::bfloat16), test_support::Contains("bfloat16"));
    CHECK_THROWS_WITH(buffer_format(dtypes::float8_e4m3fnuz), test_support::Contains("float8_e4m3fnuz"));
    CHECK_THROWS_WITH(buffer_format(DType::record({{"a:b", dtypes::int8}})), test_support::Contains("':'"));
    CHECK_THROWS_AS(buffer_format(DType::record({{"a", dtypes::int32, 4}, {"b", dtypes::int32, 0}})), InvalidArgument);
}

TEST_CASE("an unsupported format is refused with reason and position", "[dtype]") {
    std::string many_axes = "(1";  // 64, and one more
    for (int i = 1; i < 64; ++i) many_axes += ",1";
    many_axes += ")2f";
    const std::pair<const char*, const char*> rows[] = {
        {">f", "byte order"},
        {"!Zd", "byte order"},
        {"O", "objects"},
        {"P", "pointers"},
        {"&f", "pointers"},
        {"5s", "text"},
        {"g", "long double"},
        {"Zg", "Zf and Zd"},
        {"k", "unknown letter"},
        {"=n", "'@' and '^'"},
        {"T{f", "'}'"},
        {"T", "'{'"},
        {"f}", "without '{'"},
        {"T{f:x}", "after a name"},
        {"T{f::}", "empty name"},
        {"(2,f", "extent"},
        {"(2", "')'"},
        {"(2,3)", "letter is missing"},
        {"3", "letter is missing"},
        {"99999999999f", "above"},
        {"2147483647d", "at most"},
        {"2147483647x2147483647x", "2 GiB"},
        {many_axes.c_str(), "dimensions"},
        {"T{f:x:f:x:}", "'x'"},
    };
    for (const auto& [format, says] : rows) {
        CAPTURE(format);
        CHECK_THROWS_AS(dtype_from_buffer(format), InvalidArgument);
        CHECK_THROWS_WITH(dtype_from_buffer(format), test_support::Contains(says));
    }
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += "T{";
    CHECK_THROWS_WITH(dtype_from_buffer(deep), test_support::Contains("nested deeper"));
    CHECK_THROWS_WITH(dtype_from_buffer("f", 8),
                      test_support::Contains("float32 of 4 B") && test_support::Contains("8 B"));
}
