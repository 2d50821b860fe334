#include "hsadrv/services/hostcall_buffer.hpp"

#include <algorithm>

namespace hsadrv::detail {

namespace {

constexpr std::uint64_t mark_mask = static_cast<std::uint64_t>(OwnerMark::mask) - 1;

OwnerMark mark_of(std::uint64_t owner) noexcept { return OwnerMark{owner & mark_mask}; }

/// Replaces the mark of each owner that `is_one` accepts. A wave that gives its packet back, or takes it, is faster.
template <class IsOne>
bool remark(HostcallBuffer& buffer, OwnerMark mark, IsOne&& is_one) noexcept {
    bool any = false;
    for (std::uint64_t i = 0; i <= buffer.index_mask; ++i) {
        const std::atomic_ref owner(buffer.owners[i]);
        std::uint64_t seen = owner.load(std::memory_order_relaxed);
        if (seen == 0 || !is_one(seen)) continue;
        const std::uint64_t marked = (seen & ~mark_mask) | static_cast<std::uint64_t>(mark);
        any |= owner.compare_exchange_strong(seen, marked, std::memory_order_acq_rel);
    }
    return any;
}

void push_free(HostcallBuffer& buffer, std::uint64_t packet) noexcept {
    const std::atomic_ref stack(buffer.free_stack), next(buffer.headers[packet & buffer.index_mask].next);
    std::uint64_t top = stack.load(std::memory_order_relaxed);
    do {
        next.store(top, std::memory_order_relaxed);
    } while (!stack.compare_exchange_weak(top, packet, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace

HostcallBuffer& init_hostcall_buffer(void* memory, std::size_t packets, hsa_signal_t doorbell, const void* heap) {
    auto* const bytes = static_cast<std::byte*>(memory);
    auto& buffer = *reinterpret_cast<HostcallBuffer*>(bytes);
    buffer = {};
    buffer.headers = reinterpret_cast<HostcallHeader*>(bytes + sizeof(HostcallBuffer));
    buffer.payloads = reinterpret_cast<HostcallPayload*>(buffer.headers + packets);
    buffer.owners = reinterpret_cast<std::uint64_t*>(buffer.payloads + packets);
    std::fill_n(buffer.owners, packets, 0);
    buffer.doorbell = doorbell;
    buffer.index_mask = packets - 1;
    buffer.provider = hostcall_provider;
    buffer.heap = reinterpret_cast<std::uint64_t>(heap);
    // Packet 0 has the tag 1 at first, because 0 is the end of a stack.
    std::uint64_t top = 0;
    for (std::size_t i = 0; i < packets; ++i) {
        buffer.headers[i] = {.next = top, .active_lanes = 0, .service = 0, .control = 0};
        top = i == 0 ? packets : i;
    }
    std::atomic_ref(buffer.free_stack).store(top, std::memory_order_release);
    return buffer;
}

std::uint64_t take_ready(HostcallBuffer& buffer) noexcept {
    std::uint64_t packet = std::atomic_ref(buffer.ready_stack).exchange(0, std::memory_order_acquire);
    std::uint64_t older = 0;
    // Reversed in place. A kernel that overwrites the buffer may make a circle of the list.
    for (std::uint64_t count = 0; packet != 0 && count <= buffer.index_mask; ++count) {
        std::uint64_t& next = buffer.headers[packet & buffer.index_mask].next;
        const std::uint64_t below = next;
        next = older;
        older = packet;
        packet = below;
    }
    return older;
}

void suspect_owners(HostcallBuffer& buffer, const RingRange& ring) noexcept {
    remark(buffer, OwnerMark::suspect, [&](std::uint64_t owner) { return ring.holds(owner); });
}

bool condemn_suspects(HostcallBuffer& buffer, const RingRange& ring) noexcept {
    return remark(buffer, OwnerMark::condemned,
                  [&](std::uint64_t owner) { return ring.holds(owner) && mark_of(owner) == OwnerMark::suspect; });
}

void collect_condemned(HostcallBuffer& buffer) noexcept {
    remark(buffer, OwnerMark::collected, [](std::uint64_t owner) { return mark_of(owner) == OwnerMark::condemned; });
}

void free_collected(HostcallBuffer& buffer, std::uint64_t tag) noexcept {
    constexpr std::uint64_t of_host = std::uint64_t{1} << 63;  // not a tag that waves have counted to
    for (std::uint64_t i = 0; i <= buffer.index_mask; ++i) {
        const std::atomic_ref owner(buffer.owners[i]);
        if (mark_of(owner.load(std::memory_order_relaxed)) != OwnerMark::collected) continue;
        owner.store(0, std::memory_order_relaxed);
        push_free(buffer, of_host | tag * (buffer.index_mask + 1) | i);
    }
}

}  // namespace hsadrv::detail
