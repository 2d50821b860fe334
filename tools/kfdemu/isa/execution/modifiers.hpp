// Lane masks and operand modifiers, everything applied to sources and results outside a lane's meaning: DPP, SDWA,
// OP_SEL, NEG, ABS, OMOD, CLAMP.
//
// Compiled for each executor, in its namespace; internal to its translation unit.
// Sources: "Vega" ISA manual, chapters "SDWA" and "DPP" of "Microcode Formats", and "Input/output modifiers".
#pragma once

#include <immintrin.h>

#include "tools/kfdemu/isa/execution/dpp.hpp"
#include "tools/kfdemu/isa/execution/exec.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE void broadcast(u32* lanes, u32 value) { KFDEMU_LANE_LOOP lanes[lane] = value; }

/// One dword per lane: all ones if the mask bit is set, else 0.
KFDEMU_INLINE void expand_mask(u64 mask, u32* lanes) {
#if defined(__AVX512F__)
    for (unsigned n = 0; n < kLanes; n += 16) {
        _mm512_storeu_si512(lanes + n, _mm512_maskz_set1_epi32(static_cast<__mmask16>(mask >> n), -1));
    }
#else
    for (unsigned from = 0; from < kLanes; from += 32) {
        const u32 half = static_cast<u32>(mask >> from);
        for (unsigned n = 0; n < 32; ++n) lanes[from + n] = (half & (1u << n)) ? ~0u : 0;
    }
#endif
}

/// The inverse: bit l is the sign bit of lanes[l].
KFDEMU_INLINE u64 pack_mask(const u32* lanes) {
    u64 mask = 0;
#if defined(__AVX512F__)
    for (unsigned n = 0; n < kLanes; n += 16) {
        const __m512i v = _mm512_loadu_si512(lanes + n);
        mask |= static_cast<u64>(_mm512_cmplt_epi32_mask(v, _mm512_setzero_si512())) << n;
    }
#elif defined(__AVX2__)
    for (unsigned n = 0; n < kLanes; n += 8) {
        const __m256 v = _mm256_loadu_ps(reinterpret_cast<const float*>(lanes + n));
        mask |= static_cast<u64>(static_cast<u32>(_mm256_movemask_ps(v))) << n;
    }
#else
    for (unsigned n = 0; n < kLanes; n += 4) {
        const __m128 v = _mm_loadu_ps(reinterpret_cast<const float*>(lanes + n));
        mask |= static_cast<u64>(static_cast<u32>(_mm_movemask_ps(v))) << n;
    }
#endif
    return mask;
}

/// destination[l] = source[l] where the mask bit is set: masked stores, no branch per lane.
KFDEMU_INLINE void merge(u32* destination, const u32* source, u64 mask) {
#if defined(__AVX512F__)
    KFDEMU_UNROLLED
    for (unsigned n = 0; n < kLanes; n += 16) {
        _mm512_mask_storeu_epi32(destination + n, static_cast<__mmask16>(mask >> n), _mm512_loadu_si512(source + n));
    }
#elif defined(__AVX2__)
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (unsigned n = 0; n < kLanes; n += 8) {
        const __m256i spread = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask >> n & 0xff)), bit);
        const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + n));
        // Read, blend, write: vpmaskmov stores are microcoded on some CPUs, and no other thread accesses these lanes.
        __m256i* const place = reinterpret_cast<__m256i*>(destination + n);
        const __m256i old = _mm256_loadu_si256(place);
        _mm256_storeu_si256(place, _mm256_blendv_epi8(old, value, _mm256_cmpeq_epi32(spread, bit)));
    }
#else
    alignas(64) u32 chosen[kLanes];
    expand_mask(mask, chosen);
    KFDEMU_LANE_LOOP destination[lane] = (source[lane] & chosen[lane]) | (destination[lane] & ~chosen[lane]);
#endif
}

