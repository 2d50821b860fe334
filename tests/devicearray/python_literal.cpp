#include "devicearray/python_literal.hpp"

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using Type = PythonLiteral::Type;

TEST_CASE("literals are read as Python reads them", "[npy]") {
    CHECK(PythonLiteral::parse(" True ").boolean());
    CHECK_FALSE(PythonLiteral::parse("False").boolean());
    CHECK(PythonLiteral::parse("None").is(Type::none));
    CHECK(PythonLiteral::parse("-12").integer() == -12);
    CHECK(PythonLiteral::parse("+7").integer() == 7);
    CHECK(PythonLiteral::parse("3L").integer() == 3);
    CHECK(PythonLiteral::parse("9223372036854775807").integer() == INT64_MAX);
    CHECK(PythonLiteral::parse("'a\"b'").string() == "a\"b");
    CHECK(PythonLiteral::parse("\"a'b\"").string() == "a'b");
    CHECK(PythonLiteral::parse("u'x'").string() == "x");
    CHECK(PythonLiteral::parse(R"('\\\'\n\x41\u00e9\U0001f600')").string() == "\\'\nA\u00e9\U0001f600");
    CHECK(PythonLiteral::parse("()").items().empty());
    CHECK(PythonLiteral::parse("(3)").integer() == 3);
    CHECK(PythonLiteral::parse("(3,)").is(Type::tuple));
    CHECK(PythonLiteral::parse("(3, 4,)").items().size() == 2);
    CHECK(PythonLiteral::parse("[1, [2, (3, 'x')]]").items()[1].items()[1].items()[1].string() == "x");
    const PythonLiteral map = PythonLiteral::parse("{'a': 1, 'b': (2,), }");
    CHECK(map.find("b")->items()[0].integer() == 2);
    CHECK(map.find("c") == nullptr);
    CHECK(map.keys() == std::vector<std::string_view>{"a", "b"});
}

TEST_CASE("an invalid literal is refused with its position", "[npy]") {
    const std::pair<const char*, const char*> rows[] = {
        {"", "byte 0 of 0: the end"},
        {"nan", "at byte 0"},
        {"1.5", "not an integer"},
        {"0x10", "not an integer"},
        {"-", "missing"},
        {"9223372036854775808", "64 bits"},
        {"'x", "not closed"},
        {"'x\n'", "its line"},
        {"'\\q'", "unknown escape"},
        {"'\\x4'", "hexadecimal"},
        {"'\\ud800'", "Unicode"},
        {"'\\", "unknown escape"},
        {"(1 2)", "','"},
        {"(1", "',' or ')'"},
        {"[,]", "missing"},
        {"{1: 2}", "not a string"},
        {"{'a' 2}", "':'"},
        {"{'a': 1, 'a': 2}", "duplicate"},
        {"{'a': 1 'b': 2}", "'}'"},
        {"1 2", "more text"},
        {"os.exit()", "missing"},
        {"{'a'", "':'"},
    };
    for (const auto& [text, says] : rows) {
        CAPTURE(text);
        CHECK_THROWS_AS(PythonLiteral::parse(text), InvalidArgument);
        CHECK_THROWS_WITH(PythonLiteral::parse(text), test_support::Contains(says));
    }
    CHECK_THROWS_WITH(PythonLiteral::parse(std::string(100000, '(')), test_support::Contains("nested deeper"));
}

TEST_CASE("a literal of another type is refused, naming its type", "[npy]") {
    const PythonLiteral list = PythonLiteral::parse("[1, 'x']");
    CHECK_THROWS_WITH(list.boolean(), test_support::Contains("a list of 2 at byte 0, but True or False"));
    CHECK_THROWS_WITH(list.items()[1].integer(), test_support::Contains("'x' at byte 4"));
    CHECK_THROWS_AS(list.string(), InvalidArgument);
    CHECK_THROWS_AS(list.find("x"), InvalidArgument);
    CHECK_THROWS_AS(list.items()[0].items(), InvalidArgument);
}

TEST_CASE("quoted text is Python's repr(): unprintable characters are escaped", "[npy]") {
    const std::pair<const char*, const char*> rows[] = {
        {"\u00e9\u65e5\U0001f600", "'\u00e9\u65e5\U0001f600'"},  // printable
        {"a\u00a0b", "'a\\xa0b'"},                               // no-break space
        {"\u0085\u00ad", "'\\x85\\xad'"},                        // a control, a soft hyphen
        {"\u200b", "'\\u200b'"},                                 // a format character
        {"\u2028\u3000", "'\\u2028\\u3000'"},
        {"\ue000\u0378", "'\\ue000\\u0378'"},  // private use, unassigned
        {"\U000e0001\U0010ffff", "'\\U000e0001\\U0010ffff'"},
    };
    for (const auto& [text, quoted] : rows) {
        CAPTURE(quoted);
        CHECK(python_quoted(text) == quoted);
        CHECK(PythonLiteral::parse(python_quoted(text)).string() == text);
    }
    CHECK(python_quoted("\xff") == "'\xff'");  // not UTF-8: unchanged
}

TEST_CASE("quoted text survives a round trip", "[npy]") {
    for (const char* text : {"", "plain", "it's", "\"", "'\"", "back\\slash", "\n\t\x01\x7f", "\u00e9"}) {
        CAPTURE(text);
        CHECK(PythonLiteral::parse(python_quoted(text)).string() == text);
    }
    CHECK(python_quoted("it's") == "\"it's\"");
}
