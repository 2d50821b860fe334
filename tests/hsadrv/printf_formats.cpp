// What OpenCL C's printf becomes on the host, from the records in its buffer.
#include "hsadrv/services/printf_formats.hpp"

#include <cstring>

#include "tests/support/catch.hpp"

using hsadrv::detail::PrintfFormats;

namespace {

/// Records as a kernel leaves them.
class Records {
  public:
    template <class... Values>
    Records(std::uint32_t number, const Values&... values) {
        add(number);
        (add(values), ...);
    }
    template <class T>
    Records& add(const T& value) {
        const std::size_t at = bytes.size();
        bytes.resize(at + sizeof value);
        std::memcpy(bytes.data() + at, &value, sizeof value);
        return *this;
    }
    std::vector<std::byte> bytes;
};

struct Printed {
    std::vector<std::string> texts;
    bool whole;
};

Printed printed(const std::vector<std::string>& lines, const Records& records) {
    Printed result{};
    result.whole =
        PrintfFormats(lines).print(records.bytes, [&](std::string_view text) { result.texts.emplace_back(text); });
    return result;
}

std::string text_of(const std::string& line, const Records& records) {
    const Printed result = printed({line}, records);
    CHECK(result.whole);
    REQUIRE(result.texts.size() == 1);
    return result.texts.front();
}

}  // namespace

TEST_CASE("scalars have the size of their record", "[printf_formats]") {
    CHECK(text_of("1:2:4:4:%d %u", {1, -1, -1}) == "-1 4294967295");
    CHECK(text_of("1:2:8:8:%ld %lx", {1, std::int64_t{-1} << 40, ~std::uint64_t{0}}) ==
          "-1099511627776 ffffffffffffffff");
    CHECK(text_of("1:2:4:4:%hd %c", {1, -2, int{'x'}}) == "-2 x");
    CHECK(text_of("1:1:4:%f", {1, 0.5f}) == "0.500000");
    CHECK(text_of("1:1:8:%8.3e", {1, 0.5}) == "5.000e-01");
    CHECK(text_of("1:2:4:4:%*d|", {1, 5, 7}) == "    7|");
    CHECK(text_of("1:1:8:%p", {1, std::uint64_t{0x1234}}) == "0x1234");
}

TEST_CASE("vectors are printed element by element", "[printf_formats]") {
    CHECK(text_of("1:1:16:%v4d", {1, std::array{1, -2, 3, -4}}) == "1,-2,3,-4");
    CHECK(text_of("1:1:16:%2v3hld|", {1, std::array{1, 2, 3, 99}}) == " 1, 2, 3|");
    CHECK(text_of("1:1:4:%v4hhd", {1, std::array<signed char, 4>{1, -2, 3, -4}}) == "1,-2,3,-4");
    CHECK(text_of("1:1:4:%#v4hhx", {1, std::array<unsigned char, 4>{1, 254, 3, 252}}) == "0x1,0xfe,0x3,0xfc");
    CHECK(text_of("1:1:16:%v2lu", {1, std::array{~std::uint64_t{0}, std::uint64_t{1}}}) == "18446744073709551615,1");
    CHECK(text_of("1:1:16:%.1v4hlf", {1, std::array{0.5f, 1.f, -1.f, 2.f}}) == "0.5,1.0,-1.0,2.0");
    // 1, -2, the smallest subnormal, infinity
    CHECK(text_of("1:1:8:%v4hg", {1, std::array<std::uint16_t, 4>{0x3c00, 0xc000, 1, 0x7c00}}) ==
          "1,-2,5.96046e-08,inf");
}

