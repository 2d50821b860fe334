// What the translator knows of an instruction: its operations on one lane, each with at most three sources.
//
//     std::vector<LaneOp> ops;
//     if (append_operations(inst, {Width::bits512}, ops)) …   // false: it cannot be translated, and ends a run
//
// Only operations whose lanes are independent: of VGPRs, of scalars, of masks, a bit for each lane in SGPRs, and
// loads and stores of dwords. Modifiers are the signs of float sources. And operations on scalars that can be done
// ahead of those. Pure. Thread safety: no state.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tools/kfdemu/isa/encodings/inst.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::jit {

/// The vectors of AVX2 or AVX-512.
enum class Width : std::uint8_t { bits256, bits512 };

/// What is translated to, and the lanes of the waves that it is translated for: 64 or 32.
struct Shape {
    Width width = Width::bits256;
    unsigned lanes = isa::kMostLanes;

    unsigned mask_sgprs() const { return lanes / 32; }
};

enum class Lane : std::uint8_t {
    scalar,  ///< dst is an SGPR; `code`: the Scalar
    move,
    negate,  ///< all bits
    select,  ///< mask ? b : a
    add_f,
    sub_f,
    mul_f,
    fma_f,  ///< a * b + c, rounded once
    mad_f,  ///< a * b + c, rounded twice, without denormals
    min_f,
    max_f,    ///< of numbers: a NaN source is not computed here
    round_f,  ///< to an integer; `code`: as x86 encodes the direction
    convert_i,
    convert_u,  ///< from an integer
    compare_f,  ///< `code`: as x86 encodes the predicate
    compare_i,
    compare_u,  ///< `code`: as the ISA numbers them, from 1, less, to 6, greater or equal
    compare_i16,
    compare_u16,  ///< likewise, of the low halves
    add,
    sub,
    bit_and,
    bit_or,
    bit_xor,
    min_i,
    max_i,
    min_u,
    max_u,
    shift_right,  ///< a by b
    shift_right_signed,
    shift_left,
    mul_low,
    mul_high,
    add_16,  ///< of the low halves; the high half becomes zero
    sub_16,
    mul_16,
    mul_u24,
    mad_u24,
    align_bits,
    insert_bits,
    extract,
    shift_left_add,
    add_shift_left,
    add3,
    shift_left_or,
    and_or,
    or3,
    xor3,
    xor_add,
    add_carry,  ///< a + b; the carry is mask_out
    sub_carry,
    add_with_carry,  ///< and mask_in
    sub_with_carry,
    load_lds,      ///< the dword at a, a byte address, + offset_bytes
    load_global,   ///< that at a | b << 32, or at a + the pair of SGPRs `base`; + offset_bytes, signed
    store_global,  ///< c there
};

/// What an operation does to a and b, scalars or numbers, and to SCC.
enum class Scalar : std::uint8_t {
    load,    ///< `dwords` dwords at the pair of SGPRs `base`, + offset_bytes, signed
    number,  ///< the result is a, a number
    move,
    mul_low,  ///< so far SCC stays
    bit_and,
    bit_or,
    bit_xor,
    shift_left,
    shift_right,
    shift_right_signed,  ///< SCC: the result is not zero
    add,
    add_with_carry,
    sub,  ///< SCC: the carry
};

struct Source {
    enum class Kind : std::uint8_t { none, vgpr, scalar, number };
    Kind kind = Kind::none;
    std::uint16_t index = 0;   ///< of the VGPR, or into Wave::s
    std::uint32_t number = 0;  ///< the same in all lanes
    bool absolute = false, negative = false;

    bool is_vgpr(unsigned n) const { return kind == Kind::vgpr && index == n; }
};

inline constexpr std::uint16_t kNone = 0xffff;

struct LaneOp {
    Lane lane = Lane::move;
    std::uint8_t code = 0;
    std::uint16_t dst = kNone;                        ///< VGPR
    std::uint16_t mask_in = kNone, mask_out = kNone;  ///< the first SGPR of a mask
    std::array<Source, 3> source = {};
    std::uint32_t offset_bytes = 0;  ///< of a load or store
    std::uint16_t base = kNone;      ///< of a global or scalar one: the first SGPR of the pair
    std::uint8_t dwords = 1;         ///< that a scalar one sets

    bool is_scalar(Scalar what) const { return lane == Lane::scalar && Scalar{code} == what; }
    bool is_global() const { return lane == Lane::load_global || lane == Lane::store_global; }
    /// Its result is a NaN where the GPU's is, but another one.
    bool makes_nans() const {
        return lane == Lane::add_f || lane == Lane::sub_f || lane == Lane::mul_f || lane == Lane::fma_f ||
               lane == Lane::mad_f || lane == Lane::round_f;
    }
    /// Its result is one of its sources.
    bool passes_on() const { return lane == Lane::move || lane == Lane::select; }
    /// No source may be a NaN.
    bool wants_numbers() const { return lane == Lane::min_f || lane == Lane::max_f; }
    /// Any NaN does as well as another.
    bool ignores_payload() const { return makes_nans() || wants_numbers() || lane == Lane::compare_f; }
    bool needs_mode() const {
        return makes_nans() || wants_numbers() || lane == Lane::compare_f || lane == Lane::convert_i ||
               lane == Lane::convert_u;
    }
};

/// Nothing is appended for instructions without an effect, such as s_nop.
bool append_operations(const isa::Inst& inst, const Shape& shape, std::vector<LaneOp>& ops);

}  // namespace kfdemu::jit
