// The strict behaviour torn-packet: a slot that is written after the write index covers it runs in part as the packet
// that was there before.
#include <cstdlib>
#include <thread>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

namespace {

/// A ring in which every slot has held a kernel that adds 1 to old_sum() and completes old().
class UsedRing {
  public:
    explicit UsedRing(const test_support::Control& control) : control_{control} {
        for (std::uint32_t i = 0; i < queue_.get()->size; ++i) submit_whole(old_packet());
        REQUIRE(old_.wait(HSA_SIGNAL_CONDITION_EQ, kLeft));
        REQUIRE(eventually([&] { return queue_.read_index() == queue_.get()->size; }));
    }

    Queue& queue() { return queue_; }
    const void* ring() const { return queue_.get()->base_address; }
    const Signal& done() const { return done_; }
    /// The next slot, not written. Returns when the device has seen it, if it looks.
    std::uint64_t advertise() {
        const std::uint64_t before = control_->early_slots(ring());
        const std::uint64_t slot = hsa_queue_add_write_index_relaxed(queue_.get(), 1);
        if (looks()) REQUIRE(eventually([&] { return control_->early_slots(ring()) == before + 1; }));
        return slot;
    }
    /// Another kernel, which adds 1 to new_sum() and completes done(), is written before the write index covers it.
    void submit_whole() { submit_whole(new_packet()); }
    void write(std::uint64_t slot) {
        const auto packet = new_packet();
        queue_.publish(slot, &packet);
    }
    bool passed(std::uint64_t slot) const {
        return eventually([&] { return queue_.read_index() > slot; });
    }

    std::uint32_t old_runs() const { return kLeft - static_cast<std::uint32_t>(old_.load()); }
    std::uint32_t old_sum() const { return sums_.as<std::uint32_t>()[0] - queue_.get()->size; }
    std::uint32_t new_sum() const { return sums_.as<std::uint32_t>()[1]; }
    std::uint64_t torn() const { return control_->torn_packets(ring()); }

  private:
    static constexpr std::uint32_t kLeft = 8;  // of old_, so that it is not completed

    static bool looks() { return row() != "whole"; }
    hsa_kernel_dispatch_packet_t old_packet() const { return kernel_packet(count_, line(1), old_arguments_, old_); }
    hsa_kernel_dispatch_packet_t new_packet() const { return kernel_packet(count_, line(1), new_arguments_, done_); }
    void submit_whole(const hsa_kernel_dispatch_packet_t& packet) {
        const std::uint64_t slot = queue_.write_index();
        REQUIRE(eventually([&] { return slot - queue_.read_index() < queue_.get()->size; }));
        queue_.publish(slot, &packet);
        hsa_queue_store_write_index_screlease(queue_.get(), slot + 1);
        queue_.ring(slot);
    }

    const test_support::Control& control_;
    Machine machine_;
    Queue queue_{machine_.gpu()};
    Executable code_{machine_.gpu(), "work"};
    Kernel count_ = code_.kernel("count");
    Memory sums_{machine_.cpu().fine, 4096, machine_.agents()};
    Memory old_arguments_ = arguments(machine_, count_, sums_.as<std::uint32_t>());
    Memory new_arguments_ = arguments(machine_, count_, sums_.as<std::uint32_t>() + 1);
    Signal old_{static_cast<hsa_signal_value_t>(kLeft + queue_.get()->size)}, done_;
};

/// Of a child without the behaviour.
ChildResult without(const std::string& behaviours) {
    const char* device = std::getenv("KFDEMU");
    return run_child("child: a slot is written late", "whole",
                     {{"KFDEMU", std::string{device ? device : "on"} + ",strict=" + behaviours}});
}

}  // namespace

TEST_CASE("child: a slot is written late", "[.child]") {
    NEEDS_CONTROL(control);
    UsedRing used{control};
    const std::uint32_t torn = row() != "whole";
    const std::uint64_t slot = used.advertise();
    std::this_thread::sleep_for(20ms);
    used.write(slot);
    used.queue().ring(slot);
    REQUIRE(used.passed(slot));
    CHECK(used.done().completed(torn ? 20ms : kDeadline) == (torn == 0));
    CHECK(used.old_runs() == torn);
    CHECK(used.old_sum() == torn);
    CHECK(used.new_sum() == 1 - torn);
    CHECK(used.torn() == torn);
}

