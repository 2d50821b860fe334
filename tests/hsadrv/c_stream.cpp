// Streams of the C interface: host functions, deadlines, ends.
#include <atomic>
#include <chrono>
#include <thread>

#include "hsadrv/c/objects.hpp"
#include "tests/hsadrv/c_machine.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

TEST_CASE("a host function's failure is the stream's, and its pointer is released", "[c][device]") {
    NEEDS_C_MACHINE();
    struct Uses {
        int calls = 0, releases = 0;
    } uses;
    const auto fails = [](void* user) { return ++static_cast<Uses*>(user)->calls, 42; };
    const auto release = [](void* user) { ++static_cast<Uses*>(user)->releases; };
    CHECK(hsadrv_stream_call(m.stream, fails, &uses, release, patience_ns) == HSADRV_SUCCESS);
    CHECK_THAT(failure(HSADRV_ERROR_HOST_FUNCTION, hsadrv_stream_synchronize(m.stream, patience_ns)),
               Contains("the host function returned 42"));
    CHECK(failure(HSADRV_ERROR_HOST_FUNCTION, hsadrv_stream_call(m.stream, fails, &uses, release, patience_ns)) != "");
    CHECK(uses.calls == 1);
    struct Told {
        std::atomic<int> times = 0;
        hsadrv_result result = HSADRV_SUCCESS;
        std::string message;
    } told;
    const auto tell = [](hsadrv_result result, const char* message, void* user) {
        auto& to = *static_cast<Told*>(user);
        to.result = result;
        to.message = message;
        to.times = 1;
        to.times.notify_all();
    };
    CHECK(hsadrv_stream_on_complete(m.stream, tell, &told, patience_ns) == HSADRV_SUCCESS);
    told.times.wait(0);
    CHECK(told.result == HSADRV_ERROR_HOST_FUNCTION);
    CHECK_THAT(told.message, Contains("returned 42"));
    CHECK_THAT(failure(HSADRV_ERROR_STREAM_ENDED, hsadrv_stream_destroy(m.stream, patience_ns)),
               Contains("has failed"));
    CHECK(uses.releases == 1);  // of the call that succeeded alone
    CHECK(hsadrv_stream_create(m.gpu, nullptr, &m.stream) == HSADRV_SUCCESS);
}

TEST_CASE("a passed deadline is a result, and the call may be repeated", "[c][device]") {
    NEEDS_C_MACHINE();
    std::atomic<bool> go = false;
    const auto wait = [](void* flag) {
        static_cast<std::atomic<bool>*>(flag)->wait(false);
        return 0;
    };
    hsadrv_event event = nullptr;
    int done = 1;
    CHECK(hsadrv_stream_call(m.stream, wait, &go, nullptr, patience_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_record(m.stream, 0, patience_ns, &event) == HSADRV_SUCCESS);
    CHECK(failure(HSADRV_ERROR_TIMEOUT, hsadrv_stream_synchronize(m.stream, 0)) != "");
    CHECK_THAT(failure(HSADRV_ERROR_TIMEOUT, hsadrv_event_synchronize(event, 1'000'000)), Contains("1 ms"));
    CHECK(hsadrv_event_query(event, &done) == HSADRV_SUCCESS);
    CHECK(done == 0);
    go = true;
    go.notify_all();
    CHECK(hsadrv_event_synchronize(event, HSADRV_FOREVER) == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_synchronize(m.stream, HSADRV_FOREVER) == HSADRV_SUCCESS);
    CHECK(hsadrv_event_destroy(event) == HSADRV_SUCCESS);
}

TEST_CASE("a stream destroyed while another thread waits for it ends with that call", "[c][device]") {
    NEEDS_C_MACHINE();
    struct Gate {
        std::atomic<bool> entered = false, go = false;
    } gate;
    const auto wait = [](void* user) {
        auto& at = *static_cast<Gate*>(user);
        at.entered = true;
        at.entered.notify_all();
        at.go.wait(false);
        return 0;
    };
    CHECK(hsadrv_stream_call(m.stream, wait, &gate, nullptr, patience_ns) == HSADRV_SUCCESS);
    std::atomic<hsadrv_result> waited = HSADRV_ERROR_UNKNOWN;
    auto held = c::object<c::StreamObject>("test", "stream", m.stream);  // as a call of another thread has it
    std::thread waiter([&waited, held = std::move(held)]() mutable {
        try {
            held->stream.synchronize(std::chrono::nanoseconds(patience_ns));
            waited = HSADRV_SUCCESS;
        } catch (...) {
        }
        held.reset();
    });
    gate.entered.wait(false);
    CHECK(hsadrv_stream_destroy(m.stream, patience_ns) == HSADRV_SUCCESS);  // at once
    CHECK(hsadrv_stream_synchronize(m.stream, 0) == bad_handle);
    gate.go = true;
    gate.go.notify_all();
    waiter.join();
    CHECK(waited == HSADRV_SUCCESS);
    CHECK(hsadrv_stream_create(m.gpu, nullptr, &m.stream) == HSADRV_SUCCESS);
}
