// Parts of services.hpp: requests of a wave to the host, in the protocol of ROCm's device library and HIP.
//
//     const HostReply reply = ask_host(hostcall_buffer(), service, {a, b});   // all active lanes, each with its words
//
// A wave takes a packet of a buffer that the host provides as a hidden argument, writes a slot for each active lane,
// pushes the packet, rings a signal and waits until the host has answered. Source: ROCm-Device-Libs,
// ockl/src/hostcall_impl.cl; LLVM AMDGPUUsage, Code Object V5 Metadata; amd_hsa_signal.h.
#pragma once

#include "barrier.hpp"
#include "kernel.hpp"
#include "wave.hpp"

/// -mcode-object-version, which the compiler does not tell; hsadrv-cc defines it if it is not 5 or newer.
#if !defined(HSADRV_CODE_OBJECT_VERSION)
#define HSADRV_CODE_OBJECT_VERSION 5
#endif

namespace hsadrv::detail {

struct HostcallHeader {
    uint64_t next, active_lanes;
    uint32_t service, control;  // bit 0 of control: waits for the host
};
struct HostcallPayload {
    uint64_t slots[64][8];
};
/// An amd_signal_t.
struct HostcallDoorbell {
    int64_t kind, value;
    uint64_t mailbox;  // where the host looks for event_id after an interrupt; 0: it polls
    uint32_t event_id;
};
struct HostcallBuffer {
    HSADRV_GLOBAL HostcallHeader* headers;
    HSADRV_GLOBAL HostcallPayload* payloads;
    HSADRV_GLOBAL HostcallDoorbell* doorbell;
    uint64_t free_stack, ready_stack;
    uint64_t index_mask;
    uint64_t provider;  // hsadrv's are longer than others
    uint64_t heap;
    HSADRV_GLOBAL uint64_t* owners;
};
using HostcallBufferPointer = HSADRV_GLOBAL HostcallBuffer*;

/// Services of HIP's, and our own.
inline constexpr uint32_t hostcall_print = 2, hostcall_device_memory = 3;
inline constexpr uint32_t hostcall_fail_assertion = 0x6861, hostcall_next_slab = 0x6862;

/// Null if the kernel was launched by a runtime without hostcalls.
HSADRV_DEVICE HostcallBufferPointer hostcall_buffer() {
    constexpr uint32_t offset = HSADRV_CODE_OBJECT_VERSION < 5 ? 24 : 80;
    using Constant = const __attribute__((address_space(4))) unsigned char*;
    return *(const __attribute__((address_space(4)))
             HostcallBufferPointer*)((Constant)__builtin_amdgcn_implicitarg_ptr() + offset);
}

/// The host is hsadrv and not HIP.
HSADRV_DEVICE bool is_of_hsadrv(HostcallBufferPointer buffer) {
    return buffer != nullptr && buffer->provider == 0x3230767264617368;
}

inline constexpr int system_scope = static_cast<int>(MemoryScope::system);  // the host takes part
HSADRV_DEVICE uint64_t load_shared(HSADRV_GLOBAL uint64_t* from) {
    return __hip_atomic_load(from, __ATOMIC_ACQUIRE, system_scope);
}
/// Updates `seen` if another thread was faster.
HSADRV_DEVICE bool exchange_shared(HSADRV_GLOBAL uint64_t* at, uint64_t& seen, uint64_t desired) {
    return __hip_atomic_compare_exchange_strong(at, &seen, desired, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, system_scope);
}

/// A packet from the free stack; waits for one. By one lane.
HSADRV_DEVICE uint64_t pop_packet(HostcallBufferPointer buffer) {
    uint64_t top = load_shared(&buffer->free_stack);
    for (;;) {
        if (top == 0) {
            __builtin_amdgcn_s_sleep(1);
            top = load_shared(&buffer->free_stack);
            continue;
        }
        // Stale if another wave takes the packet meanwhile: then the tag of the stack has changed.
        const uint64_t next = load_shared(&buffer->headers[top & buffer->index_mask].next);
        if (exchange_shared(&buffer->free_stack, top, next)) return top;
    }
}

/// From here on the host takes the packet back when this wave's queue ends; 0: no longer. By one lane.
HSADRV_DEVICE void set_owner(HostcallBufferPointer buffer, uint64_t packet, uint64_t dispatch_packet) {
    if (is_of_hsadrv(buffer))
        __hip_atomic_store(&buffer->owners[packet & buffer->index_mask], dispatch_packet, __ATOMIC_RELAXED,
                           system_scope);
}
HSADRV_DEVICE uint64_t dispatch_packet() {
    return reinterpret_cast<uint64_t>(
        (const __attribute__((address_space(4))) unsigned char*)__builtin_amdgcn_dispatch_ptr());
}

/// By one lane.
HSADRV_DEVICE void push_packet(HSADRV_GLOBAL uint64_t* stack, HostcallBufferPointer buffer, uint64_t packet) {
    HSADRV_GLOBAL HostcallHeader* const header = &buffer->headers[packet & buffer->index_mask];
    uint64_t top = load_shared(stack);
    do {
        __hip_atomic_store(&header->next, top, __ATOMIC_RELAXED, system_scope);
    } while (!exchange_shared(stack, top, packet));
}

/// By one lane.
HSADRV_DEVICE void ring(HSADRV_GLOBAL HostcallDoorbell* doorbell) {
    __hip_atomic_fetch_add(&doorbell->value, int64_t{1}, __ATOMIC_RELEASE, system_scope);
    const uint64_t mailbox = doorbell->mailbox;
    if (mailbox == 0) return;
    const uint32_t id = doorbell->event_id;
    __hip_atomic_store((HSADRV_GLOBAL uint64_t*)mailbox, uint64_t{id}, __ATOMIC_RELEASE, system_scope);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");  // s_sendmsg does not wait for stores
    // An interrupt's payload. The KFD takes 23 bits on gfx10 and 24 on others, of ids below 4096, so the id is whole.
    constexpr int interrupt = 1;
    __builtin_amdgcn_s_sendmsg(interrupt,
                               static_cast<uint32_t>(__builtin_amdgcn_readfirstlane(static_cast<int>(id))) & 0xffffff);
}

struct HostWords {
    uint64_t words[8] = {};
};
struct HostReply {
    uint64_t words[2];
};

/// `service` is the same in all active lanes. The buffer is not null.
HSADRV_CONVERGENT HostReply ask_host(HostcallBufferPointer buffer, uint32_t service, const HostWords& request) {
    const uint32_t lane = get_lane_id();
    const uint64_t lanes = wave_active_lanes();
    const bool first = lane == static_cast<uint32_t>(__builtin_ctzll(lanes));
    uint64_t packet = 0;
    if (first) {
        packet = pop_packet(buffer);
        set_owner(buffer, packet, dispatch_packet());
    }
    packet = read_first_lane(packet);
    HSADRV_GLOBAL HostcallHeader* const header = &buffer->headers[packet & buffer->index_mask];
    HSADRV_GLOBAL uint64_t* const slot = buffer->payloads[packet & buffer->index_mask].slots[lane];
    for (uint32_t i = 0; i < 8; ++i) slot[i] = request.words[i];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
    if (first) {
        header->service = service;
        header->active_lanes = lanes;
        header->control = 1;
        push_packet(&buffer->ready_stack, buffer, packet);
        ring(buffer->doorbell);
    }
    for (;;) {  // all lanes: the answers to the others are not read before the first has seen the flag fall
        uint32_t control = 1;
        if (first) control = __hip_atomic_load(&header->control, __ATOMIC_ACQUIRE, system_scope);
        if ((read_first_lane(control) & 1) == 0) break;
        __builtin_amdgcn_s_sleep(2);
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
    const HostReply reply = {{slot[0], slot[1]}};
    if (first) {
        const uint64_t step = buffer->index_mask + 1;  // another tag
        const uint64_t tagged = packet + step;
        set_owner(buffer, packet, 0);
        push_packet(&buffer->free_stack, buffer, tagged == 0 ? step : tagged);
    }
    return reply;
}

// ---- messages

/// One word of a message.
struct MessageNumber {
    uint64_t number;
    HSADRV_DEVICE uint32_t words() const { return 1; }
    HSADRV_DEVICE uint64_t word(uint32_t) const { return number; }
};
/// A text with its zero, padded to whole words.
struct MessageText {
    const char* text;
    uint32_t length;
    HSADRV_DEVICE explicit MessageText(const char* its_text) : text(its_text ? its_text : "(null)"), length(0) {
        while (text[length] != 0) ++length;
    }
    HSADRV_DEVICE uint32_t words() const { return length / 8 + 1; }
    HSADRV_DEVICE uint64_t word(uint32_t index) const {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < 8 && index * 8 + i < length; ++i)
            bytes |= uint64_t{static_cast<unsigned char>(text[index * 8 + i])} << 8 * i;
        return bytes;
    }
};

HSADRV_DEVICE uint64_t word_of(uint32_t) { return 0; }
template <class Part, class... Rest>
HSADRV_DEVICE uint64_t word_of(uint32_t index, const Part& part, const Rest&... rest) {
    return index < part.words() ? part.word(index) : word_of(index - part.words(), rest...);
}

/// Sends the parts as one message of each active lane. Returns the first word of the answer.
template <class... Parts>
HSADRV_CONVERGENT uint64_t send_message(HostcallBufferPointer buffer, uint32_t service, const Parts&... parts) {
    constexpr uint64_t begins = 1, ends = 2;
    constexpr uint32_t most = 7;
    const uint32_t count = (parts.words() + ...);
    uint64_t descriptor = begins;
    uint32_t sent = 0;
    do {
        const uint32_t piece = count - sent < most ? count - sent : most;
        HostWords request;
        request.words[0] = descriptor | uint64_t{piece} << 5 | (sent + piece == count ? ends : 0);
        for (uint32_t i = 0; i < most; ++i) request.words[i + 1] = i < piece ? word_of(sent + i, parts...) : 0;
        sent += piece;
        descriptor = ask_host(buffer, service, request).words[0];
        if (sent < count) descriptor &= ~uint64_t{0xff};
    } while (sent < count);
    return descriptor;
}

}  // namespace hsadrv::detail
