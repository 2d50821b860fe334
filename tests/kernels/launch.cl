// Kernels with arguments of every kind that a launch packs: pointers, scalars, structs, LDS sized at launch, hidden
// arguments.

typedef struct {
    int a;
    float b;
    double c;
} Triple;

static uint global_x(void) {
    return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

__kernel void saxpy(__global float* restrict y, const __global float* restrict x, float a, uint n) {
    const uint i = global_x();
    if (i < n) y[i] += a * x[i];
}

// Every scalar at its own alignment, and a struct.
__kernel void mixed(__global ulong* out, char c, short s, int i, long l, float f, double d, Triple t) {
    out[0] = (ulong)c;
    out[1] = (ulong)s;
    out[2] = (ulong)i;
    out[3] = (ulong)l;
    out[4] = (ulong)(int)(f * 4.0f);
    out[5] = (ulong)(long)(d * 8.0);
    out[6] = (ulong)t.a;
    out[7] = (ulong)(int)t.b;
    out[8] = (ulong)(long)t.c;
}

// One LDS array sized at launch after a static one: reverses each work-group's part.
__kernel void reverse(__global uint* data, __local uint* tile, uint bias) {
    __local uint kept[3];
    const uint item = __builtin_amdgcn_workitem_id_x(), size = __builtin_amdgcn_workgroup_size_x();
    if (item < 3) kept[item] = bias + item;
    tile[item] = data[global_x()];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    data[global_x()] = tile[size - 1 - item] + kept[item % 3];
}

// Two LDS arrays sized at launch; writes their addresses.
__kernel void two_arrays(__global uint* out, __local char* first, __local double* second) {
    first[0] = 1;
    second[0] = 2.0;
    out[0] = (uint)first;
    out[1] = (uint)second;
}

// The builtins on a kernel's own launch.
__kernel void shape(__global uint* out) {
    const uint i = __builtin_amdgcn_workgroup_id_x();
    if (__builtin_amdgcn_workitem_id_x() == 0) {
        out[2 * i] = __builtin_amdgcn_workgroup_size_x();
        out[2 * i + 1] = __builtin_amdgcn_grid_size_x();
    }
}

// The bytes of its hidden arguments, as words.
__kernel void hidden(__global uint* out, uint count) {
    const __constant uint* words = (const __constant uint*)__builtin_amdgcn_implicitarg_ptr();
    for (uint i = 0; i < count; ++i) out[i] = words[i];
}

// The queue it was dispatched from.
__kernel void queue(__global ulong* out) { out[0] = (ulong)__builtin_amdgcn_queue_ptr(); }

__kernel __attribute__((reqd_work_group_size(64, 2, 1))) void exactly(__global uint* out) { out[0] = 1; }

__kernel __attribute__((amdgpu_flat_work_group_size(1, 128))) void at_most(__global uint* out) { out[0] = 1; }

__kernel void no_arguments(void) {}
