// Communication between the lanes selected by `active`: a test compares with its own model of a wave.
#include <shared/device/device.hpp>

#include "wave_rows.h"

using namespace hsadrv;

template <class T, bool Integer>
HSADRV_DEVICE void reductions(const T* in, T* out, uint64_t active) {
    const uint32_t i = get_global_id(0), n = get_global_size(0);
    if ((active >> get_lane_id() & 1) == 0) return;
    const T x = in[i];
    out[row_reduce_add * n + i] = wave_reduce_add(x);
    out[row_reduce_min * n + i] = wave_reduce_min(x);
    out[row_reduce_max * n + i] = wave_reduce_max(x);
    out[row_inclusive_add * n + i] = wave_inclusive_scan_add(x);
    out[row_inclusive_min * n + i] = wave_inclusive_scan_min(x);
    out[row_inclusive_max * n + i] = wave_inclusive_scan_max(x);
    out[row_exclusive_add * n + i] = wave_exclusive_scan_add(x);
    out[row_exclusive_min * n + i] = wave_exclusive_scan_min(x);
    out[row_exclusive_max * n + i] = wave_exclusive_scan_max(x);
    if constexpr (Integer) {
        out[row_reduce_and * n + i] = wave_reduce_and(x);
        out[row_reduce_or * n + i] = wave_reduce_or(x);
        out[row_reduce_xor * n + i] = wave_reduce_xor(x);
    }
}

HSADRV_KERNEL void reductions_i32(const int32_t* in, int32_t* out, uint64_t active) {
    reductions<int32_t, true>(in, out, active);
}
HSADRV_KERNEL void reductions_u64(const uint64_t* in, uint64_t* out, uint64_t active) {
    reductions<uint64_t, true>(in, out, active);
}
HSADRV_KERNEL void reductions_f32(const float* in, float* out, uint64_t active) {
    reductions<float, false>(in, out, active);
}
HSADRV_KERNEL void reductions_f64(const double* in, double* out, uint64_t active) {
    reductions<double, false>(in, out, active);
}

HSADRV_KERNEL void lanes(const uint32_t* in, uint64_t* out, uint64_t active) {
    const uint32_t i = get_global_id(0), n = get_global_size(0);
    if ((active >> get_lane_id() & 1) == 0) return;
    const uint32_t x = in[i];
    out[row_lane_id * n + i] = get_lane_id();
    out[row_ballot * n + i] = wave_ballot(x % 3 == 0);
    out[row_active * n + i] = wave_active_lanes();
    out[row_any * n + i] = wave_any(x % 3 == 0);
    out[row_all * n + i] = wave_all(x % 3 == 0);
    out[row_first * n + i] = read_first_lane(uint64_t{x} << 32 | x);
    for (uint32_t lane = 0; lane < wavefront_size; ++lane) {
        out[(row_broadcasts + lane) * n + i] = (active >> lane & 1) != 0 ? read_lane(uint64_t{x} << 32 | x, lane) : 0;
    }
}

template <class T>
HSADRV_DEVICE void permutes(const T* in, T* out, T identity) {
    const uint32_t i = get_local_id(0);
    const T x = in[i];
    for (uint32_t shift = 0; shift < wavefront_size; ++shift) {
        T* rows = out + shift * permute_rows * wavefront_size;
        rows[row_permute * wavefront_size + i] = ds_permute(i + shift, x);
        rows[row_bpermute * wavefront_size + i] = ds_bpermute(i + shift, x);
        rows[row_activelanepermute * wavefront_size + i] =
            activelanepermute_wavewidth(x, i + shift, identity, i % 3 == 0);
    }
}

HSADRV_KERNEL void permutes_u32(const uint32_t* in, uint32_t* out, uint32_t identity) { permutes(in, out, identity); }
HSADRV_KERNEL void permutes_f64(const double* in, double* out, double identity) { permutes(in, out, identity); }

/// Each lane writes LDS that the next one reads, with no barrier of the work-group: a wave runs in step.
HSADRV_KERNEL void pass_on(const uint32_t* in, uint32_t* out) {
    auto slots = shared::array<uint32_t, 256>();
    const uint32_t i = get_local_id(0), wave = i / wavefront_size * wavefront_size;
    slots[i] = in[get_global_id(0)];
    wavebarrier();
    for (uint32_t step = 0; step < 5; ++step) {
        const uint32_t from_next = slots[wave + (i + 1) % wavefront_size];
        wavebarrier();
        slots[i] = from_next;
        wavebarrier();
    }
    out[get_global_id(0)] = slots[i];
}
