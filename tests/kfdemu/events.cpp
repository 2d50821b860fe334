#include "tools/kfdemu/resources/events.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace kfdemu;

namespace {
abi::EventData waiting_for(std::uint32_t id) {
    abi::EventData data{};
    data.event_id = id;
    return data;
}
std::optional<abi::WaitResult> wait(Events& events, std::uint32_t id, std::uint32_t timeout_ms) {
    abi::EventData data[] = {waiting_for(id)};
    return events.wait(data, true, timeout_ms);
}
}  // namespace

TEST_CASE("an auto-reset event satisfies one wait, a manual one stays set", "[kfdemu][events]") {
    Events events;
    const auto once = *events.create(abi::kEventSignal, true), stays = *events.create(abi::kEventSignal, false);
    events.signal(once);
    events.signal(stays);
    CHECK(wait(events, once, 0) == abi::kWaitComplete);
    CHECK(wait(events, once, 0) == abi::kWaitTimeout);
    CHECK(wait(events, stays, 0) == abi::kWaitComplete);
    CHECK(wait(events, stays, 0) == abi::kWaitComplete);
    CHECK(events.reset(stays));
    CHECK(wait(events, stays, 1) == abi::kWaitTimeout);
}

TEST_CASE("waiting for all needs all, waiting for any needs one", "[kfdemu][events]") {
    Events events;
    const auto a = *events.create(abi::kEventSignal, true), b = *events.create(abi::kEventSignal, true);
    abi::EventData both[] = {waiting_for(a), waiting_for(b)};
    events.signal(a);
    CHECK(events.wait(both, true, 1) == abi::kWaitTimeout);
    events.signal(a);
    CHECK(events.wait(both, false, 1) == abi::kWaitComplete);
    events.signal(a);
    events.signal(b);
    CHECK(events.wait(both, true, 1) == abi::kWaitComplete);
}

TEST_CASE("one interrupt wakes every thread that waits for it", "[kfdemu][events]") {
    Events events;
    const auto id = *events.create(abi::kEventSignal, true);
    std::atomic<int> woken{0};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 8; ++i) waiters.emplace_back([&] { woken += wait(events, id, 10'000) == abi::kWaitComplete; });
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    events.signal(id);
    // A waiter that missed the first interrupt gets the next one.
    while (woken != 8) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        events.signal(id);
    }
    for (auto& waiter : waiters) waiter.join();
    CHECK(woken == 8);
}

TEST_CASE("a waiter with an event's age wakes for an event that another thread consumed", "[kfdemu][events]") {
    Events events;
    const auto id = *events.create(abi::kEventSignal, true);
    abi::EventData mine[] = {waiting_for(id)};
    mine[0].last_event_age = 1;  // as the thunk begins
    CHECK(events.wait(mine, true, 1) == abi::kWaitTimeout);
    CHECK(mine[0].last_event_age == 1);
    events.signal(id);
    REQUIRE(wait(events, id, 0) == abi::kWaitComplete);  // the other thread
    CHECK(wait(events, id, 1) == abi::kWaitTimeout);     // auto-reset, without an age
    REQUIRE(events.wait(mine, true, 1) == abi::kWaitComplete);
    CHECK(mine[0].last_event_age == 2);
    CHECK(events.wait(mine, true, 1) == abi::kWaitTimeout);

    std::thread device{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        for (int i = 0; i < 3; ++i) events.signal(id);
    }};
    CHECK(events.wait(mine, true, abi::kInfiniteTimeoutMs) == abi::kWaitComplete);
    CHECK((mine[0].last_event_age >= 3 && mine[0].last_event_age <= 5));
    device.join();
}

TEST_CASE("a sleeping waiter is woken by the interrupt", "[kfdemu][events]") {
    Events events;
    const auto id = *events.create(abi::kEventSignal, true);
    std::thread device{[&] { events.signal(id); }};
    CHECK(wait(events, id, abi::kInfiniteTimeoutMs) == abi::kWaitComplete);
    device.join();
}

