// Misspelt words, and JSON in lines.
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tools/common/json_lines.hpp"
#include "tools/common/nearest.hpp"

using namespace tools;

TEST_CASE("the nearest word is found within a limit") {
    const std::vector<std::string> words{"vector_add", "vector_and", "reverse", "saxpy"};
    const auto [word, meant] = GENERATE(table<std::string, std::string>({{"saxpi", "saxpy"},
                                                                         {"sxpy", "saxpy"},
                                                                         {"vector_ad", "vector_add"},
                                                                         {"vector_anb", "vector_and"},
                                                                         {"revers", "reverse"},
                                                                         {"matrix", ""},
                                                                         {"", ""}}));
    CHECK(nearest(word, words) == meant);
    CHECK(nearest("anything", {}).empty());
    CHECK(nearest(std::string(100000, 'x'), words).empty());
}

TEST_CASE("long words may differ in more letters") {
    const std::vector<std::string> words{"matrix_multiplication_kernel"};
    CHECK(nearest("matrix_multiplikation_kernels_", words) == words[0]);
}

TEST_CASE("objects in arrays have one line each, other values do not") {
    const Json json{{"name", "k"},
                    {"sizes", {1, 2}},
                    {"kernels", Json::array({{{"a", 1}, {"b", Json::array({{{"c", nullptr}}})}}, {{"a", 2}}})}};
    CHECK(json_lines(json) ==
          "{\"name\": \"k\", \"sizes\": [1, 2], \"kernels\": [\n"
          "  {\"a\": 1, \"b\": [\n"
          "    {\"c\": null}]},\n"
          "  {\"a\": 2}]}\n");
    CHECK(Json::parse(json_lines(json)) == json);
    CHECK(json_lines({{"empty", Json::array()}, {"none", Json::object()}}) == "{\"empty\": [], \"none\": {}}\n");
}

TEST_CASE("invalid UTF-8 becomes valid JSON") {
    CHECK(json_lines({{"name", "\xff"}, {"b", 1}}) == "{\"name\": \"\xef\xbf\xbd\", \"b\": 1}\n");
}
