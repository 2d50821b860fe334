// Buffer loads and stores with format conversion: the memory layout and the number format of an element's components.
//
//     MTBUF(0x00, tbuffer_load_format_x, ..., format_load<OfInstruction, 1, Whole>)
//
// For executor files only. Sources: "Vega" ISA manual, "Buffer Resource Descriptor", its "Data Format" and "Number
// Format", and the table of where each instruction takes its format and DST_SEL from. Choices where the manual is
// silent: an integer too large for its component loses its upper bits, 10-bit and 11-bit floats round towards zero, and
// components that a store has no data for become 0.
#pragma once

#include "tools/kfdemu/isa/execution/float_math.hpp"
#include "tools/kfdemu/isa/memory/buffer_access.hpp"
#include "tools/kfdemu/isa/memory/memory_operations.hpp"
#include "tools/kfdemu/isa/memory/unified_format.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

enum NumberFormat : u8 { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kReservedNumber, kFloat };

/// Components are listed from the lowest bits up.
struct DataFormat {
    u8 bytes, count;
    u8 width[4];
};
constexpr DataFormat kDataFormats[] = {
    {0, 0, {}},               // invalid: acts as if there were no buffer
    {1, 1, {8}},              // 8
    {2, 1, {16}},             // 16
    {2, 2, {8, 8}},           // 8_8
    {4, 1, {32}},             // 32
    {4, 2, {16, 16}},         // 16_16
    {4, 3, {11, 11, 10}},     // 10_11_11
    {4, 3, {10, 11, 11}},     // 11_11_10
    {4, 4, {2, 10, 10, 10}},  // 10_10_10_2
    {4, 4, {10, 10, 10, 2}},  // 2_10_10_10
    {4, 4, {8, 8, 8, 8}},     // 8_8_8_8
    {8, 2, {32, 32}},         // 32_32
    {8, 4, {16, 16, 16, 16}},
    {12, 3, {32, 32, 32}},
    {16, 4, {32, 32, 32, 32}},
    {0, 0, {}},  // reserved
};

struct ElementFormat {
    u32 data, number;
    u32 select;  ///< DST_SEL_X to DST_SEL_W, three bits each

    bool exists() const {
        if (data == 15 || number == kReservedNumber) return false;
        for (const u8 width : kDataFormats[data].width) {
            const bool is_whole = number == kUint || number == kSint;
            if (width == 32 && number != kFloat && !is_whole) return false;
            if (width != 0 && width < 10 && number == kFloat) return false;
        }
        return true;
    }
    bool is_integer() const { return number == kUint || number == kSint; }
};

struct OfInstruction {
    static ElementFormat format(const Wave&, const Inst& inst) {
        return {inst.literal & 15, inst.literal >> 4 & 7, 4 | 5 << 3 | 6 << 6 | 7 << 9};
    }
};
struct OfResource {
    static ElementFormat format(const Wave& wave, const Inst& inst) {
        const u32 word = wave.s[inst.src[2] + 3];
        if (wave.unified_formats) {
            const u32 format = separate_format(word >> 12 & (wave.fewer_formats ? 63 : 127), wave.fewer_formats);
            return {format & 15, format >> 4, word & 0xfff};
        }
        return {word >> 15 & 15, word >> 12 & 7, word & 0xfff};
    }
};

/// How a register holds an element: one component, two of 16 bits, or one in the upper half.
enum Packing { Whole, LowHalf, HighHalf };

/// Raw component bits to what the shader sees: the bits of a 32-bit float, or an integer.
inline u32 component_value(u32 raw, u32 width, u32 number) {
    const i32 extended = static_cast<i32>(raw << (32 - width)) >> (32 - width);
    const double top = static_cast<double>((u64{1} << width) - 1);
    switch (number) {
        case kUnorm:
            return bits<u32>(static_cast<float>(static_cast<double>(raw) / top));
        case kSnorm: {
            const double value = static_cast<double>(extended) / static_cast<double>((u64{1} << (width - 1)) - 1);
            return bits<u32>(static_cast<float>(value < -1 ? -1 : value));
        }
        case kUscaled:
            return bits<u32>(float_of(raw));
        case kSscaled:
            return bits<u32>(static_cast<float>(extended));
        case kSint:
            return static_cast<u32>(extended);
        case kFloat:
            // A 10-bit or 11-bit float is a half without sign and without its last mantissa bits.
            return width == 32 ? raw : bits<u32>(float_of_half(width == 16 ? raw : raw << (15 - width)));
        default:
            return raw;
    }
}

/// The inverse. NaN becomes 0 unless the format has a NaN.
inline u32 component_bits(u32 value, u32 width, u32 number) {
    const double v = static_cast<double>(bits<float>(value));
    const double number_or_0 = v == v ? v : 0;
    const u32 places = width == 32 ? ~0u : (1u << width) - 1;
    const bool is_signed = number == kSnorm || number == kSscaled;
    const double highest = static_cast<double>(is_signed ? places >> 1 : places);
    const double lowest = number == kSnorm ? -highest : number == kSscaled ? -highest - 1 : 0;
    const double scaled = number == kUnorm || number == kSnorm ? number_or_0 * highest : number_or_0;
    const double bounded = scaled > highest ? highest : scaled < lowest ? lowest : scaled;
    switch (number) {
        case kUnorm:
        case kSnorm:
            return static_cast<u32>(static_cast<i64>(nearest_even(bounded))) & places;
        case kUscaled:
        case kSscaled:
            return static_cast<u32>(static_cast<i64>(bounded)) & places;
        case kFloat:
            if (width == 32) return value;
            if (width == 16) return half_of_double(v, 0);
            return v < 0 ? 0 : half_of_double(v, 3) >> (15 - width) & places;
        default:
            return value & places;
    }
}

