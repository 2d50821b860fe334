// An SDMA queue without a runtime: a ring of packets in, memory out. Packets are written as the public header
// vega10_sdma_pkt_open.h lays them out.
#include "tools/kfdemu/queues/sdma_queue.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/base/log.hpp"

using namespace kfdemu;

namespace {

using Dwords = std::vector<std::uint32_t>;

// GPU addresses; the host's differ.
constexpr std::uint32_t kRing = 0x10000, kData = 0x100000, kPointer = 0x1000;
constexpr std::uint32_t kRingBytes = 1024;

struct Engine {
    AddressSpace space;
    Events events;
    Eviction eviction{events};
    alignas(64) std::array<std::uint32_t, kRingBytes / 4> ring{};
    alignas(64) std::array<std::uint32_t, 16384> data{};
    alignas(64) std::array<std::uint64_t, 8> pointer{};
    volatile std::uint64_t doorbell = 0;
    std::uint64_t written = 0;  // dwords
    SdmaQueue queue;

    Engine() : queue{0, make_space(), events, eviction, arguments(), &doorbell} {}
    ~Engine() { queue.stop(); }

    /// Runs packets until the queue makes no more progress.
    void run(const Dwords& packets) {
        for (std::uint32_t dword : packets) ring[written++ % ring.size()] = dword;
        doorbell = written * 4;
        for (int i = 0; i < 1000 && queue.service(); ++i) {
        }
    }
    /// Runs packets, and returns how often service() makes progress.
    int slices(const Dwords& packets) {
        for (std::uint32_t dword : packets) ring[written++ % ring.size()] = dword;
        doorbell = written * 4;
        int count = 0;
        while (queue.service()) ++count;
        return count;
    }
    bool idle() const { return pointer[0] == written * 4; }

    /// The address of a dword of the data.
    static std::uint32_t at(std::uint32_t dword) { return kData + 4 * dword; }

  private:
    const AddressSpace& make_space() {
        space.map({kRing, kRing + kRingBytes, reinterpret_cast<std::byte*>(ring.data()), kRead, 1});
        space.map({kData, kData + sizeof data, reinterpret_cast<std::byte*>(data.data()), kRead | kWrite, 2});
        space.map({kPointer, kPointer + sizeof pointer, reinterpret_cast<std::byte*>(pointer.data()), kWrite, 3});
        return space;
    }
    static abi::CreateQueue arguments() {
        abi::CreateQueue args{};
        args.ring_base_address = kRing;
        args.ring_size = kRingBytes;
        args.read_pointer_address = kPointer;
        return args;
    }
};

Dwords fence(std::uint32_t dword, std::uint32_t value) { return {5, Engine::at(dword), 0, value}; }

Dwords operator+(Dwords a, const Dwords& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// What the log says while `packets` run.
std::string logged(const Dwords& packets) {
    Engine engine;
    const LogLevel level = std::exchange(log_level, LogLevel::error);
    char name[] = "/tmp/kfdemu-sdma-XXXXXX";
    const int file = mkstemp(name), before = dup(STDERR_FILENO);
    unlink(name);
    dup2(file, STDERR_FILENO);
    engine.run(packets);
    dup2(before, STDERR_FILENO);
    log_level = level;
    std::string text(4096, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(file, text.data(), text.size(), 0))));
    close(before);
    close(file);
    return text;
}

}  // namespace

TEST_CASE("a broadcast copy writes both destinations, and the packet after it runs", "[kfdemu][sdma]") {
    Engine engine;
    engine.data[0] = 0x11111111;
    engine.data[1] = 0x22222222;
    engine.run(Dwords{1 | 1u << 27, 7, 0, Engine::at(0), 0, Engine::at(16), 0, Engine::at(32), 0} + fence(48, 5));
    CHECK(engine.data[16] == 0x11111111);
    CHECK(engine.data[17] == 0x22222222);
    CHECK(engine.data[32] == 0x11111111);
    CHECK(engine.data[33] == 0x22222222);
    CHECK(engine.data[48] == 5);
    CHECK(engine.idle());
}

TEST_CASE("a write stores the dwords that follow it", "[kfdemu][sdma]") {
    Engine engine;
    engine.run(Dwords{2, Engine::at(8), 0, 2, 7, 8, 9} + fence(0, 1));
    CHECK(engine.data[8] == 7);
    CHECK(engine.data[9] == 8);
    CHECK(engine.data[10] == 9);
    CHECK(engine.data[11] == 0);
    CHECK(engine.data[0] == 1);
}