/// Copies a register's lanes vector by vector, so values held in CPU registers skip the trip through memory.
KFDEMU_INLINE void copy_lanes(u32* destination, const u32* source) {
#if defined(__AVX512F__)
    KFDEMU_UNROLLED
    for (unsigned n = 0; n < kLanes; n += 16) _mm512_storeu_si512(destination + n, _mm512_loadu_si512(source + n));
#elif defined(__AVX2__)
    KFDEMU_UNROLLED
    for (unsigned n = 0; n < kLanes; n += 8) {
        const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + n));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(destination + n), value);
    }
#else
    KFDEMU_LANE_LOOP destination[lane] = source[lane];
#endif
}

/// The same, with a fast path for all lanes active.
KFDEMU_INLINE void commit(u32* destination, const u32* source, u64 mask) {
    if (mask == kAllLanes) {
        copy_lanes(destination, source);
    } else {
        merge(destination, source, mask);
    }
}

// DPP: source 0 is read from another lane of the wave.

inline constexpr unsigned kRows = kLanes / kRowLanes;

KFDEMU_INLINE unsigned dpp_control(const Inst& i) { return (i.literal >> 8) & 0x1ff; }

/// `all`, lane l's bit moved to the lanes that read from lane l.
KFDEMU_INLINE u64 dpp_mask(unsigned control, u64 all) {
    u64 moved = 0;
    if (KFDEMU_UNLIKELY(!dpp_keeps_rows(control))) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const DppLane source = dpp_source(control, lane, kLanes);
            if (source.valid) moved |= (all >> source.from & 1) << lane;
        }
        return moved;
    }
    const DppRow& from = dpp_rows[control];
    for (unsigned row = 0; row < kRows; ++row) {
        const unsigned source = dpp_source_row(control, row);
        if (source == 4) continue;
        const unsigned bits = static_cast<unsigned>(all >> (source * kRowLanes)) & 0xffff;
        unsigned there = bits == 0xffff ? 0xffff : 0;
        if (bits != 0xffff)
            for (unsigned column = 0; column < kRowLanes; ++column) there |= (bits >> from.from[column] & 1) << column;
        moved |= u64{there & from.valid} << (row * kRowLanes);
    }
    return moved;
}

/// Lanes that others may read: with FI, also those that EXEC disables.
KFDEMU_INLINE u64 dpp_readable(const Wave& w, const Inst& i) {
    return (i.literal & kFetchesInactive) != 0 ? kAllLanes : exec_of(w);
}

/// The lanes in the rows and banks that the instruction names.
KFDEMU_INLINE u64 dpp_chosen(const Inst& i) {
    u64 chosen = 0;
    unsigned banks = 0;
    for (unsigned bank = 0; bank < 4; ++bank) banks |= (i.literal >> (24 + bank) & 1) * 0xfu << (4 * bank);
    for (unsigned row = 0; row < kRows; ++row)
        chosen |= u64{(i.literal >> (28 + row) & 1) * banks} << (row * kRowLanes);
    return chosen;
}

/// The lanes that DPP may write: selected by the row and bank masks, and with a valid source lane unless BOUND_CTRL
/// supplies zero. A source lane that EXEC disables is invalid.
[[gnu::noinline, maybe_unused]] u64 dpp_write_mask(const Wave& w, const Inst& i) {
    if (i.form == Form::Dpp8) return kAllLanes;
    const bool zero = (i.literal >> 19) & 1;
    const u64 chosen = dpp_chosen(i);
    return zero ? chosen : chosen & dpp_mask(dpp_control(i), dpp_readable(w, i));
}

/// to[lane] = the dword of the lane that it reads from, or 0.
KFDEMU_INLINE void dpp_move_row(const DppRow& row, const u32* from, unsigned there, u32* to) {
#if defined(__AVX512F__)
    // maskz: the plain one begins with an undefined vector, of which GCC 12 warns.
    const __m512i index =
        _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row.from)));
    const __m512i lanes = _mm512_loadu_si512(from);
    _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi32(static_cast<__mmask16>(there), index, lanes));
