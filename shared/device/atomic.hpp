// Atomic operations for kernels on LDS and global memory, 32 and 64 bits wide. Each returns the previous value.
//
//     hsadrv::atomic_add(&bins[value], 1u);            // LDS: ds_add_u32, work-group scope
//     hsadrv::atomic_add(&total[value], bins[value]);  // global: global_atomic_add, agent scope
//     auto seen = hsadrv::atomic_compare_exchange(&lock, 0u, 1u);
//
// Relaxed: they order no other accesses, so use fences (barrier.hpp) or a kernel's end to publish results. T: 32- and
// 64-bit integers; float and double where stated. Signed integers wrap. If the result is unused, the form without a
// return value is emitted (no glc, no _rtn).
//
// Scope: the work-group for LDS, which no other work-group can address, and the agent for global memory: all
// work-groups and queues of this device, on its own memory. For host memory, or memory that the host or other devices
// change concurrently, use atomic_add<MemoryScope::system>(…) on fine-grained memory. PCIe has only the atomics
// FetchAdd, Swap and CAS (PCI Express Base Specification, "Atomic Operations"); the update of any other would be lost.
//
//                    LDS (ds_…_b32/u32/i32, _b64 …)   global, agent (global_atomic_…, _x2;   global, system
//                                                      flat_atomic_… where clang does not
//                                                      know that a pointer is global)
//     add, sub       ds_add_u32 (sub adds -value)      add                                    add
//     min, max       ds_min_i32, ds_max_u32, …         smin, umin, smax, umax                 a cmpswap loop
//     and, or, xor   ds_and_b32, ds_or_b32, ds_xor_b32 and, or, xor                           a cmpswap loop
//     exchange       ds_wrxchg_rtn_b32 (1)             swap (1)                               swap (1)
//     compare_       ds_cmpst_b32, ds_cmpst_rtn_b32    cmpswap                                cmpswap
//       exchange
//     add, float     ds_add_f32                        a cmpswap loop (2)                     a cmpswap loop
//     add, double    ds_add_f64 on gfx90a and gfx94x;  a cmpswap loop (2)                     a cmpswap loop
//                    elsewhere a cmpst loop
// GFX11 and later use the suffixes _b32, _u64, …, and the names ds_storexchg and ds_cmpstore. (1) With LLVM 16 a store
// if the result is unused. (2) On gfx94x from LLVM 17: add_f32 and add_f64, and on gfx12 from LLVM 20 add_f32, which
// work on all memory of the device there; unsafe_atomic_add below uses them elsewhere.
#pragma once

#include "../lds_layout.hpp"
#include "barrier.hpp"
#include "kernel.hpp"

