// The page of docs/ that lists what kfdemu executes, made of its instruction table.
//
//     instruction_page > docs/instructions.md       # renews it
//     instruction_page docs/instructions.md         # checks that it matches the table
//
// Thread safety: none needed.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

using namespace kfdemu::isa;

namespace {

constexpr const char* kOpening = R"(# The instructions of kfdemu

What the emulated GPU executes of each target, by encoding. This page is made of the executor's tables by
`tests/kfdemu/isa/instruction_page`, and a test compares them; another asks LLVM's assembler for every opcode number of
every encoding and finds none that is missing here, apart from images (MIMG, VIMAGE, VSAMPLE), exports (EXP) and interpolation (VINTRP
and `v_interp_*`), which no kernel of a compute queue has. What is not here stops the wave with an
illegal-instruction error that names pc, dwords, encoding and opcode. Each column has a model's opcodes; an empty field is
an instruction that the model lacks.

Each VOP1, VOP2 and VOPC instruction has its VOP3 form, and SDWA and DPP forms where the target has them. The opcodes of VOPD are those of
either operation of an instruction; from 0x10 on they are of the second alone.

## Known, and an illegal instruction all the same

| instruction | why |
|---|---|
| `s_rfe_b64`, `s_rfe_restore_b64`, results in TTMPs | only a trap handler may, and none runs here |
| `ds_ordered_count`, and DS with `gds` | there is no GDS; `ds_gws_*` work on the queue's global wave sync |
| `v_screen_partition_4se_b32` | for pixels |
| `ds_add_gs_reg_rtn`, `ds_sub_gs_reg_rtn`, `ds_bvh_stack_*` | for geometry, and for rays through an image's tree |
| `s_sendmsg_rtn`, but for MSG_RTN_GET_REALTIME | only a trap handler needs the answers |
| `s_barrier_signal`, `s_barrier_wait` and `s_get_barrier_state` of other barriers than -1 and, for the first two, 0; `s_barrier_signal_isfirst` of others than -1; `s_barrier_init`, `s_barrier_join`, `s_barrier_leave` | only the work-group's barrier is emulated |
| `s_alloc_vgpr` | waves have all registers that their kernel asks for |
| `s_getreg_b32` and `s_setreg_b32` on gfx1201 of other registers than MODE, STATUS, SCRATCH_BASE, HW_ID, SHADER_CYCLES and EXCP_FLAG | their fields are not emulated |
| `global_load_tr_b64`; `global_load_tr_b128` in waves of 64 lanes or without all lanes | which lane gets which byte is not published; the other has no result there |
| `global_atomic_ordered_add_b64` | not emulated |
| `v_cndmask_b16` with NEG or ABS | not emulated |
| LDS_DIRECT and LDS_PARAM loads | for pixels |
| loads with `tfe` | for partially resident textures |
| buffers of GFX11 that are swizzled by 8 or 16 bytes | for pixels and geometry; not emulated |

## Approximations

Integers, conversions, and the sums, products and fused operations of floats are exact, in the rounding and with the
denormals that MODE asks for. Not so:

| what | how |
|---|---|
| `v_exp`, `v_log`, `v_rcp`, `v_rsq`, `v_sqrt` | 32 and 16 bits: within 0.501 ulp; the manual states 1. 32 bits: denormals are flushed, as it says |
| `v_sin`, `v_cos` | absolute error below 2^-24 |
| `v_rcp_f64`, `v_rsq_f64` | within 1 ulp; the manual states 2^29 |
| `v_dot2_f32_f16`, `v_dot2c_f32_f16` | addend, low product, high product: each rounded once, in that order |
| `v_mfma_f32_*`, `v_mfma_f64_*`, `v_smfmac_f32_*` | addend, products in ascending depth: likewise; the manuals leave the order open |
| `v_mfma_*_f8f6f4` | of 32 in depth, products in ascending depth from 0: each rounded once; their sum is scaled and added to the addend in doubles and rounded once more; which elements share a scale, and where they are, follows AMD's published examples |
| `v_cvt_scalef32_*` to FP6, BF6 and FP4 | NaN becomes the greatest number; the manual leaves it open |
| stochastic rounding of `v_cvt_scalef32_sr_*`, `v_cvt_sr_f16_f32`, `v_cvt_sr_bf16_f32` | the random number's upper bits are added below the last place of the result; the manual leaves the width open |
| `v_permlane16_swap_b32`, `v_permlane32_swap_b32` | an active lane takes its value from its partner, active or not, whatever FI and BOUND_CTRL; what these change is not published |
| `v_dot2_f32_bf16`, `v_dot2c_f32_bf16` | low product, high product, addend: each rounded once, in that order |
| `v_dot2_f16_f16`, `v_dot2_bf16_bf16` | addend, low product, high product: each rounded once to 16 bits, of BF16 to 32 bits and then once to 16; the manual leaves it open |
| `v_wmma_f32_*`, `v_wmma_f16_*`, `v_wmma_bf16_*` | addend, products in ascending depth: each rounded once to 32 bits, to nearest, with denormals, whatever MODE is; results of 16 bits are rounded once more. The manual leaves the order open, so results may differ from hardware by roundings |
| `v_wmma_i32_*` | exact; with CLAMP the sum saturates once, at its end |
| lanes from 16 on of A and B of WMMA | on gfx1100 and gfx1151 are not read: they have to repeat lanes 0 to 15 |
| `v_swmmac_*` | as WMMA: addend, products in ascending depth; where elements and indices are, follows AMD's matrix instruction calculator |
| `v_dot4_f32_fp8_bf8` and the like | addend, products in ascending order: each rounded once; the manual leaves it open |
| `global_load_tr_b128` | of each eight lanes, eight halves of one become one half of each, as measured by others on gfx1201 |
| `ds_permute_b32` in waves of 64 lanes on gfx1201 | reaches all lanes, as `ds_bpermute_b32` does there |
| the same of XF32 | factors are rounded to nearest even, to 10 bits of mantissa; the manual leaves the rounding open |
| stores to 10- and 11-bit floats | rounded towards zero |
| stores of integers to narrower formats | their upper bits are lost |

)";

