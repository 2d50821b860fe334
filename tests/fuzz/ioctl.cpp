// The kernel's interface: any requests with any structures, wild pointers and stale handles among them. Each
// is answered, with an error or without, and the process lives on.
#include <cerrno>

#include "device.hpp"
#include "fuzz.hpp"
#include "tools/kfdemu/drm.hpp"

namespace {

using namespace kfdemu;

constexpr std::size_t kLongest = 256;
constexpr std::uint64_t kVa = 0x100000;

struct Ids {
    std::vector<std::uint64_t> handles{0};
    std::vector<std::uint32_t> queues{0}, events{0};
};

/// Memory that requests may point at, and addresses around it that they may not.
struct World {
    fuzz::GuardedPages pages{65536};
    std::array<std::uint64_t, 16> pointers{};

    World() {
        fuzz::device();
        const std::uint64_t begin = pages.address(), end = begin + pages.size();
        pointers = {0,
                    1,
                    begin,
                    begin + 4096,
                    begin + 4,
                    begin + 1,
                    end - 8,
                    end - 4,
                    end,
                    begin - 8,
                    kVa,
                    0x7fff'ffff'f000,
                    0x8000'0000'0000,
                    0xffff'8000'0000'0000,
                    ~std::uint64_t{0},
                    reinterpret_cast<std::uint64_t>(&LLVMFuzzerTestOneInput)};  // readable, not writable
    }

    /// Zeroes, but for the list of GPUs at the front.
    void reset() {
        std::memset(pages.data(), 0, pages.size());
        std::byte* to = pages.data();
        for (const Gpu& gpu : Device::topology()->gpus) {
            std::memcpy(to, &gpu.gpu_id, sizeof gpu.gpu_id);
            to += sizeof gpu.gpu_id;
        }
    }
};

World& world() {
    static World made;
    return made;
}

/// What a structure is made of: mostly something that was seen before, so that requests go beyond their first
/// check.
template <class T>
T& field(std::array<std::byte, kLongest>& bytes, std::size_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset % (kLongest - sizeof(T) + 1) / sizeof(T) * sizeof(T));
}

void patch(std::array<std::byte, kLongest>& bytes, const Ids& ids, fuzz::Input& in) {
    const unsigned kind = in.below(6);
    const unsigned choice = in.take<std::uint8_t>(), offset = in.take<std::uint8_t>();
    switch (kind) {
        case 0:
            field<std::uint64_t>(bytes, offset) = world().pointers[choice % world().pointers.size()];
            break;
        case 1:
            field<std::uint64_t>(bytes, offset) = ids.handles[choice % ids.handles.size()];
            break;
        case 2:
            field<std::uint32_t>(bytes, offset) = ids.queues[choice % ids.queues.size()];
            break;
        case 3:
            field<std::uint32_t>(bytes, offset) = ids.events[choice % ids.events.size()];
            break;
        case 4:
            field<std::uint32_t>(bytes, offset) = Device::topology()->gpus[choice % 2].gpu_id;
            break;
        default:
            field<std::uint32_t>(bytes, offset) = choice;
            break;
    }
}

/// What the device gave out, to be used and given back.
template <class Args>
const Args& as(const std::array<std::byte, kLongest>& bytes) {
    static_assert(sizeof(Args) <= kLongest);
    return *reinterpret_cast<const Args*>(bytes.data());
}
void remember(unsigned request, const std::array<std::byte, kLongest>& bytes, Ids& ids) {
    if (request == abi::kAllocMemoryOfGpu) ids.handles.push_back(as<abi::AllocMemoryOfGpu>(bytes).handle);
    if (request == abi::kCreateQueue) ids.queues.push_back(as<abi::CreateQueue>(bytes).queue_id);
    if (request == abi::kCreateEvent) ids.events.push_back(as<abi::CreateEvent>(bytes).event_id);
}

void give_back(const Ids& ids) {
    for (std::uint32_t id : ids.queues) {
        abi::DestroyQueue args{id, 0};
        fuzz::call(abi::kDestroyQueue, args);
    }
    const std::uint32_t gpus[] = {Device::topology()->gpus[0].gpu_id, Device::topology()->gpus[1].gpu_id};
    for (std::uint64_t handle : ids.handles) {
        abi::MapMemory unmap{handle, reinterpret_cast<std::uint64_t>(gpus), 2, 0};
        fuzz::call(abi::kUnmapMemoryFromGpu, unmap);
        abi::FreeMemoryOfGpu free{handle};
        if (fuzz::call(abi::kFreeMemoryOfGpu, free) == EBUSY)
            fuzz::broken("memory is mapped, and was unmapped");
    }
    for (std::uint32_t id : ids.events) {
        abi::EventId args{id, 0};
        fuzz::call(abi::kDestroyEvent, args);
    }
}

