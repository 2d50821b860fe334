// SDMA rings: any bytes in the ring, any write pointer. The queue processes, waits or stops; it accesses only
// mapped memory.
#include "tools/kfdemu/queues/sdma_queue.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tools/kfdemu/base/log.hpp"

namespace {

using namespace kfdemu;

// GPU addresses that mutations of small numbers hit; the host addresses differ.
constexpr std::uint64_t kRing = 0x10000, kData = 0x100000, kConstant = 0x7fff0000, kPointers = 0x1000;
constexpr std::size_t kRingBytes = 4096, kDataBytes = 65536, kConstantBytes = 4096, kPointerBytes = 64;

struct Engine {
    AddressSpace space;
    Events events;
    Eviction eviction{events};
    // Each of exactly its size, so that a sanitizer detects overruns.
    std::vector<std::byte> ring = std::vector<std::byte>(kRingBytes);
    std::vector<std::byte> data = std::vector<std::byte>(kDataBytes);
    std::vector<std::byte> constant = std::vector<std::byte>(kConstantBytes, std::byte{0x5a});
    std::vector<std::byte> pointers = std::vector<std::byte>(kPointerBytes);
    volatile std::uint64_t doorbell = 0;

    Engine() {
        log_level = LogLevel::off;
        space.map({kRing, kRing + kRingBytes, ring.data(), kRead, 1});
        space.map({kData, kData + kDataBytes, data.data(), kRead | kWrite, 2});
        space.map({kConstant, kConstant + kConstantBytes, constant.data(), kRead, 3});
        space.map({kPointers, kPointers + kPointerBytes, pointers.data(), kRead | kWrite, 4});
    }
};

void decode_everywhere(const std::uint8_t* data, std::size_t size) {
    std::vector<std::uint32_t> dwords(size / 4);
    if (!dwords.empty()) std::memcpy(dwords.data(), data, dwords.size() * 4);
    const std::span<const std::uint32_t> all{dwords};
    for (std::size_t n = 0; n < all.size(); ++n) {
        const sdma::Decoded decoded = sdma::decode(all.subspan(n));
        if (decoded.dwords > all.size() - n) fuzz::broken("a packet longer than the ring's contents");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    decode_everywhere(data, std::min<std::size_t>(size, 1024));
    static Engine engine;
    fuzz::Input in{data, size};
    abi::CreateQueue args{};
    args.ring_base_address = kRing + in.take<std::uint8_t>();
    args.ring_size = 1u << in.below(13);
    args.read_pointer_address = in.below(8) ? kPointers : in.take<std::uint32_t>();
    SdmaQueue queue{0, engine.space, engine.events, engine.eviction, args, &engine.doorbell};
    std::uint64_t write = in.below(8) ? 0 : in.take<std::uint64_t>();
    if (write == 0) write = in.left() & ~std::size_t{3};
    in.take_bytes(engine.ring.data(), kRingBytes);
    engine.doorbell = write;
    for (unsigned n = 0; n < 16 && queue.service(); ++n) {
    }
    queue.stop();
    if (queue.service()) fuzz::broken("a stopped queue continues");
    for (std::byte byte : engine.constant)
        if (byte != std::byte{0x5a}) fuzz::broken("read-only memory was written");
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    const auto ring = [] {
        Output out;
        return out.put<std::uint8_t>(0).put<std::uint8_t>(12).put<std::uint8_t>(1).put<std::uint8_t>(1);
    };
    const auto packet = [&](std::initializer_list<std::uint32_t> dwords) {
        Output out = ring();
        for (std::uint32_t dword : dwords) out.put(dword);
        return out.bytes;
    };
    constexpr std::uint32_t data = kData, constant = kConstant, ring_start = kRing;
    return {
        packet({0x0003'0000, 0, 0, 0}),                   // nop of four dwords
        packet({1, 255, 0, constant, 0, data, 0}),        // copy 256 bytes
        packet({1, 0x3fffff, 0, data, 0, data + 64, 0}),  // copy beyond the mapping
        packet({0x4000'0401, data, 0, 0, 63 << 13, 4095, data + 32768, 0, 0, 63 << 13, 4095, 0x000f'000f, 1}),  // box
        packet({0x8000'000b, data, 0, 0x1234'5678, 1020}),                                                      // fill
        packet({5, data + 16, 0, 77}),                                                                          // fence
        packet({6, 3}),                                                                                         // trap
        packet({0xb000'0008, data + 16, 0, 0, 0xffff'ffff, 0x0fff'0004}),        // wait for memory
        packet({8, 0, 0, 0, 0, 0}),                                              // flush
        packet({0x5e00'000a, data + 24, 0, 0xffff'ffff, 0xffff'ffff, 0, 0, 0}),  // decrement
        packet({0x020d, data + 32, 0}),                                          // time stamp
        packet({0x0800'0001, 255, 0, constant, 0, data, 0, data + 4096, 0}),     // broadcast
        packet({2, data, 0, 2, 1, 2, 3}),                                        // write of three dwords
        packet({4, data, 0, 8, 0, 0}),                                           // indirect buffer, of nops
        packet({4, ring_start, 0, 6, 0, 0}),                                     // indirect buffer, itself
        packet({9, data, 0, 1, 2, 6, 3}),                                        // execute if equal
        packet({0x0002'000f, 2, 6, 3}),                                          // execute on the second engine
        packet({0x9001'000a, data, 0, 9, 0, 5, 0, 0}),                           // compare and swap, until it succeeds
        packet({13, 1, 0, 0x010d, data + 32, 0}),                                // the engine's own clock
    };
}
