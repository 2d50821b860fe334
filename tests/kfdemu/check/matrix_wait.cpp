// `wait`: instructions that follow matrix instructions, and matrix instructions that follow others, too closely.
#include "tests/kfdemu/check/checked.hpp"

using namespace check_test;

namespace {

constexpr const char* kOneMissing = "s_nop 0 is missing";
/// A kernel of matrix_hazard.S: its two instructions, and the wait states that they need; 0: not on that target.
struct TooCloseMatrix {
    const char *kernel, *earlier, *instruction;
    unsigned on_gfx908, on_gfx90a, on_gfx942;
    const char* missing = kOneMissing;
    unsigned on_gfx950 = 0;  ///< 0: as on gfx942

    unsigned needed(Target target) const {
        if (target == Target::gfx950 && on_gfx950 != 0) return on_gfx950;
        return target == Target::gfx908 ? on_gfx908 : target == Target::gfx90a ? on_gfx90a : on_gfx942;
    }
};
constexpr const char *kMove = "v_accvgpr_read_b32 v1", *kMoved = "v_accvgpr_write_b32 a3",
                     *kStore = "global_store_dword v0, v1";
constexpr const char *kBy4 = "v_mfma_f32_4x4x1", *kBy16 = "v_mfma_f32_16x16x4", *kBy32 = "v_mfma_f32_32x32x2",
                     *kDoubles = "v_mfma_f64_16x16x4", *kSmallDoubles = "v_mfma_f64_4x4x4",
                     *kHalves = "v_mfma_f32_16x16x16_f16", *kFormats = "v_mfma_f32_16x16x128_f8f6f4",
                     *kSparse = "v_smfmac_f32_16x16x32_f16";
constexpr TooCloseMatrix kTooCloseMatrix[] = {
    {"exec", "v_cmpx_eq_u32", kBy4, 4, 4, 4},
    {"vector_factor", "v_mov_b32_e32 v2", kBy4, 2, 2, 2},
    {"read_4", kBy4, kMove, 4, 5, 4},
    {"read_16", kBy16, kMove, 10, 11, 10},
    {"read_32", kBy32, kMove, 18, 19, 18},
    {"factor", kBy4, kBy4, 4, 5, 4},
    {"addend_part", kBy16, kBy32, 2, 8, 8},
    {"overwritten", kBy16, kMoved, 7, 11, 10},
    {"addend_overwritten", kBy16, kMoved, 5, 7, 0},
    {"long_addend_overwritten", kBy32, "v_accvgpr_write_b32 a0", 13, 15, 0},
    {"at_once", kBy32, kMove, 18, 0, 18, "s_nop 15 and s_nop 1 are missing"},
    {"at_once", kBy32, kMove, 0, 19, 0, "s_nop 15 and s_nop 2 are missing"},
    {"stored", kBy16, "global_store_dword v0, v5", 0, 11, 10},
    {"loaded", kBy4, "global_load_dword v5", 0, 5, 4},
    {"address", kBy4, "ds_read_b32 v1, v7", 0, 5, 4},
    {"lane", kBy4, "v_readlane_b32 s8, v5", 0, 5, 4},
    {"doubles_read", kDoubles, "v_mov_b32_e32 v1, v11", 0, 11, 11, kOneMissing, 19},
    {"doubles_stored", kDoubles, "global_store_dword v0, v5", 0, 18, 18},
    {"small_doubles_stored", kSmallDoubles, "global_store_dword v0, v5", 0, 9, 9},
    {"small_doubles_factor", kSmallDoubles, kSmallDoubles, 0, 6, 6},
    {"small_doubles_chain", kSmallDoubles, kSmallDoubles, 0, 4, 4},
    {"doubles_part", kDoubles, kSmallDoubles, 0, 9, 9, kOneMissing, 17},
    {"singles_as_doubles", kBy16, kSmallDoubles, 0, 9, 8},
    {"fused_doubles", kSmallDoubles, "v_fma_f64", 0, 2, 2},
    {"dot", "v_dot2_f32_f16 v1", "v_add_u32_e32 v3, v2, v1", 0, 3, 3},
    {"dot_factor", "v_dot2_f32_f16 v1", "v_dot2_f32_f16 v3", 0, 3, 3},
    {"dot_overwritten", "v_dot2_f32_f16 v1", "global_load_dword v1", 0, 3, 3},
    {"exec_of_move", "v_cmpx_eq_u32", "v_accvgpr_write_b32 a0", 4, 0, 0},
    {"vector_moved", "v_mov_b32_e32 v2", "v_accvgpr_write_b32 a0, v2", 2, 0, 0},
    {"moved_read", "v_accvgpr_write_b32 a0", kMove, 3, 0, 0},
    {"moved_addend", kMoved, kBy4, 1, 0, 0},
    {"moved_factor", kMoved, kBy4, 3, 0, 0},
    {"moved_stored", kMove, kStore, 2, 0, 0},
    {"halves_read", kHalves, kMove, 0, 0, 7, kOneMissing, 8},
    {"blocks_read", "v_mfma_f32_32x32x4_2b_f16", kMove, 0, 0, 19, kOneMissing, 20},
    {"bytes_addend", "v_mfma_f32_32x32x16_fp8_fp8", kHalves, 0, 0, 9, kOneMissing, 10},
    {"halves_addend_overwritten", kHalves, kMoved, 0, 0, 3},
    {"sparse_read", kSparse, "v_mov_b32_e32 v1, v4", 0, 0, 7, kOneMissing, 8},
    {"sparse_index", kHalves, kSparse, 0, 0, 7, kOneMissing, 8},
    {"quotient_read", "v_rcp_f32_e32 v1", "v_mov_b32_e32 v2, v1", 0, 0, 1},
    {"part_read", "v_mov_b32_sdwa v1", "v_mov_b32_e32 v2, v1", 0, 0, 1},
    {"byte_read", "v_cvt_sr_fp8_f32 v1", "v_mov_b32_e32 v2, v1", 0, 0, 1},
    {"last_byte_read", "v_cvt_sr_bf8_f32 v1", "v_mov_b32_e32 v2, v1", 0, 0, 1},
    {"scalar_read", "v_readlane_b32 s8", "v_add_u32_e32 v1", 0, 0, 2},
    {"first_lane", "v_mov_b32_e32 v1", "v_readfirstlane_b32 s8", 0, 0, 1},
    {"hidden", "v_mov_b32_e32 v1", kStore, 2, 2, 0},
    {"bytes_of_formats_read", kFormats, kMove, 0, 0, 0, kOneMissing, 12},
    {"nibbles_of_formats_read", kFormats, kMove, 0, 0, 0, kOneMissing, 8},
    {"scale_written", "v_mov_b32_e32 v10", "v_mfma_ld_scale_b32", 0, 0, 0, kOneMissing, 2},
    {"scaled_factor", "v_mov_b32_e32 v16", kFormats, 0, 0, 0, kOneMissing, 2},
    {"scaled_chain", kFormats, kFormats, 0, 0, 0, kOneMissing, 8},
    {"swapped", "v_mov_b32_e32 v1", "v_permlane32_swap_b32", 0, 0, 0, kOneMissing, 2},
    {"pair_by_random_read", "v_cvt_scalef32_sr_pk_fp4_f32 v1", "v_mov_b32_e32 v2, v1", 0, 0, 0, kOneMissing, 1},
};
constexpr const char* kFarEnoughMatrix[] = {"silent_long_chain", "silent_chain", "silent_independent",
                                            "silent_last",       "silent_call",  "silent_others"};
constexpr const char* kFarEnoughFrom90a[] = {"silent_doubles", "silent_dot"};

void require_matrix_silence(Target target, const std::string& kernel) {
    Checked gpu{target, Check::wait};
    require_finished(run_defect(gpu, gpu.load("matrix_hazard"), kernel), kernel);
    INFO(kernel << " on " << kfdemu::isa::name(target) << "\n" << gpu.text());
    REQUIRE(gpu.rules().empty());
}

}  // namespace

