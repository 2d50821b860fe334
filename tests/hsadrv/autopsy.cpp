// The report of a deadline that passes: which stream waits for which, and what blocks them.
#include <string>

#include "tests/hsadrv/stream_fixture.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

std::string said_by(Stream& stream) {
    try {
        stream.synchronize(30ms);
    } catch (const Timeout& timeout) {
        return timeout.what();
    }
    return "nothing";
}

}  // namespace

TEST_CASE("a long-running kernel is named, with its arguments and its grid", "[autopsy]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu, {.name = "solver"});
    const Words flag(1);
    f.spin.launch(stream, {.grid = 256, .workgroup = 64}, flag.data());
    char address[32];
    std::snprintf(address, sizeof address, "%p", static_cast<void*>(flag.data()));
    CHECK_THAT(said_by(stream), Contains("stream 'solver' on gpu0") &&
                                    Contains("kernel spin(" + std::string(address) + ") on 256x1x1 work-items"));
    flag.set(1);
    stream.synchronize(patience);
}

TEST_CASE("a chain of waits is followed to the kernel at its end", "[autopsy]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream first(f.gpu, {.name = "first"}), second(f.gpu, {.name = "second"}), third(f.gpu, {.name = "third"});
    const Words flag(1);
    f.spin.launch(first, {.grid = 1, .workgroup = 1}, flag.data());
    second.wait(first.record());
    third.wait(second.record());
    const std::string text = said_by(third);
    CHECK_THAT(text, Contains("stream 'third' on " + f.gpu.label() + " waits for an event of stream 'second'") &&
                         Contains("stream 'second' on " + f.gpu.label() + " waits for an event of stream 'first'") &&
                         Contains("stream 'first' on " + f.gpu.label() + " runs kernel spin("));
    CHECK(text.find("'third'") < text.find("'second'"));
    flag.set(1);
    third.synchronize(patience);
}

TEST_CASE("a cycle of waits is found and printed", "[autopsy]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream a(f.gpu, {.name = "a", .drain = 10ms}), b(f.gpu, {.name = "b", .drain = 10ms});
    const Signal to_a = Signal::create(1), to_b = Signal::create(1);
    a.wait(to_a, Condition::less, 1);
    a.decrement(to_b);
    b.wait(to_b, Condition::less, 1);
    b.decrement(to_a);
    const std::string at = " on " + f.gpu.label();
    CHECK_THAT(said_by(a), Contains("stream 'b'" + at + " would decrement it") && Contains("a cycle") &&
                               Contains("stream 'a'" + at + " -> stream 'b'" + at + " -> stream 'a'" + at));
    to_a.store(0);  // the host is outside the cycle
    CHECK_NOTHROW(a.synchronize(patience));
    CHECK_NOTHROW(b.synchronize(patience));
}

TEST_CASE("a signal that no known work will set is attributed to the host", "[autopsy]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Signal go = Signal::create(3);
    stream.wait(go, Condition::greater_equal, 9);
    CHECK_THAT(said_by(stream), Contains(">= 9, which is 3") && Contains("the host or another agent owes it"));
    go.store(9);
    stream.synchronize(patience);
}

TEST_CASE("a host function that does not return is named as such", "[autopsy]") {
    NEEDS_DEVICE();
    const Kernels f;
    Stream stream(f.gpu);
    const Words data(1);
    const Signal go = Signal::create(1);
    stream.call([&] { go.wait(Condition::less, 1, patience); });
    CHECK_THAT(said_by(stream), Contains("host function"));
    f.scale_add.launch(stream, {.grid = 1, .workgroup = 1}, data.data(), 0u, 4u, 1u);
    CHECK_THAT(said_by(stream), Contains("host function"));
    go.store(0);
    stream.synchronize(patience);
    CHECK(data.get() == 4);
}
