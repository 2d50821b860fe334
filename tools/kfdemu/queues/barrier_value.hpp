// Whether a barrier-value packet's condition holds for a signal's value.
//
//     if (holds(packet, value, Comparison::signed_alone)) …
//
// Pure. hsa_ext_amd.h says (value & mask) compared with a signed value; how firmware compares is published nowhere. CLR
// (rocvirtual.cpp) and IREE (host_queue_waits.c) keep to masks of INT64_MAX, as if values had no sign.
#pragma once

#include <cstdint>

#include "queues/packet.hpp"

namespace kfdemu {

enum class Comparison {
    signed_alone,  ///< as the header says
    all_known,     ///< holds where it holds with a sign, without one, and under a mask of INT64_MAX
};

inline constexpr std::uint32_t kBarrierConditions = 4;  ///< others are none

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
