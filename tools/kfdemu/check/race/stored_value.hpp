// The value that a lane of a vector store is about to write.
//
//     if (auto value = stored_value(wave, inst, part, lane, bytes)) std::memcmp(value->data(), …, bytes)
//
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::check {

/// `part`: 1 for the second address of ds_write2. Empty if the data is not in vector registers.
inline std::optional<std::array<std::uint32_t, 4>> stored_value(const isa::Wave& wave, const isa::Inst& inst,
                                                                unsigned part, unsigned lane, std::uint32_t bytes) {
    using namespace isa;
    if (inst.format == Format::Smem || bytes > 16) return std::nullopt;
    const Operand data = inst.src[inst.format == Format::Ds && part != 0 ? 2 : 1];
    if (data < kVgpr0 || data == kNoOperand) return std::nullopt;
    const std::uint32_t* registers = const_cast<Wave&>(wave).lanes(data);
    std::array<std::uint32_t, 4> value{};
    for (unsigned n = 0; n < (bytes + 3) / 4; ++n) value[n] = registers[n * wave.width + lane];
    if (is_high_half(rows()[inst.row].shape.element)) value[0] >>= 16;
    return value;
}

}  // namespace kfdemu::check