TEST_CASE("strings end with their zero or with their record", "[printf_formats]") {
    CHECK(text_of("1:1:4:<%s>", {1, std::array{'a', 'b', 'c', '\0'}}) == "<abc>");
    CHECK(text_of("1:1:4:<%6s>", {1, std::array{'a', 'b', 'c', 'd'}}) == "<  abcd>");
    CHECK(text_of("1:1:4:<%s>", {1, 0xffffff00u}) == "<>");  // an empty one
    CHECK(text_of("1:1:12:%s", {1, std::array{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', '\0', '\0', '\0'}}) ==
          "abcdefghi");
}

TEST_CASE("strings of whole dwords may be shorter than their record says", "[printf_formats]") {
    constexpr std::uint32_t unwritten = PrintfFormats::unwritten;
    const std::array text{'t', 'e', 'x', 't'}, ab{'a', 'b', '\0', '\0'};
    CHECK(text_of("1:2:8:4:%s|%d", {1, text, 7, unwritten}) == "text|7");
    CHECK(text_of("1:2:8:4:%s|%d", {1, text, -1, unwritten}) == "text|-1");
    CHECK(text_of("1:1:8:%s", {1, text, unwritten}) == "text");
    CHECK(text_of("1:3:8:4:8:%s|%s|%s", {1, text, ab, text, unwritten, unwritten}) == "text|ab|text");
    CHECK(text_of("1:2:8:8:%s|%s", {1, text, text, unwritten, unwritten}) == "text|text");
    CHECK(text_of("1:3:8:4:8:%s|%5d|%s", {1, text, 7, text, ab, unwritten}) == "text|    7|textab");
    const std::array abcde{'a', 'b', 'c', 'd', 'e', '\0', '\0', '\0'};
    for (const int number : {7, 40, 100, 300})
        CHECK(text_of("1:3:8:4:8:%s; %d %s", {1, text, number, abcde, unwritten}) ==
              "text; " + std::to_string(number) + " abcde");
    CHECK(text_of("1:4:4:4:8:4:%*d%s|%d", {1, 3, 5, text, 40, unwritten}) == "  5text|40");
    // Of newer compilers, whose records are written to their ends.
    CHECK(text_of("1:2:4:4:%s|%d", {1, text, 7}) == "text|7");
    CHECK(text_of("1:2:8:4:%s|%d", {1, text, text, 7}) == "texttext|7");
    // An argument that has that value by chance.
    CHECK(text_of("1:1:4:%x", {1, unwritten}) == "b5c3a59d");
}

TEST_CASE("a format is what the source says", "[printf_formats]") {
    CHECK(text_of("1:0:a\\72 b\\n%%\\a\\\\", {1}) == "a: b\n%\a\\\\");
    CHECK(text_of("1:1:4:%d%%", {1, 50}) == "50%");
}

TEST_CASE("records follow each other", "[printf_formats]") {
    const std::vector<std::string> lines = {"1:1:4:%d\\n", "2:0:done"};
    Records records(1, 7);
    records.add(2).add(1).add(8);
    CHECK(printed(lines, records).texts == std::vector<std::string>{"7\n", "done", "8\n"});
}

TEST_CASE("a buffer and formats that are wrong are not trusted", "[printf_formats]") {
    const std::vector<std::string> lines = {"1:1:4:%d\\n", "no format", "x:1:4:%d", "3:1:3:%d", "4:1:-4:%d", ""};
    CHECK(printed(lines, {1, 7}).whole);
    Records unknown(1, 7);
    unknown.add(9).add(1).add(8);
    const Printed found = printed(lines, unknown);
    CHECK_FALSE(found.whole);
    CHECK(found.texts == std::vector<std::string>{"7\n"});
    CHECK_FALSE(printed(lines, Records(1)).whole);  // cut off
    CHECK_FALSE(printed(lines, {3, 7}).whole);
    CHECK(text_of("1:1:4:%d %d %s", {1, 7}) == "7 %d %s");
    CHECK(text_of("1:2:4:4:%d", {1, 7, 8}) == "7");
    CHECK(text_of("1:1:4:%v4d %", {1, 7}) == "7,0,0,0 %");
    CHECK(text_of("1:1:12:%d", {1, 7, 8, 9}) == "(12 bytes)");
    CHECK(text_of("1:0:%v", {1}) == "%v");
    CHECK(text_of("1:2:4:4:%n %d", {1, 7, 8}) == "%n 8");
    CHECK(text_of("1:2:4:4:%b|%d", {1, 7, 8}) == "%b|8");
    CHECK(text_of("1:1:4:%999999999999v4f", {1, 7}).size() <= 4 * 4096 + 3);
}
