// The table of atomic.hpp: a kernel for each operation, type and scope, with the result used and not. emitted.py checks
// the emitted code.
#include <shared/device/device.hpp>

using namespace hsadrv;

#define ROW(operation, type, ...)                                                                  \
    HSADRV_KERNEL void system_##operation##_##type(type* p, [[maybe_unused]] type v) {             \
        atomic_##operation<MemoryScope::system>(p, __VA_ARGS__);                                   \
    }                                                                                              \
    HSADRV_KERNEL void system_rtn_##operation##_##type(type* p, [[maybe_unused]] type v) {         \
        p[1] = atomic_##operation<MemoryScope::system>(p, __VA_ARGS__);                            \
    }                                                                                              \
    HSADRV_KERNEL void agent_##operation##_##type(type* p, [[maybe_unused]] type v) {              \
        atomic_##operation(p, __VA_ARGS__);                                                        \
    }                                                                                              \
    HSADRV_KERNEL void agent_rtn_##operation##_##type(type* p, [[maybe_unused]] type v) {          \
        p[1] = atomic_##operation(p, __VA_ARGS__);                                                 \
    }                                                                                              \
    HSADRV_KERNEL void lds_##operation##_##type(HSADRV_LDS type* p, [[maybe_unused]] type v) {     \
        atomic_##operation(p, __VA_ARGS__);                                                        \
    }                                                                                              \
    HSADRV_KERNEL void lds_rtn_##operation##_##type(HSADRV_LDS type* p, [[maybe_unused]] type v) { \
        p[1] = atomic_##operation(p, __VA_ARGS__);                                                 \
    }
#define INTEGERS(type)     \
    ROW(add, type, v)      \
    ROW(sub, type, v)      \
    ROW(min, type, v)      \
    ROW(max, type, v)      \
    ROW(and, type, v)      \
    ROW(or, type, v)       \
    ROW(xor, type, v)      \
    ROW(exchange, type, v) \
    ROW(compare_exchange, type, v, v + 1)
INTEGERS(uint32_t)
INTEGERS(int32_t)
INTEGERS(uint64_t)
INTEGERS(int64_t)
ROW(add, float, v)
ROW(sub, float, v)
ROW(exchange, float, v)
ROW(add, double, v)
ROW(sub, double, v)
ROW(exchange, double, v)

// Constants, which let the compiler choose another operation.
#define KNOWN(name, ...) \
    HSADRV_KERNEL void known_##name(int32_t* p) { p[1] = __VA_ARGS__; }
KNOWN(add_0, atomic_add<MemoryScope::system>(p, 0))
KNOWN(add_1, atomic_add<MemoryScope::system>(p, 1))
KNOWN(add_negative, atomic_add<MemoryScope::system>(p, -5))
KNOWN(sub_0, atomic_sub<MemoryScope::system>(p, 0))
KNOWN(sub_1, atomic_sub<MemoryScope::system>(p, 1))
KNOWN(or_0, atomic_or<MemoryScope::system>(p, 0))
KNOWN(or_ones, atomic_or<MemoryScope::system>(p, -1))
KNOWN(and_0, atomic_and<MemoryScope::system>(p, 0))
KNOWN(and_ones, atomic_and<MemoryScope::system>(p, -1))
KNOWN(xor_ones, atomic_xor<MemoryScope::system>(p, -1))
KNOWN(max_lowest, atomic_max<MemoryScope::system>(p, -0x7fffffff - 1))
