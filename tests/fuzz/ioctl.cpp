// The kernel's interface: any requests with any structures, wild pointers and stale handles among them. Each
// is answered, with an error or without, and the process survives.
#include <unistd.h>

#include <cerrno>

#include "tests/fuzz/device.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tools/kfdemu/kfd/drm.hpp"

namespace {

using namespace kfdemu;

constexpr std::size_t kLongest = 288;
constexpr std::uint64_t kVa = 0x100000;

struct Ids {
    std::vector<std::uint64_t> handles{0};
    std::vector<std::uint32_t> queues{0}, events{0}, gems{0};
    std::vector<int> files{-1};
};

// The render node's requests that are answered, and the numbers from which on a request is one of them.
constexpr std::uint8_t kDrm = 0xc0;
constexpr std::uint8_t kDrmRequests[] = {0x00, 0x05, 0x09, 0x2d, 0x2e, 0x41, 0x45, 0x48, 0x40, 0x46, 0x50};
enum DrmRequest : std::uint8_t {
    kVersion,
    kClient,
    kGemClose,
    kPrimeExport,
    kPrimeImport,
    kGemMmap,
    kInfo,
    kGemVa,
    kGemCreate,
    kGemMetadata,
    kGemOp
};
constexpr unsigned kGemMetadataBytes = 288;  // the only structure whose size is not one byte of the input

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

    /// Zeroes, except for the list of GPUs at the front.
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

/// Values for structures: mostly values seen before, so that requests pass their first check.
template <class T>
T& field(std::array<std::byte, kLongest>& bytes, std::size_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset % (kLongest - sizeof(T) + 1) / sizeof(T) * sizeof(T));
}

void patch(std::array<std::byte, kLongest>& bytes, const Ids& ids, fuzz::Input& in) {
    const unsigned kind = in.below(8);
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
        case 5:
            field<std::uint32_t>(bytes, offset) = ids.gems[choice % ids.gems.size()];
            break;
        case 6:
            field<int>(bytes, offset) = ids.files[choice % ids.files.size()];
            break;
        default:
            field<std::uint32_t>(bytes, offset) = choice;
            break;
    }
}

/// Handles from the device, to be used and released.
template <class Args>
const Args& as(const std::array<std::byte, kLongest>& bytes) {
    static_assert(sizeof(Args) <= kLongest);
    return *reinterpret_cast<const Args*>(bytes.data());
}
void remember(unsigned request, const std::array<std::byte, kLongest>& bytes, Ids& ids) {
    if (request == abi::kAllocMemoryOfGpu) ids.handles.push_back(as<abi::AllocMemoryOfGpu>(bytes).handle);
    if (request == abi::kCreateQueue) ids.queues.push_back(as<abi::CreateQueue>(bytes).queue_id);
    if (request == abi::kIpcImportHandle) ids.handles.push_back(as<abi::IpcImportHandle>(bytes).handle);
    if (request == abi::kImportDmabuf) ids.handles.push_back(as<abi::ImportDmabuf>(bytes).handle);
    if (request == abi::kExportDmabuf) ids.files.push_back(static_cast<int>(as<abi::ExportDmabuf>(bytes).dmabuf_fd));
    // drm_prime_handle: a handle, flags, a descriptor.
    if (request == kDrm + kPrimeImport) ids.gems.push_back(as<std::uint32_t>(bytes));
    if (request == kDrm + kPrimeExport) ids.files.push_back(as<std::array<int, 3>>(bytes)[2]);
    if (request == kDrm + kGemCreate) ids.gems.push_back(as<std::uint32_t>(bytes));
    if (request == abi::kSmiEvents) ids.files.push_back(static_cast<int>(as<abi::SmiEvents>(bytes).anon_fd));
    if (request == abi::kCreateEvent) ids.events.push_back(as<abi::CreateEvent>(bytes).event_id);
}

void give_back(const Ids& ids) {
    for (std::uint32_t id : ids.queues) {
        abi::DestroyQueue args{id, 0};
        fuzz::call(abi::kDestroyQueue, args);
    }
    for (std::uint32_t handle : ids.gems) fuzz::device().gem(0).close(handle);
    for (int file : ids.files)
        if (file >= 0) close(file);
    const std::uint32_t gpus[] = {Device::topology()->gpus[0].gpu_id, Device::topology()->gpus[1].gpu_id};
    for (std::uint64_t handle : ids.handles) {
        abi::MapMemory unmap{handle, reinterpret_cast<std::uint64_t>(gpus), 2, 0};
        fuzz::call(abi::kUnmapMemoryFromGpu, unmap);
        abi::FreeMemoryOfGpu free{handle};
        if (fuzz::call(abi::kFreeMemoryOfGpu, free) == EBUSY) fuzz::broken("memory is mapped, and was unmapped");
    }
    for (std::uint32_t id : ids.events) {
        abi::EventId args{id, 0};
        fuzz::call(abi::kDestroyEvent, args);
    }
}

