// C++ kernels whose code object states the types of their arguments.
#include <shared/device/device.hpp>

struct Pair {
    int a;
    float b;
};

HSADRV_KERNEL void add_counts(uint32_t* counts, const double* values, Pair pair, int64_t bias, uint32_t n) {
    const uint32_t i = hsadrv::get_global_id(0);
    if (i < n) counts[i] += static_cast<uint32_t>(values[i]) + static_cast<uint32_t>(pair.a + bias);
}

HSADRV_KERNEL void every_type(bool a, char b, unsigned char c, short d, unsigned short e, int f, unsigned g, long h,
                              unsigned long i, float j, double k, _Float16 l, Pair m, const volatile float* n, Pair* o,
                              void* p, float** q, HSADRV_GLOBAL uint64_t* r, hsadrv::shared::LdsPointer s) {
    if (a) *s = static_cast<unsigned char>(b + c + d + e + f + static_cast<int>(g) + m.a);
    if (a) *r = static_cast<uint64_t>(h) + i + static_cast<uint64_t>(j + static_cast<float>(k) + static_cast<float>(l));
    if (a) **q = *n + o->b + *static_cast<float*>(p);
}

HSADRV_KERNEL void nothing() {}
