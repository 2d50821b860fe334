// The order of a stream's calls, with the threads that pass others.
#include "hsadrv/stream/call_order.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace hsadrv::detail;
using namespace std::chrono_literals;

namespace {

/// A stream's order, and calls of other threads that wait in it until they are told to go on.
struct Calls {
    LaneMutex mutex;
    CallOrder order{mutex};

    struct Call {
        std::promise<void> go_on;
        std::future<bool> late;  // when it has ended
        void begins_to_end() { go_on.set_value(); }
        bool ends() { return late.wait_for(20s) == std::future_status::ready; }
    };

    /// Returns when it waits. It passes others as a host function's does.
    std::unique_ptr<Call> waits(Deadline deadline = {}, CallOrder::While what = CallOrder::While::waiting) {
        auto call = std::make_unique<Call>();
        std::promise<void> waiting;
        call->late = std::async(std::launch::async, [this, deadline, what, &waiting, go = call->go_on.get_future()] {
            const auto held = order.lock(Deadline(20s), true);
            bool late = false;
            {
                const CallOrder::Away away(order, deadline, late, what);
                waiting.set_value();
                go.wait();
            }
            return late;
        });
        waiting.get_future().wait();
        return call;
    }
    /// Whether another thread gets the order, with that deadline.
    bool is_free(Deadline deadline = 1ms, bool joins = false) {
        return std::async(std::launch::async, [&] { return order.lock(deadline, joins).owns_lock(); }).get();
    }
};

}  // namespace

TEST_CASE("calls that passed each other end, and then no thread has the order", "[call_order]") {
    Calls f;
    const auto bottom = f.waits(), first = f.waits(), second = f.waits();
    CHECK_FALSE(f.is_free());
    for (Calls::Call* call : {first.get(), second.get(), bottom.get()}) call->begins_to_end();
    for (Calls::Call* call : {first.get(), second.get(), bottom.get()}) CHECK(call->ends());
    CHECK(f.is_free(Deadline(20s)));
}

TEST_CASE("a call that was passed gives up at its deadline, and leaves nothing behind", "[call_order]") {
    Calls f;
    const auto passed = f.waits(50ms);
    const auto passing = f.waits(Deadline::never(), CallOrder::While::working);
    passed->begins_to_end();
    REQUIRE(passed->ends());
    CHECK(passed->late.get());
    CHECK_FALSE(f.is_free());
    passing->begins_to_end();
    REQUIRE(passing->ends());
    CHECK_FALSE(passing->late.get());
    CHECK(f.is_free(Deadline(20s)));
}

TEST_CASE("what joins enqueued work passes a call that waits, and none that works", "[call_order]") {
    for (const auto what : {CallOrder::While::waiting, CallOrder::While::working}) {
        Calls f;
        const auto call = f.waits({}, what);
        CHECK_FALSE(f.is_free());
        CHECK(f.is_free(1ms, true) == (what == CallOrder::While::waiting));
        call->begins_to_end();
        CHECK(call->ends());
    }
}

TEST_CASE("a composite call's parts are its thread's, and it ends while another has the order", "[call_order]") {
    Calls f, branch;
    std::unique_ptr<Calls::Call> passing;
    {
        const CallOrder::Composite composite(f.order, f.order.lock({}));
        {
            const auto part = f.order.lock({});
            CHECK(f.order.is_part());
        }
        CHECK_FALSE(f.is_free(1ms, true));  // no call goes between while it does not wait
        bool late = false;
        {
            const auto part = branch.order.lock({});
            const CallOrder::Away away(branch.order, 1ms, late);
            passing = f.waits({}, CallOrder::While::working);
        }
        CHECK(late);
    }
    CHECK_FALSE(f.is_free());
    passing->begins_to_end();
    CHECK(passing->ends());
    CHECK(f.is_free(Deadline(20s)));
}
