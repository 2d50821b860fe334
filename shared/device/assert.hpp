// HSADRV_ASSERT: a condition that a kernel relies on.
//
//     HSADRV_ASSERT(i < n);
//
// If it does not hold in a work-item, the stream that runs the kernel fails with hsadrv::KernelAssertion, which names
// the file, the line, the condition, the kernel and the first such work-item, and the work-item's wave ends there.
// Waves that have not met a failure go on, and do not wait for it at a barrier; a cooperative launch is stopped.
// Streams that wait for the failed one fail with it; others are unaffected. A kernel that was launched by a runtime
// without this service traps. With NDEBUG defined, nothing is checked and the condition is not evaluated.
#pragma once

#include "hostcall.hpp"
#include "printf.hpp"
#include "work_item.hpp"

namespace hsadrv::detail {

HSADRV_DEVICE MessageNumber number(uint64_t value) { return MessageNumber{value}; }

[[noreturn]] HSADRV_CONVERGENT void fail_assertion(const char* condition, const char* file, uint32_t line) {
    const HostcallBufferPointer buffer = hostcall_buffer();
    const bool first = get_lane_id() == static_cast<uint32_t>(__builtin_ctzll(wave_active_lanes()));
    if (!is_of_hsadrv(buffer)) {
        if (first) print_error("%s:%u: assertion failed: %s\n", file, line, condition);
        __builtin_trap();
    }
    if (first) {
        const auto* const packet =
            (const __attribute__((address_space(4))) unsigned char*)__builtin_amdgcn_dispatch_ptr();
        constexpr uint32_t kernel_object = 32;  // hsa_kernel_dispatch_packet_t
        send_message(buffer, hostcall_fail_assertion, number(reinterpret_cast<uint64_t>(packet)),
                     number(*(const __attribute__((address_space(4))) uint64_t*)(packet + kernel_object)),
                     number(get_group_id(0)), number(get_group_id(1)), number(get_group_id(2)), number(get_local_id(0)),
                     number(get_local_id(1)), number(get_local_id(2)), number(line), MessageText(file),
                     MessageText(condition));
    }
    __builtin_amdgcn_endpgm();
}

}  // namespace hsadrv::detail

#if defined(NDEBUG)
#define HSADRV_ASSERT(...) ((void)0)
#else
#define HSADRV_ASSERT(...) \
    (static_cast<bool>(__VA_ARGS__) ? (void)0 : ::hsadrv::detail::fail_assertion(#__VA_ARGS__, __FILE__, __LINE__))
#endif
