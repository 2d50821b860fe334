// Types as NumPy describes them. Expected are the texts of NumPy 1.24.
#include "devicearray/dtype_numpy.hpp"

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;

namespace {
const DType sparse = DType::record({{"a", dtypes::int8, 0}, {"b", dtypes::float32, 4}}, {.itemsize = 12});
const DType aligned = DType::record({{"a", dtypes::int8}, {"b", dtypes::float32}}, {.aligned = true});
const DType vector3 = DType::subarray(dtypes::float32, {3});
const DType nested = DType::record(
    {{"n", dtypes::int32, {}, "t"}, {"in", DType::record({{"q", dtypes::uint16}, {"r", dtypes::boolean}})}});
}  // namespace

TEST_CASE("a type prints as NumPy's str() and describes itself as NumPy's descr", "[dtype]") {
    struct Row {
        DType type;
        const char *text, *description;
    };
    const Row rows[] = {
        {dtypes::float32, "float32", "'<f4'"},
        {dtypes::boolean, "bool", "'|b1'"},
        {dtypes::bfloat16, "bfloat16", "'<V2'"},
        {dtypes::float8_e4m3fn, "float8_e4m3fn", "'|V1'"},
        {DType::record({{"x", dtypes::float8_e5m2}}), "[('x', 'float8_e5m2')]", "[('x', '|V1')]"},
        {DType::raw(8), "|V8", "'|V8'"},
        {DType::record({}), "[]", "[]"},
        {DType::record({{"x", dtypes::float32}, {"v", vector3}}), "[('x', '<f4'), ('v', '<f4', (3,))]",
         "[('x', '<f4'), ('v', '<f4', (3,))]"},
        {aligned, "{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'offsets': [0, 4], 'itemsize': 8, 'aligned': True}",
         "[('a', '|i1'), ('', '|V3'), ('b', '<f4')]"},
        {sparse, "{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'offsets': [0, 4], 'itemsize': 12}",
         "[('a', '|i1'), ('', '|V3'), ('b', '<f4'), ('', '|V4')]"},
        {nested, "[(('t', 'n'), '<i4'), ('in', [('q', '<u2'), ('r', '?')])]",
         "[(('t', 'n'), '<i4'), ('in', [('q', '<u2'), ('r', '|b1')])]"},
        {DType::subarray(dtypes::float32, {2, 3}), "('<f4', (2, 3))", "('<f4', (2, 3))"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(row.type.name() == row.text);
        CHECK(descr(row.type) == row.description);
        CHECK(dtype_from_numpy(row.text) == row.type);
        if (std::string_view(row.text).find("float8") != std::string_view::npos || row.type == dtypes::bfloat16)
            continue;
        CHECK(dtype_from_numpy(row.description) == row.type);
    }
}

TEST_CASE("every scalar survives its typestr, its name and its letters", "[dtype]") {
    for (const DType& type : dtypes::all) {
        CAPTURE(type.name());
        CHECK(dtype_from_numpy(type.name()) == type);
        if (type.is_extension()) continue;
        const std::string text = typestr(type);
        CHECK(dtype_from_numpy(text) == type);
        CHECK(dtype_from_numpy(text.substr(1)) == type);
        CHECK(dtype_from_numpy("=" + text.substr(1)) == type);
        CHECK(dtype_from_numpy("'" + text + "'") == type);
    }
    const std::pair<const char*, DType> letters[] = {
        {"?", dtypes::boolean},   {"b", dtypes::int8},       {"B", dtypes::uint8},   {"h", dtypes::int16},
        {"H", dtypes::uint16},    {"i", dtypes::int32},      {"I", dtypes::uint32},  {"l", dtypes::int64},
        {"L", dtypes::uint64},    {"e", dtypes::float16},    {"f", dtypes::float32}, {"<d", dtypes::float64},
        {"F", dtypes::complex64}, {"D", dtypes::complex128}, {"V", DType::raw(0)},   {">b", dtypes::int8},
        {"V3", DType::raw(3)},    {">V3", DType::raw(3)},    {"|i1", dtypes::int8},  {">u1", dtypes::uint8},
    };
    for (const auto& [text, type] : letters) {
        CAPTURE(text);
        CHECK(dtype_from_numpy(text) == type);
    }
}

TEST_CASE("the dictionary form supports offsets in any order, titles and overlaps", "[dtype]") {
    const DType type =
        dtype_from_numpy("{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'offsets': [4, 0], 'titles': ['TT', None]}");
    CHECK(type.name() ==
          "{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'offsets': [4, 0], 'titles': ['TT', None], "
          "'itemsize': 5}");
    CHECK(type.field("TT").name == "a");
    CHECK_THROWS_WITH(descr(type), test_support::Contains("field 'b'"));
    CHECK(dtype_from_numpy("{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'aligned': True}") == aligned);
    const DType both = dtype_from_numpy("{'names': ['i', 'f'], 'formats': ['<i4', '<f4'], 'offsets': [0, 0]}");
    CHECK(both.itemsize() == 4);
    CHECK_THROWS_AS(descr(both), InvalidArgument);
}

TEST_CASE("fields without a name get NumPy's default, and padding no name", "[dtype]") {
    const DType type = dtype_from_numpy("[('', '<f4'), ('', '|V4'), ('', '<i2')]");
    CHECK(type.fields().size() == 2);
    CHECK(type.field("f0").type == dtypes::float32);
    CHECK(type.field("f2").offset == 8);
}

TEST_CASE("an unsupported description is refused with the reason", "[dtype]") {
    std::string many_axes = "[('x', '<f4', (1";
    for (int i = 1; i < 65; ++i) many_axes += ", 1";
    many_axes += "))]";
    const std::pair<const char*, const char*> rows[] = {
        {">f4", "newbyteorder"},
        {">c8", "byte order"},
        {">H", "byte order"},
        {"[('x', '>i2')]", "byte order"},
        {"O", "Python objects"},
        {"|O", "Python objects"},
        {"S5", "text"},
        {"<U7", "text"},
        {"<M8[ns]", "times"},
        {"<f3", "no such type"},
        {"<f16", "no such type"},
        {"", "no type"},
        {"<", "no type"},
        {"<f4x", "number of bytes"},
        {"<i99999999999999999999999", "number of bytes"},
        {"V9999999999", "at most"},
        {"float31", "float31"},
        {"<k4", "no such type"},
        {"k", "no such type"},
        {"[", "end"},
        {"[('x',)]", "field is"},
        {"[('x', '<f4', 3, 4)]", "field is"},
        {"[(1, '<f4')]", "1 at byte 2"},
        {"[(('a',), '<f4')]", "(title, name)"},
        {"[('x', '<f4'), ('x', '<f4')]", "'x'"},
        {"[('x', '<f4', (-1,))]", "negative"},
        {"('<f4',)", "(type, shape)"},
        {"['<f4']", "tuple or a list"},
        {"{'names': ['a']}", "missing"},
        {"{'names': ['a'], 'formats': []}", "1 of them"},
        {"{'names': ['a'], 'formats': ['i1'], 'offsets': [-1]}", "negative"},
        {"{'names': ['a'], 'formats': ['i1'], 'itemsize': 0}", "need 1 B"},
        {"{'names': ['a'], 'formats': ['i1'], 'offset': [1]}", "'offset'"},
        {"{'names': ['a'], 'formats': ['<i4'], 'offsets': [1], 'aligned': True}", "not aligned"},
        {many_axes.c_str(), "dimensions"},
    };
    for (const auto& [text, says] : rows) {
        CAPTURE(text);
        CHECK_THROWS_AS(dtype_from_numpy(text), InvalidArgument);
        CHECK_THROWS_WITH(dtype_from_numpy(text), test_support::Contains(says));
    }
}