TEST_CASE("instructions too close to a matrix instruction are reported with both, and what is missing",
          "[check][wait][matrix]") {
    for (const Target target : matrix_targets()) {
        for (const TooCloseMatrix& defect : kTooCloseMatrix) {
            if (defect.needed(target) == 0) continue;
            Checked gpu{target, Check::wait};
            INFO(defect.kernel << " on " << kfdemu::isa::name(target));
            require_finished(run_defect(gpu, gpu.load("matrix_hazard"), defect.kernel), defect.kernel);
            INFO(gpu.text());
            REQUIRE(gpu.rules() == Rules{"wait-states"});
            const Finding found = gpu.findings().front();
            REQUIRE(found.at.instruction.find(defect.instruction) == 0);
            REQUIRE(found.related.front().at.instruction.find(defect.earlier) == 0);
            REQUIRE(found.what.find("needs " + std::to_string(defect.needed(target)) + " wait state") !=
                    std::string::npos);
            REQUIRE(found.what.find(defect.missing) != std::string::npos);
        }
    }
}

TEST_CASE("instructions that are far enough from a matrix instruction are silent", "[check][wait][matrix]") {
    for (const Target target : matrix_targets()) {
        for (const TooCloseMatrix& defect : kTooCloseMatrix)
            if (defect.needed(target) != 0) require_matrix_silence(target, std::string{defect.kernel} + "_mended");
        for (const char* kernel : kFarEnoughMatrix) require_matrix_silence(target, kernel);
        if (target == Target::gfx908) continue;
        for (const char* kernel : kFarEnoughFrom90a) require_matrix_silence(target, kernel);
        require_matrix_silence(target, target == Target::gfx90a ? "silent_hidden" : "silent_mask");
    }
}

TEST_CASE("what clang makes of matrix instructions is silent", "[check][wait][matrix]") {
    for (const Target target : matrix_targets())
        for (const char* level : kCompiled) {
            Checked gpu{target, Check::wait};
            const CodeObject code = gpu.load("matrix", level);
            for (const std::string& kernel : matrix_kernels(target))
                for (const std::uint32_t turns : {1u, 2u, 3u, 4u}) {
                    require_finished(run_matrix(gpu, code, kernel, turns), kernel);
                    INFO(kernel << " on " << kfdemu::isa::name(target) << " at -" << level << "\n" << gpu.text());
                    REQUIRE(gpu.rules().empty());
                }
        }
}