#else
    for (unsigned column = 0; column < kRowLanes; ++column)
        to[column] = (there >> column & 1) ? from[row.from[column]] : 0;
#endif
}

/// DPP8: each lane reads one of its eight; without FI, 0 from one that EXEC disables.
inline void dpp8_move(const Wave& w, const Inst& i, const u32* from, u32* to) {
    const u64 readable = (i.literal & kFetchesInactive8) != 0 ? kAllLanes : exec_of(w);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const unsigned source = (lane & ~7u) | (i.literal >> (8 + 3 * (lane & 7)) & 7);
        to[lane] = (readable >> source & 1) != 0 ? from[source] : 0;
    }
}

inline void dpp_move(const Wave& w, const Inst& i, unsigned dwords, const u32* from, u32* to) {
    if (i.form == Form::Dpp8) return dpp8_move(w, i, from, to);
    const unsigned control = dpp_control(i);
    const u64 exists = dpp_mask(control, dpp_readable(w, i));
    for (unsigned n = 0; n < dwords; ++n, from += kLanes, to += kLanes) {
        if (KFDEMU_UNLIKELY(!dpp_keeps_rows(control))) {
            for (unsigned lane = 0; lane < kLanes; ++lane)
                to[lane] = (exists >> lane & 1) ? from[dpp_source(control, lane, kLanes).from] : 0;
            continue;
        }
        for (unsigned row = 0; row < kRows; ++row) {
            const unsigned source = dpp_source_row(control, row) % 4;  // of none: no lane exists
            const auto there = static_cast<unsigned>(exists >> (row * kRowLanes)) & 0xffff;
            dpp_move_row(dpp_rows[control], from + source * kRowLanes, there, to + row * kRowLanes);
        }
    }
}

// SDWA: a source is a byte or a word of a register.

KFDEMU_INLINE u32 selected(u32 value, unsigned select, bool sign) {
    const unsigned width = select < 4 ? 8 : 16;
    const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
    const u32 up = value << (32 - width - shift);
    return sign ? static_cast<u32>(static_cast<i32>(up) >> (32 - width)) : up >> (32 - width);
}

inline void sdwa_source(const Inst& i, unsigned n, const u32* from, u32* to) {
    const unsigned field = i.literal >> (16 + 8 * n);
    const unsigned select = field & 7;
    const bool sign = (field >> 3) & 1;
    if (select == 6) {
        KFDEMU_LANE_LOOP to[lane] = from[lane];
        return;
    }
    KFDEMU_LANE_LOOP to[lane] = selected(from[lane], select, sign);
}

/// Places the result in the bits that DST_SEL names and fills the rest as DST_UNUSED says: zero, sign, or the old
/// value.
inline void sdwa_destination(const Inst& i, const u32* old, u32* result) {
    const unsigned select = (i.literal >> 8) & 7, unused = (i.literal >> 11) & 3;
    if (select == 6) return;
    const unsigned width = select < 4 ? 8 : 16;
    const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
    const u32 low = (1u << width) - 1;
    const u32 places = low << shift;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const u32 part = result[lane] & low;
        const bool negative = (part >> (width - 1)) & 1;
        const u32 extension = unused == 1 && negative ? ~(places | ((1u << shift) - 1)) : 0;
        const u32 rest = unused == 2 ? old[lane] & ~places : extension;
        result[lane] = part << shift | rest;
    }
}