constexpr Format kFormats[] = {Format::Sop1, Format::Sop2, Format::Sopc,  Format::Sopk, Format::Sopp,  Format::Smem,
                               Format::Vop1, Format::Vop2, Format::Vopc,  Format::Vop3, Format::Vop3p, Format::Vopd,
                               Format::Ds,   Format::Flat, Format::Mubuf, Format::Mtbuf};

const std::string kRule = [] {
    std::string rule = "|---|";
    for (std::size_t n = 0; n < std::size(kTargets); ++n) rule += "---|";
    return rule + "\n";
}();

std::string hexadecimal(unsigned opcode) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%02x", opcode);
    return text;
}

Target first_target(const Row& row) {
    return *std::find_if(std::begin(kTargets), std::end(kTargets), [&](Target target) { return row.on(target); });
}

/// Those of one encoding: of GFX9 by opcode, then what came later.
std::vector<const Row*> rows_of(Format format) {
    std::vector<const Row*> found;
    for (const Row& row : rows())
        if (row.format == format) found.push_back(&row);
    const auto key = [](const Row* row) {
        const Target target = first_target(*row);
        return std::pair{traits_of(target).wave32 ? target : Target::gfx900, opcode_of(*row, target)};
    };
    std::ranges::stable_sort(found, {}, key);
    return found;
}

std::string mnemonic(const Row& row) {
    const std::string whole = mnemonic_of(row, first_target(row));
    if (row.format != Format::Flat) return "`" + whole + "`";
    const std::string rest = whole.substr(std::strlen("flat_"));
    std::string text = "`global_" + rest + "`";
    if (!row.is(kOnlyGlobal)) text = "`flat_" + rest + "`, " + text;
    return row.is(kNoScratch) ? text : text + ", `scratch_" + rest + "`";
}

void write_counts(std::ostream& page) {
    page << "## How many\n\n| encoding |";
    for (const Target target : kTargets) page << " " << name(target) << " |";
    page << "\n" << kRule;
    unsigned all[std::size(kTargets)] = {};
    for (const Format format : kFormats) {
        page << "| " << name(format);
        for (const Target target : kTargets) {
            unsigned count = 0;
            for (const Row& row : rows()) count += row.format == format && row.on(target);
            all[static_cast<unsigned>(target)] += count;
            page << " | " << count;
        }
        page << " |\n";
    }
    page << "| all";
    for (const unsigned count : all) page << " | " << count;
    page << " |\n";
}

std::string page() {
    std::ostringstream text;
    text << kOpening;
    write_counts(text);
    for (const Format format : kFormats) {
        text << "\n## " << name(format) << "\n\n| instruction |";
        for (const Target target : kTargets) text << " " << name(target) << " |";
        text << "\n" << kRule;
        for (const Row* row : rows_of(format)) {
            text << "| " << mnemonic(*row) << " |";
            for (const Target target : kTargets)
                text << " " << (row->on(target) ? hexadecimal(opcode_of(*row, target)) : "") << " |";
            text << "\n";
        }
    }
    return text.str();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cout << page();
        return 0;
    }
    std::ifstream file{argv[1]};
    const std::string there{std::istreambuf_iterator<char>{file}, {}};
    const bool same = there == page();
    if (!same)
        std::cout << "failed: " << argv[1] << " is not what the tables say: " << argv[0] << " > " << argv[1]
                  << " renews it\n";
    std::cout << (same ? "1 passed, 0 failed, 0 skipped\n" : "0 passed, 1 failed, 0 skipped\n");
    return same ? 0 : 1;
}
