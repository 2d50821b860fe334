#include "hsadrv/services/hostcall_buffer.hpp"

namespace hsadrv::detail {

HostcallBuffer& init_hostcall_buffer(void* memory, std::size_t packets, hsa_signal_t doorbell, const void* heap) {
    auto* const bytes = static_cast<std::byte*>(memory);
    auto& buffer = *reinterpret_cast<HostcallBuffer*>(bytes);
    buffer = {};
    buffer.headers = reinterpret_cast<HostcallHeader*>(bytes + sizeof(HostcallBuffer));
    buffer.payloads = reinterpret_cast<HostcallPayload*>(buffer.headers + packets);
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

}  // namespace hsadrv::detail
