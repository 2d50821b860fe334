// Work-groups of a cooperative launch that wait for each other.
#include <shared/device/device.hpp>

using namespace hsadrv;

namespace {

HSADRV_DEVICE uint32_t item() {
    const uint32_t row = get_global_id(2) * get_global_size(1) + get_global_id(1);
    return row * get_global_size(0) + get_global_id(0);
}
HSADRV_DEVICE uint32_t items() { return get_global_size(0) * get_global_size(1) * get_global_size(2); }

}  // namespace

/// Steps of a diffusion on a ring: each element becomes the sum of its neighbours.
HSADRV_KERNEL void diffuse(uint32_t* from, uint32_t* to, uint32_t steps) {
    const uint32_t i = item(), count = items();
    for (uint32_t step = 0; step < steps; ++step) {
        to[i] = from[(i + 1) % count] + from[(i + count - 1) % count];
        grid_barrier();
        uint32_t* const next = from;
        from = to;
        to = next;
    }
}

/// Each step is chosen by what one work-item wrote in the step before: a value that all read, from one address.
HSADRV_KERNEL void follow(uint32_t* path, uint32_t* out, uint32_t steps) {
    uint32_t at = 0;
    for (uint32_t step = 0; step < steps; ++step) {
        if (item() == at % items()) path[step] = at * 5 + 3;
        grid_barrier();
        at = path[step];
    }
    out[item()] = at;
}

/// What the launch provides: up to the number of work-groups, which is followed by what they change.
HSADRV_KERNEL void state(uint32_t* out) {
    const auto* words = (const HSADRV_GLOBAL uint32_t*)hsadrv::detail::grid_state();
    if (item() == 0)
        for (uint32_t i = 0; i < 11; ++i) out[i] = words[i];
    grid_barrier();
}

/// Fails after the barrier.
HSADRV_KERNEL void fails() {
    grid_barrier();
    if (item() == 0) __builtin_trap();
}

/// Writes after the barrier, which one work-item reaches when the host has set the flag.
HSADRV_KERNEL void wait_and_write(uint32_t* flag, uint32_t* data) {
    const auto word = (HSADRV_GLOBAL uint32_t*)flag;
    if (item() == 0)
        while (__hip_atomic_load(word, __ATOMIC_RELAXED, static_cast<int>(MemoryScope::system)) == 0)
            __builtin_amdgcn_s_sleep(10);
    grid_barrier();
    data[item()] = 1;
}
