#include "tools/kfdemu/resources/gem.hpp"

#include <algorithm>
#include <cerrno>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/page.hpp"

namespace kfdemu {
namespace {
bool whole_pages(std::uint64_t va, std::uint64_t size) {
    return size != 0 && va % kPage == 0 && size % kPage == 0 && va + size > va;
}
}  // namespace

int Gem::create(std::uint64_t size_bytes, std::uint32_t flags, bool host_access, bool cleared, std::uint32_t& handle) {
    std::shared_ptr<Buffer> buffer;
    if (const int error = memory_.create(gpu_, size_bytes, flags, cleared, buffer)) return error;
    if (!host_access) buffer->mmap_offset = 0;
    std::lock_guard lock{mutex_};
    handle = next_handle_++;
    buffers_.emplace(handle, std::move(buffer));
    return 0;
}

int Gem::import(int dmabuf, std::uint32_t& handle) {
    auto buffer = memory_.import(dmabuf);
    if (!buffer) return EINVAL;
    std::lock_guard lock{mutex_};
    // One buffer has one handle. libdrm relies on this: it counts the users of a handle itself.
    for (const auto& [name, known] : buffers_)
        if (known == buffer) return handle = name, 0;
    handle = next_handle_++;
    buffers_.emplace(handle, std::move(buffer));
    return 0;
}

int Gem::export_dmabuf(std::uint32_t handle, std::uint32_t flags, int& dmabuf) {
    std::lock_guard lock{mutex_};
    const auto at = buffers_.find(handle);
    return at == buffers_.end() ? ENOENT : memory_.open_dmabuf(at->second, flags, dmabuf);
}

int Gem::close(std::uint32_t handle) {
    std::lock_guard lock{mutex_};
    const auto at = buffers_.find(handle);
    if (at == buffers_.end()) return EINVAL;
    std::erase_if(mappings_, [&](const auto& item) {
        if (item.second.handle != handle) return false;
        space_.unmap(item.first, item.first + item.second.size);
        return true;
    });
    buffers_.erase(at);
    return 0;
}

int Gem::mmap_offset(std::uint32_t handle, std::uint64_t& offset) const {
    std::lock_guard lock{mutex_};
    const auto at = buffers_.find(handle);
    if (at == buffers_.end()) return ENOENT;
    offset = at->second->mmap_offset;
    return offset ? 0 : EPERM;
}

std::shared_ptr<Buffer> Gem::find(std::uint32_t handle) const {
    std::lock_guard lock{mutex_};
    const auto at = buffers_.find(handle);
    return at == buffers_.end() ? nullptr : at->second;
}

int Gem::metadata(std::uint32_t handle, BufferMetadata& metadata) const {
    const auto buffer = find(handle);
    return buffer ? memory_.metadata(*buffer, metadata) : ENOENT;
}

int Gem::set_metadata(std::uint32_t handle, const BufferMetadata& metadata) {
    const auto buffer = find(handle);
    return buffer ? memory_.set_metadata(buffer, metadata) : ENOENT;
}

int Gem::map(std::uint32_t handle, std::uint32_t access, std::uint64_t va, std::uint64_t offset, std::uint64_t size) {
    std::lock_guard lock{mutex_};
    const auto at = buffers_.find(handle);
    if (at == buffers_.end()) return ENOENT;
    const Buffer& buffer = *at->second;
    if (!whole_pages(va, size) || offset % kPage != 0 || offset > buffer.size || size > buffer.size - offset)
        return EINVAL;
    // KFD handles have a GPU id in the upper 32 bits, so GEM handles do not collide with them.
    if (!space_.map({va, va + size, buffer.host + offset, access, handle})) return EINVAL;
    mappings_[va] = {handle, size};
    log(LogLevel::debug, "gem: handle {} mapped at {:#x}, {} B", handle, va, size);
    return 0;
}

int Gem::unmap(std::uint32_t handle, std::uint64_t va) {
    std::lock_guard lock{mutex_};
    if (!buffers_.count(handle)) return ENOENT;
    const auto at = mappings_.find(va);
    if (at == mappings_.end() || at->second.handle != handle) return ENOENT;
    space_.unmap(va, va + at->second.size);
    mappings_.erase(at);
    return 0;
}

int Gem::clear(std::uint64_t va, std::uint64_t size) {
    if (!whole_pages(va, size)) return EINVAL;
    std::lock_guard lock{mutex_};
    const std::uint64_t end = va + size;
    std::map<std::uint64_t, Mapping> kept;
    for (const auto& [begin, mapping] : mappings_) {
        const std::uint64_t mapped_end = begin + mapping.size;
        if (mapped_end <= va || begin >= end) {
            kept.emplace(begin, mapping);
            continue;
        }
        space_.unmap(std::max(begin, va), std::min(mapped_end, end));
        if (begin < va) kept.emplace(begin, Mapping{mapping.handle, va - begin});
        if (mapped_end > end) kept.emplace(end, Mapping{mapping.handle, mapped_end - end});
    }
    mappings_ = std::move(kept);
    return 0;
}

}  // namespace kfdemu