void request(fuzz::Input& in, Ids& ids) {
    const unsigned shape = in.take<std::uint8_t>(), number = in.take<std::uint8_t>();
    const unsigned taken = in.take<std::uint8_t>();
    alignas(8) std::array<std::byte, kLongest> bytes{};
    in.take_bytes(bytes.data(), taken);
    const bool metadata = number >= kDrm && (number - kDrm) % std::size(kDrmRequests) == kGemMetadata;
    const unsigned size = metadata ? kGemMetadataBytes : taken;
    for (unsigned patches = shape % 8; patches; --patches) patch(bytes, ids, in);
    // Limits waits.
    if (number == abi::kWaitEvents) field<std::uint32_t>(bytes, offsetof(abi::WaitEvents, timeout_ms)) &= 1;
    // From the caller's memory, or from possibly unmapped memory.
    void* argument = bytes.data();
    if (shape >> 5 == 7) argument = reinterpret_cast<void*>(world().pointers[in.below(16)]);
    if (argument != bytes.data() && number == abi::kWaitEvents) return;
    const unsigned direction = (shape >> 3 & 3) == 0 ? _IOC_READ | _IOC_WRITE : shape >> 3 & 3;
    const int error =
        number >= kDrm
            ? drm_ioctl(Device::topology()->gpus[0], fuzz::device().gem(0),
                        _IOC(direction, kDrmMagic, kDrmRequests[(number - kDrm) % std::size(kDrmRequests)], size),
                        argument)
            : fuzz::device().kfd().ioctl(_IOC(direction, abi::kKfdMagic, number, size), argument);
    if (error == 0 && argument == bytes.data() && direction == (_IOC_READ | _IOC_WRITE))
        remember(number >= kDrm ? kDrm + (number - kDrm) % std::size(kDrmRequests) : number, bytes, ids);
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

constexpr std::uint8_t kPointer = 0, kHandle = 1, kQueue = 2, kEvent = 3, kGpu = 4, kGem = 5, kFile = 6;

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

/// A buffer exported as a dma-buf and imported by the other GPU and the render node.
void sharing_seeds(std::vector<fuzz::Bytes>& all) {
    fuzz::Output out;
    append(out, abi::kAllocMemoryOfGpu, allocation(abi::kVram), {{kGpu, 0, offsetof(abi::AllocMemoryOfGpu, gpu_id)}});
    append(out, abi::kExportDmabuf, abi::ExportDmabuf{}, {{kHandle, 1, 0}});
    append(out, abi::kGetDmabufInfo, abi::GetDmabufInfo{}, {{kFile, 1, offsetof(abi::GetDmabufInfo, dmabuf_fd)}});
    append(out, abi::kImportDmabuf, abi::ImportDmabuf{kVa + 0x100000, 0, 0, 0},
           {{kGpu, 1, offsetof(abi::ImportDmabuf, gpu_id)}, {kFile, 1, offsetof(abi::ImportDmabuf, dmabuf_fd)}});
    append(out, abi::kMapMemoryToGpu, abi::MapMemory{0, 0, 2, 0}, {{kHandle, 2, 0}, {kPointer, 2, 8}});
    append(out, static_cast<abi::Request>(kDrm + kPrimeImport), std::array<std::uint32_t, 3>{}, {{kFile, 1, 8}});
    append(out, static_cast<abi::Request>(kDrm + kGemVa),
           std::array<std::uint64_t, 5>{0, 1 | std::uint64_t{0xe} << 32, kVa + 0x200000, 0, 8192}, {{kGem, 1, 0}});
    append(out, static_cast<abi::Request>(kDrm + kGemMmap), std::uint64_t{0}, {{kGem, 1, 0}});
    append(out, static_cast<abi::Request>(kDrm + kPrimeExport), std::array<std::uint32_t, 3>{0, 2, 0}, {{kGem, 1, 0}});
    append(out, abi::kIpcExportHandle, abi::IpcExportHandle{},
           {{kHandle, 1, 0}, {kGpu, 0, offsetof(abi::IpcExportHandle, gpu_id)}});
    append(out, abi::kIpcImportHandle, abi::IpcImportHandle{}, {{kGpu, 0, offsetof(abi::IpcImportHandle, gpu_id)}});
    append(out, abi::kFreeMemoryOfGpu, abi::FreeMemoryOfGpu{}, {{kHandle, 1, 0}});
    append(out, static_cast<abi::Request>(kDrm + kGemClose), std::uint64_t{0}, {{kGem, 1, 0}});
    append(out, static_cast<abi::Request>(kDrm + kGemCreate), std::array<std::uint64_t, 4>{8192, 4096, 4, 0}, {});
    append(out, static_cast<abi::Request>(kDrm + kGemMmap), std::uint64_t{0}, {{kGem, 2, 0}});
    for (std::uint32_t operation : {1, 2})  // SET, GET
        append(out, static_cast<abi::Request>(kDrm + kGemMetadata),
               std::array<std::uint32_t, 8>{0, operation, 0, 0, 0, 0, 4, 7}, {{kGem, 1, 0}});
    append(out, static_cast<abi::Request>(kDrm + kGemOp), std::array<std::uint64_t, 2>{},
           {{kGem, 1, 0}, {kPointer, 2, 8}});
    append(out, abi::kGetDmabufInfo, abi::GetDmabufInfo{0, 0, 4, 0, 0, 0},
           {{kPointer, 2, 8}, {kFile, 1, offsetof(abi::GetDmabufInfo, dmabuf_fd)}});
    append(out, abi::kSmiEvents, abi::SmiEvents{}, {{kGpu, 0, offsetof(abi::SmiEvents, gpu_id)}});
    all.push_back(out.bytes);
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
        append(out, abi::kUpdateQueue, abi::UpdateQueue{args.ring_base_address, 0, 4096, 0, 7}, {{kQueue, 1, 8}});
        append(out, abi::kUpdateQueue, abi::UpdateQueue{args.ring_base_address, 0, 4096, 100, 7}, {{kQueue, 1, 8}});
        append(out, abi::kSetCuMask, abi::SetCuMask{0, 64, 0}, {{kQueue, 1, 0}, {kPointer, 2, 8}});
        append(out, abi::kAllocQueueGws, abi::AllocQueueGws{0, 1, 0, 0}, {{kQueue, 1, 0}});
        append(out, abi::kDestroyQueue, abi::DestroyQueue{}, {{kQueue, 1, 0}});
        all.push_back(out.bytes);
    }
}