/// Applies the modifiers of source n before the lanes read it. Returns its new location, `room`.
[[gnu::noinline, maybe_unused]] const u32* prepare(Wave& w, const Inst& i, unsigned n, Kind kind, unsigned dwords,
                                                   const u32* lanes, u32* room) {
    if (i.moves_lanes() && n == 0) {
        dpp_move(w, i, dwords, lanes, room);
        lanes = room;
    }
    if (i.format == Format::Vop3p) return lanes;  // the packed executor applies its own modifiers
    if (i.form == Form::Sdwa && n < 2) {
        sdwa_source(i, n, lanes, room);
        lanes = room;
    }
    const bool is_half = kind == Kind::Int16 || kind == Kind::Float16;
    if (is_half && ((i.op_sel >> n) & 1)) {
        KFDEMU_LANE_LOOP room[lane] = lanes[lane] >> 16;
        lanes = room;
    }
    const bool negative = (i.neg >> n) & 1, absolute = (i.abs >> n) & 1;
    const bool is_float =
        kind == Kind::Float32 || kind == Kind::Float16 || kind == Kind::Float64 || kind == Kind::PackedFloat;
    if (!is_float || !(negative || absolute)) return lanes;
    const u32 sign = kind == Kind::Float16 ? 0x8000u : kind == Kind::PackedFloat ? 0x80008000u : 0x80000000u;
    const u32 keep = absolute ? ~sign : ~0u, turn = negative ? sign : 0;
    const u32* const top = lanes + (dwords - 1) * kLanes;
    u32* const room_top = room + (dwords - 1) * kLanes;
    if (dwords == 2 && lanes != room) {
        KFDEMU_LANE_LOOP room[lane] = lanes[lane];
    }
    KFDEMU_LANE_LOOP room_top[lane] = (top[lane] & keep) ^ turn;
    return room;
}

/// IEEE mode and denormal results disable OMOD. If it is enabled, it flushes denormals and turns -0 into +0 ("Vega" ISA
/// manual, "Instruction Outputs").
KFDEMU_INLINE unsigned effective_omod(const Wave& w, const Inst& i, Kind kind) {
    const u32 denormals = kind == Kind::Float32 ? 0x20 : 0x80;
    return w.mode & (0x200 | denormals) ? 0 : i.omod;
}

template <class T>
KFDEMU_INLINE typename T::V output_modified(typename T::V value, unsigned omod, bool clamp, bool dx10) {
    using V = typename T::V;
    const V multiple = omod == 1 ? value * V{2} : omod == 2 ? value * V{4} : value * V{0.5f};
    const V scaled = omod == 0 ? value : multiple == V{0} ? V{0} : multiple;
    if (!clamp) return scaled;
    const V low = scaled > V{0} ? scaled : V{0};
    const V bounded = low < V{1} ? low : V{1};
    return scaled != scaled && !dx10 ? scaled : bounded;
}

template <class T>
void modify_output(const Wave& w, const Inst& i, u32* result) {
    const Context x = context(w, i);
    const unsigned omod = effective_omod(w, i, T::kind);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        T::store(result, lane, output_modified<T>(T::load(result, lane, x), omod, i.clamp, x.dx10), x);
    }
}

/// Applies the modifiers of the result to all lanes, before EXEC selects lanes.
[[gnu::noinline, maybe_unused]] void finish(Wave& w, const Inst& i, Kind kind, unsigned dwords, u32* result) {
    if (i.omod || i.clamp) {
        if (kind == Kind::Float32) modify_output<T_f32>(w, i, result);
        if (kind == Kind::Float16) modify_output<T_f16>(w, i, result);
        if (kind == Kind::Float64) modify_output<T_f64>(w, i, result);
    }
    const u32* const old = lanes_of(w, i.dst);
    if (i.form == Form::Sdwa && dwords == 1) sdwa_destination(i, old, result);
    if (i.op_sel & 16) {  // keeps the other half, see Decoder
        const bool high = (i.op_sel & 8) != 0;
        KFDEMU_LANE_LOOP {
            result[lane] =
                high ? (old[lane] & 0xffff) | result[lane] << 16 : (old[lane] & 0xffff0000) | (result[lane] & 0xffff);
        }
    }
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