void request(fuzz::Input& in, Ids& ids) {
    const unsigned shape = in.take<std::uint8_t>(), number = in.take<std::uint8_t>();
    const unsigned size = in.take<std::uint8_t>();
    alignas(8) std::array<std::byte, kLongest> bytes{};
    in.take_bytes(bytes.data(), size);
    for (unsigned patches = shape % 8; patches; --patches) patch(bytes, ids, in);
    // No test waits for long.
    if (number == abi::kWaitEvents) field<std::uint32_t>(bytes, offsetof(abi::WaitEvents, timeout_ms)) &= 1;
    // From memory of the caller's, or from where there may be none.
    void* argument = bytes.data();
    if (shape >> 5 == 7) argument = reinterpret_cast<void*>(world().pointers[in.below(16)]);
    if (argument != bytes.data() && number == abi::kWaitEvents) return;
    const unsigned direction = (shape >> 3 & 3) == 0 ? _IOC_READ | _IOC_WRITE : shape >> 3 & 3;
    if (number & 0x80) {
        const unsigned queries[] = {0, 5, 0x45, number & 0x7f};
        drm_ioctl(Device::topology()->gpus[0], _IOC(direction, kDrmMagic, queries[number & 3], size),
                  argument);
        return;
    }
    const int error = fuzz::device().kfd().ioctl(_IOC(direction, abi::kKfdMagic, number, size), argument);
    if (error == 0 && argument == bytes.data()) remember(number, bytes, ids);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    world().reset();
    fuzz::Input in{data, size};
    Ids ids;
    for (unsigned n = 0; n < 32 && !in.empty(); ++n) request(in, ids);
    give_back(ids);
    return 0;
}

