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

/// A kernel of race_wait.S is reported by that rule, and its mended twin by none.
void require_race_and_twin(const Variant& target, const std::string& kernel, const char* rule) {
    Checked gpu{target, Check::race};
    const CodeObject code = gpu.load("race_wait");
    require_finished(run_race(gpu, code, kernel + "_mended", 128), kernel + "_mended");
    INFO(gpu.text());
    REQUIRE(gpu.rules().empty());
    require_finished(run_race(gpu, code, kernel, 128), kernel);
    REQUIRE(gpu.rules() == Rules{rule});
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
    for (const Variant target : variants()) require_race_and_twin(target, "late_write", "lds-race-before-wait");
}

TEST_CASE("a barrier in two steps orders what comes before the first", "[check][race]") {
    for (const Variant target : variants())
        if (kfdemu::isa::traits_of(target).split_barriers)
            require_race_and_twin(target, "write_after_signal", "lds-race");
}

namespace {

/// Waves whose barriers have two steps.
struct Steps {
    using GroupOrder = kfdemu::check::GroupOrder;
    using Is = GroupOrder::Is;
    GroupOrder order;
    GroupOrder::Channel channel;
    unsigned waves;

    explicit Steps(unsigned count) : waves{count} { order.begin(count); }
    /// It has happened at once.
    GroupOrder::Stamp access(unsigned wave) {
        order.issue(wave, true);
        order.waited(wave, 0);
        return order.now(wave);
    }
    void signal_all() {
        for (unsigned wave = 0; wave < waves; ++wave) order.signal(wave);
    }
    void pass(unsigned wave) {
        order.wait(wave);
        access(wave);
    }
    void exchange(unsigned wave) {
        access(wave);
        order.exchange(wave, channel);
    }
    Is between(const GroupOrder::Stamp& earlier, unsigned wave) const {
        const Is is = order.between(earlier, wave, GroupOrder::Waits::Needed);
        REQUIRE(order.follows(wave, earlier.wave, earlier.number) == (is != Is::NoBarrier));
        if (is != Is::Ordered) REQUIRE(order.happened_before(wave)[earlier.wave] < earlier.number);
        return is;
    }
};

}  // namespace

TEST_CASE("a wave that has waited knows what the others knew when they signalled", "[check][race]") {
    Steps s{2};
    const auto first = s.access(0);
    s.order.signal(0);
    const auto second = s.access(0);
    REQUIRE(s.between(first, 1) == Steps::Is::NoBarrier);
    s.order.signal(1);
    REQUIRE(s.between(first, 1) == Steps::Is::NoBarrier);
    s.pass(1);
    REQUIRE(s.between(first, 1) == Steps::Is::Ordered);
    REQUIRE(s.between(second, 1) == Steps::Is::NoBarrier);

    s.pass(0);
    s.order.signal(0);
    const auto third = s.access(1);
    s.order.signal(1), s.pass(1), s.order.signal(1);  // two signals ahead
    REQUIRE(s.between(third, 0) == Steps::Is::NoBarrier);
    s.pass(0);
    REQUIRE(s.between(third, 0) == Steps::Is::Ordered);
}

TEST_CASE("between signal and wait, atomics order as elsewhere", "[check][race]") {
    Steps s{3};
    s.signal_all();
    const auto between = s.access(0);
    s.exchange(0);
    s.exchange(1);
    REQUIRE(s.between(between, 1) == Steps::Is::Ordered);
    s.pass(1);
    REQUIRE(s.between(between, 1) == Steps::Is::Ordered);

    Steps t{3};
    const auto before = t.access(2);
    t.signal_all();
    t.pass(1);
    t.exchange(1);
    REQUIRE(t.between(before, 0) == Steps::Is::NoBarrier);
    t.exchange(0);  // it has not waited, and wave 1 has
    REQUIRE(t.between(before, 0) == Steps::Is::Ordered);
}

TEST_CASE("what a flag's writer knew is kept while others may still poll it", "[check][race]") {
    Steps s{4};
    const auto written = s.access(3);
    s.exchange(3);
    s.exchange(2);
    const auto flag = s.access(2);
    const std::uint32_t knowledge = s.order.knowledge(2);
    s.signal_all();
    s.pass(1);
    REQUIRE(s.between(written, 0) == Steps::Is::NoBarrier);
    s.order.follow(0, flag, knowledge);
    REQUIRE(s.between(written, 0) == Steps::Is::Ordered);
}

TEST_CASE("a barrier in two steps opens as the work-group's does", "[check][race]") {
    Steps s{2};
    s.order.signal(0), s.order.signal(0);  // as many as there are waves
    s.pass(0);
    const auto later = s.access(0);
    s.signal_all();
    s.pass(1);
    REQUIRE(s.between(later, 1) == Steps::Is::Ordered);

    Steps t{2};
    const auto last = t.access(1);
    t.order.signal(0);
    t.order.ended(1);
    t.pass(0);
    REQUIRE(t.between(last, 0) == Steps::Is::Ordered);

    Steps u{2};
    u.order.issue(0, true);
    const auto unfinished = u.order.now(0);
    u.signal_all();
    u.pass(1);
    REQUIRE(u.between(unfinished, 1) == Steps::Is::NotWaited);
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
