/* OpenCL 1.2's atomics (atomic_add, atomic_cmpxchg, …) and those of cl_khr_int64_base_atomics and _extended_atomics
 * (atom_add, …), on LDS and on global memory; and atomic_add of float and double. A part of opencl.h.
 *
 * Relaxed; each returns the previous value. Signed integers wrap. Scope: the work-group for LDS, the agent for the
 * device's global memory; memory that the host changes as well needs C++ (MemoryScope::system). For the instructions
 * see atomic.hpp, the C++ version. */
#ifndef HSADRV_SHARED_DEVICE_OPENCL_ATOMIC_H
#define HSADRV_SHARED_DEVICE_OPENCL_ATOMIC_H

/* Clang's numbers of the scopes. */
#define HSADRV_WORKGROUP 3
#define HSADRV_AGENT 4

#define HSADRV_ATOMIC(name, builtin, memory, scope, type)                \
    HSADRV_OPENCL type name(volatile memory type* address, type value) { \
        return builtin(address, value, __ATOMIC_RELAXED, scope);         \
    }
#define HSADRV_ATOMICS(prefix, memory, scope, type)                                                                   \
    HSADRV_ATOMIC(prefix##_add, __hip_atomic_fetch_add, memory, scope, type)                                          \
    HSADRV_ATOMIC(prefix##_min, __hip_atomic_fetch_min, memory, scope, type)                                          \
    HSADRV_ATOMIC(prefix##_max, __hip_atomic_fetch_max, memory, scope, type)                                          \
    HSADRV_ATOMIC(prefix##_and, __hip_atomic_fetch_and, memory, scope, type)                                          \
    HSADRV_ATOMIC(prefix##_or, __hip_atomic_fetch_or, memory, scope, type)                                            \
    HSADRV_ATOMIC(prefix##_xor, __hip_atomic_fetch_xor, memory, scope, type)                                          \
    HSADRV_ATOMIC(prefix##_xchg, __hip_atomic_exchange, memory, scope, type)                                          \
    HSADRV_OPENCL type prefix##_sub(volatile memory type* address, type value) {                                      \
        return __hip_atomic_fetch_add(address, (type)(0ul - (ulong)value), __ATOMIC_RELAXED, scope);                  \
    }                                                                                                                 \
    HSADRV_OPENCL type prefix##_inc(volatile memory type* address) {                                                  \
        return __hip_atomic_fetch_add(address, 1, __ATOMIC_RELAXED, scope);                                           \
    }                                                                                                                 \
    HSADRV_OPENCL type prefix##_dec(volatile memory type* address) {                                                  \
        return __hip_atomic_fetch_add(address, -1, __ATOMIC_RELAXED, scope);                                          \
    }                                                                                                                 \
    HSADRV_OPENCL type prefix##_cmpxchg(volatile memory type* address, type expected, type desired) {                 \
        __hip_atomic_compare_exchange_strong(address, &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
        return expected;                                                                                              \
    }
#define HSADRV_ATOMICS_OF(prefix, type)                     \
    HSADRV_ATOMICS(prefix, __local, HSADRV_WORKGROUP, type) \
    HSADRV_ATOMICS(prefix, __global, HSADRV_AGENT, type)
#define HSADRV_FLOAT_ATOMICS_OF(type)                                                  \
    HSADRV_ATOMIC(atomic_add, __hip_atomic_fetch_add, __local, HSADRV_WORKGROUP, type) \
    HSADRV_ATOMIC(atomic_add, __hip_atomic_fetch_add, __global, HSADRV_AGENT, type)    \
    HSADRV_ATOMIC(atomic_xchg, __hip_atomic_exchange, __local, HSADRV_WORKGROUP, type) \
    HSADRV_ATOMIC(atomic_xchg, __hip_atomic_exchange, __global, HSADRV_AGENT, type)

HSADRV_ATOMICS_OF(atomic, int)
HSADRV_ATOMICS_OF(atomic, uint)
HSADRV_ATOMICS_OF(atom, long)
HSADRV_ATOMICS_OF(atom, ulong)
HSADRV_FLOAT_ATOMICS_OF(float)
HSADRV_FLOAT_ATOMICS_OF(double)

#undef HSADRV_ATOMIC
#undef HSADRV_ATOMICS
#undef HSADRV_ATOMICS_OF
#undef HSADRV_FLOAT_ATOMICS_OF
#undef HSADRV_AGENT
#undef HSADRV_WORKGROUP

#endif