TEST_CASE("a write longer than any other packet wraps around the ring", "[kfdemu][sdma]") {
    Engine engine;
    engine.run(Dwords(200, 0));  // nops
    Dwords write{2, Engine::at(0), 0, 99};
    for (std::uint32_t i = 0; i < 100; ++i) write.push_back(1000 + i);
    engine.run(write);
    CHECK(engine.idle());
    for (std::uint32_t i = 0; i < 100; ++i) CHECK(engine.data[i] == 1000 + i);
}

TEST_CASE("fills repeat a byte, two bytes or a dword", "[kfdemu][sdma]") {
    Engine engine;
    engine.run({11, Engine::at(0) + 1, 0, 0xab, 1});
    engine.run({11 | 1u << 30, Engine::at(1), 0, 0xabcd, 3});
    engine.run({11 | 2u << 30, Engine::at(2), 0, 0x12345678, 7});
    CHECK(engine.data[0] == 0x00abab00);
    CHECK(engine.data[1] == 0xabcdabcd);
    CHECK(engine.data[2] == 0x12345678);
    CHECK(engine.data[3] == 0x12345678);
    CHECK(engine.data[4] == 0);
}

TEST_CASE("a poll of memory holds up the packets after it until the value arrives", "[kfdemu][sdma]") {
    Engine engine;
    engine.run(Dwords{8 | 3u << 28 | 1u << 31, Engine::at(0), 0, 5, 0xff, 0x0fff0004} + fence(1, 1));
    CHECK(engine.data[1] == 0);
    engine.data[0] = 0xff05;
    engine.run({});
    CHECK(engine.data[1] == 1);
}

TEST_CASE("the engine's own clock is set, and read back later", "[kfdemu][sdma]") {
    Engine engine;
    engine.run({13, 1000, 0, 13 | 1 << 8, Engine::at(0), 0});
    CHECK(engine.idle());
    const std::uint64_t read = engine.data[0] | std::uint64_t{engine.data[1]} << 32;
    CHECK(read >= 1000);
    CHECK(read < 1000 + 100'000'000ull);  // a second
}

TEST_CASE("the global clock is the GPU's", "[kfdemu][sdma]") {
    Engine engine;
    const std::uint64_t before = kfdemu::clock::now();
    engine.run({13 | 2 << 8, Engine::at(0), 0});
    const std::uint64_t read = engine.data[0] | std::uint64_t{engine.data[1]} << 32;
    CHECK(read >= before);
    CHECK(read <= kfdemu::clock::now());
}

TEST_CASE("atomics of 32 and 64 bits, by TC_OP number, with and without return", "[kfdemu][sdma]") {
    struct Row {
        unsigned operation;
        std::uint64_t old, operand, compare, wanted;
    };
    // TC_OP: +0x20 for 64 bits, +0x40 without return.
    const Row row = GENERATE(
        Row{0x07, 1, 2, 0, 2}, Row{0x67, 1, ~0ull, 0, ~0ull}, Row{0x48, 5, 9, 5, 9}, Row{0x28, 5, 9, 6, 5},
        Row{0x4f, 0xffffffff, 1, 0, 0}, Row{0x6f, 0xffffffff, 1, 0, 0x100000000}, Row{0x10, 5, 7, 0, 0xfffffffe},
        Row{0x11, 0xffffffff, 1, 0, 0xffffffff}, Row{0x12, 0xffffffff, 1, 0, 1}, Row{0x33, ~0ull, 1, 0, 1},
        Row{0x34, ~0ull, 1, 0, ~0ull}, Row{0x55, 0xc, 0xa, 0, 8}, Row{0x76, 0xc, 0xa, 0, 0xe},
        Row{0x17, 0xc, 0xa, 0, 6}, Row{0x18, 7, 7, 0, 0}, Row{0x18, 6, 7, 0, 7}, Row{0x19, 0, 7, 0, 7},
        Row{0x39, 9, 7, 0, 7}, Row{0x39, 3, 7, 0, 2});
    CAPTURE(row.operation);
    Engine engine;
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    engine.data[0] = low(row.old);
    engine.data[1] = low(row.old >> 32);
    engine.run({10 | row.operation << 25, Engine::at(0), 0, low(row.operand), low(row.operand >> 32), low(row.compare),
                low(row.compare >> 32), 0});
    CHECK(engine.idle());
    CHECK((engine.data[0] | std::uint64_t{engine.data[1]} << 32) == row.wanted);
}

