// The strict behaviour write-index: slots that the write index covers before they are written.
#include <thread>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/queue.hpp"

using namespace hsa_test;

namespace {

bool counts(const test_support::Control& control, const void* ring, std::uint64_t count) {
    for (int i = 0; i < 500 && control->early_slots(ring) != count; ++i) std::this_thread::sleep_for(10ms);
    return control->early_slots(ring) == count;
}

}  // namespace

TEST_CASE("a slot below the write index that is not written is counted once", "[control][queues]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Queue early{machine.gpu()}, late{machine.gpu()};
    const void* const ring = early.get()->base_address;
    CHECK(control->early_slots(ring) == 0);

    const std::uint64_t first = hsa_queue_add_write_index_relaxed(early.get(), 2);
    CHECK(counts(control, ring, 2));
    Signal done[2];
    for (const std::uint64_t slot : {first + 1, first}) {
        const auto packet = barrier_and({}, done[slot - first]);
        early.publish(slot, &packet);
        early.ring(slot);
    }
    for (const Signal& signal : done) CHECK(signal.completed());
    CHECK(control->early_slots(ring) == 2);

    // Written before the write index covers it, and before the doorbell.
    Signal third;
    const auto packet = barrier_and({}, third);
    late.publish(0, &packet);
    hsa_queue_store_write_index_screlease(late.get(), 1);
    std::this_thread::sleep_for(50ms);
    late.ring(0);
    CHECK(third.completed());
    CHECK(control->early_slots(late.get()->base_address) == 0);
}

TEST_CASE("a stalled queue's ring is looked at", "[control][queues]") {
    NEEDS_CONTROL(control);
    Machine machine;
    Queue queue{machine.gpu()};
    const void* const ring = queue.get()->base_address;
    REQUIRE(control->stall_queue(ring, 1) == 0);
    const std::uint64_t slot = hsa_queue_add_write_index_relaxed(queue.get(), 1);
    CHECK(counts(control, ring, 1));
    Signal done;
    const auto packet = barrier_and({}, done);
    queue.publish(slot, &packet);
    queue.ring(slot);
    REQUIRE(control->stall_queue(ring, 0) == 0);
    CHECK(done.completed());
}
