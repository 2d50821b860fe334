// GFX9: how each kind of formats fills an Inst from its bit fields.
//
//     if (!decode_vector(field)) illegal...
//
// Sources: "Vega" ISA manual, chapter "Microcode Formats"; MI200's for the ACC bits. Thread safety: pure functions.
#pragma once

#include <span>

#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {

/// Reads bit fields; a missing second dword reads as 0.
struct Gfx9Fields : Fields {
    std::uint32_t bits(unsigned word, unsigned high, unsigned low) const {
        return (words[word] >> low) & static_cast<std::uint32_t>((std::uint64_t{1} << (high - low + 1)) - 1);
    }
    bool bit(unsigned word, unsigned at) const { return bits(word, at, at) != 0; }
    void flag(bool on, InstFlags which) const {
        if (on) inst.flags = static_cast<std::uint16_t>(inst.flags | which);
    }
    /// Consumes the second dword; false if it is not readable.
    bool two_words() const;
    /// A 9-bit source (8-bit for scalars) of a type, with its literal. False if reserved.
    bool source(unsigned n, unsigned encoding, Type type) const;
    /// A destination SGPR or pair. False if reserved or misaligned.
    bool scalar_destination(Operand& to, unsigned encoding, Type type) const;
};

// Each returns false for reserved encodings.
bool decode_scalar(const Gfx9Fields& f);
bool decode_vector(const Gfx9Fields& f);
bool decode_memory(const Gfx9Fields& f);

}  // namespace kfdemu::isa
