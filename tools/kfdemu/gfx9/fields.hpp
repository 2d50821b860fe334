// How each family of formats fills an Inst from its bit fields: the Decoder's inside.
//
//     if (!decode_vector(field)) illegal...
//
// Sources: "Vega" ISA manual, chapter "Microcode Formats"; MI200's for the ACC bits. Thread safety: pure functions.
#pragma once

#include <span>

#include "inst.hpp"
#include "row.hpp"
#include "wave.hpp"

namespace kfdemu::gfx9 {

/// What a family's function works on. `words` holds at least one dword; a missing second one reads as nothing.
struct Fields {
    Inst& inst;
    const Row& row;
    Target target;
    std::span<const std::uint32_t> words;

    std::uint32_t bits(unsigned word, unsigned high, unsigned low) const {
        return (words[word] >> low) & static_cast<std::uint32_t>((std::uint64_t{1} << (high - low + 1)) - 1);
    }
    bool bit(unsigned word, unsigned at) const { return bits(word, at, at) != 0; }
    void flag(bool on, InstFlags which) const {
        if (on) inst.flags = static_cast<std::uint16_t>(inst.flags | which);
    }
    /// Claims the second dword; false if it cannot be read.
    bool two_words() const;
    /// A 9-bit source (or 8-bit, for scalars) of a type, its literal included. False if reserved.
    bool source(unsigned n, unsigned encoding, Type type) const;
    /// An SGPR or pair that is written. False if reserved or misaligned.
    bool scalar_destination(Operand& to, unsigned encoding, Type type) const;
};

// Each returns false for reserved encodings.
bool decode_scalar(const Fields& f);
bool decode_vector(const Fields& f);
bool decode_memory(const Fields& f);

}  // namespace kfdemu::gfx9