namespace {

constexpr std::uint8_t kPointer = 0, kHandle = 1, kQueue = 2, kEvent = 3, kGpu = 4;

struct Patch {
    std::uint8_t kind, choice;
    std::size_t offset;
};

/// One request with its patches, as request() reads it.
template <class Args>
void append(fuzz::Output& out, abi::Request number, const Args& args, std::initializer_list<Patch> patches) {
    out.put(static_cast<std::uint8_t>(patches.size()))
        .put(number)
        .put(static_cast<std::uint8_t>(sizeof args))
        .put(args);
    for (const Patch& p : patches) out.put(p.kind).put(p.choice).put(static_cast<std::uint8_t>(p.offset));
}

abi::AllocMemoryOfGpu allocation(std::uint32_t flags, std::uint64_t size = 8192) {
    abi::AllocMemoryOfGpu args{};
    args.va_addr = kVa;
    args.size = size;
    args.flags = flags | abi::kWritable | abi::kExecutable;
    return args;
}

void memory_seeds(std::vector<fuzz::Bytes>& all) {
    const Patch gpu{kGpu, 0, offsetof(abi::AllocMemoryOfGpu, gpu_id)};
    const Patch pages{kPointer, 2, offsetof(abi::AllocMemoryOfGpu, mmap_offset)};
    const Patch ids{kPointer, 2, offsetof(abi::MapMemory, device_ids_array_ptr)};
    const Patch handle{kHandle, 1, 0};
    for (std::uint32_t flags : {abi::kVram, abi::kGtt, abi::kUserptr, abi::kDoorbell, abi::kMmioRemap}) {
        fuzz::Output out;
        append(out, abi::kAllocMemoryOfGpu, allocation(flags), {gpu, pages});
        append(out, abi::kMapMemoryToGpu, abi::MapMemory{0, 0, 2, 0}, {handle, ids});
        append(out, abi::kUnmapMemoryFromGpu, abi::MapMemory{0, 0, 1, 0}, {handle, ids});
        append(out, abi::kFreeMemoryOfGpu, abi::FreeMemoryOfGpu{}, {handle});
        all.push_back(out.bytes);
    }
}

void queue_seeds(std::vector<fuzz::Bytes>& all) {
    for (abi::QueueType type : {abi::kComputeAql, abi::kSdma}) {
        fuzz::Output out;
        append(out, abi::kAllocMemoryOfGpu, allocation(abi::kUserptr, 65536),
               {{kGpu, 0, offsetof(abi::AllocMemoryOfGpu, gpu_id)},
                {kPointer, 2, offsetof(abi::AllocMemoryOfGpu, mmap_offset)}});
        append(out, abi::kMapMemoryToGpu, abi::MapMemory{0, 0, 1, 0}, {{kHandle, 1, 0}, {kPointer, 2, 8}});
        abi::CreateQueue args{};
        args.ring_base_address = kVa + 4096;
        args.ring_size = 4096;
        args.read_pointer_address = kVa + 8192 + 128;
        args.write_pointer_address = kVa + 8192 + 56;
        args.queue_type = type;
        args.queue_percentage = 100;
        append(out, abi::kCreateQueue, args, {{kGpu, 0, offsetof(abi::CreateQueue, gpu_id)}});
        append(out, abi::kUpdateQueue, abi::UpdateQueue{args.ring_base_address, 0, 4096, 0, 7},
               {{kQueue, 1, 8}});
        append(out, abi::kUpdateQueue, abi::UpdateQueue{args.ring_base_address, 0, 4096, 100, 7},
               {{kQueue, 1, 8}});
        append(out, abi::kSetCuMask, abi::SetCuMask{0, 64, 0}, {{kQueue, 1, 0}, {kPointer, 2, 8}});
        append(out, abi::kAllocQueueGws, abi::AllocQueueGws{0, 1, 0, 0}, {{kQueue, 1, 0}});
        append(out, abi::kDestroyQueue, abi::DestroyQueue{}, {{kQueue, 1, 0}});
        all.push_back(out.bytes);
    }
}

void event_seeds(std::vector<fuzz::Bytes>& all) {
    for (abi::EventType type :
         {abi::kEventSignal, abi::kEventHwException, abi::kEventDebug, abi::kEventMemory}) {
        fuzz::Output out;
        abi::CreateEvent args{};
        args.event_type = type;
        args.auto_reset = 1;
        append(out, abi::kCreateEvent, args, {});
        append(out, abi::kSetEvent, abi::EventId{}, {{kEvent, 1, 0}});
        append(out, abi::kWaitEvents, abi::WaitEvents{0, 1, 0, 1, 0}, {{kPointer, 3, 0}});
        append(out, abi::kWaitEvents, abi::WaitEvents{0, 8192, 0, 1, 0}, {{kPointer, 3, 0}});
        append(out, abi::kResetEvent, abi::EventId{}, {{kEvent, 1, 0}});
        append(out, abi::kDestroyEvent, abi::EventId{}, {{kEvent, 1, 0}});
        all.push_back(out.bytes);
    }
}

void other_seeds(std::vector<fuzz::Bytes>& all) {
    fuzz::Output out;
    append(out, abi::kGetVersion, abi::GetVersion{}, {});
    append(out, abi::kGetProcessAperturesNew, abi::GetProcessAperturesNew{0, 2, 0}, {{kPointer, 3, 0}});
    append(out, abi::kGetClockCounters, abi::GetClockCounters{},
           {{kGpu, 0, offsetof(abi::GetClockCounters, gpu_id)}});
    append(out, abi::kSetScratchBackingVa, abi::SetScratchBackingVa{}, {{kGpu, 0, 8}});
    append(out, abi::kGetTileConfig, abi::GetTileConfig{}, {{kGpu, 0, offsetof(abi::GetTileConfig, gpu_id)}});
    append(out, abi::kSetTrapHandler, abi::SetTrapHandler{},
           {{kGpu, 0, offsetof(abi::SetTrapHandler, gpu_id)}});
    append(out, abi::kAcquireVm, abi::AcquireVm{}, {{kGpu, 0, offsetof(abi::AcquireVm, gpu_id)}});
    append(out, abi::kSetXnackMode, abi::SetXnackMode{-1}, {});
    append(out, abi::kAvailableMemory, abi::AvailableMemory{}, {{kGpu, 0, 8}});
    all.push_back(out.bytes);
}

/// drm_version has a length and a pointer for each of three texts; AMDGPU_INFO a pointer, a size and a query.
void drm_seeds(std::vector<fuzz::Bytes>& all) {
    fuzz::Output version;
    version.put<std::uint8_t>(3).put<std::uint8_t>(0x80).put<std::uint8_t>(64);
    for (std::uint64_t value : {0, 0, 16, 0, 16, 0, 16, 0}) version.put(value);
    for (std::uint8_t pointer : {24, 40, 56})
        version.put<std::uint8_t>(kPointer).put<std::uint8_t>(3).put(pointer);
    all.push_back(version.bytes);
    for (std::uint32_t query : {0x00, 0x02, 0x0e, 0x14, 0x15, 0x16}) {
        fuzz::Output info;
        info.put<std::uint8_t>(1).put<std::uint8_t>(0x82).put<std::uint8_t>(32);
        info.put<std::uint64_t>(0).put<std::uint32_t>(512).put(query).put(
            std::array<std::uint32_t, 4>{0, 4, 0, 0});
        info.put<std::uint8_t>(kPointer).put<std::uint8_t>(3).put<std::uint8_t>(0);
        all.push_back(info.bytes);
    }
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<Bytes> all;
    memory_seeds(all);
    queue_seeds(all);
    event_seeds(all);
    other_seeds(all);
    drm_seeds(all);
    return all;
}