void event_seeds(std::vector<fuzz::Bytes>& all) {
    for (abi::EventType type : {abi::kEventSignal, abi::kEventHwException, abi::kEventDebug, abi::kEventMemory}) {
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
    append(out, abi::kGetClockCounters, abi::GetClockCounters{}, {{kGpu, 0, offsetof(abi::GetClockCounters, gpu_id)}});
    append(out, abi::kSetScratchBackingVa, abi::SetScratchBackingVa{}, {{kGpu, 0, 8}});
    append(out, abi::kGetTileConfig, abi::GetTileConfig{}, {{kGpu, 0, offsetof(abi::GetTileConfig, gpu_id)}});
    append(out, abi::kSetTrapHandler, abi::SetTrapHandler{}, {{kGpu, 0, offsetof(abi::SetTrapHandler, gpu_id)}});
    append(out, abi::kAcquireVm, abi::AcquireVm{}, {{kGpu, 0, offsetof(abi::AcquireVm, gpu_id)}});
    append(out, abi::kSetXnackMode, abi::SetXnackMode{-1}, {});
    append(out, abi::kAvailableMemory, abi::AvailableMemory{}, {{kGpu, 0, 8}});
    all.push_back(out.bytes);
}

/// drm_version has a length and a pointer for each of three texts; AMDGPU_INFO a pointer, a size and a query.
void drm_seeds(std::vector<fuzz::Bytes>& all) {
    fuzz::Output version;
    version.put<std::uint8_t>(3).put<std::uint8_t>(kDrm + kVersion).put<std::uint8_t>(64);
    for (std::uint64_t value : {0, 0, 16, 0, 16, 0, 16, 0}) version.put(value);
    for (std::uint8_t pointer : {24, 40, 56}) version.put<std::uint8_t>(kPointer).put<std::uint8_t>(3).put(pointer);
    all.push_back(version.bytes);
    for (std::uint32_t query : {0x00, 0x02, 0x0e, 0x14, 0x15, 0x16}) {
        fuzz::Output info;
        info.put<std::uint8_t>(1).put<std::uint8_t>(kDrm + kInfo).put<std::uint8_t>(32);
        info.put<std::uint64_t>(0).put<std::uint32_t>(512).put(query).put(std::array<std::uint32_t, 4>{0, 4, 0, 0});
        info.put<std::uint8_t>(kPointer).put<std::uint8_t>(3).put<std::uint8_t>(0);
        all.push_back(info.bytes);
    }
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<Bytes> all;
    memory_seeds(all);
    sharing_seeds(all);
    queue_seeds(all);
    event_seeds(all);
    other_seeds(all);
    drm_seeds(all);
    return all;
}