TEST_CASE("a slot that is written late runs its old kernel's arguments and signal", "[control][queues]") {
    NEEDS_CONTROL(control);
    const ChildResult child = run_child("child: a slot is written late", "torn");
    CAPTURE(child.output);
    CHECK(child.passed());
    CHECK(has(child.output, "torn-packet: the packet in slot 64 of the ring"));
    CHECK(has(child.output, "UsedRing"));  // whose ring it is
}

TEST_CASE("packets are torn only if that is asked for by name", "[control][queues]") {
    NEEDS_CONTROL(control);
    const std::string behaviours = GENERATE("no-torn-packet", "write-index+no-torn-packet", "all");
    const ChildResult child = without(behaviours);
    CAPTURE(behaviours, child.output);
    CHECK(child.passed());
    CHECK_FALSE(has(child.output, "torn-packet:"));
}

TEST_CASE("child: the runtime copies by a ring of its own", "[.child]") {
    for (int i = 0; i < 40; ++i) {
        Machine machine;
        Queue queue{machine.gpu()};
        const std::jthread busy{[&](const std::stop_token& ends) {  // a device that rests looks at no ring
            while (!ends.stop_requested()) queue.submit(barrier_and({}));
        }};
        const Executable code{machine.gpu(), "work"};  // its code is the first packet
    }
}

TEST_CASE("a ring that the runtime makes for itself inside hsa_queue_create is not torn", "[control][queues]") {
    const ChildResult child =
        run_child("child: the runtime copies by a ring of its own", "", {{"HSA_ENABLE_SDMA", "0"}});
    CAPTURE(child.output);
    CHECK(child.passed());
    CHECK_FALSE(has(child.output, "torn-packet:"));
}

TEST_CASE("a packet that is written before the write index covers it is never torn", "[control][queues]") {
    NEEDS_CONTROL(control);
    UsedRing used{control};
    for (int i = 0; i < 3; ++i) used.submit_whole();
    CHECK(used.done().wait(HSA_SIGNAL_CONDITION_EQ, -2));
    CHECK(used.new_sum() == 3);
    CHECK(used.old_sum() == 0);
    CHECK(control->early_slots(used.ring()) == 0);
    CHECK(used.torn() == 0);
}

TEST_CASE("only the packets of early slots are torn", "[control][queues]") {
    NEEDS_CONTROL(control);
    UsedRing used{control};
    const std::uint64_t early = used.advertise();
    used.write(early);
    used.queue().ring(early);
    REQUIRE(used.passed(early));
    used.submit_whole();
    CHECK(used.done().completed());
    CHECK(used.old_runs() == 1);
    CHECK(used.new_sum() == 1);
    CHECK(used.torn() == 1);
}

TEST_CASE("a queue that is mapped again reads its ring again", "[control][queues]") {
    NEEDS_CONTROL(control);
    UsedRing used{control};
    const auto map_again = [&] {
        HSA_CHECK(hsa_amd_queue_set_priority(used.queue().get(), HSA_AMD_QUEUE_PRIORITY_HIGH));
    };
    const std::uint64_t slot = used.advertise();
    SECTION("and takes a slot that is written by then whole") {
        used.write(slot);
        map_again();
        used.queue().ring(slot);
        CHECK(used.done().completed());
        CHECK(used.torn() == 0);
    }
    SECTION("and tears one that is not") {
        map_again();
        const std::uint64_t next = used.advertise();  // when it is seen, so is the one before it
        used.write(slot);
        used.write(next);
        used.queue().ring(next);
        REQUIRE(used.passed(next));
        CHECK(used.old_runs() == 2);
        CHECK(used.done().load() == 1);
        CHECK(used.torn() == 2);
    }
}