/// Component c of the element in `words`.
inline u32 component_at(const u32* words, const DataFormat& format, unsigned c) {
    unsigned at = 0;
    for (unsigned n = 0; n < c; ++n) at += format.width[n];
    const u32 word = words[at / 32] >> at % 32;
    return format.width[c] == 32 ? word : word & ((1u << format.width[c]) - 1);
}
inline void put_component(u32* words, const DataFormat& format, unsigned c, u32 raw) {
    unsigned at = 0;
    for (unsigned n = 0; n < c; ++n) at += format.width[n];
    words[at / 32] |= raw << at % 32;
}

template <Packing packing>
void put_value(u32* registers, unsigned lane, unsigned c, u32 value, bool is_integer) {
    if constexpr (packing == Whole) {
        registers[c * kLanes + lane] = value;
    } else {
        const u32 half = is_integer ? value & 0xffff : half_of_double(static_cast<double>(bits<float>(value)), 0);
        u32& word = registers[c / 2 * kLanes + lane];
        const unsigned shift = packing == HighHalf || c % 2 != 0 ? 16 : 0;
        word = (word & ~(0xffffu << shift)) | half << shift;
    }
}
template <Packing packing>
u32 get_value(const u32* registers, unsigned lane, unsigned c, u32 number) {
    if constexpr (packing == Whole) {
        return registers[c * kLanes + lane];
    } else {
        const unsigned shift = packing == HighHalf || c % 2 != 0 ? 16 : 0;
        const u32 half = registers[c / 2 * kLanes + lane] >> shift & 0xffff;
        if (number == kUint) return half;
        if (number == kSint) return static_cast<u32>(i32{static_cast<i16>(half)});
        return bits<u32>(float_of_half(half));
    }
}

/// Removes the lanes whose element is outside the buffer. False: the instruction stopped.
inline bool format_lanes(Wave& wave, const Inst& inst, const ElementFormat& format, Lanewise& lanes) {
    if (!format.exists()) {
        wave.stop_at(Stop::Illegal, inst);
        return false;
    }
    if (!buffer_lanes(wave, inst, buffer_of(wave, inst), lanes)) return false;
    const unsigned bytes = kDataFormats[format.data].bytes;
    lanes.access.mask = bytes == 0 ? 0 : lanes_inside(lanes, bytes);
    return true;
}

/// X to W of one lane; missing components are 0, a missing W is 1. False: it faulted.
inline bool load_element(Wave& wave, const Inst& inst, const ElementFormat& format, const LaneAccess& a, unsigned lane,
                         u32* value) {
    const DataFormat& layout = kDataFormats[format.data];
    u32 words[4] = {};
    u64 bad = 0;
    if (!read_lane(wave, a.at[lane], a.dword_stride, words, layout.bytes, bad))
        return fault(wave, inst, bad, lane, kRead);
    for (unsigned c = 0; c < layout.count; ++c)
        value[c] = component_value(component_at(words, layout, c), layout.width[c], format.number);
    return true;
}

template <class From, unsigned count, Packing packing>
const Inst* format_load(Wave& wave, const Inst& inst) {
    const ElementFormat format = From::format(wave, inst);
    const FloatMode<Floats::Keep> mode{wave};
    const bool to_lds = inst.has(kLds);
    if (to_lds && (count != 1 || packing != Whole)) return wave.stop_at(Stop::Illegal, inst);
    Lanewise lanes;
    if (!format_lanes(wave, inst, format, lanes)) return nullptr;
    const u32 one = format.is_integer() ? 1 : 0x3f800000;
    alignas(64) u32 direct[kLanes];
    u32* const registers = to_lds ? direct : lanes_of(wave, inst.dst);
    for (u64 rest = exec_of(wave); rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        u32 element[8] = {0, one, 0, 0};
        u32* const xyzw = element + 4;
        if (active(lanes.access.mask, lane)) {
            xyzw[3] = one;
            if (!load_element(wave, inst, format, lanes.access, lane, xyzw)) return nullptr;
        } else {
            element[1] = 0;  // everything outside the buffer reads 0
        }
        for (unsigned c = 0; c < count; ++c)
            put_value<packing>(registers, lane, c, element[format.select >> 3 * c & 7], format.is_integer());
    }
    if (to_lds) lds_store<1>(wave, direct_lds(wave, inst, exec_of(wave)), direct);
    return &inst + inst.size;
}

template <class From, unsigned count, Packing packing>
const Inst* format_store(Wave& wave, const Inst& inst) {
    const ElementFormat format = From::format(wave, inst);
    const FloatMode<Floats::Keep> mode{wave};
    if (inst.has(kLds)) return wave.stop_at(Stop::Illegal, inst);
    Lanewise lanes;
    if (!format_lanes(wave, inst, format, lanes)) return nullptr;
    const DataFormat& layout = kDataFormats[format.data];
    const u32* const registers = lanes_of(wave, inst.src[1]);
    for (u64 rest = lanes.access.mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_lane(rest);
        u32 words[4] = {};
        for (unsigned c = 0; c < count && c < layout.count; ++c) {
            const u32 value = get_value<packing>(registers, lane, c, format.number);
            put_component(words, layout, c, component_bits(value, layout.width[c], format.number));
        }
        u64 bad = 0;
        if (!write_lane(wave, lanes.access.at[lane], lanes.access.dword_stride, words, layout.bytes, bad)) {
            fault(wave, inst, bad, lane, kWrite);
            return nullptr;
        }
    }
    return &inst + inst.size;
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
