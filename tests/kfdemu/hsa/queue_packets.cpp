// Barrier packets and the order of packets. HSA Platform System Architecture Specification 1.2: "Barrier-AND
// packet", "Barrier-OR packet", "Packet processing"; hsa_ext_amd.h: hsa_amd_barrier_value_packet_t.
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

// Long enough that a packet which did not wait would have completed.
constexpr Duration kPacketTime = 20ms;

std::vector<hsa_signal_t> handles(const std::vector<Signal>& signals) { return {signals.begin(), signals.end()}; }

template <class Packet>
Packet with_dependencies(Packet packet, const std::vector<hsa_signal_t>& dependencies) {
    std::copy(dependencies.begin(), dependencies.end(), packet.dep_signal);
    return packet;
}

}  // namespace

TEST_CASE("a barrier-AND packet waits for all of its dependencies except null ones", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    for (std::size_t count = 0; count <= 5; ++count) {
        CAPTURE(count);
        std::vector<Signal> signals(count);
        const Signal done;
        queue.submit(with_dependencies(barrier_and({}, done), handles(signals)));
        // The last first, so that checking only the first dependency fails.
        for (std::size_t i = count; i-- > 0;) {
            CHECK_FALSE(done.completed(kPacketTime));
            signals[i].store(0);
        }
        CHECK(done.completed());
        CHECK(done.load() == 0);
    }
    CHECK(queue.errors().all().empty());
}

TEST_CASE("null dependencies between others do not count", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Signal second, fifth, done_and, done_or;
    queue.submit(barrier_and({kNoSignal, second, kNoSignal, kNoSignal, fifth}, done_and));
    second.store(0);
    CHECK_FALSE(done_and.completed(kPacketTime));
    fifth.store(0);
    CHECK(done_and.completed());
    fifth.store(1);
    second.store(1);
    queue.submit(barrier_or({kNoSignal, second, kNoSignal, kNoSignal, fifth}, done_or));
    CHECK_FALSE(done_or.completed(kPacketTime));
    fifth.store(0);
    CHECK(done_or.completed());
}

TEST_CASE("a barrier-OR packet waits for any one of its dependencies", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    for (std::size_t which = 0; which < 5; ++which) {
        CAPTURE(which);
        std::vector<Signal> signals(5);
        const Signal done;
        queue.submit(with_dependencies(barrier_or({}, done), handles(signals)));
        CHECK_FALSE(done.completed(kPacketTime));
        signals[which].store(0);
        CHECK(done.completed());
    }
    const Signal done;
    queue.submit(barrier_or({}, done));
    CHECK(done.completed());
}

TEST_CASE("only zero satisfies a dependency", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Signal dependency{2}, done;
    queue.submit(barrier_and({dependency}, done));
    for (hsa_signal_value_t value : {hsa_signal_value_t{1}, hsa_signal_value_t{-1}, hsa_signal_value_t{1} << 32}) {
        dependency.store(value);
        CHECK_FALSE(done.completed(kPacketTime));
    }
    dependency.store(0);
    CHECK(done.completed());
}

