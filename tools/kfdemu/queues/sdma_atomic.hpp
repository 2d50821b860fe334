// Atomic operations of SDMA packets, by TC_OP number: the operation in bits 0 to 4, 64 bits wide with bit 5, without
// return with bit 6. The engine has no place for the returned value, so bit 6 changes nothing.
// Source: TC_OP of the public headers vega10_enum.h; meanings as of the buffer atomics, "Vega" ISA manual.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kfdemu::sdma {

enum AtomicOperation : unsigned {
    kSwap = 0x07,
    kCompareSwap = 0x08,
    kAdd = 0x0f,
    kSub = 0x10,
    kSignedMin = 0x11,
    kUnsignedMin = 0x12,
    kSignedMax = 0x13,
    kUnsignedMax = 0x14,
    kAnd = 0x15,
    kOr = 0x16,
    kXor = 0x17,
    kIncrement = 0x18,
    kDecrement = 0x19,
};

constexpr AtomicOperation operation_of(unsigned tc_op) { return static_cast<AtomicOperation>(tc_op & 0x1f); }
constexpr bool is_64_bit(unsigned tc_op) { return tc_op & 0x20; }
constexpr bool is_atomic(unsigned tc_op) {
    const unsigned operation = operation_of(tc_op);
    return operation == kSwap || operation == kCompareSwap || (operation >= kAdd && operation <= kDecrement);
}

/// The new value of a word with the value `old`.
template <class T>
T atomic_result(AtomicOperation operation, T old, T operand, T compare) {
    using Signed = std::make_signed_t<T>;
    const auto a = static_cast<Signed>(old), b = static_cast<Signed>(operand);
    switch (operation) {
        case kSwap:
            return operand;
        case kCompareSwap:
            return old == compare ? operand : old;
        case kAdd:
            return old + operand;
        case kSub:
            return old - operand;
        case kSignedMin:
            return static_cast<T>(std::min(a, b));
        case kUnsignedMin:
            return std::min(old, operand);
        case kSignedMax:
            return static_cast<T>(std::max(a, b));
        case kUnsignedMax:
            return std::max(old, operand);
        case kAnd:
            return old & operand;
        case kOr:
            return old | operand;
        case kXor:
            return old ^ operand;
        case kIncrement:
            return old >= operand ? 0 : old + 1;
        case kDecrement:
            return old == 0 || old > operand ? operand : old - 1;
    }
    return old;
}

/// Returns the old value. Memory ordering: acquire and release, because the decrement of a signal publishes the copies
/// before it.
template <class T>
T atomic_update(T* word, AtomicOperation operation, T operand, T compare) {
    T old = __atomic_load_n(word, __ATOMIC_RELAXED);  // the exchange orders
    while (!__atomic_compare_exchange_n(word, &old, atomic_result(operation, old, operand, compare), true,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return old;
}

}  // namespace kfdemu::sdma
