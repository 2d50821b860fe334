// How formats fill an Inst from their bit fields, where the families have these alike.
//
//     if (!decode_vector(field)) illegal...
//
// Sources: "Vega" ISA manual, chapter "Microcode Formats"; MI200's for the ACC bits; "RDNA 2"'s and "RDNA 3"'s,
// likewise. Thread safety: pure functions.
#pragma once

#include <optional>
#include <span>

#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {

/// What an Inst is filled from. A missing second dword reads as 0.
struct BitFields {
    Inst& inst;
    const Row& row;
    const Traits& traits;
    std::span<const std::uint32_t> words;  ///< at least one
    unsigned width;                        ///< lanes of the waves that execute it

    std::uint32_t bits(unsigned word, unsigned high, unsigned low) const {
        return (words[word] >> low) & static_cast<std::uint32_t>((std::uint64_t{1} << (high - low + 1)) - 1);
    }
    bool bit(unsigned word, unsigned at) const { return bits(word, at, at) != 0; }
    void flag(bool on, InstFlags which) const {
        if (on) inst.flags = static_cast<std::uint16_t>(inst.flags | which);
    }
    /// Consumes the second dword; false if it is not readable.
    bool two_words() const;
    unsigned count(Type type) const { return registers(type, width); }
    /// A 9-bit source (8-bit for scalars) of a type, with its literal. False if reserved.
    bool source(unsigned n, unsigned encoding, Type type) const;
    /// A destination SGPR or pair. False if reserved or misaligned.
    bool scalar_destination(Operand& to, unsigned encoding, Type type) const;

    /// Consumes the literal; false if it is not readable, or what encodes it is in use otherwise.
    bool literal() const;

  private:
    unsigned known_number(unsigned encoding) const;
};

constexpr std::int32_t sign_extended(std::uint32_t value, unsigned width) {
    return static_cast<std::int32_t>(value << (32 - width)) >> (32 - width);
}

/// Of the scalar unit and of the short formats of the vector unit.
std::optional<Encoding> alu_encoding(std::uint32_t dword);

// Each returns false for reserved encodings.
bool decode_scalar(const BitFields& f);
bool decode_vector(const BitFields& f);
/// A data register: a VGPR, or with an ACC bit an AccVGPR. False if it extends past the last register.
bool data(Operand& to, unsigned number, bool accumulator, Type type);
/// Fields common to MUBUF and MTBUF, but for the cache's. They have these bits in places of their own.
struct BufferBits {
    bool offen, idxen, accumulator;
};
bool decode_buffer(const BitFields& f, BufferBits bits);
/// DS of GFX10 to GFX12.
bool decode_data_share(const BitFields& f);

}  // namespace kfdemu::isa
