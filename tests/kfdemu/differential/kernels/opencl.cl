// OpenCL C 2.0 with ROCm's device libraries: opencl.cpp has the expected results.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define ARGUMENTS(A, B, OUT) __global const A *a, __global const B *b, __global OUT *out, uint n

__kernel void cl_conversions(ARGUMENTS(float, double, long)) {
    const size_t i = get_global_id(0);
    const float x = isnan(a[i]) ? 0 : a[i];
    const double y = isnan(b[i]) ? 0 : b[i];
    __global long* o = out + i * 16;
    o[0] = convert_char_sat(x);
    o[1] = convert_uchar_sat_rte(x);
    o[2] = convert_short_sat_rtp(x);
    o[3] = convert_ushort_sat_rtn(x);
    o[4] = convert_int_sat_rte(x);
    o[5] = convert_uint_sat_rtz(x);
    o[6] = convert_int_sat_rtn(y);
    o[7] = convert_uint_sat_rtp(y);
    o[8] = convert_char_sat(convert_int_sat(y));
    o[9] = convert_uchar_sat((int)as_uint(x));
    o[10] = convert_short_sat(as_int(x));
    o[11] = convert_uint_sat(as_long(y));
    o[12] = convert_int_sat(as_ulong(y));
    o[13] = as_uint(convert_float_rtz(as_int(x)));
    o[14] = as_uint(convert_float_rtp(as_uint(x)));
    o[15] = as_uint(convert_float_rtn(as_int(x)));
}

__kernel void cl_vectors(ARGUMENTS(int, int, int)) {
    const size_t i = get_global_id(0);
    const int2 p = vload2(i * 8, a);
    const int3 q = vload3(i, a + i * 13 + 1);
    const int4 r = vload4(i * 4 + 1, a);
    const int8 s = vload8(i * 2 + 1, a);
    int16 t = vload16(i, b);
    t.s0246 = t.s1357 + r;
    t.hi = t.hi.s76543210 ^ s;
    t.even += (int8)(p, q, r.xyz);
    t = select(t, -t, t > 100);
    t.lo = (t.lo < s) ? t.lo : s.s01234567 * 3;
    vstore16(t, i * 2, out);
    int8 u = shuffle(t, (uint8)(15, 3, 8, 1, 0, 12, 7, 7));
    u.s03 = rotate(u.s12, (int2)(3, 29));
    vstore8(u, i * 4 + 2, out);
    vstore3(max(u.s012, q), i * 4, out + i * 20 + 24);
    vstore2(convert_int2(p > r.zw), i * 16 + 14, out);
    out[i * 32 + 27] = any(t > u.s0) + all(t.s01 < p) * 2;
    out[i * 32 + 30] = bitselect(r.x, r.y, r.z);
    out[i * 32 + 31] = dot(convert_float4(r & 255), (float4)(1, 2, 3, 4));
}

__kernel void cl_integers(ARGUMENTS(int, int, uint)) {
    const size_t i = get_global_id(0);
    const int x = a[i], y = b[i];
    const uint ux = x, uy = y;
    __global uint* o = out + i * 24;
    o[0] = mul_hi(x, y);
    o[1] = mul_hi(ux, uy);
    o[2] = mad_hi(x, y, x);
    o[3] = mad_sat(x, y, y);
    o[4] = mad_sat(ux, uy, ux);
    o[5] = hadd(x, y);
    o[6] = rhadd(ux, uy);
    o[7] = add_sat(x, y);
    o[8] = sub_sat(x, y);
    o[9] = add_sat(ux, uy);
    o[10] = sub_sat(ux, uy);
    o[11] = abs_diff(x >> 1, y >> 1);
    o[12] = abs(x);
    o[13] = clz(x) + ctz(y) * 100;
    o[14] = popcount(x);
    o[15] = upsample((ushort)x, (ushort)y);
    o[16] = mul24(x << 8 >> 8, y << 8 >> 8);
    o[17] = mad24(ux & 0xffffff, uy & 0xffffff, ux);
    o[18] = add_sat((char)x, (char)y) & 255;
    o[19] = sub_sat((ushort)x, (ushort)y);
    o[20] = hadd((short)x, (short)y);
    o[21] = mul_hi((uchar)x, (uchar)y);
    o[22] = clamp(x, -1000, 1000);
    o[23] = mul_hi((long)x << 20, (long)y << 17) ^ (uint)add_sat((long)x << 32, (long)y << 32);
}

__kernel void cl_work_items(ARGUMENTS(uint, uint, uint)) {
    const size_t i = get_global_linear_id();
    __global uint* o = out + i * 20;
    for (uint d = 0; d < 3; ++d) {
        o[d] = get_global_id(d);
        o[3 + d] = get_local_id(d);
        o[6 + d] = get_group_id(d);
        o[9 + d] = get_local_size(d);
        o[12 + d] = get_enqueued_local_size(d);
        o[15 + d] = get_num_groups(d) * 1000 + get_global_size(d) + get_global_offset(d);
    }
    o[18] = get_work_dim() + get_local_size(3) * 10 + get_global_id(4);
    o[19] = get_local_linear_id();
}

