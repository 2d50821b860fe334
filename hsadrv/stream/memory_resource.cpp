#include "hsadrv/memory_resource.hpp"

#include <string>
#include <utility>

#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory/size_class.hpp"

namespace hsadrv {
namespace {

void require_alignment(const char* call, std::size_t alignment, std::size_t most) {
    if (alignment <= most) return;
    throw InvalidArgument(std::string(call) + ": an alignment of " + std::to_string(alignment) + " B exceeds " +
                          std::to_string(most) + " B");
}

template <class Owner>
void* keep(std::mutex& mutex, std::unordered_map<void*, Owner>& owners, Owner owner) {
    void* const data = owner.data();
    const std::lock_guard held(mutex);
    owners.emplace(data, std::move(owner));
    return data;
}

// Destroyed by the caller, outside the lock.
template <class Owner>
Owner taken(std::mutex& mutex, std::unordered_map<void*, Owner>& owners, void* data) noexcept {
    const std::lock_guard held(mutex);
    auto node = owners.extract(data);
    return node ? std::move(node.mapped()) : Owner();
}

}  // namespace

MemoryResource::~MemoryResource() = default;

AllocatorResource::AllocatorResource(const MemPool& pool, const AllocatorOptions& options)
    : owner_(pool.owner()), allocator_(pool, options) {}

void* AllocatorResource::allocate(std::size_t size_bytes, std::size_t alignment, Stream& stream) {
    static constexpr const char* call = "AllocatorResource::allocate";
    require_alignment(call, alignment, detail::smallest_block_bytes);
    if (owner_.is_gpu() && owner_ != stream.agent())
        throw InvalidArgument(std::string(call) + "(" + std::to_string(size_bytes) + " B): " + stream.agent().label() +
                              " does not access the memory of " + owner_.label() +
                              "; use a pool of the stream's GPU, or a host pool");
    return keep(mutex_, blocks_, allocator_.allocate(size_bytes, stream));
}

void AllocatorResource::deallocate(void* data, std::size_t, std::size_t) noexcept {
    static_cast<void>(taken(mutex_, blocks_, data));
}

void* PmrResource::allocate(std::size_t size_bytes, std::size_t alignment, Stream& stream) {
    void* const data = upstream_.allocate(size_bytes, alignment);
    try {
        const PointerInfo info = pointer_info(data);
        if (info.kind != PointerInfo::Kind::pageable && info.agent_address(data) == data &&
            info.bytes_after(data) >= size_bytes && info.accessible_by(stream.agent()))
            return data;
        throw InvalidArgument("PmrResource::allocate(" + std::to_string(size_bytes) + " B): " + stream.agent().label() +
                              " does not access the memory of the standard resource, at " + detail::hex(data) +
                              "; use a PinnedResource as its upstream");
    } catch (...) {
        upstream_.deallocate(data, size_bytes, alignment);
        throw;
    }
}

void PmrResource::deallocate(void* data, std::size_t size_bytes, std::size_t alignment) noexcept {
    upstream_.deallocate(data, size_bytes, alignment);
}

PinnedResource::~PinnedResource() = default;

void* PinnedResource::do_allocate(std::size_t size_bytes, std::size_t alignment) {
    require_alignment("PinnedResource::allocate", alignment, pool_.alloc_alignment_bytes());
    return keep(mutex_, allocations_, Allocation::from_pool(pool_, size_bytes == 0 ? 1 : size_bytes));
}

void PinnedResource::do_deallocate(void* data, std::size_t, std::size_t) {
    static_cast<void>(taken(mutex_, allocations_, data));
}

}  // namespace hsadrv
