// `race`: accesses of LDS by two waves that no barrier orders.
#include "tests/kfdemu/check/checked.hpp"
#include "tests/kfdemu/check/racing.hpp"
#include "tools/kfdemu/check/race/group_order.hpp"
#include "tools/kfdemu/check/race/pending_stores.hpp"

using namespace check_test;

namespace {

constexpr const char* kRaceCorrect[] = {"own_rows", "only_atomics", "all_read", "same_value",
                                        "in_turn",  "greatest",     "arrived"};

Outcome run_race(Checked& gpu, const CodeObject& code, const std::string& kernel, std::uint32_t workitems = 256) {
    std::vector<std::uint32_t> values(256);
    for (std::uint32_t n = 0; n < 256; ++n) values[n] = n * 7 + 1;
    auto* in = gpu.machine.copy(values);
    auto* out = gpu.machine.allocate<std::uint32_t>(256);
    return code.try_launch(kernel, {.grid = {workitems * 3}, .group = {workitems}}, in, out);
}

}  // namespace

TEST_CASE("accesses without a barrier between are reported with both sides", "[check][race]") {
    on_each_build(Check::race, "race", [](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : kRacing) {
            gpu.forget();
            require_finished(run_race(gpu, code, kernel), kernel);
            INFO(kernel << "\n" << gpu.text());
            REQUIRE_FALSE(gpu.rules().empty());
            for (const Finding& found : gpu.findings()) {
                REQUIRE(std::string{found.rule} == "lds-race");
                REQUIRE(found.related.size() == 1);
                const std::string& other = found.related.front().what;
                REQUIRE(other.find(" of wave ") != std::string::npos);
                REQUIRE(other.find(" of wave " + std::to_string(found.wave)) == std::string::npos);
            }
        }
    });
}

TEST_CASE("with the barrier they are silent", "[check][race]") {
    on_each_build(Check::race, "race", [](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : kRacing) {
            require_finished(run_race(gpu, code, std::string{kernel} + "_mended"), kernel);
            INFO(kernel << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
    });
}

TEST_CASE("correct kernels without barriers are silent", "[check][race]") {
    on_each_build(Check::race, "race", [](Checked& gpu, const CodeObject& code) {
        for (const char* kernel : kRaceCorrect) {
            require_finished(run_race(gpu, code, kernel), kernel);
            INFO(kernel << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
    });
}

TEST_CASE("a write that is not waited for may happen after the barrier", "[check][race]") {
    for (const Variant target : variants()) {
        Checked gpu{target, Check::race};
        const CodeObject code = gpu.load("race_wait");
        require_finished(run_race(gpu, code, "late_write_mended", 128), "late_write_mended");
        INFO(gpu.text());
        REQUIRE(gpu.rules().empty());
        require_finished(run_race(gpu, code, "late_write", 128), "late_write");
        REQUIRE(gpu.rules() == Rules{"lds-race-before-wait"});
    }
}

TEST_CASE("a barrier in two steps orders what comes before the first", "[check][race]") {
    for (const Variant target : variants()) {
        if (!kfdemu::isa::traits_of(target).split_barriers) continue;
        Checked gpu{target, Check::race};
        const CodeObject code = gpu.load("race_wait");
        require_finished(run_race(gpu, code, "write_after_signal_mended", 128), "write_after_signal_mended");
        INFO(gpu.text());
        REQUIRE(gpu.rules().empty());
        require_finished(run_race(gpu, code, "write_after_signal", 128), "write_after_signal");
        REQUIRE(gpu.rules() == Rules{"lds-race"});
    }
}

TEST_CASE("between the steps of a barrier, a wave is in two epochs", "[check][race]") {
    using kfdemu::check::GroupOrder;
    using Is = GroupOrder::Is;
    GroupOrder order;
    order.begin(2);
    const auto access = [&](unsigned wave) {
        order.issue(wave, true);
        order.waited(wave, 0);
        return order.now(wave);
    };
    const auto between = [&](const GroupOrder::Stamp& earlier, unsigned wave) {
        return order.between(earlier, wave, GroupOrder::Waits::Needed);
    };
    const GroupOrder::Stamp first = access(0);
    order.arrive(0);
    const GroupOrder::Stamp second = access(0);
    REQUIRE(between(first, 1) == Is::NoBarrier);
    order.arrive(1);
    REQUIRE(between(first, 1) == Is::NoBarrier);
    order.pass(1);
    REQUIRE(between(first, 1) == Is::Ordered);
    REQUIRE(between(second, 1) == Is::NoBarrier);

    // Wave 0 has not passed; what atomics tell holds for it and for wave 1.
    GroupOrder::Channel channel;
    order.exchange(0, channel);
    const GroupOrder::Stamp third = access(1);
    REQUIRE(between(third, 0) == Is::NoBarrier);
    order.exchange(1, channel);
    REQUIRE(between(second, 1) == Is::Ordered);
    const std::uint32_t knowledge = order.knowledge(1);
    order.exchange(0, channel);
    REQUIRE(between(third, 0) == Is::Ordered);
    order.pass(0);
    access(0);
    order.arrive(0), order.arrive(1), order.pass(1);
    access(1);  // what versions of the former epoch say is forgotten, and nothing breaks
    order.follow(0, third, knowledge);
    REQUIRE(order.between(second, 1, GroupOrder::Waits::Needed) == Is::Ordered);
}

TEST_CASE("a work-group has up to 32 waves", "[check][race]") {
    using kfdemu::check::GroupOrder;
    GroupOrder order;
    order.begin(32);
    for (unsigned wave = 0; wave < 32; ++wave) order.issue(wave, true);
    const GroupOrder::Stamp last = order.now(31);
    REQUIRE(order.between(last, 0, GroupOrder::Waits::Needed) == GroupOrder::Is::NoBarrier);
    for (unsigned wave = 0; wave < 32; ++wave) order.waited(wave, 0), order.barrier(wave);
    REQUIRE(order.between(last, 0, GroupOrder::Waits::Needed) == GroupOrder::Is::Ordered);
    kfdemu::check::PendingStores stores;
    stores.begin();
    stores.issue(31, kfdemu::check::PendingStores::Does::Stores);
    REQUIRE(stores.any(31));
    REQUIRE_FALSE(stores.any(15));
    REQUIRE(stores.waited(31, 0).stores);
}