TEST_CASE("a compare-and-swap that loops waits for the value", "[kfdemu][sdma]") {
    Engine engine;
    engine.run(Dwords{10 | 1 << 16 | 0x48u << 25, Engine::at(0), 0, 9, 0, 5, 0, 0} + fence(1, 1));
    CHECK(engine.data[1] == 0);
    engine.data[0] = 5;
    engine.run({});
    CHECK(engine.data[0] == 9);
    CHECK(engine.data[1] == 1);
}

TEST_CASE("an indirect buffer runs, then the ring continues", "[kfdemu][sdma]") {
    Engine engine;
    const Dwords packets = fence(0, 1) + Dwords{2, Engine::at(1), 0, 0, 2} + Dwords{0, 0, 0};
    std::copy(packets.begin(), packets.end(), engine.data.begin() + 64);
    const auto size = static_cast<std::uint32_t>(packets.size());
    engine.run(Dwords{4, Engine::at(64), 0, size, 0, 0} + fence(2, 3));
    CHECK(engine.data[0] == 1);
    CHECK(engine.data[1] == 2);
    CHECK(engine.data[2] == 3);
    CHECK(engine.idle());
}

TEST_CASE("the ring's read pointer passes an indirect buffer when that has ended", "[kfdemu][sdma]") {
    Engine engine;
    const Dwords packets{8 | 3u << 28 | 1u << 31, Engine::at(0), 0, 5, 0xff, 0x0fff0004, 0, 0};
    std::copy(packets.begin(), packets.end(), engine.data.begin() + 64);
    engine.run({4, Engine::at(64), 0, 8, 0, 0});
    CHECK(engine.pointer[0] == 0);
    engine.data[0] = 5;
    engine.run({});
    CHECK(engine.idle());
}

TEST_CASE("conditional execution skips its dwords unless memory equals the reference", "[kfdemu][sdma]") {
    const std::uint32_t value = GENERATE(0u, 1u);
    Engine engine;
    engine.data[0] = value;
    engine.run(Dwords{9, Engine::at(0), 0, 1, 4} + fence(1, 7) + fence(2, 8));
    CHECK(engine.data[1] == (value == 1 ? 7 : 0));
    CHECK(engine.data[2] == 8);
    CHECK(engine.idle());
}

TEST_CASE("predicated execution is for the engines in its mask; this is engine 0", "[kfdemu][sdma]") {
    const std::uint32_t engines = GENERATE(1u, 2u, 3u);
    Engine engine;
    engine.run(Dwords{15 | engines << 16, 4} + fence(1, 7) + fence(2, 8));
    CHECK(engine.data[1] == (engines & 1 ? 7 : 0));
    CHECK(engine.data[2] == 8);
}

TEST_CASE("a nop with a count skips the dwords after it", "[kfdemu][sdma]") {
    Engine engine;
    engine.run(Dwords{3 << 16, 0xffffffff, 0xffffffff, 0xffffffff} + fence(0, 1));
    CHECK(engine.data[0] == 1);
}

TEST_CASE("what a packet asks for and the engine does not know stops the queue, with its name and place",
          "[kfdemu][sdma]") {
    struct Row {
        Dwords packet;
        const char* words;
    };
    const Row row =
        GENERATE(Row{{1 | 1 << 18, 7, 0, kData, 0, kData + 64, 0}, "COPY_LINEAR.*op 1, sub-op 0.*dword 0.*0x00040000"},
                 Row{{1, 7, 1 << 16, kData, 0, kData + 64, 0}, "COPY_LINEAR.*dword 2.*0x00010000"},
                 Row{{2, kData, 0, 1 << 24, 5}, "WRITE_LINEAR.*dword 3.*0x01000000"},
                 Row{{5 | 1 << 16, kData, 0, 5}, "FENCE.*op 5, sub-op 0.*dword 0.*0x00010000"},
                 Row{{4 | 1 << 16, kData, 0, 1, 0, 0}, "INDIRECT.*dword 0.*0x00010000"},
                 Row{{11 | 1 << 16, kData, 0, 5, 3}, "CONST_FILL.*dword 0.*0x00010000"},
                 Row{{8 | 7u << 28 | 1u << 31, kData, 0, 0, 0, 0}, "POLL_REGMEM.*function 7.*op 8"},
                 Row{{1 | 4 << 8, kData, 0, 0, 0, 0, kData + 64, 0, 0, 0, 0, 1 << 14, 0},
                     "COPY_LINEAR_SUB_WIND.*dword 11.*0x00004000"},
                 Row{{7, kData, 0}, "SEM .*op 7, sub-op 0"}, Row{{14, 5, 5}, "SRBM_WRITE.*op 14, sub-op 0"},
                 Row{{0x77, 0, 0}, "op 119, sub-op 0"});
    const std::string text = logged(Dwords{0, 0} + row.packet + fence(0, 1));
    CAPTURE(row.words, text);
    CHECK(std::regex_search(text, std::regex{row.words}));
    CHECK(std::regex_search(text, std::regex{"byte 8 of the ring at 0x10000.*the queue stops"}));
}

