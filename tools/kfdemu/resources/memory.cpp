#include "tools/kfdemu/resources/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tools/kfdemu/base/apertures.hpp"
#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/page.hpp"
#include "tools/kfdemu/check/init/fresh_memory.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/dispatch/garbage.hpp"

namespace kfdemu {
namespace {

constexpr std::uint64_t kScratchSpaceBytes = std::uint64_t{1} << 32;  // per XCC, as the runtimes reserve it
constexpr std::uint32_t kKinds = abi::kVram | abi::kGtt | abi::kUserptr | abi::kDoorbell | abi::kMmioRemap;

std::uint32_t access_of(std::uint32_t flags) {
    return kRead | (flags & abi::kWritable ? kWrite : 0u) | (flags & abi::kExecutable ? kExecute : 0u);
}

const char* kind_name(std::uint32_t flags) {
    if (flags & abi::kVram) return "VRAM";
    if (flags & abi::kGtt) return "GTT";
    if (flags & abi::kUserptr) return "user pages";
    if (flags & abi::kDoorbell) return "doorbells";
    return "MMIO";
}

/// EFAULT unless user pages are all mapped and writable, as the kernel requires. The kernel pins all pages; here only
/// the first and last are populated, and the rest on access.
int bring_in(std::uint64_t address, std::uint64_t size_bytes) {
    constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE; EINVAL before Linux 5.14
    if (msync(reinterpret_cast<void*>(address), size_bytes, MS_ASYNC) != 0) return EFAULT;
    for (const std::uint64_t page : {address, address + size_bytes - kPage})
        if (madvise(reinterpret_cast<void*>(page), kPage, kPopulateWrite) != 0 && errno != EINVAL) return EFAULT;
    return 0;
}

/// Fills both ends of new VRAM with garbage; filling all of it would take as much host memory. System memory stays
/// zero, as in the kernel.
void spoil(const Buffer& buffer, std::uint64_t place) {
    constexpr std::uint64_t kFrontBytes = 16 << 20, kBackBytes = 64 << 10;
    const Garbage* from = garbage.load(std::memory_order_acquire);
    if (!from) return;
    from->fill(buffer.host, std::min(buffer.size, kFrontBytes), 2 * place);
    if (buffer.size > kFrontBytes + kBackBytes)
        from->fill(buffer.host + buffer.size - kBackBytes, kBackBytes, 2 * place + 1);
}

/// Under --check=init, new VRAM shows whether anything has written it.
void make_recognisable(const Buffer& buffer, std::uint64_t va) {
    if ((buffer.flags & abi::kVram) == 0 || va == 0 || !check::process_session().checks.has(Check::init)) return;
    check::process_checks().fresh_memory.store(true, std::memory_order_relaxed);
    check::fill_fresh(buffer.host, va, buffer.size);
}

}  // namespace

Memory::Memory(const Topology& topology, std::vector<DeviceFile*> render, DeviceFile& kfd,
               std::vector<AddressSpace*> spaces)
    : topology_{topology},
      render_{std::move(render)},
      kfd_{kfd},
      spaces_{std::move(spaces)},
      next_import_offset_{DeviceFile::kFileSize},
      vram_used_(topology.gpus.size()),
      scratch_va_(topology.gpus.size()) {
    for (std::size_t i = 0; i < topology.gpus.size(); ++i) {
        // The thunk splits a doorbell's offset by masking. Before its first mapping, it uses the low 32 bits as the
        // offset within the page. The kernel's offsets also have the page in the upper half.
        doorbells_.push_back(kfd_.allocate(kDoorbellPageBytes, std::uint64_t{1} << 32).value_or(DeviceFile::Range{}));
        mmio_.push_back(kfd_.allocate(kPage).value_or(DeviceFile::Range{}));
    }
}

Memory::~Memory() {
    for (auto& [handle, allocation] : allocations_)
        for (unsigned gpu : allocation.mapped)
            spaces_[gpu]->unmap(allocation.va, allocation.va + allocation.buffer->size);
    allocations_.clear();
    for (auto* ranges : {&doorbells_, &mmio_})
        for (const auto& range : *ranges) kfd_.release(range);
}

Buffer::~Buffer() {
    if (file) file->release(range, shared);
    counters.buffers -= 1;
    if (used) used->fetch_sub(size, std::memory_order_relaxed);
    if (import < 0) return;
    ::munmap(host, size);
    ::close(import);
}

int Memory::allocate(abi::AllocMemoryOfGpu& request) {
    const Gpu* gpu = topology_.find(request.gpu_id);
    const std::uint32_t kind = request.flags & kKinds;
    if (!gpu || request.size == 0 || kind == 0 || (kind & (kind - 1)) != 0) return EINVAL;
    // The range must be within the GPU's page tables and outside the apertures of other segments.
    if (request.va_addr % kPage != 0 || request.va_addr > kGpuvmAperture.limit ||
        request.size > kGpuvmAperture.limit + 1 - request.va_addr)
        return EINVAL;
    // Double-mapped rings are only used on GFX7 and GFX8.
    if (request.flags & abi::kAqlQueueMem) return EINVAL;

    auto buffer = std::make_shared<Buffer>();
    buffer->gpu = gpu->index;
    buffer->flags = request.flags;
    buffer->size = (request.size + kPage - 1) & ~(kPage - 1);
    counters.allocations += 1;
    std::lock_guard lock{mutex_};
    int error = asked_to_fail(request, gpu->index);
    if (error == 0) error = place(*buffer, request);
    if (error) {
        log(LogLevel::warning, "gpu{}: cannot allocate {} B of {} at {:#x}: errno {}", gpu->index, buffer->size,
            kind_name(request.flags), request.va_addr, error);
        return error;
    }
    make_recognisable(*buffer, request.va_addr);
    request.handle = add(request.gpu_id, {std::move(buffer), request.va_addr});
    return 0;
}

int Memory::create(unsigned gpu, std::uint64_t size_bytes, std::uint32_t flags, bool cleared,
                   std::shared_ptr<Buffer>& created) {
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 48;
    if (size_bytes == 0 || size_bytes > kLongest) return EINVAL;
    auto buffer = std::make_shared<Buffer>();
    buffer->gpu = gpu;
    buffer->flags = flags;
    buffer->size = (size_bytes + kPage - 1) & ~(kPage - 1);
    counters.allocations += 1;
    abi::AllocMemoryOfGpu request{};
    request.flags = flags;
    std::lock_guard lock{mutex_};
    int error = injection().failure(Point::allocation);
    if (error == 0) error = place(*buffer, request, cleared);
    if (error) {
        log(LogLevel::warning, "gpu{}: cannot allocate {} B of {}: errno {}", gpu, size_bytes, kind_name(flags), error);
        return error;
    }
    created = std::move(buffer);
    return 0;
}

std::uint64_t Memory::add(std::uint32_t gpu_id, Allocation allocation) {
    const std::uint64_t handle = (std::uint64_t{gpu_id} << 32) | next_handle_++;
    log(LogLevel::debug, "gpu{}: {} {} B of {} at {:#x}, handle {:#x}", allocation.buffer->gpu,
        allocation.buffer->import < 0 ? "allocated" : "imported", allocation.buffer->size,
        kind_name(allocation.buffer->flags), allocation.va, handle);
    allocations_.emplace(handle, std::move(allocation));
    return handle;
}

int Memory::asked_to_fail(const abi::AllocMemoryOfGpu& request, unsigned gpu) const {
    if (const int error = injection().failure(Point::allocation)) return error;
    // Scratch has a separate address range, whose size the driver does not know. No other VRAM is non-executable.
    const bool scratch = scratch_va_[gpu] && request.va_addr >= scratch_va_[gpu] &&
                         request.va_addr - scratch_va_[gpu] < kScratchSpaceBytes * topology_.gpus[gpu].model->xccs &&
                         (request.flags & (abi::kVram | abi::kExecutable)) == abi::kVram;
    return scratch ? injection().failure(Point::scratch) : 0;
}

void Memory::set_scratch(unsigned gpu, std::uint64_t va) {
    std::lock_guard lock{mutex_};
    scratch_va_[gpu] = va;
}

int Memory::place(Buffer& buffer, abi::AllocMemoryOfGpu& request, bool cleared) {
    const unsigned gpu = buffer.gpu;
    if (request.flags & abi::kUserptr) {
        // The device accesses the program's pages in place.
        if (request.mmap_offset % kPage != 0) return EINVAL;
        if (const int error = bring_in(request.mmap_offset, buffer.size)) return error;
        if (const int error = count(buffer)) return error;
        buffer.host = reinterpret_cast<std::byte*>(request.mmap_offset);
        return 0;
    }
    if (request.flags & (abi::kDoorbell | abi::kMmioRemap)) {
        const auto& page = request.flags & abi::kDoorbell ? doorbells_[gpu] : mmio_[gpu];
        if (buffer.size > page.size) return EINVAL;
        buffer.host = page.host;
        request.mmap_offset = page.offset;
        return 0;
    }
    if (const int error = count(buffer)) return error;
    auto range = render_[gpu]->allocate(buffer.size);
    if (!range) return ENOMEM;
    buffer.file = render_[gpu];
    buffer.range = *range;
    buffer.host = range->host;
    if ((request.flags & abi::kVram) && !cleared) spoil(buffer, next_handle_);
    buffer.mmap_offset = request.mmap_offset = range->offset;
    return 0;
}

/// Adds a buffer to the used bytes of its kind until it is destroyed; ENOMEM if the limit is exceeded.
int Memory::count(Buffer& buffer) {
    const bool vram = buffer.flags & abi::kVram;
    const std::uint64_t left = vram ? vram_available(buffer.gpu) : system_available();
    if (buffer.size > left) return ENOMEM;
    std::atomic<std::uint64_t>& used = vram ? vram_used_[buffer.gpu] : system_used_;
    used.fetch_add(buffer.size, std::memory_order_relaxed);
    buffer.used = &used;
    return 0;
}

std::shared_ptr<Buffer> Memory::find(std::uint64_t handle) const {
    const auto at = allocations_.find(handle);
    return at == allocations_.end() ? nullptr : at->second.buffer;
}

std::shared_ptr<Buffer> Memory::find_buffer(std::uint64_t handle) const {
    std::lock_guard lock{mutex_};
    return find(handle);
}

int Memory::free(std::uint64_t handle) {
    std::lock_guard lock{mutex_};
    auto at = allocations_.find(handle);
    if (at == allocations_.end()) return EINVAL;
    const Allocation& allocation = at->second;
    if (!allocation.mapped.empty()) return EBUSY;
    log(LogLevel::debug, "gpu{}: freed {} B of {} at {:#x}", allocation.buffer->gpu, allocation.buffer->size,
        kind_name(allocation.buffer->flags), allocation.va);
    allocations_.erase(at);
    return 0;
}

int Memory::map(std::uint64_t handle, unsigned gpu) {
    std::lock_guard lock{mutex_};
    auto at = allocations_.find(handle);
    if (at == allocations_.end()) return EINVAL;
    Allocation& allocation = at->second;
    if (allocation.mapped.count(gpu)) return 0;
    const Buffer& buffer = *allocation.buffer;
    const AddressSpace::Range range{allocation.va, allocation.va + buffer.size,
                                    buffer.host,   access_of(buffer.flags),
                                    handle,        (buffer.flags & abi::kUserptr) != 0};
    if (!spaces_[gpu]->map(range)) return EINVAL;
    allocation.mapped.insert(gpu);
    return 0;
}

int Memory::unmap(std::uint64_t handle, unsigned gpu) {
    std::lock_guard lock{mutex_};
    auto at = allocations_.find(handle);
    if (at == allocations_.end()) return EINVAL;
    const Allocation& allocation = at->second;
    if (at->second.mapped.erase(gpu)) spaces_[gpu]->unmap(allocation.va, allocation.va + allocation.buffer->size);
    return 0;
}

std::optional<Memory::Found> Memory::find_vram(std::uint64_t va) const {
    std::unique_lock lock{mutex_, std::try_to_lock};
    if (!lock) return {};
    for (const auto& [handle, allocation] : allocations_) {
        const Buffer& buffer = *allocation.buffer;
        if (buffer.flags & abi::kVram && va >= allocation.va && va - allocation.va < buffer.size)
            return Found{buffer.gpu, allocation.va, buffer.size};
    }
    return {};
}

/// The kernel keeps 1/64 of system memory for others (amdgpu_amdkfd_gpuvm_init_mem_limits).
std::uint64_t Memory::system_available() const {
    const std::uint64_t total = topology_.system_memory_bytes - topology_.system_memory_bytes / 64;
    std::uint64_t in_use = system_used_.load(std::memory_order_relaxed);
    for (const Gpu& gpu : topology_.gpus)
        if (gpu.shared_memory) in_use += used(gpu.index).vram;
    return total - std::min(total, in_use);
}

std::uint64_t Memory::vram_available(unsigned gpu) const {
    const std::uint64_t left = topology_.gpus[gpu].vram_bytes - used(gpu).vram;
    return topology_.gpus[gpu].shared_memory ? std::min(left, system_available()) : left;
}

MemoryUse Memory::used(unsigned gpu) const {
    const std::uint64_t vram = vram_used_[gpu].load(std::memory_order_relaxed) + render_[gpu]->held_vram();
    return {std::min(topology_.gpus[gpu].vram_bytes, vram), system_used_.load(std::memory_order_relaxed)};
}

}  // namespace kfdemu
