// Json: values, printing and parsing.
#include "tools/common/json.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using tools::Json;
using tools::JsonError;

TEST_CASE("a braced list of pairs with texts in front is an object, any other an array", "[json]") {
    CHECK(Json{{"a", 1}, {"b", nullptr}}.dump() == R"({"a":1,"b":null})");
    CHECK(Json{1, 2}.dump() == "[1,2]");
    CHECK(Json{{"a", 1}, 2}.dump() == R"([["a",1],2])");
    CHECK(Json::array({{{"a", 1}}, {{"b", 2}}}).dump() == R"([{"a":1},{"b":2}])");
    CHECK(Json(std::vector<std::string>{"a", "b"}).dump() == R"(["a","b"])");
}

TEST_CASE("keys keep their order of insertion", "[json]") {
    Json report{{"z", 1}, {"a", 2}};
    report["m"] = 3;
    report["z"] = Json::array();
    report["z"].push_back({{"x", true}});
    report["z"].back()["y"] = "text";
    report.update({{"a", 4}, {"b", 5}});
    CHECK(report.dump() == R"({"z":[{"x":true,"y":"text"}],"a":4,"m":3,"b":5})");
    CHECK(report.dump(2).starts_with("{\n  \"z\": [\n    {\n      \"x\": true,"));
}

TEST_CASE("numbers survive a round trip", "[json]") {
    const Json numbers = Json::array(
        {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max(), 0.1, 1.0, 1e300, -3, 4u});
    const std::string text = "[-9223372036854775808,18446744073709551615,0.1,1.0,1e+300,-3,4]";
    CHECK(numbers.dump() == text);
    CHECK(Json::parse(text) == numbers);
    CHECK(numbers[1].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
    CHECK(Json(4u) == 4);
    CHECK(Json(4) == 4.0);
    CHECK_FALSE(Json(-1) == std::numeric_limits<std::uint64_t>::max());
    CHECK(Json(std::numeric_limits<double>::quiet_NaN()).dump() == "null");
}

TEST_CASE("texts are escaped, and invalid UTF-8 is replaced", "[json]") {
    CHECK(Json("a\"\\\n\x01\xff").dump() == "\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\"");
    CHECK(Json::parse(R"("a\u00e9\n")") == "a\xc3\xa9\n");
}

TEST_CASE("missing values and values of another type are refused", "[json]") {
    const Json object{{"a", 1}};
    CHECK(object.find("b") == nullptr);
    CHECK_FALSE(object.contains("b"));
    CHECK_THROWS_AS(object.at("b"), JsonError);
    CHECK_THROWS_AS(object.at("a").get<std::string>(), JsonError);
    CHECK_THROWS_AS(Json("1").get<int>(), JsonError);
    CHECK_THROWS_AS(Json(1).at("a"), JsonError);
    CHECK_THROWS_AS(Json::array({1})[1], JsonError);
    CHECK_THROWS_AS(Json(1).push_back(2), JsonError);
    CHECK_THROWS_AS(Json::parse("{\"a\":"), JsonError);
    CHECK_FALSE(Json::try_parse("nonsense"));
    CHECK(Json::try_parse("[]")->empty());
}

TEST_CASE("elements convert to C++ values", "[json]") {
    const Json json = Json::parse(R"({"names": ["a", "b"], "number": 7, "text": "t"})");
    CHECK(json["names"].get<std::vector<std::string>>() == std::vector<std::string>{"a", "b"});
    const std::string text = json.at("text");
    const unsigned number = json.at("number");
    CHECK(text == "t");
    CHECK(number == 7);
}