/// The groups of a row are of two sizes.
__kernel void cl_group_sum(ARGUMENTS(uint, uint, uint)) {
    __local uint lds[256];
    __local atomic_uint count;
    const size_t l = get_local_id(0), size = get_local_size(0);
    if (l == 0) atomic_init(&count, 0);
    lds[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (size_t k = 0; k < size; k += 5) sum = sum * 7 + lds[(l + k) % size];
    atomic_fetch_add_explicit(&count, b[get_global_id(0)] & 15, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    out[get_global_id(0)] = sum + atomic_load(&count);
}

__kernel void cl_atomics(ARGUMENTS(int, int, int)) {
    const size_t i = get_global_id(0);
    __global int* o = out + i * 8;
    o[4] = atomic_fetch_add((__global atomic_int*)o, a[i]);
    o[5] = atomic_fetch_max_explicit((__global atomic_int*)o + 1, a[i], memory_order_acq_rel, memory_scope_device);
    int expected = i & 1 ? o[2] : a[i];
    o[6] = atomic_compare_exchange_strong((__global atomic_int*)o + 2, &expected, b[i]);
    o[7] = atomic_xchg((volatile __global int*)o + 3, expected) ^ atomic_inc((volatile __global int*)o);
    atomic_min((volatile __global uint*)o + 1, (uint)b[i]);
}

/// Scans and reductions of the library's own making, across the waves of a group.
__kernel void cl_collectives(ARGUMENTS(int, int, int)) {
    const size_t i = get_global_id(0);
    __global int* o = out + i * 12;
    o[0] = work_group_reduce_add(a[i]);
    o[1] = work_group_reduce_max(a[i]);
    o[2] = work_group_reduce_min((uint)b[i]);
    o[3] = work_group_scan_inclusive_add(a[i]);
    o[4] = work_group_scan_exclusive_add(b[i]);
    o[5] = work_group_scan_inclusive_max(b[i]);
    o[6] = work_group_broadcast(a[i], 100);
    o[7] = work_group_any(a[i] == 77) + work_group_all(a[i] != b[i]) * 2;
    const long wide = work_group_scan_inclusive_add((long)a[i] << 20);
    o[8] = wide >> 16;
    o[9] = sub_group_reduce_add(b[i]);
    o[10] = sub_group_scan_exclusive_max(a[i]);
    o[11] = sub_group_broadcast(b[i], 17) + get_sub_group_local_id() + get_sub_group_id() * 64;
}

__kernel void cl_halves(ARGUMENTS(half, float, float)) {
    const size_t i = get_global_id(0);
    __global float* o = out + i * 8;
    o[0] = vload_half(i, a);
    __private half h[4];
    vstore_half_rtz(b[i], 0, h);
    vstore_half_rte(b[i], 1, h);
    vstore_half_rtp(b[i], 2, h);
    vstore_half_rtn(b[i], 3, h);
    for (int k = 0; k < 4; ++k) o[1 + k] = vload_half(k, h);
    o[5] = convert_half_rte(b[i]);
    const half4 v = (half4)(a[i], a[i], h[1], h[1]) * (half4)(1, 2, 1, 3);
    o[6] = v.y;
    o[7] = v.w;
}

__kernel void cl_geometry(ARGUMENTS(float, float, float)) {
    const size_t i = get_global_id(0);
    const float4 x = vload4(i, a), y = vload4(i, b);
    const float4 c = cross(x, y);
    __global float* o = out + i * 12;
    vstore4(c, 0, o);
    o[4] = floor(x.x) + ceil(y.x);
    o[5] = fma(x.x, y.x, x.y);
    o[6] = clamp(x.z, -100.0f, 100.0f);
    o[7] = step(x.w, y.w) + sign(x.x) * 2;
    o[8] = fmin(x.x, y.y) - fmax(x.y, y.z);
    float whole;
    o[9] = fract(x.z, &whole);
    o[10] = whole;
    int e;
    o[11] = frexp(x.w, &e) * 4 + e;
}

__constant short steps[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__global int shared_numbers[4] = {10, 20, 30, 40};
typedef struct {
    char tag;
    int4 body;
    struct {
        short x, y;
    } pair[3];
} Thing;
static int of_thing(Thing t, int* where) {
    *where += t.tag;
    return t.body.x * t.pair[1].y + t.body.w - t.pair[2].x;
}
__kernel void cl_generic(ARGUMENTS(int, int, int)) {
    const size_t i = get_global_id(0), l = get_local_id(0);
    __local int lds[64];
    int mine = a[i];
    lds[l] = b[i];
    out[i * 3] = a[i] ^ b[i];
    int* where = a[i] % 3 == 0 ? &mine : a[i] % 3 == 1 ? (int*)&lds[l] : (int*)(out + i * 3);
    Thing t = {(char)b[i], (int4)(a[i], 1, 2, b[i]), {{1, 2}, {3, steps[b[i] & 7]}, {(short)a[i], 6}}};
    out[i * 3 + 1] = of_thing(t, where) + shared_numbers[b[i] & 3];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i * 3 + 2] = mine * 3 + lds[l] + (to_local(where) != NULL) + (to_private(where) != NULL) * 2;
}
