// `wait`: registers used before the s_waitcnt that their load requires.
#include "checked.hpp"

using namespace check_test;

namespace {

struct Defect {
    const char *kernel, *rule, *instruction, *load, *needed;
};

constexpr const char *kRead = "read-before-wait", *kOverwritten = "overwritten-before-wait";
constexpr Defect kDefects[] = {
    {"global_load", kRead, "v_add_u32_e32 v2, 1, v1", "global_load_dword v1", "vmcnt(0)"},
    {"second_of_two", kRead, "v_add_u32_e32 v1, v1, v2", "global_load_dword v2", "vmcnt(0)"},
    {"lds_read", kRead, "v_add_u32_e32 v1, 1, v1", "ds_read_b32 v1", "lgkmcnt(0)"},
    {"scalar_load", kRead, "s_add_u32 s8, s8, 1", "s_load_dword s8", "lgkmcnt(0)"},
    {"scalar_order", kRead, "v_mov_b32_e32 v1, s8", "s_load_dword s8", "lgkmcnt(0)"},
    {"mixed_counter", kRead, "v_add_u32_e32 v1, 1, v1", "ds_read_b32 v1", "lgkmcnt(0)"},
    {"overwritten", kOverwritten, "v_mov_b32_e32 v1, 7", "global_load_dword v1", "vmcnt(0)"},
    {"buffer_load", kRead, "v_add_u32_e32 v1, 1, v3", "buffer_load_dwordx2 v[2:3]", "vmcnt(0)"},
    {"flat_load", kRead, "v_add_u32_e32 v1, 1, v1", "flat_load_dword v1", "vmcnt(0)"},
    {"flat_to_lds", kRead, "v_add_u32_e32 v1, 1, v1", "flat_load_dword v1", "lgkmcnt(0)"},
    {"permute", kRead, "v_add_u32_e32 v1, 1, v1", "ds_bpermute_b32 v1", "lgkmcnt(0)"},
    {"atomic", kRead, "v_add_u32_e32 v1, 1, v1", "global_atomic_add v1", "vmcnt(0)"},
    {"second_half", kRead, "v_mov_b32_e32 v1, v3", "ds_read2_b32 v[2:3]", "lgkmcnt(0)"},
    {"stored", kRead, "global_store_dword v0, v1, s[6:7]", "global_load_dword v1", "vmcnt(0)"},
    {"address", kRead, "global_load_dword v2, v1, s[4:5]", "global_load_dword v1", "vmcnt(0)"},
    {"read_lane", kRead, "v_readlane_b32 s8, v1, 5", "global_load_dword v1", "vmcnt(0)"},
    {"carry_mask", kRead, "v_cndmask_b32_e32 v1, 1, v0, vcc", "s_load_dwordx2 vcc", "lgkmcnt(0)"},
    {"half", kRead, "v_add_u32_e32 v1, 1, v1", "global_load_short_d16_hi v1", "vmcnt(0)"},
    {"neighbour", kRead, "v_mov_b32_dpp v2, v1", "global_load_dword v1", "vmcnt(0)"},
    {"branch", kRead, "v_add_u32_e32 v1, 1, v1", "global_load_dword v1", "vmcnt(0)"},
    {"stored_scratch", kRead, "ds_write_b64 v0, v[2:3]", "ds_read_b64 v[2:3]", "lgkmcnt(0)"},
    {"matrix", kRead, "v_mfma_f32_4x4x1f32", "global_load_dword v1", "vmcnt(0)"},
};

bool on(Target target, const Defect& defect) {
    return std::string{defect.kernel} != "matrix" || target == Target::gfx908 || target == Target::gfx90a;
}

constexpr const char* kCorrect[] = {"silent_in_order", "silent_flat", "silent_other_lanes", "silent_counts_stores",
                                    "silent_lds_in_order"};

}  // namespace

TEST_CASE("each missing wait is reported with its load and the wait that it needs", "[check][wait]") {
    for (const Target target : targets())
        for (const Defect& defect : kDefects) {
            if (!on(target, defect)) continue;
            Checked gpu{target, Check::wait};
            const CodeObject code = gpu.load("wait");
            INFO(defect.kernel << " on " << kfdemu::gfx9::name(target));
            require_finished(run_defect(gpu, code, defect.kernel), defect.kernel);
            INFO(gpu.text());
            REQUIRE(gpu.rules() == Rules{defect.rule});
            const Finding found = gpu.findings().front();
            REQUIRE(found.at.instruction.find(defect.instruction) == 0);
            REQUIRE(found.related.size() == 1);
            REQUIRE(found.related.front().at.instruction.find(defect.load) == 0);
            REQUIRE(found.what.find(defect.needed) != std::string::npos);
            REQUIRE(found.kernel_object == code.symbol(std::string{defect.kernel} + ".kd"));
        }
}

TEST_CASE("the mended twins are silent", "[check][wait]") {
    for (const Target target : targets())
        for (const Defect& defect : kDefects) {
            if (!on(target, defect)) continue;
            Checked gpu{target, Check::wait};
            const std::string kernel = std::string{defect.kernel} + "_mended";
            require_finished(run_defect(gpu, gpu.load("wait"), kernel), kernel);
            INFO(kernel << " on " << kfdemu::gfx9::name(target) << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
}

TEST_CASE("correct kernels that a coarser model would report are silent", "[check][wait]") {
    for (const Target target : targets())
        for (const char* kernel : kCorrect) {
            Checked gpu{target, Check::wait};
            require_finished(run_defect(gpu, gpu.load("wait"), kernel), kernel);
            INFO(kernel << " on " << kfdemu::gfx9::name(target) << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
}

TEST_CASE("without checks, nothing is found and nothing is counted", "[check][wait]") {
    for (const Target target : targets()) {
        Checked gpu{target, Check::wait};
        gpu.machine.session.checks = {};
        require_finished(run_defect(gpu, gpu.load("wait"), "global_load"), "global_load");
        REQUIRE(gpu.rules().empty());
        REQUIRE(gpu.report.coverage.waves == 0);
    }
}
