// Kernels that call OpenCL C's printf.
#include "shared/device/opencl.h"
#include "shared/device/opencl_printf.h"

kernel void hello(global int* results) {
    const uint i = get_global_id(0);
    const int result = printf("work-item %u of %u\n", i, (uint)get_global_size(0));
    if (results) results[i] = result;
}

kernel void conversions(global const float* x) {
    const float y = x[0];
    printf("%d|%5d|%-5d|%05d|%+d\n", -1, 7, 7, 7, 7);
    printf("%u %x %#o %lu %lx\n", 4000000000u, 255u, 8u, 1ul << 40, ~0ul);
    printf("%hhd %hd %c\n", (char)-2, (short)-3, 'c');
    printf("%f %.3f %e %g|%10.2f|\n", y, y, y, y, y);
    printf("%s|%8s|%s: %s %%\n", "text", "right", "", "longer than eight");
    printf("%p\n", x);
    printf("no conversion\n");
    printf("%v4d %v2d %v3d\n", (int4)(1, -2, 3, -4), (int2)(5, 6), (int3)(7, 8, 9));
    printf("%v4hhd %#v4hhx %v4hd %v2ld\n", (char4)(1, -2, 3, -4), (uchar4)(1, 254, 3, 252), (short4)(1, -2, 3, -4),
           (long2)(1l << 40, -1));
    printf("%.2v4hlf\n", (float4)(y, 1.0f, 2.5f, -3.0f));
}

kernel void two(global const int* first, int second) {
    if (get_global_id(0) == 0) printf("%d then %d\n", *first, second);
}

// Prints more than there is room for, if `count` is large.
kernel void much(global int* lost, int count) {
    int failures = 0;
    for (int i = 0; i < count; ++i) failures += printf("%d\n", i) != 0;
    *lost = failures;
}

kernel void meet(void) {
    if (get_local_id(0) == 0) printf("before\n");
    grid_barrier();
    if (get_global_id(0) == 0) printf("after\n");
}
