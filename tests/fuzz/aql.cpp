// AQL queues: any packets in the ring, with any signals, kernel objects, kernel arguments, code and PM4
// buffers. Each queue processes, waits or stops with an error, and destroying it returns,
// endless kernels included.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/fuzz/device.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/dispatch/launch.hpp"
#include "tools/kfdemu/queues/packet.hpp"

namespace {

using namespace kfdemu;

// Addresses in the GPU's address space.
constexpr std::uint64_t kBase = 0x100000, kQueue = kBase, kRing = kBase + 0x1000, kSignals = kBase + 0x2000,
                        kData = kBase + 0x3000, kKernel = kBase + 0x4000, kScratch = kBase + 0x8000;
constexpr std::size_t kBytes = 0x10000, kRingPackets = 64, kCodeBytes = 0x3000;
constexpr std::uint32_t kLaneBytes = 64, kWaves = 4, kWaveBytes = kLaneBytes * 64;
constexpr std::uint64_t kInactiveSignal = kSignals;
constexpr auto kPatience = std::chrono::milliseconds{2};

struct World {
    fuzz::GuardedPages pages{kBytes};

    World() { fuzz::give(pages, kBase); }
    template <class T>
    T* at(std::uint64_t va) const {
        return reinterpret_cast<T*>(pages.data() + (va - kBase));
    }
};

World& world() {
    static World made;
    return made;
}

/// The runtime's structure, with the fields that the device reads randomised.
void make_queue_structure(fuzz::Input& in) {
    auto& queue = *world().at<aql::AmdQueue>(kQueue);
    queue.compute_tmpring_size = kWaves | kWaveBytes / 1024 << 12;
    queue.scratch_resource_descriptor[0] = kScratch;
    queue.scratch_resource_descriptor[1] = 1u << 31;
    queue.scratch_resource_descriptor[2] = kWaveBytes * kWaves;
    queue.scratch_resource_descriptor[3] = 1u << 23 | 3u << 21 | 1u << 19 | 4u << 15 | 0xfac;
    queue.scratch_backing_memory_location = kScratch;
    queue.scratch_backing_memory_byte_size = kWaveBytes * kWaves;
    queue.scratch_wave64_lane_byte_size = kLaneBytes;
    queue.queue_inactive_signal = kInactiveSignal;
    switch (in.below(8)) {
        case 0:
            queue.compute_tmpring_size = in.take<std::uint32_t>();
            break;
        case 1:
            queue.scratch_backing_memory_location = in.take<std::uint64_t>();
            break;
        case 2:
            queue.scratch_wave64_lane_byte_size = in.take<std::uint32_t>();
            break;
        case 3:
            queue.queue_inactive_signal = in.take<std::uint64_t>();
            break;
        case 4:
            queue.queue_properties = in.take<std::uint32_t>();
            break;
        default:
            break;
    }
}

/// Until the packets are complete, the queue stopped, or a timeout. Answers requests for scratch as the
/// runtime would: with memory, or with a refusal.
void wait_for(std::uint64_t packets, std::uint64_t faults, bool more_scratch) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    auto& queue = *world().at<aql::AmdQueue>(kQueue);
    std::int64_t& inactive = world().at<aql::AmdSignal>(kInactiveSignal)->value;
    while (counters.faults == faults && std::chrono::steady_clock::now() < until) {
        if (__atomic_load_n(&queue.read_dispatch_id, __ATOMIC_ACQUIRE) >= packets) return;
        if (__atomic_load_n(&inactive, __ATOMIC_ACQUIRE) == aql::kInsufficientScratch) {
            if (!more_scratch) return;
            queue.scratch_wave64_lane_byte_size *= 2;
            __atomic_store_n(&inactive, 0, __ATOMIC_RELEASE);
        }
        std::this_thread::yield();
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in{data, size};
    std::memset(world().pages.data(), 0, kBytes);
    make_queue_structure(in);
    const unsigned count = 1 + in.below(8);
    const bool more_scratch = in.below(2) == 0, wild_doorbell = in.below(16) == 15;
    const std::uint64_t rung = wild_doorbell ? in.take<std::uint64_t>() : count - 1;
    auto* ring = world().at<aql::Packet>(kRing);
    for (unsigned n = 0; n < kRingPackets; ++n) ring[n].header = aql::kInvalid;
    for (unsigned n = 0; n < count; ++n) ring[n] = in.take<aql::Packet>();
    in.take_bytes(world().at<std::byte>(kSignals + 64), 7 * 64);
    in.take_bytes(world().at<std::byte>(kData), 64);
    in.take_bytes(world().at<std::byte>(kKernel), kCodeBytes);

    abi::CreateQueue args{};
    args.ring_base_address = kRing;
    args.ring_size = kRingPackets * sizeof(aql::Packet);
    args.gpu_id = Device::topology()->gpus[0].gpu_id;
    args.queue_type = abi::kComputeAql;
    args.queue_percentage = 100;
    args.read_pointer_address = kQueue + offsetof(aql::AmdQueue, read_dispatch_id);
    args.write_pointer_address = kQueue + offsetof(aql::AmdQueue, write_dispatch_id);
    const std::uint64_t faults = counters.faults;
    if (fuzz::call(abi::kCreateQueue, args) != 0) fuzz::broken("no queue");
    *fuzz::doorbell(0, args.doorbell_offset) = rung;
    fuzz::device().scheduler().nudge();
    wait_for(count, faults, more_scratch);
    abi::DestroyQueue destroy{args.queue_id, 0};
    if (fuzz::call(abi::kDestroyQueue, destroy) != 0) fuzz::broken("the queue cannot be destroyed");
    return 0;
}

namespace {

// kernel_descriptor_t of LLVM's AMDGPUUsage; the code follows after 256 bytes.
struct Kernel {
    std::uint32_t group_bytes = 0, private_bytes = 0, kernarg_bytes = 0, reserved0 = 0;
    std::int64_t entry_offset = 256;
    std::uint8_t reserved1[20]{};
    std::uint32_t rsrc3 = 3, rsrc1 = 0x000c'0107, rsrc2 = 16 << 1 | 0x80;
    std::uint16_t properties = 0x4b, preload = 0;
    std::uint32_t reserved2 = 0;
    std::uint8_t padding[192]{};
};
static_assert(sizeof(Kernel) == 256);

constexpr std::uint16_t kFences = 2 << 9 | 2 << 11, kBarrierBit = 1 << 8;
constexpr std::uint64_t kDone = kSignals + 64, kOne = kSignals + 128, kZero = kSignals + 192;

KernelDispatchPacket dispatch(std::uint16_t items, std::uint32_t grid, std::uint32_t private_bytes = 0) {
    KernelDispatchPacket packet;
    packet.header = aql::kKernelDispatch | kFences;
    packet.setup = 1;
    packet.workgroup_size = {items, 1, 1};
    packet.grid_size = {grid, 1, 1};
    packet.private_segment_size = private_bytes;
    packet.group_segment_size = 512;
    packet.kernel_object = kKernel;
    packet.kernarg_address = kData;
    packet.completion_signal = kDone;
    return packet;
}

aql::Barrier barrier(aql::PacketType type) {
    aql::Barrier packet{};
    packet.header = static_cast<std::uint16_t>(type | kFences | kBarrierBit);
    packet.dep_signal[0] = kZero;
    packet.dep_signal[2] = type == aql::kBarrierOr ? kOne : kZero;
    packet.completion_signal = kDone;
    return packet;
}

aql::BarrierValue barrier_value() {
    aql::BarrierValue packet{};
    packet.header = aql::kVendorSpecific | kFences;
    packet.amd_format = aql::kAmdBarrierValue;
    packet.signal = kOne;
    packet.value = 1;
    packet.mask = -1;
    packet.completion_signal = kDone;
    return packet;
}

aql::Pm4Ib pm4() {
    aql::Pm4Ib packet{};
    packet.header = aql::kVendorSpecific | kFences;
    packet.amd_format = aql::kAmdPm4Ib;
    packet.ib_jump[0] = 0xc002'3f00;  // INDIRECT_BUFFER, four dwords
    packet.ib_jump[1] = static_cast<std::uint32_t>(kData);
    packet.ib_jump[3] = 9;
    packet.dwords_remaining = 10;
    packet.completion_signal = kDone;
    return packet;
}

template <class... Packets>
fuzz::Bytes seed(std::initializer_list<std::uint32_t> code, const Packets&... packets) {
    fuzz::Output out;
    out.put<std::uint8_t>(7)
        .put(static_cast<std::uint8_t>(sizeof...(Packets) - 1))
        .put<std::uint8_t>(0)
        .put<std::uint8_t>(0);
    (out.put(packets), ...);
    aql::AmdSignal signals[7]{};
    for (aql::AmdSignal& signal : signals) signal = {1, 1, kData + 32, 1, 0, 0, 0, 0, 0};
    signals[2].value = 0;
    out.put(signals);
    // The contents of the PM4 packet's buffer: ACQUIRE_MEM and padding.
    out.put(std::array<std::uint32_t, 16>{0xc005'5800, 0, ~0u, 0, 0, 0, 0, 0xc000'1000, 0});
    out.put(Kernel{});
    for (std::uint32_t word : code) out.put(word);
    return out.bytes;
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
    constexpr std::uint32_t kEnd = 0xbf81'0000, kBarrier = 0xbf8a'0000, kToItself = 0xbf82'ffff, kTrap = 0xbf92'0002;
    constexpr std::uint32_t kLoad[] = {0xc002'0203, 0};             // s_load_dword s8, s[6:7], 0
    constexpr std::uint32_t kStore[] = {0xdc70'8000, 0x0006'0000};  // global_store_dword v0, v0, s[6:7]
    constexpr std::uint32_t kInterrupt = 0xbf90'0001;               // s_sendmsg 1
    return {
        seed({kEnd}, dispatch(64, 64)),
        seed({kBarrier, kLoad[0], kLoad[1], kEnd}, dispatch(256, 1000), dispatch(64, 64)),
        seed({kStore[0], kStore[1], kEnd}, dispatch(64, 200), barrier(aql::kBarrierAnd)),
        seed({kEnd}, dispatch(64, 64, 32), dispatch(64, 64, 100)),
        seed({kToItself}, dispatch(64, 640)),
        seed({kTrap}, dispatch(64, 64)),
        seed({kInterrupt, kEnd}, dispatch(64, 64), barrier(aql::kBarrierOr)),
        seed({kEnd}, barrier(aql::kBarrierAnd), barrier(aql::kBarrierOr), barrier_value(), pm4()),
        seed({kEnd}, pm4(), dispatch(64, 64), pm4()),
    };
}
