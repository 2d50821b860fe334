// The ring's arithmetic, on a ring in plain memory with a simulated packet processor.
#include "hsadrv/aql_ring.hpp"

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace hsadrv;

namespace {

/// A ring as a device would map it, and the consumer's half of the protocol.
struct FakeRing {
    explicit FakeRing(std::uint32_t size, bool shared = false) : slots(size) {
        for (Packet& slot : slots) slot.words[0] = static_cast<std::uint32_t>(PacketType::invalid);
        ring.attach({.slots = slots.data(),
                     .size = size,
                     .read_index = &read_index,
                     .write_index = &write_index,
                     .doorbell = &doorbell,
                     .shared = shared});
    }

    /// Consumes the packets that the doorbell covers and whose headers are valid, in order; returns their tags.
    std::vector<std::uint32_t> consume() {
        std::vector<std::uint32_t> tags;
        std::atomic_ref bell(const_cast<std::uint64_t&>(doorbell));
        std::atomic_ref read(const_cast<std::uint64_t&>(read_index));
        for (;;) {
            const std::uint64_t index = read.load();
            const std::uint64_t rung = bell.load(std::memory_order_acquire);
            if (rung == no_bell || index > rung) return tags;
            look_below_write_index(index);
            Packet& slot = slots[index % slots.size()];
            std::atomic_ref header(slot.words[0]);
            if (packet_type(static_cast<std::uint16_t>(header.load(std::memory_order_acquire))) ==
                PacketType::invalid) {
                ++invalid_below_doorbell;
                return tags;
            }
            tags.push_back(slot.words[1]);
            header.store(static_cast<std::uint32_t>(PacketType::invalid), std::memory_order_release);
            read.store(index + 1, std::memory_order_release);
        }
    }

    /// As firmware that maps the queue again: it takes every slot there for a packet.
    void look_below_write_index(std::uint64_t read) {
        const std::uint64_t end =
            std::atomic_ref(const_cast<std::uint64_t&>(write_index)).load(std::memory_order_acquire);
        for (std::uint64_t index = read; index < end; ++index) {
            const std::uint32_t header =
                std::atomic_ref(slots[index % slots.size()].words[0]).load(std::memory_order_acquire);
            early += packet_type(static_cast<std::uint16_t>(header)) == PacketType::invalid;
        }
    }

    static constexpr std::uint64_t no_bell = ~std::uint64_t{0};
    std::vector<Packet> slots;
    volatile std::uint64_t read_index = 0, write_index = 0, doorbell = no_bell;
    unsigned invalid_below_doorbell = 0, early = 0;
    AqlRing ring;
};

Packet tagged(std::uint32_t tag) {
    Packet packet = barrier_and({});
    packet.words[1] = tag;
    return packet;
}

void submit(AqlRing& ring, std::uint32_t tag) {
    const auto index = ring.try_reserve(1);
    REQUIRE(index);
    ring.write(*index, tagged(tag));
    ring.publish(*index, 1);
}

}  // namespace

TEST_CASE("a packet is written, published and covered by the doorbell", "[ring]") {
    FakeRing fake(4);
    submit(fake.ring, 7);
    CHECK(fake.ring.size() == 4);
    CHECK(fake.write_index == 1);
    CHECK(fake.ring.write_index() == 1);
    CHECK(fake.ring.peek(0).words == tagged(7).words);
    CHECK(fake.doorbell == 0);
    CHECK(fake.consume() == std::vector<std::uint32_t>{7});
}

TEST_CASE("a full ring refuses, then accepts after retirement", "[ring]") {
    FakeRing fake(4);
    for (std::uint32_t i = 0; i < 4; ++i) submit(fake.ring, i);
    CHECK_FALSE(fake.ring.try_reserve(1));
    CHECK(fake.ring.write_index() == 4);
    fake.read_index = 1;
    CHECK(fake.ring.try_reserve(1) == 4);
    CHECK_FALSE(fake.ring.try_reserve(1));
}

