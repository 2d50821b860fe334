// Export and import of buffers as dma-bufs and IPC handles.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/user_memory.hpp"
#include "tools/kfdemu/resources/memory.hpp"

namespace kfdemu {

/// Adds the buffer to its file's table unless it has an entry; 0 or an errno value.
int Memory::share(const std::shared_ptr<Buffer>& buffer) {
    // As in the kernel's amdgpu_gem_prime_export: user pages cannot be exported.
    if (buffer->flags & abi::kUserptr) return EPERM;
    if (!buffer->file) return EINVAL;
    if (buffer->shared) return 0;
    buffer->shared = buffer->file->share({.offset = buffer->range.offset,
                                          .size = buffer->size,
                                          .gpu_id = topology_.gpus[buffer->gpu].gpu_id,
                                          .flags = buffer->flags});
    if (!buffer->shared) return ENOMEM;
    std::erase_if(shared_, [](const auto& item) { return item.second.expired(); });
    const auto [device, inode] = buffer->file->identity();
    shared_[{device, inode, buffer->shared}] = buffer;
    return 0;
}

int Memory::open_dmabuf(const std::shared_ptr<Buffer>& buffer, std::uint32_t flags, int& dmabuf) {
    if (flags & ~static_cast<std::uint32_t>(O_CLOEXEC | O_ACCMODE)) return EINVAL;
    if (buffer->import >= 0) {
        dmabuf = fcntl(buffer->import, F_DUPFD_CLOEXEC, 0);  // an import is exported as the dma-buf it came from
    } else {
        std::lock_guard lock{mutex_};
        if (const int error = share(buffer)) return error;
        dmabuf = buffer->file->open_shared(buffer->shared);
    }
    if (dmabuf < 0) {
        log(LogLevel::warning, "gpu{}: cannot export a buffer: errno {}", buffer->gpu, errno);
        return errno;
    }
    if (!(flags & O_CLOEXEC)) fcntl(dmabuf, F_SETFD, 0);
    return 0;
}

int Memory::export_dmabuf(abi::ExportDmabuf& request) {
    std::unique_lock lock{mutex_};
    const auto buffer = find(request.handle);
    lock.unlock();
    if (!buffer) return EINVAL;
    int dmabuf = -1;
    const int error = open_dmabuf(buffer, request.flags, dmabuf);
    if (!error) request.dmabuf_fd = static_cast<std::uint32_t>(dmabuf);
    return error;
}

int Memory::dmabuf_info(abi::GetDmabufInfo& request) const {
    const auto range = SharedRange::of(static_cast<int>(request.dmabuf_fd));
    if (!range || !topology_.find(range->gpu_id)) return EINVAL;
    const auto metadata = shared_table::read_metadata(static_cast<int>(request.dmabuf_fd), range->index);
    if (!metadata) return errno;
    if (request.metadata_ptr != 0) {
        if (request.metadata_size < metadata->size_bytes) return EINVAL;
        if (const int error = user::copy_out(request.metadata_ptr, metadata->data, metadata->size_bytes)) return error;
    }
    request.metadata_size = metadata->size_bytes;
    request.size = range->size;
    request.gpu_id = range->gpu_id;
    request.flags = range->flags & (abi::kVram | abi::kGtt | abi::kPublic);
    return 0;
}

int Memory::metadata(const Buffer& buffer, BufferMetadata& metadata) const {
    metadata = {};
    std::optional<BufferMetadata> found = metadata;
    if (buffer.import >= 0) {
        const auto range = SharedRange::of(buffer.import);
        if (!range) return EINVAL;
        found = shared_table::read_metadata(buffer.import, range->index);
    } else {
        std::lock_guard lock{mutex_};
        if (buffer.shared) found = buffer.file->metadata(buffer.shared);
    }
    if (!found) return errno;
    metadata = *found;
    return 0;
}

int Memory::set_metadata(const std::shared_ptr<Buffer>& buffer, const BufferMetadata& metadata) {
    if (buffer->import >= 0) {
        const auto range = SharedRange::of(buffer->import);
        if (!range) return EINVAL;
        return shared_table::write_metadata(buffer->import, range->index, metadata) ? 0 : errno;
    }
    std::lock_guard lock{mutex_};
    if (const int error = share(buffer)) return error;  // metadata is kept with the entry
    return buffer->file->set_metadata(buffer->shared, metadata) ? 0 : errno;
}

std::shared_ptr<Buffer> Memory::import(int dmabuf) {
    const auto range = SharedRange::of(dmabuf);
    const Gpu* gpu = range ? topology_.find(range->gpu_id) : nullptr;
    struct stat status{};
    if (!gpu || fstat(dmabuf, &status) != 0) return nullptr;
    std::lock_guard lock{mutex_};
    auto& known = shared_[{status.st_dev, status.st_ino, range->index}];
    if (auto buffer = known.lock()) return buffer;

    auto buffer = std::make_shared<Buffer>();
    const int fd = fcntl(dmabuf, F_DUPFD_CLOEXEC, 0);
    std::byte* host = fd >= 0 ? map_for_emulator(fd, range->offset, range->size) : nullptr;
    if (!host) {
        if (fd >= 0) ::close(fd);
        return nullptr;
    }
    buffer->gpu = gpu->index;
    buffer->flags = range->flags | abi::kWritable | abi::kExecutable;  // as in the kernel's import
    buffer->size = range->size;
    buffer->host = host;
    buffer->import = fd;
    buffer->import_offset = range->offset;
    // Offsets beyond the file's end denote ranges of other files; none is reused.
    buffer->mmap_offset = next_import_offset_;
    next_import_offset_ += buffer->size;
    known = buffer;
    return buffer;
}

int Memory::import_dmabuf(abi::ImportDmabuf& request) {
    if (!topology_.find(request.gpu_id) || request.va_addr % 4096 != 0) return EINVAL;
    auto buffer = import(static_cast<int>(request.dmabuf_fd));
    if (!buffer) return EINVAL;
    std::lock_guard lock{mutex_};
    request.handle = add(request.gpu_id, {std::move(buffer), request.va_addr});
    return 0;
}

int Memory::export_ipc(abi::IpcExportHandle& request) {
    std::lock_guard lock{mutex_};
    const auto buffer = find(request.handle);
    if (!buffer || !topology_.find(request.gpu_id)) return EINVAL;
    if (const int error = share(buffer)) return error;
    const auto name = buffer->file->name(buffer->shared, request.flags);
    if (!name) return errno;
    const std::uint32_t words[] = {name->pid, name->file, name->index, name->nonce};
    std::copy(std::begin(words), std::end(words), request.share_handle);
    return 0;
}

int Memory::import_ipc(abi::IpcImportHandle& request) {
    if (!topology_.find(request.gpu_id) || request.va_addr % 4096 != 0) return EINVAL;
    const auto& words = request.share_handle;
    const int fd = kfdemu::open_shared({words[0], words[1], words[2], words[3]});
    if (fd < 0) {
        log(LogLevel::warning, "IPC handle of process {}: no such buffer", words[0]);
        return errno;
    }
    const auto range = SharedRange::of(fd);
    auto buffer = import(fd);
    ::close(fd);
    if (!range || !buffer) return EINVAL;
    request.flags = range->ipc_flags;
    request.mmap_offset = buffer->mmap_offset;  // of private VRAM, too: the thunk learns the memory's node only then
    std::lock_guard lock{mutex_};
    request.handle = add(request.gpu_id, {std::move(buffer), request.va_addr});
    return 0;
}

Memory::Place Memory::imported_at(unsigned gpu, std::uint64_t offset, std::uint64_t size) const {
    if (offset < DeviceFile::kFileSize) return {};
    std::lock_guard lock{mutex_};
    for (const auto& [key, known] : shared_) {
        const auto buffer = known.lock();
        if (!buffer || buffer->import < 0 || buffer->gpu != gpu || offset < buffer->mmap_offset) continue;
        const std::uint64_t within = offset - buffer->mmap_offset;
        if (within < buffer->size && size <= buffer->size - within)
            return {buffer->import, buffer->import_offset + within,
                    (buffer->flags & abi::kVram) && topology_.gpus[gpu].private_vram};
    }
    return {};
}

}  // namespace kfdemu
