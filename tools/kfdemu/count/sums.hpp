// What is counted of an instruction, and sums of it.
//
//     sums.executions += 1;
//     kernel += sums;
//     std::optional<double> share = coalescing(sums.memory);   // of the bytes that its transactions move
//
// Plain values. Thread safety: that of any value.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/kfdemu/count/transactions.hpp"

namespace kfdemu::count {

/// Accesses of memory, one for each instruction of a wave with at least one active lane.
struct Traffic {
    std::uint64_t accesses = 0;
    std::uint64_t bytes = 0;         ///< that the active lanes asked for
    std::uint64_t transactions = 0;  ///< lines, each counted once an access
    std::uint64_t moved = 0;         ///< bytes of these lines

    constexpr Traffic() = default;
    constexpr Traffic(std::uint64_t number, std::uint64_t asked, std::uint64_t lines, std::uint64_t line_bytes)
        : accesses{number}, bytes{asked}, transactions{lines}, moved{lines * line_bytes} {}

    Traffic& operator+=(const Traffic& other) {
        accesses += other.accesses, bytes += other.bytes, transactions += other.transactions;
        moved += other.moved;
        return *this;
    }
    bool operator==(const Traffic&) const = default;
};

struct LdsTraffic {
    std::uint64_t accesses = 0, bytes = 0;
    std::uint64_t conflicts = 0;  ///< cycles, of the model in transactions.hpp

    LdsTraffic& operator+=(const LdsTraffic& other) {
        accesses += other.accesses, bytes += other.bytes, conflicts += other.conflicts;
        return *this;
    }
    bool operator==(const LdsTraffic&) const = default;
};

struct Sums {
    std::uint64_t executions = 0;  ///< by waves
    std::uint64_t lanes = 0;       ///< active ones, summed over the executions
    std::uint64_t partial = 0;     ///< executions in which not all lanes were active
    std::uint64_t taken = 0;       ///< branches that jump
    Traffic memory;                ///< global, FLAT and buffer instructions
    Traffic scratch;               ///< of the lanes' private segments, by any instruction
    Traffic scalar;                ///< SMEM
    LdsTraffic lds;

    Sums& operator+=(const Sums& other) {
        executions += other.executions, lanes += other.lanes, partial += other.partial, taken += other.taken;
        memory += other.memory, scratch += other.scratch, scalar += other.scalar, lds += other.lds;
        return *this;
    }
    bool operator==(const Sums&) const = default;
};

/// Of memory, scratch and scalar loads.
inline Traffic all_traffic(const Sums& sums) {
    Traffic all = sums.memory;
    all += sums.scratch;
    return all += sums.scalar;
}

/// Bytes asked for, of those that the transactions move. 1: every byte is used once; more: lanes share bytes.
inline std::optional<double> coalescing(const Traffic& traffic) {
    if (traffic.transactions == 0) return std::nullopt;
    return static_cast<double>(traffic.bytes) / static_cast<double>(traffic.moved);
}

/// Active lanes of an execution.
inline std::optional<double> mean_lanes(const Sums& sums) {
    if (sums.executions == 0) return std::nullopt;
    return static_cast<double>(sums.lanes) / static_cast<double>(sums.executions);
}

}  // namespace kfdemu::count
