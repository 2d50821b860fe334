// Evaluates the condition of a BARRIER_VALUE packet for a signal's value.
//
//     if (holds(packet, value, Comparison::signed_alone)) …
//
// Pure. hsa_ext_amd.h specifies (value & mask) compared with a signed value; how firmware compares is not published.
// CLR (rocvirtual.cpp) and IREE (host_queue_waits.c) only use the mask INT64_MAX, for which the sign does not matter.
#pragma once

#include <cstdint>

#include "tools/kfdemu/queues/packet.hpp"

namespace kfdemu {

enum class Comparison {
    signed_alone,  ///< as hsa_ext_amd.h specifies
    all_known,     ///< holds if it holds signed, unsigned, and masked with INT64_MAX
};

inline constexpr std::uint32_t kBarrierConditions = 4;  ///< valid conditions are below this

template <class T>
constexpr bool condition_holds(std::uint32_t condition, T value, T wanted) {
    return condition == 0   ? value == wanted
           : condition == 1 ? value != wanted
           : condition == 2 ? value < wanted
                            : value >= wanted;
}

constexpr bool holds(const aql::BarrierValue& packet, std::int64_t raw, Comparison how) {
    const std::int64_t value = raw & packet.mask;
    if (!condition_holds(packet.condition, value, packet.value)) return false;
    if (how == Comparison::signed_alone) return true;
    const auto bits = static_cast<std::uint64_t>(value), wanted = static_cast<std::uint64_t>(packet.value);
    return condition_holds(packet.condition, bits, wanted) &&
           condition_holds<std::uint64_t>(packet.condition, bits & INT64_MAX, wanted & INT64_MAX);
}

}  // namespace kfdemu