TEST_CASE("a ring of one producer keeps its places when others come and go", "[ring]") {
    FakeRing fake(8);
    const auto use = [&](std::uint32_t tag) {  // each way to submit
        std::uint64_t slot = 0;
        REQUIRE(fake.ring.try_reserve_one(slot, 8));
        fake.ring.write(slot, tagged(tag));
        fake.ring.publish_one(slot);
        const auto two = fake.ring.try_reserve(2);
        REQUIRE(two);
        for (std::uint32_t i = 0; i < 2; ++i) fake.ring.write(*two + i, tagged(tag));
        fake.ring.publish(*two, 2);
        CHECK(fake.write_index == *two + 2);
        CHECK(fake.doorbell == *two + 1);
        CHECK(fake.consume() == std::vector<std::uint32_t>(3, tag));
    };
    for (std::uint32_t lap = 0; lap < 20; ++lap) {
        fake.ring.set_alone(lap % 3 != 0);
        use(lap);
        submit(fake.ring, 100);
        CHECK(fake.consume() == std::vector<std::uint32_t>{100});
    }
    fake.ring.set_alone(true);
    std::uint64_t slot = 0, in_use = 0;
    while (fake.ring.try_reserve_one(slot, 5)) ++in_use;
    CHECK(in_use == 5);
    CHECK_FALSE(fake.ring.try_reserve(4));
    CHECK(fake.ring.try_reserve(3));
    CHECK_FALSE(fake.ring.try_reserve(1));
    CHECK(fake.early == 0);
}

TEST_CASE("a ring that others write too is never one producer's", "[ring]") {
    FakeRing fake(8, true);
    fake.ring.set_alone(true);
    const std::uint64_t first = *fake.ring.try_reserve(1);
    CHECK(fake.write_index == 1);  // reserved where the others do
    ++*const_cast<std::uint64_t*>(&fake.write_index);
    const std::uint64_t third = *fake.ring.try_reserve(1);
    CHECK((first == 0 && third == 2));
    fake.ring.write(third, tagged(3));
    fake.ring.publish_one(third);
    CHECK(fake.write_index == 3);
}

TEST_CASE("several slots are reserved together or not at all", "[ring]") {
    FakeRing fake(8);
    CHECK(fake.ring.try_reserve(5) == 0);
    CHECK_FALSE(fake.ring.try_reserve(4));
    CHECK(fake.ring.try_reserve(3) == 5);
    CHECK_FALSE(fake.ring.try_reserve(1));
}