TEST_CASE("one queue waits for another's completion signals", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue first{machine.gpu()}, second{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory word{machine.cpu().fine, 4096, machine.agents()};
    *word.as<std::uint32_t>() = 5;
    const Signal open, between, done;
    const Kernel kernel = code.kernel("scale_add");
    const Memory times = arguments(machine, kernel, word.data(), 10u, 0u),
                 plus = arguments(machine, kernel, word.data(), 1u, 3u);
    second.submit(barrier_and({between}));
    second.submit(kernel_packet(kernel, {.barrier_bit = true}, plus, done));
    first.submit(barrier_and({open}));
    first.submit(kernel_packet(kernel, {.barrier_bit = true}, times, between));
    CHECK_FALSE(done.completed(kPacketTime));
    open.store(0);
    REQUIRE(done.completed());
    CHECK(*word.as<std::uint32_t>() == 53);
}

TEST_CASE("a barrier-value packet compares the masked value", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    struct Row {
        const char* name;
        hsa_signal_condition32_t condition;
        hsa_signal_value_t value, mask, blocked, open;
    };
    constexpr hsa_signal_value_t all = -1, high = static_cast<hsa_signal_value_t>(0xffffffff00000000);
    const Row row = GENERATE_COPY(values<Row>({
        {"equal", HSA_SIGNAL_CONDITION_EQ, 7, all, 8, 7},
        {"equal, high half", HSA_SIGNAL_CONDITION_EQ, 7ll << 32, high, 8ll << 32, (7ll << 32) + 99},
        {"equal, low byte", HSA_SIGNAL_CONDITION_EQ, 0x12, 0xff, 0x1213, 0x3412},
        {"not equal", HSA_SIGNAL_CONDITION_NE, 7, all, 7, 6},
        {"not equal, one bit", HSA_SIGNAL_CONDITION_NE, 0, 4, 3, 12},
        {"less", HSA_SIGNAL_CONDITION_LT, 0, all, 0, -1},
        {"less, signed", HSA_SIGNAL_CONDITION_LT, -5, all, -5, INT64_MIN},
        {"less, low half", HSA_SIGNAL_CONDITION_LT, 10, 0xffffffff, (1ll << 32) + 10, (5ll << 32) + 9},
        {"greater or equal", HSA_SIGNAL_CONDITION_GTE, 3, all, 2, 3},
        {"greater or equal, signed", HSA_SIGNAL_CONDITION_GTE, -3, all, -4, INT64_MAX},
        {"greater or equal, masked", HSA_SIGNAL_CONDITION_GTE, 16, 0xf0, 0xf0f, 0x1f},
    }));
    CAPTURE(row.name);
    Queue queue{machine.gpu()};
    const Signal signal{row.blocked}, done;
    queue.submit(barrier_value(signal, row.condition, row.value, row.mask, done));
    CHECK_FALSE(done.completed(kPacketTime));
    signal.store(row.open);
    CHECK(done.completed());
    CHECK(queue.errors().all().empty());
}

TEST_CASE("without the barrier bit a kernel may overtake one that lasts; with it, it may not", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory words{machine.cpu().fine, 4096, machine.agents()};
    auto* word = words.as<volatile std::uint32_t>();
    for (int i = 0; i < 3; ++i) word[i] = 0;
    const Kernel count = code.kernel("count");
    const Launch lasting = launch(machine, queue, code.kernel("spin"), line(1, 1), &word[0], &word[1]);
    const Launch overtaking = launch(machine, queue, count, line(1, 1), &word[2]);
    CHECK(overtaking.completed());
    CHECK(lasting.done.load() == 1);
    // Its slot is after one that is still in use.
    CHECK(queue.read_index() == 0);

    const Launch held = launch(machine, queue, count, {.barrier_bit = true}, &word[2]);
    CHECK_FALSE(held.completed(kPacketTime));
    CHECK(word[2] == 1);
    word[0] = 1;
    CHECK(held.completed());
    CHECK(lasting.done.load() == 0);
    CHECK(word[1] == 1);
    CHECK(word[2] == 2);
    CHECK(queue.drains());
}

TEST_CASE("a kernel sees the writes of earlier kernels, and the host those of all", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Kernel kernel = code.kernel("increment");
    constexpr std::uint32_t n = 5000, steps = 20;
    // In the GPU's own memory, so that it is the fences that carry it over, and in the host's in the end.
    const Memory a{machine.gpu().coarse, n * 4, {}}, b{machine.gpu().coarse, n * 4, {}};
    const Memory out{machine.cpu().fine, n * 4, machine.agents()};
    run(machine, queue, code.kernel("fill"), line(n), a.data(), 100u, n);
    const Memory there = arguments(machine, kernel, b.data(), a.data(), n),
                 back = arguments(machine, kernel, a.data(), b.data(), n);
    const Memory last = arguments(machine, kernel, out.data(), a.data(), n);
    Shape shape = line(n);
    shape.barrier_bit = true;
    for (std::uint32_t i = 0; i < steps; ++i) {
        queue.submit(kernel_packet(kernel, shape, there));
        queue.submit(kernel_packet(kernel, shape, back));
    }
    const Signal done;
    queue.submit(kernel_packet(kernel, shape, last, done));
    REQUIRE(done.completed());
    for (std::uint32_t i = 0; i < n; ++i) REQUIRE(out.as<std::uint32_t>()[i] == 100 + i + 2 * steps + 1);
}

TEST_CASE("a completion signal is decremented, not set", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Kernel nothing = code.kernel("nothing");
    const Signal counter{10};
    const Memory none = arguments(machine, nothing);
    for (int i = 0; i < 5; ++i) {
        queue.submit(kernel_packet(nothing, {}, none, counter));
        queue.submit(barrier_and({}, counter));
    }
    REQUIRE(counter.wait(HSA_SIGNAL_CONDITION_EQ, 0));
    queue.submit(barrier_or({}, counter));
    CHECK(counter.wait(HSA_SIGNAL_CONDITION_EQ, -1));
}

TEST_CASE("the processor waits for a packet whose header is still invalid", "[device][packets]") {
    NEEDS_GPUS(1);
    Machine machine;
    Queue queue{machine.gpu()};
    const Signal first, second;
    const hsa_barrier_and_packet_t a = barrier_and({}, first), b = barrier_and({}, second);
    const std::uint64_t place = queue.reserve(), after = queue.reserve();
    queue.publish(after, &b);
    queue.ring(after);
    CHECK_FALSE(second.completed(kPacketTime));
    queue.publish(place, &a);
    queue.ring(place);
    CHECK(first.completed());
    CHECK(second.completed());
}
