// DPP: the lane of the wave that each lane reads source 0 from.
//
//     const DppLane source = dpp_source(control, lane, 64);  // the definition
//     const DppRow& row = dpp_rows[control];                 // the same for a row, if dpp_keeps_rows(control)
//
// Pure. Source: "Vega" ISA manual, "DPP" of "Microcode Formats"; CDNA 2's adds row_newbcast, "RDNA 2"'s row_xmask.
#pragma once

#include <array>
#include <cstdint>

#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {

inline constexpr unsigned kRowLanes = 16, kDppControls = 0x170;
inline constexpr unsigned kRowBroadcast15 = 0x142, kRowBroadcast31 = 0x143;

/// Where the lanes of a row read, in a row, and which of them from one that is there.
struct DppRow {
    std::uint8_t from[kRowLanes];
    std::uint16_t valid;
};

/// By control; rubbish where dpp_keeps_rows() is false.
extern const std::array<DppRow, kDppControls> dpp_rows;

/// Whether all lanes of a row read from one row; else it is a wave_shl, wave_rol, wave_shr or wave_ror.
KFDEMU_INLINE bool dpp_keeps_rows(unsigned control) { return (control & 0x1f0) != 0x130; }

/// That row; 4: the lanes read from none.
KFDEMU_INLINE unsigned dpp_source_row(unsigned control, unsigned row) {
    if (control == kRowBroadcast15) return row == 0 ? 4 : row - 1;
    if (control == kRowBroadcast31) return row < 2 ? 4 : 1;
    return row;
}

struct DppLane {
    unsigned from;
    bool valid;
};

KFDEMU_INLINE constexpr DppLane dpp_source(unsigned control, unsigned lane, unsigned width) {
    const unsigned last = width - 1, row = lane & ~15u, column = lane & 15u, n = control & 15u;
    if (control < 0x100) return {(lane & ~3u) | ((control >> (2 * (lane & 3u))) & 3u), true};
    switch (control & 0x1f0) {
        case 0x100:
            return {row + ((column + n) & 15u), column + n < 16};  // row_shl
        case 0x110:
            return {row + ((column - n) & 15u), column >= n};  // row_shr
        case 0x120:
            return {row + ((column - n) & 15u), true};  // row_ror
        case 0x150:
            return {row + n, true};  // row_newbcast, row_share
        case 0x160:
            return {row + (column ^ n), true};  // row_xmask
        default:
            break;
    }
    switch (control) {
        case 0x130:
            return {(lane + 1) & last, lane != last};  // wave_shl
        case 0x134:
            return {(lane + 1) & last, true};  // wave_rol
        case 0x138:
            return {(lane - 1) & last, lane != 0};  // wave_shr
        case 0x13c:
            return {(lane - 1) & last, true};  // wave_ror
        case 0x140:
            return {row + 15 - column, true};  // row_mirror
        case 0x141:
            return {(lane & ~7u) + 7 - (lane & 7u), true};  // row_half_mirror
        case kRowBroadcast15:
            return {(row - 1) & last, row != 0};
        default:
            return {31, lane >= 32};  // row_bcast31; the decoder rejects all others
    }
}

}  // namespace kfdemu::isa
