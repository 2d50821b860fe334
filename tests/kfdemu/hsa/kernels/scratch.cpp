// Kernels whose work-items need scratch, a little or a lot, and one whose need only the host knows.
#include <stdint.h>

#define KERNEL extern "C" __attribute__((amdgpu_kernel, visibility("protected")))

namespace {

uint32_t global_x() {
    const auto* packet =
        reinterpret_cast<const uint16_t __attribute__((address_space(4)))*>(__builtin_amdgcn_dispatch_ptr());
    return __builtin_amdgcn_workgroup_id_x() * packet[2] + __builtin_amdgcn_workitem_id_x();
}

/// Fills N words that no optimiser can see through, and adds them up again.
template <uint32_t N>
uint32_t fill_and_add(uint32_t seed) {
    volatile uint32_t words[N];
    for (uint32_t i = 0; i < N; ++i) words[i] = seed + i;
    uint32_t sum = 0;
    for (uint32_t i = N; i-- > 0;) sum += words[i];
    return sum;
}

using Function = uint32_t (*)(const void* self, uint32_t depth);

__attribute__((noinline)) uint32_t deeper(const void* self, uint32_t depth) {
    volatile uint32_t here[8];
    for (uint32_t i = 0; i < 8; ++i) here[i] = depth + i;
    if (depth == 0) return here[0];
    const auto next = *static_cast<const Function*>(self);
    const uint32_t below = next(self, depth - 1);
    return below + here[0];
}

}  // namespace

KERNEL void small(uint32_t* out) { out[global_x()] = fill_and_add<16>(global_x()); }
KERNEL void medium(uint32_t* out) { out[global_x()] = fill_and_add<1024>(global_x()); }
KERNEL void large(uint32_t* out) { out[global_x()] = fill_and_add<16384>(global_x()); }

/// depth + (depth − 1) + … through calls by pointer, of as many frames.
KERNEL void recurse(uint32_t* out, uint32_t depth) {
    const Function function = deeper;
    out[global_x()] = function(&function, depth);
}
