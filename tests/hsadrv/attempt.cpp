// Calls that may never return: results, deadlines, and what is undone.
#include "hsadrv/base/attempt.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace std::chrono_literals;
using detail::attempt;

namespace {

/// A call that returns 7 when it is let go.
struct Blocked {
    std::shared_ptr<std::promise<void>> go = std::make_shared<std::promise<void>>();
    std::shared_ptr<std::promise<int>> undone = std::make_shared<std::promise<int>>();

    std::optional<int> attempt_until(Deadline deadline, const std::function<bool()>& hopeless = {}) const {
        return attempt<int>([go = go] { return go->get_future().wait(), 7; }, deadline, hopeless,
                            [undone = undone](int result) { undone->set_value(result); });
    }
};

}  // namespace

TEST_CASE("an attempt returns what its call returns, with and without a deadline", "[attempt]") {
    std::atomic<int> undone{0};
    const auto undo = [&](int) { ++undone; };
    CHECK(attempt<int>([] { return 3; }, {}) == 3);
    CHECK(attempt<int>([] { return std::this_thread::sleep_for(20ms), 4; }, 10s, [] { return false; }, undo) == 4);
    CHECK(undone == 0);
}

TEST_CASE("an attempt that is given up is undone when its call returns", "[attempt]") {
    const Blocked at_deadline, hopeless;
    CHECK_FALSE(at_deadline.attempt_until(5ms));
    CHECK_FALSE(hopeless.attempt_until({}, [] { return true; }));
    for (const Blocked& call : {at_deadline, hopeless}) {
        auto undone = call.undone->get_future();
        CHECK(undone.wait_for(10ms) == std::future_status::timeout);
        call.go->set_value();
        REQUIRE(undone.wait_for(10s) == std::future_status::ready);
        CHECK(undone.get() == 7);
    }
}
