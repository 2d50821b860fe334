// The buffer that kernels leave requests in, with the host in the place of a wave.
#include "hsadrv/services/hostcall_buffer.hpp"

#include <set>
#include <vector>

#include "tests/support/catch.hpp"

using namespace hsadrv::detail;

namespace {

struct Buffer {
    explicit Buffer(std::size_t packets)
        : memory(hostcall_buffer_bytes(packets) / sizeof(std::uint64_t)),
          buffer(init_hostcall_buffer(memory.data(), packets, {42}, nullptr)) {}

    HostcallHeader& header(std::uint64_t packet) { return buffer.headers[packet & buffer.index_mask]; }
    std::uint64_t pop() {
        const std::uint64_t top = buffer.free_stack;
        if (top != 0) buffer.free_stack = header(top).next;
        return top;
    }
    void push_ready(std::uint64_t packet, std::uint32_t service) {
        header(packet) = {.next = buffer.ready_stack, .active_lanes = 0b101, .service = service, .control = 1};
        buffer.ready_stack = packet;
    }

    std::vector<std::uint64_t> memory;
    HostcallBuffer& buffer;
};

}  // namespace

TEST_CASE("every packet is on the free stack once, and none is the end of a stack", "[hostcall_buffer]") {
    Buffer b(64);
    CHECK(b.buffer.doorbell.handle == 42);
    std::set<std::uint64_t> seen;
    for (std::uint64_t packet = b.pop(); packet != 0; packet = b.pop()) seen.insert(packet & b.buffer.index_mask);
    CHECK(seen.size() == 64);
    const auto* const end = reinterpret_cast<const std::byte*>(b.buffer.payloads + 64);
    CHECK(end <= reinterpret_cast<const std::byte*>(b.memory.data() + b.memory.size()));
}

TEST_CASE("requests are answered oldest first, each lane by itself", "[hostcall_buffer]") {
    Buffer b(8);
    std::vector<std::uint64_t> packets = {b.pop(), b.pop(), b.pop()};
    for (std::uint32_t i = 0; i < 3; ++i) b.push_ready(packets[i], i);
    std::vector<std::uint32_t> services;
    answer_ready(b.buffer, [&](std::uint32_t service, std::uint64_t lanes, HostcallPayload& payload) {
        services.push_back(service);
        std::size_t slots = 0;
        for_lanes(lanes, payload, [&](HostcallSlot& slot) {
            ++slots;
            CHECK((&slot == &payload.slots[0] || &slot == &payload.slots[2]));
        });
        CHECK(slots == 2);
        CHECK((b.header(packets[service]).control & 1) == 1);
    });
    CHECK(services == std::vector<std::uint32_t>{0, 1, 2});
    for (const std::uint64_t packet : packets) CHECK((b.header(packet).control & 1) == 0);
    CHECK(b.buffer.ready_stack == 0);
}

TEST_CASE("a circle in the ready stack ends", "[hostcall_buffer]") {
    Buffer b(8);
    const std::uint64_t packet = b.pop();
    b.push_ready(packet, 0);
    b.header(packet).next = packet;
    std::size_t answered = 0;
    answer_ready(b.buffer, [&](auto, auto, auto&) { answered += answered < 100; });
    CHECK(answered < 100);
}

TEST_CASE("packets of waves that end with their queue are free again, after the answers", "[hostcall_buffer]") {
    Buffer b(8);
    constexpr RingRange ring{0x10000, 0x20000};
    std::uint64_t packets[5];
    for (std::uint64_t i = 0; i < 5; ++i) packets[i] = b.pop();
    const auto owner = [&](std::size_t i) -> std::uint64_t& {
        return b.buffer.owners[packets[i] & b.buffer.index_mask];
    };
    owner(0) = 0x10000;
    owner(1) = 0x1ffc0;
    owner(2) = 0x20000;  // of another queue
    owner(3) = 0x10040;  // and one of HIP's, which names no owner
    b.push_ready(packets[0], 5);
    suspect_owners(b.buffer, ring);
    owner(3) = 0;        // given back meanwhile
    owner(2) = 0x10080;  // of a new queue with the same ring
    CHECK(condemn_suspects(b.buffer, ring));
    CHECK_FALSE(condemn_suspects(b.buffer, ring));
    const auto is_free = [&](std::size_t i) {
        for (std::uint64_t packet = b.buffer.free_stack; packet != 0; packet = b.header(packet).next)
            if ((packet & b.buffer.index_mask) == (packets[i] & b.buffer.index_mask)) return true;
        return false;
    };
    CHECK_FALSE(is_free(0));
    collect_condemned(b.buffer);
    int answered = 0;
    answer_ready(b.buffer, [&](std::uint32_t, std::uint64_t, HostcallPayload&) { answered += !is_free(0); });
    free_collected(b.buffer, 1);
    CHECK(answered == 1);
    CHECK(is_free(0));
    CHECK(is_free(1));
    CHECK_FALSE(is_free(2));
    CHECK_FALSE(is_free(3));
    CHECK_FALSE(is_free(4));
    free_collected(b.buffer, 2);
    std::set<std::uint64_t> seen;
    for (std::uint64_t packet = b.pop(); packet != 0; packet = b.pop()) seen.insert(packet & b.buffer.index_mask);
    CHECK(seen.size() == 5);
}