TEST_CASE("packets where nothing is mapped are a memory fault", "[kfdemu][sdma]") {
    constexpr std::uint32_t nowhere = 0x400000;
    Engine engine;
    const auto event = engine.events.create(abi::kEventMemory, true);
    REQUIRE(event);
    engine.run({4, nowhere, 0, 4, 0, 0});
    std::array<abi::EventData, 1> waited{};
    waited[0].event_id = *event;
    CHECK(engine.events.wait(waited, false, 0) == abi::kWaitComplete);
    CHECK(waited[0].memory.va == nowhere);
    CHECK(waited[0].memory.not_present == 1);
    CHECK_FALSE(engine.idle());
}

TEST_CASE("an indirect buffer within another stops the queue", "[kfdemu][sdma]") {
    Engine engine;
    const Dwords inner{4, Engine::at(128), 0, 4, 0, 0};
    std::copy(inner.begin(), inner.end(), engine.data.begin() + 64);
    engine.run(Dwords{4, Engine::at(64), 0, 6, 0, 0} + fence(0, 1));
    CHECK(engine.data[0] == 0);
    CHECK_FALSE(engine.idle());
}

TEST_CASE("a box of many narrow rows is copied in slices", "[kfdemu][sdma]") {
    // A million rows of one byte: 16384 rows at a pitch of 1 in each of 64 slices, which overlap.
    constexpr std::uint32_t pitch = 0, size = 16383 << 16, depth = 63;
    Engine engine;
    CHECK(
        engine.slices(Dwords{1 | 4 << 8, Engine::at(0), 0, 0, pitch, 0, Engine::at(8192), 0, 0, pitch, 0, size, depth} +
                      fence(0, 1)) > 100);
    CHECK(engine.data[0] == 1);
}

TEST_CASE("copies that wait in one ring are slices of their own", "[kfdemu][sdma]") {
    Engine engine;
    Dwords copies;
    for (int n = 0; n < 36; ++n) copies = copies + Dwords{1, 65535, 0, Engine::at(0), 0, Engine::at(0), 0};
    CHECK(engine.slices(copies) > 2);
    CHECK(engine.idle());
}

TEST_CASE("a long write is a series of slices", "[kfdemu][sdma]") {
    constexpr std::uint32_t dwords = 8000;
    Engine engine;
    const Dwords head{2, Engine::at(0), 0, dwords - 1};
    std::copy(head.begin(), head.end(), engine.data.begin() + 8192);
    engine.data[8192 + 4 + dwords - 1] = 7;
    CHECK(engine.slices({4, Engine::at(8192), 0, 4 + dwords, 0, 0}) > 1);
    CHECK(engine.data[dwords - 1] == 7);
}

TEST_CASE("a fill that is longer than a slice repeats its value throughout", "[kfdemu][sdma]") {
    const std::uint32_t size = GENERATE(0u, 1u, 2u);
    constexpr std::uint32_t wanted[] = {0x78787878, 0x56785678, 0x12345678};
    std::vector<std::uint32_t> memory(1'000'000);
    Engine engine;
    engine.space.map(
        {0x1000000, 0x1000000 + 4 * memory.size(), reinterpret_cast<std::byte*>(memory.data()), kWrite, 4});
    CHECK(engine.slices({11 | size << 30, 0x1000000, 0, 0x12345678, 3'999'999}) > 1);
    CHECK(std::count(memory.begin(), memory.end(), wanted[size]) == 1'000'000);
}
