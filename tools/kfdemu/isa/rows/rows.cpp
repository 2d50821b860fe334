#include "tools/kfdemu/isa/encodings/family.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu::isa {
namespace {

using enum Type;

constexpr Shape accesses(Element element) { return {element, {}}; }
constexpr Shape multiplies(unsigned rows, unsigned depth, unsigned blocks, Matrix::Of of) {
    const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
    return {Element::nothing, {byte(rows), byte(depth), byte(blocks), of}};
}

constexpr unsigned no = Opcode::kNone;

constexpr Row kRows[] = {
#define KFDEMU_ROW(format, opcodes, name, on, dst, a, b, c, attributes, shape, flow, translation) \
    {#name, opcodes, Format::format, targets::on, dst, {a, b, c}, attributes, shape},
#include "tools/kfdemu/isa/rows/rows.inc"
#undef KFDEMU_ROW
};
static_assert(sizeof kRows / sizeof *kRows == kRowCount);

}  // namespace

std::span<const Row> rows() { return kRows; }

bool Row::on(Target target) const { return (targets & bit(target)) != 0 && opcode_of(*this, target) != Opcode::kNone; }

const Traits& traits_of(Target target) {
    static constexpr Traits kGfx900, kGfx908{.separate_accumulators = true},
        kGfx90a{.unified_registers = true,
                .kernarg_preload = true,
                .packed_workitem_ids = true,
                .returns_float_atomics = true,
                .flushes_factors = true,
                .wide_dpp = true,
                .gds = false,
                .scc_bit = true,
                .nv_bit = false};
    static constexpr Traits kGfx942{.unified_registers = true,
                                    .architected_scratch = true,
                                    .kernarg_preload = true,
                                    .packed_workitem_ids = true,
                                    .returns_float_atomics = true,
                                    .flat_float_atomics = true,
                                    .negates_doubles = true,
                                    .wide_dpp = true,
                                    .gds = false,
                                    .scc_bit = true,
                                    .nv_bit = false,
                                    .scope_bits = true,
                                    .xcc_registers = true,
                                    .sve_bit = true};
    static constexpr Traits kGfx950 = [] {
        Traits traits = kGfx942;
        traits.wide_loads_to_lds = true;
        return traits;
    }();
    static constexpr Traits kGfx1030{.wave32 = true,
                                     .nv_bit = false,
                                     .dlc_bit = true,
                                     .null_register = true,
                                     .literals_everywhere = true,
                                     .compares_to_exec = true,
                                     .keeps_halves = true,
                                     .workgroup_processors = true,
                                     .unified_formats = true,
                                     .scratch_register = true,
                                     .vscnt = true,
                                     .row_share = true,
                                     .vector_line_bytes = 128,
                                     .dlc_misses = true};
    static constexpr Traits kGfx1100 = [] {
        Traits traits = kGfx1030;
        traits.architected_scratch = true;
        traits.packed_workitem_ids = true;
        traits.dpp_everywhere = true;
        traits.dlc_misses = false;
        traits.sdwa = false;
        traits.null_before_m0 = true;
        traits.register_halves = true;
        traits.fewer_formats = true;
        traits.instruction_prefetch = true;
        traits.scratch_size_bits = 15;
        traits.gfx11_numbers = true;
        return traits;
    }();
    static constexpr Traits kGfx1151 = [] {
        Traits traits = kGfx1100;
        traits.scalar_beside_dpp = true;
        return traits;
    }();
    static constexpr Traits kGfx1201 = [] {
        Traits traits = kGfx1151;
        traits.returns_float_atomics = true;
        traits.flat_float_atomics = true;
        traits.gds = false;
        traits.dlc_bit = false;
        traits.temporal_hints = true;
        traits.number_wins = true;
        traits.gfx12_names = true;
        traits.group_id_in_ttmp = true;
        traits.scratch_size_bits = 18;
        traits.split_barriers = true;
        traits.split_counters = true;
        traits.spread_tiles = true;
        return traits;
    }();
    switch (target) {
        case Target::gfx1201:
            return kGfx1201;
        case Target::gfx1100:
            return kGfx1100;
        case Target::gfx1151:
            return kGfx1151;
        case Target::gfx1030:
            return kGfx1030;
        case Target::gfx950:
            return kGfx950;
        case Target::gfx942:
            return kGfx942;
        case Target::gfx908:
            return kGfx908;
        case Target::gfx90a:
            return kGfx90a;
        default:
            return kGfx900;
    }
}

unsigned lane_groups_of_sparse(const Row& row, unsigned width) { return row.src[0] == tile32 ? 2 : width / 16; }

unsigned index_parts(const Row& row, unsigned width) {
    const unsigned elements = row.shape.matrix.depth / lane_groups_of_sparse(row, width);
    return 32 / elements;
}

Type source_type(const Row& row, const Inst& inst, unsigned n) {
    if (!row.is(kMixedFormats) || n > 1) return row.src[n];
    constexpr Type formats[] = {Type::b256, Type::b256, Type::b192, Type::b192,
                                Type::b128, Type::none, Type::none, Type::none};
    return formats[(n == 0 ? inst.abs : inst.neg) & 7];
}

const char* name(Target target) {
    switch (target) {
        case Target::gfx900:
            return "gfx900";
        case Target::gfx906:
            return "gfx906";
        case Target::gfx908:
            return "gfx908";
        case Target::gfx90a:
            return "gfx90a";
        case Target::gfx942:
            return "gfx942";
        case Target::gfx950:
            return "gfx950";
        case Target::gfx1030:
            return "gfx1030";
        case Target::gfx1100:
            return "gfx1100";
        case Target::gfx1151:
            return "gfx1151";
        case Target::gfx1201:
            return "gfx1201";
    }
    return "gfx9";
}

unsigned registers(Type type, unsigned width) {
    if (type == mask) return width / 32;
    if (type == tile || type == halftile) return 256 / width;
    if (type == tile128 || type == tile64) return dwords(type) * 32 / width;
    return dwords(type);
}

unsigned dwords(Type type) {
    switch (type) {
        case none:
        case mask:
        case simm:
        case uimm:
        case hex:
        case length:
        case label:
        case waitcnt:
        case delay:
        case depctr:
        case message:
        case hwreg:
        case gpr_index:
            return type == mask ? 2 : 0;
        case b64:
        case u64:
        case i64:
        case f64:
        case pkf32:
            return 2;
        case tile64:
            return 2;
        case b96:
            return 3;
        case b128:
        case tile128:
            return 4;
        case b160:
            return 5;
        case b192:
            return 6;
        case b256:
        case tile:
        case halftile:
            return 8;
        case b512:
            return 16;
        case b1024:
            return 32;
        default:
            return 1;
    }
}

}  // namespace kfdemu::isa