TEST_CASE("a destroyed event fails its waiters and is unknown from then on", "[kfdemu][events]") {
    Events events;
    const auto id = *events.create(abi::kEventSignal, true);
    std::optional<abi::WaitResult> result;
    std::thread waiter{[&] { result = wait(events, id, 10'000); }};
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    CHECK(events.destroy(id));
    waiter.join();
    // Either it slept and the wait failed, or it came too late for the event.
    CHECK((!result || *result == abi::kWaitFail));
    CHECK_FALSE(events.destroy(id));
    CHECK_FALSE(wait(events, id, 0));
}

TEST_CASE("there are 4095 signal events, and room again after one is destroyed", "[kfdemu][events]") {
    Events events;
    std::vector<std::uint32_t> ids;
    while (auto id = events.create(abi::kEventSignal, true)) ids.push_back(*id);
    CHECK(ids.size() == abi::kSignalEventLimit - 1);
    for (auto id : ids) CHECK((id > 0 && id < abi::kSignalEventLimit));
    events.destroy(ids[17]);
    CHECK(events.create(abi::kEventSignal, true) == ids[17]);
}

TEST_CASE("a memory exception reaches every memory event with its data", "[kfdemu][events]") {
    Events events;
    const auto memory = *events.create(abi::kEventMemory, true), other = *events.create(abi::kEventHwException, true);
    events.raise(abi::MemoryException{1, 0, 0, 0, 0xdead000, 0xe001, 0});
    abi::EventData data[] = {waiting_for(memory), waiting_for(other)};
    REQUIRE(events.wait(data, false, 0) == abi::kWaitComplete);
    CHECK(data[0].memory.va == 0xdead000);
    CHECK(data[0].memory.gpu_id == 0xe001);
    CHECK(data[0].memory.not_present == 1);
    CHECK(data[1].hw.gpu_id == 0);
}

TEST_CASE("a program sets and resets its signal events, and no others", "[kfdemu][events]") {
    Events events;
    for (const std::uint32_t type : {abi::kEventMemory, abi::kEventHwException, abi::kEventDebug}) {
        CAPTURE(type);
        const auto id = *events.create(type, false);
        CHECK_FALSE(events.set(id));
        CHECK(wait(events, id, 0) == abi::kWaitTimeout);
        CHECK_FALSE(events.reset(id));
    }
    const auto memory = *events.create(abi::kEventMemory, false);
    CHECK(static_cast<std::int32_t>(memory) > 0);
    events.raise(abi::MemoryException{1, 0, 0, 0, 0xdead000, 0xe001, 0});
    CHECK_FALSE(events.reset(memory));
    CHECK(wait(events, memory, 0) == abi::kWaitComplete);
}

TEST_CASE("a wait for no event is complete", "[kfdemu][events]") {
    Events events;
    for (const bool all : {true, false}) CHECK(events.wait({}, all, 250) == abi::kWaitComplete);
}

TEST_CASE("an interrupt whose id names no stored slot signals all events with one", "[kfdemu][events]") {
    Events events;
    const auto old = *events.create(abi::kEventSignal, true);
    std::vector<std::uint64_t> slots(abi::kSignalEventLimit);
    const auto page = std::make_shared<Buffer>();
    page->host = reinterpret_cast<std::byte*>(slots.data());
    REQUIRE(events.use_page(page));
    CHECK_FALSE(events.use_page(page));
    std::vector<std::uint32_t> ids{old};
    while (ids.size() < 600) ids.push_back(*events.create(abi::kEventSignal, true));
    const auto first = ids[300], second = ids[500], named = first & 0xff;
    REQUIRE(first > 255);
    REQUIRE(std::count(ids.begin(), ids.end(), named) == 1);

    slots[first] = first;
    slots[second] = second;
    events.signal(named);
    CHECK(wait(events, named, 0) == abi::kWaitTimeout);
    CHECK(wait(events, first, 0) == abi::kWaitComplete);
    CHECK(wait(events, second, 0) == abi::kWaitComplete);
    events.signal(named);  // each slot counts once
    events.signal(first);
    CHECK(wait(events, first, 0) == abi::kWaitTimeout);

    slots[first] = slots[named] = 1;
    events.signal(named);  // the named event alone
    CHECK(wait(events, named, 0) == abi::kWaitComplete);
    CHECK(wait(events, first, 0) == abi::kWaitTimeout);
    events.signal(0x123456);
    CHECK(wait(events, first, 0) == abi::kWaitComplete);

    slots[second] = 1;
    events.destroy(second);
    while (ids.back() != second) ids.push_back(*events.create(abi::kEventSignal, true));
    events.signal(second);
    CHECK(wait(events, second, 0) == abi::kWaitTimeout);  // a new event's slot is not that of the old one
}

TEST_CASE("a wait for events that are never signalled times out at the caller's time", "[kfdemu][events]") {
    using Clock = std::chrono::steady_clock;
    for (const bool auto_reset : {true, false})
        for (const bool all : {true, false}) {
            CAPTURE(auto_reset, all);
            Events events;
            std::array<abi::EventData, 2> both{waiting_for(*events.create(abi::kEventSignal, auto_reset)),
                                               waiting_for(*events.create(abi::kEventSignal, auto_reset))};
            const auto start = Clock::now();
            CHECK(events.wait(both, all, 250) == abi::kWaitTimeout);
            CHECK(Clock::now() - start >= std::chrono::milliseconds{250});
        }
}

TEST_CASE("a wait for all events times out if only one was signalled", "[kfdemu][events]") {
    Events events;
    const auto once = *events.create(abi::kEventSignal, true), never = *events.create(abi::kEventSignal, true);
    events.signal(once);
    std::array<abi::EventData, 2> both{waiting_for(once), waiting_for(never)};
    CHECK(events.wait(both, true, 250) == abi::kWaitTimeout);
}

TEST_CASE("a wait times out if another thread took the event's only wake-up", "[kfdemu][events]") {
    Events events;
    const auto id = *events.create(abi::kEventSignal, true);
    events.signal(id);
    std::thread{[&] { wait(events, id, 0); }}.join();
    CHECK(wait(events, id, 250) == abi::kWaitTimeout);
}

TEST_CASE("a wait without end returns once if another thread took the wake-up before it", "[kfdemu][events]") {
    Events events;
    const auto id = *events.create(abi::kEventSignal, true);
    events.signal(id);
    std::thread{[&] { wait(events, id, 0); }}.join();
    CHECK(wait(events, id, abi::kInfiniteTimeoutMs) == abi::kWaitComplete);
    std::thread device{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{250});
        events.destroy(id);
    }};
    CHECK(wait(events, id, abi::kInfiniteTimeoutMs) == abi::kWaitFail);
    device.join();
}