TEST_CASE("the doorbell never passes an unpublished slot", "[ring]") {
    FakeRing fake(8);
    const std::uint64_t first = *fake.ring.try_reserve(1), second = *fake.ring.try_reserve(1),
                        third = *fake.ring.try_reserve(1);
    fake.ring.write(third, tagged(3));
    fake.ring.publish(third, 1);
    CHECK(fake.doorbell == FakeRing::no_bell);
    fake.ring.write(first, tagged(1));
    fake.ring.publish(first, 1);
    CHECK(fake.doorbell == 0);
    fake.ring.write(second, tagged(2));
    fake.ring.publish(second, 1);
    CHECK(fake.doorbell == 2);
    CHECK(fake.consume() == std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("the write index follows the written slots", "[ring]") {
    FakeRing fake(8);
    const std::uint64_t first = *fake.ring.try_reserve(1), batch = *fake.ring.try_reserve(2),
                        last = *fake.ring.try_reserve(1);
    CHECK(fake.write_index == 0);
    for (const std::uint64_t slot : {batch, batch + 1}) fake.ring.write(slot, tagged(1));
    fake.ring.publish(batch, 2);
    CHECK(fake.write_index == 0);
    fake.ring.write(first, tagged(0));
    fake.ring.publish(first, 1);
    CHECK(fake.write_index == 3);
    fake.ring.write(last, tagged(2));
    fake.ring.publish_one(last);
    CHECK(fake.write_index == 4);
    CHECK(fake.doorbell == 3);
}

TEST_CASE("slots of a ring that others write are reserved in the write index", "[ring]") {
    FakeRing fake(8, true);
    const std::uint64_t first = *fake.ring.try_reserve(2);
    CHECK(fake.write_index == 2);
    fake.write_index = fake.write_index + 1;  // another producer's slot
    const std::uint64_t second = *fake.ring.try_reserve(1);
    CHECK(second == 3);
    fake.ring.write(second, tagged(3));
    fake.ring.publish_one(second);
    CHECK(fake.doorbell == 3);
    for (const std::uint64_t slot : {first, first + 1}) fake.ring.write(slot, tagged(1));
    fake.ring.publish(first, 2);
    CHECK(fake.write_index == 4);
}

TEST_CASE("a batch rings once, for its last packet", "[ring]") {
    FakeRing fake(8);
    const std::uint64_t first = *fake.ring.try_reserve(3);
    for (std::uint32_t i = 0; i < 3; ++i) fake.ring.write(first + i, tagged(i));
    CHECK(fake.doorbell == FakeRing::no_bell);
    fake.ring.publish(first, 3);
    CHECK(fake.doorbell == 2);
}

TEST_CASE("a ring that wraps many times keeps the order", "[ring]") {
    FakeRing fake(4);
    std::vector<std::uint32_t> seen;
    for (std::uint32_t tag = 0; tag < 50; ++tag) {
        submit(fake.ring, tag);
        if (tag % 3 == 2)
            for (const std::uint32_t got : fake.consume()) seen.push_back(got);
    }
    for (const std::uint32_t got : fake.consume()) seen.push_back(got);
    REQUIRE(seen.size() == 50);
    for (std::uint32_t tag = 0; tag < 50; ++tag) CHECK(seen[tag] == tag);
}

TEST_CASE("a ring that was used before continues at its write index", "[ring]") {
    std::vector<Packet> slots(4);
    volatile std::uint64_t read = 10, write = 10, doorbell = 9;
    AqlRing ring({.slots = slots.data(), .size = 4, .read_index = &read, .write_index = &write, .doorbell = &doorbell});
    submit(ring, 1);
    CHECK(doorbell == 10);
    CHECK(slots[10 % 4].words[1] == 1);
}

TEST_CASE("eight producers lose no packet, keep their own order and never ring too early", "[ring][stress]") {
    constexpr std::uint32_t producers = 8, each = 20000;
    FakeRing fake(64);
    std::vector<std::thread> threads;
    for (std::uint32_t producer = 0; producer < producers; ++producer)
        threads.emplace_back([&fake, producer] {
            for (std::uint32_t i = 0; i < each;) {
                const std::uint32_t batch = std::min(1 + i % 3, each - i);
                const auto first = fake.ring.try_reserve(batch);
                if (!first) {
                    std::this_thread::yield();
                    continue;
                }
                for (std::uint32_t k = 0; k < batch; ++k) fake.ring.write(*first + k, tagged(producer << 24 | (i + k)));
                fake.ring.publish(*first, batch);
                i += batch;
            }
        });
    std::vector<std::uint32_t> next(producers, 0);
    std::size_t total = 0, out_of_order = 0;
    while (total < std::size_t{producers} * each) {
        const auto tags = fake.consume();
        if (tags.empty()) std::this_thread::yield();
        for (const std::uint32_t tag : tags) out_of_order += next[tag >> 24]++ != (tag & 0xffffff);
        total += tags.size();
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(total == std::size_t{producers} * each);
    CHECK(out_of_order == 0);
    CHECK(fake.invalid_below_doorbell == 0);
    CHECK(fake.early == 0);
    CHECK(fake.ring.frontier() == total);
}