namespace hsadrv {

namespace detail {

template <class T>
inline constexpr bool is_atomic_width = sizeof(T) == 4 || sizeof(T) == 8;
template <class T>
inline constexpr bool is_atomic_integer = is_atomic_width<T> && shared::detail::is_integer<T>;
template <class T>
inline constexpr bool is_atomic_number = is_atomic_integer<T>;
template <>
inline constexpr bool is_atomic_number<float> = true;
template <>
inline constexpr bool is_atomic_number<double> = true;

/// Wrapping integers as wide as T, which may alias a T.
template <uint32_t Bytes>
struct AtomicBits;
template <>
struct AtomicBits<4> {
    typedef uint32_t __attribute__((may_alias)) type;
};
template <>
struct AtomicBits<8> {
    typedef uint64_t __attribute__((may_alias)) type;
};

template <class T>
HSADRV_DEVICE T negated(T value) {
    if constexpr (is_atomic_integer<T>)
        return static_cast<T>(0 - static_cast<typename AtomicBits<sizeof(T)>::type>(value));
    else
        return -value;
}

/// Replaces the value `found` by changed(found) in a compare-and-exchange loop, at system scope. Returns `found`.
template <class T, class F>
HSADRV_DEVICE T change_by_compare_exchange(T* address, F changed) {
    using Bits = typename AtomicBits<sizeof(T)>::type;
    constexpr int scope = static_cast<int>(MemoryScope::system);
    auto* bits = (Bits*)address;
    Bits found = __hip_atomic_load(bits, __ATOMIC_RELAXED, scope);
    for (;;) {
        const Bits desired = __builtin_bit_cast(Bits, static_cast<T>(changed(__builtin_bit_cast(T, found))));
        if (__hip_atomic_compare_exchange_strong(bits, &found, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope))
            return __builtin_bit_cast(T, found);
    }
}

}  // namespace detail

// From clang 20 on, an addition of floats that says nothing of the memory may be one that fine-grained memory does not
// do.
#if __has_cpp_attribute(clang::atomic)
#define HSADRV_OF_ANY_MEMORY [[clang::atomic(fine_grained_memory, remote_memory)]]
#else
#define HSADRV_OF_ANY_MEMORY
#endif
// clang's builtins follow the pointer's address space. `for_system` is the statement that returns for system scope;
// `value` and `address` are in scope there.
#define HSADRV_ATOMIC_IN(memory, default_scope, name, builtin, accepted, for_system)        \
    template <MemoryScope Scope = default_scope, class T>                                   \
    HSADRV_DEVICE T name(memory T* address, typename shared::detail::Same<T>::type value) { \
        static_assert(detail::accepted<T>, #name " takes no such type");                    \
        for_system;                                                                         \
        return builtin(address, value, __ATOMIC_RELAXED, static_cast<int>(Scope));          \
    }
#define HSADRV_ATOMIC(name, builtin, accepted, for_system)                                 \
    HSADRV_ATOMIC_IN(HSADRV_LDS, MemoryScope::workgroup, name, builtin, accepted, (void)0) \
    HSADRV_ATOMIC_IN(, MemoryScope::agent, name, builtin, accepted, for_system)
#define HSADRV_CHANGED_TO(changed)              \
    if constexpr (Scope == MemoryScope::system) \
    return detail::change_by_compare_exchange(address, [value](T found) HSADRV_LAMBDA { return changed; })
// LLVM 16 turns an addition of 0 into an `or`; the asm hides the value.
#define HSADRV_ADDED                                                                                             \
    if constexpr (Scope == MemoryScope::system) {                                                                \
        if constexpr (!detail::is_atomic_integer<T>)                                                             \
            return detail::change_by_compare_exchange(address,                                                   \
                                                      [value](T found) HSADRV_LAMBDA { return found + value; }); \
        else                                                                                                     \
            asm("" : "+v"(value));                                                                               \
    } else if constexpr (!detail::is_atomic_integer<T>) {                                                        \
        HSADRV_OF_ANY_MEMORY {                                                                                   \
            return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, static_cast<int>(Scope));            \
        }                                                                                                        \
    }

HSADRV_ATOMIC(atomic_add, __hip_atomic_fetch_add, is_atomic_number, HSADRV_ADDED)
HSADRV_ATOMIC(atomic_min, __hip_atomic_fetch_min, is_atomic_integer, HSADRV_CHANGED_TO(value < found ? value : found))
HSADRV_ATOMIC(atomic_max, __hip_atomic_fetch_max, is_atomic_integer, HSADRV_CHANGED_TO(found < value ? value : found))
HSADRV_ATOMIC(atomic_and, __hip_atomic_fetch_and, is_atomic_integer, HSADRV_CHANGED_TO(found& value))
HSADRV_ATOMIC(atomic_or, __hip_atomic_fetch_or, is_atomic_integer, HSADRV_CHANGED_TO(found | value))
HSADRV_ATOMIC(atomic_xor, __hip_atomic_fetch_xor, is_atomic_integer, HSADRV_CHANGED_TO(found ^ value))
HSADRV_ATOMIC(atomic_exchange, __hip_atomic_exchange, is_atomic_number, (void)0)

#undef HSADRV_ADDED
#undef HSADRV_CHANGED_TO
#undef HSADRV_ATOMIC
#undef HSADRV_ATOMIC_IN
#undef HSADRV_OF_ANY_MEMORY

#define HSADRV_ATOMICS_IN(memory, default_scope)                                                                \
    template <MemoryScope Scope = default_scope, class T>                                                       \
    HSADRV_DEVICE T atomic_sub(memory T* address, typename shared::detail::Same<T>::type value) {               \
        return atomic_add<Scope>(address, detail::negated<T>(value));                                           \
    }                                                                                                           \
    template <MemoryScope Scope = default_scope, class T>                                                       \
    HSADRV_DEVICE T atomic_compare_exchange(memory T* address, typename shared::detail::Same<T>::type expected, \
                                            typename shared::detail::Same<T>::type desired) {                   \
        static_assert(detail::is_atomic_integer<T>, "atomic_compare_exchange takes integers");                  \
        __hip_atomic_compare_exchange_strong(address, &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED,   \
                                             static_cast<int>(Scope));                                          \
        return expected;                                                                                        \
    }                                                                                                           \
    template <MemoryScope Scope = default_scope, class T>                                                       \
    HSADRV_DEVICE T atomic_load(const memory T* address) {                                                      \
        static_assert(detail::is_atomic_number<T>, "atomic_load takes 32- and 64-bit numbers");                 \
        return __hip_atomic_load(address, __ATOMIC_RELAXED, static_cast<int>(Scope));                           \
    }                                                                                                           \
    template <MemoryScope Scope = default_scope, class T>                                                       \
    HSADRV_DEVICE void atomic_store(memory T* address, typename shared::detail::Same<T>::type value) {          \
        static_assert(detail::is_atomic_number<T>, "atomic_store takes 32- and 64-bit numbers");                \
        __hip_atomic_store(address, value, __ATOMIC_RELAXED, static_cast<int>(Scope));                          \
    }

/// Stores `desired` if the value is `expected`: atomic_compare_exchange. Returns the previous value, which equals
/// `expected` on success.
HSADRV_ATOMICS_IN(HSADRV_LDS, MemoryScope::workgroup)
HSADRV_ATOMICS_IN(, MemoryScope::agent)
#undef HSADRV_ATOMICS_IN

/// Adds with the target's own instruction, global_atomic_add_f32 or _f64, if it has one that returns a value (gfx90a,
/// gfx94x, gfx950; only f32 on gfx11 and gfx12), else as atomic_add. The instruction works only on coarse-grained
/// memory of this device: on fine-grained memory the addition may be lost without an error. Some targets flush
/// denormals.
template <class T>
HSADRV_DEVICE T unsafe_atomic_add(T* address, typename shared::detail::Same<T>::type value) {
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
    if constexpr (__is_same(T, float)) return __builtin_amdgcn_global_atomic_fadd_f32((HSADRV_GLOBAL T*)address, value);
    if constexpr (__is_same(T, double))
        return __builtin_amdgcn_global_atomic_fadd_f64((HSADRV_GLOBAL T*)address, value);
#elif (defined(__GFX11__) || defined(__GFX12__)) && __clang_major__ >= 17
    if constexpr (__is_same(T, float)) return __builtin_amdgcn_global_atomic_fadd_f32((HSADRV_GLOBAL T*)address, value);
#endif
    return atomic_add(address, value);
}

}  // namespace hsadrv
