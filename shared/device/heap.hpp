// malloc and free for kernels in C++.
//
//     auto* node = static_cast<Node*>(hsadrv::malloc(sizeof(Node)));   // null if the device has no memory left
//     hsadrv::free(node);
//
// Blocks are device memory, aligned to 16 bytes, and live until they are freed, by any work-item of any kernel on this
// GPU, or until the process's last hsadrv::Driver ends. Up to 2 KiB they are rounded up to a power of two, at least 32
// bytes, and taken from slabs of 2 MiB, which are kept; larger ones are requests to the host, rounded up to pages. The
// host reads them through a copy, such as Stream::copy_async.
#pragma once

#include "hostcall.hpp"

namespace hsadrv {

namespace detail {

inline constexpr uint64_t slab_bytes = uint64_t{2} << 20;
inline constexpr uint32_t smallest_block = 32, largest_block = 2048, block_classes = 7;
/// In front of a slab's blocks, which so are never aligned to a page, while the host's are.
struct SlabHeader {
    uint32_t block_class;
    uint32_t padding[3];
};

/// The blocks of one size. All zeros at first.
struct BlockClass {
    uint64_t free_blocks;  ///< a stack through the blocks' first words: 48 bits of address, 16 of a tag
    uint64_t fresh;        ///< the first block that was never used: its slab, with its offset in the low bits
    uint32_t padding[12];
};
using BlockClassPointer = HSADRV_GLOBAL BlockClass*;

inline constexpr int agent_scope = static_cast<int>(MemoryScope::agent);  // the host does not touch the heap
HSADRV_DEVICE uint64_t load_agent(HSADRV_GLOBAL uint64_t* from) {
    return __hip_atomic_load(from, __ATOMIC_ACQUIRE, agent_scope);
}
HSADRV_DEVICE bool exchange_agent(HSADRV_GLOBAL uint64_t* at, uint64_t& seen, uint64_t desired) {
    return __hip_atomic_compare_exchange_strong(at, &seen, desired, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, agent_scope);
}

inline constexpr uint64_t address_mask = (uint64_t{1} << 48) - 1, tag_step = uint64_t{1} << 48;

/// A block that was freed; 0 if there is none.
HSADRV_DEVICE uint64_t pop_block(BlockClassPointer blocks) {
    uint64_t top = load_agent(&blocks->free_blocks);
    while ((top & address_mask) != 0) {
        // Another value if a lane takes the block meanwhile: then the tag has changed.
        const uint64_t next = load_agent((HSADRV_GLOBAL uint64_t*)(top & address_mask));
        if (exchange_agent(&blocks->free_blocks, top, (next & address_mask) | ((top & ~address_mask) + tag_step)))
            return top & address_mask;
    }
    return 0;
}

HSADRV_DEVICE void push_block(BlockClassPointer blocks, uint64_t block) {
    uint64_t top = load_agent(&blocks->free_blocks);
    do {
        __hip_atomic_store((HSADRV_GLOBAL uint64_t*)block, top & address_mask, __ATOMIC_RELAXED, agent_scope);
    } while (!exchange_agent(&blocks->free_blocks, top, block | ((top & ~address_mask) + tag_step)));
}

struct FreshBlocks {
    uint64_t first;
    uint32_t count;  ///< 0: no memory
};
/// Up to `wanted` blocks that were never used. By one lane.
HSADRV_CONVERGENT FreshBlocks take_fresh(HostcallBufferPointer buffer, BlockClassPointer blocks, uint32_t block_class,
                                         uint32_t wanted) {
    const uint32_t size = smallest_block << block_class;
    uint64_t fresh = load_agent(&blocks->fresh);
    for (;;) {
        const uint64_t offset = fresh & (slab_bytes - 1);
        const uint32_t room = fresh == 0 ? 0 : static_cast<uint32_t>((slab_bytes - offset) / size);
        if (room != 0) {
            const uint32_t count = room < wanted ? room : wanted;
            if (exchange_agent(&blocks->fresh, fresh, fresh + count * size)) return {fresh, count};
            continue;
        }
        // All waves that used up the same slab get the same next one: no wave waits for another, which may have ended.
        HostWords request;
        request.words[0] = block_class;
        request.words[1] = fresh - offset;
        const uint64_t slab = ask_host(buffer, hostcall_next_slab, request).words[0];
        if (slab == 0) return {0, 0};
        ((HSADRV_GLOBAL SlabHeader*)slab)->block_class = block_class;
        const uint64_t first = slab + sizeof(SlabHeader);
        if (exchange_agent(&blocks->fresh, fresh, first)) fresh = first;
    }
}

/// A block for each active lane; 0 without memory.
HSADRV_CONVERGENT uint64_t take_block(HostcallBufferPointer buffer, BlockClassPointer blocks, uint32_t block_class) {
    uint64_t block = pop_block(blocks);
    bool served = block != 0;
    while (!served) {
        const uint64_t lanes = wave_active_lanes();
        const auto rank = static_cast<uint32_t>(__builtin_popcountll(lanes & ((uint64_t{1} << get_lane_id()) - 1)));
        FreshBlocks fresh = {0, 0};
        if (rank == 0)
            fresh = take_fresh(buffer, blocks, block_class, static_cast<uint32_t>(__builtin_popcountll(lanes)));
        const uint64_t first = read_first_lane(fresh.first);
        const uint32_t count = read_first_lane(fresh.count);
        if (rank < count) block = first + uint64_t{rank} * (smallest_block << block_class);
        served = rank < count || count == 0;
    }
    return block;
}

}  // namespace detail

/// Null for 0 bytes, if the device has no memory left, and for a runtime without this service.
HSADRV_CONVERGENT void* malloc(uint64_t size_bytes) {
    const detail::HostcallBufferPointer buffer = detail::hostcall_buffer();
    if (!detail::is_of_hsadrv(buffer) || size_bytes == 0) return nullptr;
    uint64_t block = 0;
    if (size_bytes > detail::largest_block) {
        detail::HostWords request;
        request.words[1] = size_bytes;
        block = detail::ask_host(buffer, detail::hostcall_device_memory, request).words[0];
    } else {
        const uint32_t above = static_cast<uint32_t>(size_bytes - 1) | (detail::smallest_block - 1);
        const auto mine = static_cast<uint32_t>(27 - __builtin_clz(above));
        const auto heap = (detail::BlockClassPointer)buffer->heap;
        for (uint32_t one = 0; one < detail::block_classes; ++one)
            if (mine == one) block = detail::take_block(buffer, heap + one, one);
    }
    return (void*)block;
}

/// Null is allowed. A block is freed once.
HSADRV_CONVERGENT void free(void* block) {
    const detail::HostcallBufferPointer buffer = detail::hostcall_buffer();
    const auto address = (uint64_t)block;
    if (address == 0 || !detail::is_of_hsadrv(buffer)) return;
    if (address % 4096 == 0) {
        detail::HostWords request;
        request.words[0] = address;
        detail::ask_host(buffer, detail::hostcall_device_memory, request);
        return;
    }
    const auto slab = (HSADRV_GLOBAL detail::SlabHeader*)(address & ~(detail::slab_bytes - 1));
    detail::push_block((detail::BlockClassPointer)buffer->heap + slab->block_class, address);
}

}  // namespace hsadrv
