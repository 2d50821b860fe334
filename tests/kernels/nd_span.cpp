// Kernels that take views of arrays by value: reads and writes through a view.
#include <devicearray/nd_span.hpp>
#include <shared/device/device.hpp>

using hsadrv::NDSpan;

/// element = 2 * element + 100 * row + column
HSADRV_KERNEL void mark_places(NDSpan<float, 2> to) {
    const uint32_t column = hsadrv::get_global_id(0), row = hsadrv::get_global_id(1);
    if (row >= to.extent(0) || column >= to.extent(1)) return;
    to(row, column) = 2 * to(row, column) + static_cast<float>(100 * row + column);
}

/// Two views after a small argument, the second at an offset that needs padding.
HSADRV_KERNEL void add_scaled(int factor, NDSpan<float, 2> to, NDSpan<const float, 2> from) {
    const uint32_t column = hsadrv::get_global_id(0), row = hsadrv::get_global_id(1);
    if (row < to.extent(0) && column < to.extent(1)) to(row, column) += static_cast<float>(factor) * from(row, column);
}

template <class T, int Rank>
HSADRV_DEVICE void describe(const NDSpan<T, Rank>& span, int64_t* out) {
    *out++ = reinterpret_cast<int64_t>(span.data_handle());
    *out++ = span.size();
    *out++ = span.is_exhaustive();
    for (int i = 0; i < Rank; ++i) {
        *out++ = span.extent(i);
        *out++ = span.stride(i);
    }
}

HSADRV_KERNEL void describe_0(int64_t* out, NDSpan<const double, 0> span) { describe(span, out); }
HSADRV_KERNEL void describe_1(int64_t* out, NDSpan<const double, 1> span) { describe(span, out); }
HSADRV_KERNEL void describe_3(int64_t* out, NDSpan<const double, 3> span) { describe(span, out); }
HSADRV_KERNEL void describe_8(int64_t* out, NDSpan<const double, 8> span) { describe(span, out); }

/// The elements in C order.
HSADRV_KERNEL void gather(NDSpan<const uint32_t, 3> from, uint32_t* out) {
    const int64_t n = hsadrv::get_global_id(0);
    if (n >= from.size()) return;
    const int64_t plane = n / from.extent(2);
    out[n] = from(plane / from.extent(1), plane % from.extent(1), n % from.extent(2));
}

/// Runs until the flag is set, then writes.
HSADRV_KERNEL void write_when_told(const uint32_t* flag, NDSpan<int32_t, 1> to, int32_t value) {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, 5) == 0) __builtin_amdgcn_s_sleep(10);
    to[hsadrv::get_global_id(0)] = value;
}
