#include "tools/kfdemu/base/defect.hpp"

#include "tests/support/catch.hpp"

using namespace kfdemu;

namespace {
Defect parsed_defect(std::string_view text) {
    auto result = parse_defect(text);
    INFO(text);
    REQUIRE(std::holds_alternative<Defect>(result));
    return std::get<Defect>(result);
}
}  // namespace

TEST_CASE("a defect is read from its text and written back", "[kfdemu][options]") {
    CHECK(parsed_defect("interrupts:1-").kind == DefectKind::interrupts);
    CHECK(parsed_defect("interrupts:1-").turns.count == Turns::kAll);
    CHECK(parsed_defect("copies:2").kind == DefectKind::copies);
    CHECK(parsed_defect("copies:2").turns.nth == 2);
    CHECK(parsed_defect("dispatches:3-5").turns.count == 3);
    CHECK(parsed_defect("queues").kind == DefectKind::queues);
    for (const char* text : {"interrupts:1-", "copies:2", "dispatches:3-5", "queues", "engines"})
        CHECK(to_string(parsed_defect(text)) == text);
}

TEST_CASE("a defect that cannot be meant is explained", "[kfdemu][options]") {
    using test_support::Contains;
    const auto refused = [](std::string_view text) { return std::get<std::string>(parse_defect(text)); };
    CHECK_THAT(refused("heat"), Contains("interrupts:WHICH"));
    CHECK_THAT(refused("copies"), Contains("which of them"));
    CHECK_THAT(refused("copies:0"), Contains("which of them"));
    CHECK_THAT(refused("queues:1"), Contains("nothing may follow"));
}
