#include "tools/kfdemu/base/behaviour.hpp"

#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/options.hpp"

using namespace kfdemu;

namespace {

Behaviours changed(std::string_view text) {
    Behaviours behaviours = Behaviours::defaults();
    INFO(text);
    REQUIRE(change(behaviours, text).empty());
    return behaviours;
}

Options parsed(std::string_view text) { return std::get<Options>(parse_options(text)); }

}  // namespace

TEST_CASE("behaviours of real GPUs without a cost are on by default", "[kfdemu][options]") {
    const Options options = parsed("");
    for (const Behaviour what : {Behaviour::fault_stops_all, Behaviour::doorbell, Behaviour::invalid_headers})
        CHECK(options.behaviours.has(what));
    for (const Behaviour what : {Behaviour::barrier_value, Behaviour::seeded_garbage, Behaviour::seeded_order,
                                 Behaviour::private_vram, Behaviour::write_index, Behaviour::torn_packet})
        CHECK_FALSE(options.behaviours.has(what));
}

TEST_CASE("behaviours are chosen by name, from left to right", "[kfdemu][options]") {
    CHECK(changed("barrier-value").has(Behaviour::barrier_value));
    CHECK(changed("barrier-value").has(Behaviour::doorbell));
    CHECK_FALSE(changed("no-doorbell").has(Behaviour::doorbell));
    CHECK(changed("none") == Behaviours{});
    CHECK(changed("all") == Behaviours::all());
    CHECK(changed("none+doorbell").has(Behaviour::doorbell));
    CHECK_FALSE(changed("none+doorbell").has(Behaviour::fault_stops_all));
    CHECK_FALSE(changed("all+no-seeded-order").has(Behaviour::seeded_order));
}

TEST_CASE("torn packets are not part of strict", "[kfdemu][options]") {
    CHECK_FALSE(parsed("strict").behaviours.has(Behaviour::torn_packet));
    CHECK(parsed("strict=torn-packet").behaviours.has(Behaviour::torn_packet));
    const Options both = parsed("strict,strict=torn-packet");
    CHECK(both.behaviours == changed("all+torn-packet"));
    CHECK_FALSE(both.behaviours == Behaviours::all());
}

TEST_CASE("a choice of behaviours is written back", "[kfdemu][options]") {
    for (const char* text : {"all", "no-doorbell", "barrier-value+seeded-order", "no-fault-stops-all+private-vram"})
        CHECK(to_string(changed(text)) == text);
    CHECK(to_string(Behaviours::defaults()).empty());
    CHECK(changed(to_string(changed("none"))) == Behaviours{});
}

TEST_CASE("KFDEMU selects strict, or single behaviours", "[kfdemu][options]") {
    CHECK(parsed("strict").behaviours == Behaviours::all());
    CHECK(parsed("strict").private_vram());
    CHECK(parsed("on,strict=seeded-garbage").behaviours == changed("seeded-garbage"));
    CHECK_FALSE(parsed("strict,strict=no-seeded-order").behaviours.has(Behaviour::seeded_order));
    CHECK_FALSE(parsed("strict,vram-access=host").private_vram());
    for (const char* text :
         {"on", "strict", "strict,vram-access=host", "vram-access=private", "strict=none",
          "strict=none,vram-access=private", "strict=barrier-value+no-doorbell", "strict,strict=torn-packet"})
        CHECK(parsed(to_string(parsed(text))).behaviours == parsed(text).behaviours);
}

TEST_CASE("a behaviour that is unknown is refused with those that are", "[kfdemu][options]") {
    using test_support::Contains;
    for (const char* text : {"strict=harsh", "strict=", "strict=doorbell+", "strict=no-all"}) {
        const auto refused = parse_options(text);
        REQUIRE(std::holds_alternative<std::string>(refused));
        CHECK_THAT(std::get<std::string>(refused), Contains("fault-stops-all, doorbell"));
    }
}
