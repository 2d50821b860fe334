// `fence` and the scopes in the headers of packets.
#include "tests/kfdemu/check/packets.hpp"

using namespace packets_test;

namespace {

constexpr unsigned kNone = HSA_FENCE_SCOPE_NONE, kAgent = HSA_FENCE_SCOPE_AGENT, kSystem = HSA_FENCE_SCOPE_SYSTEM;

template <class Packet>
Packet with_scopes(Packet packet, unsigned acquire, unsigned release) {
    packet.header =
        static_cast<std::uint16_t>((packet.header & 0x1ff) | acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                   release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    return packet;
}

struct Scopes {
    unsigned release, acquire;  ///< of the writer, of the reader
    const char* finding;        ///< what it contains; null: there is none
    bool barrier = false;       ///< a barrier packet between has both fences, of the agent
};

void copy(const Memory& to, hsa_agent_t to_agent, const Memory& from, hsa_agent_t from_agent) {
    const Signal copied;
    HSA_CHECK(hsa_amd_memory_async_copy(to.data(), to_agent, from.data(), from_agent, 256, 0, nullptr, copied));
    REQUIRE(copied.completed());
}

void expect(const test_support::Control& control, const char* finding) {
    const auto found = control.findings();
    INFO(joined(found));
    REQUIRE(found.size() == (finding == nullptr ? 0 : 1));
    if (finding != nullptr) CHECK(has(found[0], finding));
}

}  // namespace

TEST_CASE("a kernel reads what another wrote if the scopes of both packets are the agent", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    constexpr const char* kReleased =
        "that an earlier kernel wrote, and no packet's release fence has the scope of the agent";
    constexpr const char* kAcquired =
        "that an earlier kernel wrote, and no packet's acquire fence has the scope of the agent";
    Work work;
    for (const Scopes& scopes : {Scopes{kNone, kAgent, kReleased},
                                 {kAgent, kNone, kAcquired},
                                 {kAgent, kAgent, nullptr},
                                 {kSystem, kSystem, nullptr},
                                 {kNone, kNone, kReleased},
                                 {kNone, kNone, nullptr, true}}) {
        control->forget_findings();
        const HandOver hand_over{work};
        Queue queue{work.machine.gpu()};
        auto reader = hand_over.reader();
        reader.header |= 1 << HSA_PACKET_HEADER_BARRIER;
        queue.submit(with_scopes(hand_over.writer(), kSystem, scopes.release));
        if (scopes.barrier) queue.submit(with_scopes(barrier_and({}, kNoSignal, true), kAgent, kAgent));
        queue.submit(with_scopes(reader, scopes.acquire, kSystem));
        REQUIRE(hand_over.read.completed());
        INFO(scopes.release << " " << scopes.acquire << " " << scopes.barrier);
        expect(control, scopes.finding);
    }
    control->check(0);
}

TEST_CASE("a copy reads what a kernel wrote if the release has the scope of the system", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    const Memory device = work.device_memory();
    const Memory to = work.fill(device.data(), 5u);
    Queue queue{work.machine.gpu()};
    for (const unsigned release : {kAgent, kSystem}) {
        control->forget_findings();
        const Signal written;
        queue.submit(with_scopes(work.packet("fill", to, false, written), kSystem, release));
        REQUIRE(written.completed());
        copy(work.result, work.machine.cpu().agent, device, work.machine.gpu().agent);
        expect(control,
               release == kSystem ? nullptr : "a DMA engine reads what a kernel wrote, and no packet's release");
    }
    control->check(0);
}

TEST_CASE("a kernel reads what a copy wrote if no cache holds it since before", "[check][packets]") {
    NEEDS_CONTROL(control);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    const Memory device = work.device_memory();
    const Memory from = arguments(work.machine, work.code.kernel("double_all"), device.data(), work.result.data());
    Queue queue{work.machine.gpu()};
    const auto read_with = [&](unsigned acquire) {
        const Signal read;
        queue.submit(with_scopes(work.packet("double_all", from, false, read), acquire, kSystem));
        REQUIRE(read.completed());
    };
    const auto invalidate = [&] {
        const Signal done;
        queue.submit(with_scopes(barrier_and({}, done, true), kSystem, kSystem));
        REQUIRE(done.completed());
    };
    constexpr const char* kStale = "memory is read that a DMA engine wrote, and no packet's acquire";
    struct Case {
        bool read_before, invalidated;
        unsigned acquire;
        const char* finding;
    };
    for (const Case& each : {Case{false, true, kAgent, nullptr},
                             {true, false, kAgent, kStale},
                             {true, true, kAgent, nullptr},  // as HIP does
                             {true, false, kSystem, nullptr}}) {
        control->forget_findings();
        invalidate();
        if (each.read_before) read_with(kAgent);
        if (each.invalidated) invalidate();
        copy(device, work.machine.gpu().agent, work.data, work.machine.cpu().agent);
        read_with(each.acquire);
        INFO(each.read_before << " " << each.invalidated << " " << each.acquire);
        expect(control, each.finding);
    }
    control->check(0);
}
