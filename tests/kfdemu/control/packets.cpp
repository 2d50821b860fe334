// The packet processor under --strict, as strict as any GPU, and by default.
#include <chrono>
#include <cstdlib>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

// Long enough that a packet which did not wait would have completed.
constexpr Duration kAWhile = 20ms;

bool has_barrier_value(const std::string& model) { return model == "gfx90a" || model == "gfx942" || model == "gfx950"; }

/// This device with other behaviours, for a separate process.
Environment with(const std::string& behaviours) {
    const char* device = std::getenv("KFDEMU");
    return {{"KFDEMU", std::string{device ? device : "on"} + ",strict=" + behaviours}};
}

void check_child(const std::string& test_case, const std::string& behaviours, const std::string& row = {}) {
    const ChildResult child = run_child("child: " + test_case, row, with(behaviours));
    CAPTURE(behaviours, row, child.output);
    CHECK(child.passed());
}

unsigned type_at(const Queue& queue, std::uint64_t index) {
    const auto* ring = static_cast<const std::uint16_t*>(queue.get()->base_address);
    return __atomic_load_n(&ring[index % queue.get()->size * 32], __ATOMIC_ACQUIRE) & 0xff;
}

}  // namespace

TEST_CASE("child: packets beyond the doorbell", "[.child]") {
    Machine machine;
    Queue queue{machine.gpu()};
    const Signal first, second;
    const auto a = barrier_and({}, first), b = barrier_and({}, second);
    const std::uint64_t place = queue.reserve(), beyond = queue.reserve();
    queue.publish(beyond, &b);
    queue.publish(place, &a);
    const auto begin = std::chrono::steady_clock::now();
    queue.ring(place);
    REQUIRE(first.completed());
    const bool taken = second.completed(kAWhile), expected = row() == "are taken";
    // After 100 ms the device takes it without a doorbell, too: on a busy machine nothing is seen.
    const bool in_time = std::chrono::steady_clock::now() - begin < 90ms;
    CHECK((taken == expected || !in_time));
    queue.ring(beyond);
    CHECK(second.completed());
}

TEST_CASE("the packet processor stops at the doorbell's value", "[control][packets]") {
    NEEDS_CONTROL(control);
    check_child("packets beyond the doorbell", "doorbell");
    check_child("packets beyond the doorbell", "no-doorbell", "are taken");
}

TEST_CASE("a doorbell that another hid is waited for a while, and no longer", "[control][packets]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Queue queue{machine.gpu(), 64, HSA_QUEUE_TYPE_MULTI};
    const Signal done{2};
    const auto packet = barrier_and({}, done);
    for (const std::uint64_t place : {queue.reserve(), queue.reserve()}) queue.publish(place, &packet);
    queue.ring(0);  // what the device would see of two rings if the higher came first
    CHECK(done.wait(HSA_SIGNAL_CONDITION_EQ, 0));
}

TEST_CASE("child: headers", "[.child]") {
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory words{machine.cpu().fine, 4096, machine.agents()};
    auto* word = words.as<volatile std::uint32_t>();
    word[0] = 0;
    word[1] = 0;
    const bool invalid = row() == "invalid";
    const Launch lasting = launch(machine, queue, code.kernel("spin"), line(1, 1), &word[0], &word[1]);
    const Signal gate, done, open;
    queue.submit(barrier_and({}, open));
    queue.submit(barrier_and({gate}, done));
    REQUIRE(open.completed());
    CHECK(type_at(queue, 0) == (invalid ? HSA_PACKET_TYPE_INVALID : HSA_PACKET_TYPE_KERNEL_DISPATCH));
    CHECK(eventually(
        [&] { return type_at(queue, 2) == (invalid ? HSA_PACKET_TYPE_INVALID : HSA_PACKET_TYPE_BARRIER_AND); }));
    CHECK(queue.read_index() == 0);
    word[0] = 1;
    gate.store(0);
    CHECK(lasting.completed());
    CHECK(done.completed());
    CHECK(eventually([&] { return queue.read_index() == 3; }));
}

TEST_CASE("a slot's header is invalid before its packet runs or waits", "[control][packets]") {
    NEEDS_CONTROL(control);
    check_child("headers", "invalid-headers", "invalid");
    check_child("headers", "no-invalid-headers", "as written");
}

TEST_CASE("child: barrier values", "[.child]") {
    Machine machine;
    Queue queue{machine.gpu()}, other{machine.gpu()};
    const Signal signal{1}, done;
    queue.submit(barrier_value(signal, HSA_SIGNAL_CONDITION_LT, 1, -1, done));
    if (row() == "refused") {
        CHECK(describe(queue.wait_for_error()) == describe(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT));
        CHECK(done.load() == 1);
        CHECK(other.drains());
        return;
    }
    CHECK_FALSE(done.completed(kAWhile));
    signal.store(0);
    CHECK(done.completed());
}

TEST_CASE("a barrier-value packet stops its queue on models that IREE and CLR do not give it to",
          "[control][packets]") {
    NEEDS_CONTROL(control);
    const std::string model = Machine{}.gpu().name;
    const bool known = has_barrier_value(model);
    check_child("barrier values", "barrier-value", known ? "taken" : "refused");
    check_child("barrier values", "no-barrier-value", "taken");
    if (known) return;
    const ChildResult child = run_child("child: barrier values", "refused", with("barrier-value"));
    CHECK(child.output.find("BARRIER_VALUE") != std::string::npos);
    CHECK(child.output.find(model) != std::string::npos);
}

TEST_CASE("child: barrier values below zero", "[.child]") {
    struct Row {
        hsa_signal_condition32_t condition;
        hsa_signal_value_t value, now;
        bool signed_alone;  ///< the comparison holds only for signed values
    };
    // Values are signed according to the header; CLR and IREE mask with INT64_MAX.
    constexpr Row rows[] = {
        {HSA_SIGNAL_CONDITION_LT, 1, 0, false},          {HSA_SIGNAL_CONDITION_LT, 1, -1, true},
        {HSA_SIGNAL_CONDITION_LT, 1, INT64_MIN, true},   {HSA_SIGNAL_CONDITION_LT, -5, -(1ll << 62), false},
        {HSA_SIGNAL_CONDITION_GTE, 3, INT64_MAX, false}, {HSA_SIGNAL_CONDITION_GTE, -3, 5, true},
        {HSA_SIGNAL_CONDITION_EQ, -7, -7, false},        {HSA_SIGNAL_CONDITION_NE, 0, -1, false},
        {HSA_SIGNAL_CONDITION_NE, 0, INT64_MIN, true},
    };
    Machine machine;
    for (const Row& r : rows) {
        CAPTURE(r.condition, r.value, r.now);
        Queue queue{machine.gpu()};
        const Signal signal{r.now}, done;
        queue.submit(barrier_value(signal, r.condition, r.value, -1, done));
        const bool opens = row() == "as signed" || !r.signed_alone;
        CHECK(done.completed(opens ? kDeadline : kAWhile) == opens);
    }
}

TEST_CASE("a barrier value opens when its comparison holds: each comparison, signed, unsigned and masked",
          "[control][packets]") {
    NEEDS_CONTROL(control);
    if (!has_barrier_value(Machine{}.gpu().name)) SKIP_BECAUSE("this model has no barrier-value packets when strict");
    check_child("barrier values below zero", "barrier-value", "as all do");
    check_child("barrier values below zero", "no-barrier-value", "as signed");
}
