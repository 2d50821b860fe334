#include "tools/common/table.hpp"

#include "tests/support/catch.hpp"

using namespace tools;

namespace {

Table kernels() {
    Table table({{"kernel"}, {"VGPRs", Align::right}, {"limit"}});
    table.add({"saxpy", "8", "wave slots"});
    table.add({"a_long_name", "128", "vector registers"});
    return table;
}

}  // namespace

TEST_CASE("columns are as wide as their widest cell, numbers to the right") {
    CHECK(kernels().text() ==
          "  kernel       VGPRs  limit\n"
          "  saxpy            8  wave slots\n"
          "  a_long_name    128  vector registers\n");
}

TEST_CASE("in fewer columns long names have separate lines, and the last column wraps") {
    CHECK(kernels().text(2, 34) ==
          "  kernel  VGPRs  limit\n"
          "  saxpy       8  wave slots\n"
          "  a_long_name\n"
          "            128  vector registers\n");
    CHECK(kernels().text(2, 28) ==
          "  kernel  VGPRs  limit\n"
          "  saxpy       8  wave slots\n"
          "  a_long_name\n"
          "            128  vector\n"
          "                 registers\n");
}

TEST_CASE("an empty last cell leaves no trailing blanks") {
    Table table({{"a"}, {"b"}});
    table.add({"1", ""});
    CHECK(table.text(0) == "a  b\n1\n");
    CHECK(table.text(0, 50) == "a  b\n1\n");
}

TEST_CASE("rows without heads, some columns to the right") {
    CHECK(aligned({{"a", "1", "x"}, {"bbb", "10", ""}}, 2, {1}) == "  a     1  x\n  bbb  10\n");
    CHECK(aligned({}, 2).empty());
}

TEST_CASE("UTF-8 characters are one column wide") {
    CHECK(width_of("größe") == 5);
    Table table({{"a"}, {"b"}});
    table.add({"ü", "x"});
    table.add({"ab", "y"});
    CHECK(table.text(0) == "a   b\nü   x\nab  y\n");
}

TEST_CASE("words are wrapped below the first") {
    CHECK(wrapped("- ", "one two three", 9) == "- one two\n  three\n");
    CHECK(wrapped("- ", "one", 2) == "- one\n");
    CHECK(wrapped("- ", "a_very_long_word and", 10) == "- a_very_long_word\n  and\n");
    CHECK(wrapped("- ", "", 10) == "- \n");
}
