// `wait`: registers used before the s_waitcnt that their load requires.
#include "tests/kfdemu/check/checked.hpp"
#include "tools/kfdemu/check/wait/scoreboard.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

using namespace check_test;

namespace {

struct WaitDefect {
    const char *kernel, *rule, *instruction, *load, *needed;
};

constexpr const char *kRead = "read-before-wait", *kOverwritten = "overwritten-before-wait";
constexpr WaitDefect kWaitDefects[] = {
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
    {"relative", kRead, "s_movrels_b32 s12, s5", "s_load_dwordx4 s[8:11]", "lgkmcnt(0)"},
    {"counts_no_stores", kRead, "global_store_dword v0, v1, s[6:7]", "global_load_dword v1", "vmcnt(0)"},
    {"own_instruction", kRead, "v_add_u32_e32 v1, 1, v1", "ds_read_b32 v1", "lgkmcnt(0)"},
    {"vector_relative", kRead, "v_movrels_b32_e32 v1, v1", "global_load_dword v3", "vmcnt(0)"},
    {"other_row", kRead, "v_permlanex16_b32 v2, v1", "global_load_dword v1", "vmcnt(0)"},
    {"inactive_lanes", kRead, "v_mov_b32_dpp v2, v1", "global_load_dword v1", "vmcnt(0)"},
    {"counted_by_register", kRead, "s_waitcnt_vscnt s20", "s_load_dword s20", "lgkmcnt(0)"},
    {"matrix", kRead, "v_mfma_f32_4x4x1", "global_load_dword v1", "vmcnt(0)"},
    {"barrier_state", kRead, "v_mov_b32_e32 v1, s8", "s_get_barrier_state s8", "lgkmcnt(0)"},
    {"answer", kRead, "v_mov_b32_e32 v1, s8", "s_sendmsg_rtn_b64 s[8:9]", "lgkmcnt(0)"},
    {"tiles", kRead, "v_wmma_f32_16x16x16_f16", "global_load_dword v9", "vmcnt(0)"},
    {"second_operation", kRead, "v_dual_mov_b32 v4, v0 :: v_dual_mov_b32 v5, v1", "global_load_dword v1", "vmcnt(0)"},
};

/// GFX12 has a counter each for loads, LDS and scalar memory.
std::string needed_on(const Variant& target, const WaitDefect& defect) {
    if (!kfdemu::isa::traits_of(target).split_counters) return defect.needed;
    if (defect.needed == std::string_view{"vmcnt(0)"}) return "s_wait_loadcnt 0x0";
    return std::string_view{defect.load}.starts_with("s_") ? "s_wait_kmcnt 0x0" : "s_wait_dscnt 0x0";
}

constexpr const char* kWaitCorrect[] = {"silent_in_order",      "silent_flat",          "silent_other_lanes",
                                        "silent_counts_later",  "silent_many",          "silent_lds_in_order",
                                        "silent_one_register",  "silent_flat_in_order", "silent_null",
                                        "silent_inactive_lanes"};

/// A kernel of hazard.S: its two instructions, and the wait states that they need and have.
struct TooClose {
    const char *kernel, *earlier, *instruction, *needed;
    const char* on_gfx942 = needed;
};
constexpr TooClose kTooClose[] = {
    {"scalar_address", "v_readfirstlane_b32 s8", "global_store_dword v0, v1, s[8:9]", "5 wait states"},
    {"scalar_offset", "v_readlane_b32 s12", "buffer_load_dword v1, v0, s[8:11], s12", "5 wait states"},
    {"neighbour", "v_mov_b32_e32 v1, v0", "v_mov_b32_dpp v1", "2 wait states"},
    {"neighbour_of_active", "v_cmpx_eq_u32", "v_mov_b32_dpp v1", "5 wait states"},
    {"quotient", "v_cmp_eq_u32", "v_div_fmas_f32 v1", "4 wait states"},
    {"lane_read", "v_readfirstlane_b32 s8", "v_readlane_b32 s9, v1, s8", "4 wait states"},
    {"lane_written", "v_readfirstlane_b32 s8", "v_writelane_b32 v1, 5, s8", "4 wait states"},
    {"flag_as_data", "v_cmp_eq_u32", "v_mov_b32_e32 v1, src_vccz", "5 wait states"},
    {"mode_read", "s_setreg_imm32_b32 hwreg(HW_REG_MODE", "s_getreg_b32 s8", "2 wait states"},
    {"mode_set", "s_setreg_imm32_b32 hwreg(HW_REG_MODE", "s_setreg_b32 hwreg(HW_REG_MODE", "2 wait states"},
    {"relative", "s_mov_b32 m0", "s_movrels_b32 s8", "1 wait state "},
    {"overwritten", "global_store_dwordx4", "v_mov_b32_e32 v4, 2", "1 wait state ", "2 wait states"},
};
constexpr const char* kFarEnough[] = {"silent_salu", "silent_stores", "silent_others"};

/// RDNA inserts those wait states.
bool waits_itself(Target target) { return kfdemu::isa::traits_of(target).wave32; }

/// Runs each mended twin of `defects` and each of `correct`, all of which must be silent.
template <class Defects, class Correct>
void require_silence(const char* source, const Defects& defects, const Correct& correct) {
    for (const Variant target : variants()) {
        std::vector<std::string> kernels;
        for (const char* kernel : correct)
            if (has_kernel(target, kernel)) kernels.emplace_back(kernel);
        for (const auto& defect : defects)
            if (has_kernel(target, defect.kernel)) kernels.push_back(std::string{defect.kernel} + "_mended");
        for (const std::string& kernel : kernels) {
            Checked gpu{target, Check::wait};
            require_finished(run_defect(gpu, gpu.load(source), kernel), kernel);
            INFO(kernel << " on " << name_of(target) << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
    }
}

}  // namespace

TEST_CASE("GFX12 has a counter each for loads, stores, LDS and scalar memory", "[check][wait]") {
    using kfdemu::check::Counters, kfdemu::check::Scoreboard, kfdemu::check::Waits, kfdemu::isa::Inst;
    const Counters counters{Target::gfx1201};
    const kfdemu::isa::Decoder decoder{Target::gfx1201};
    const auto decoded = [&](std::vector<std::uint32_t> words) {
        words.resize(3);
        return decoder.decode(0x1000, words);
    };
    const auto waits = [&](std::uint32_t word) { return counters.waits({}, decoded({word})); };
    const auto same = [](const Waits& a, const Waits& b) {
        return a.loads == b.loads && a.stores == b.stores && a.lds == b.lds && a.scalar == b.scalar;
    };
    REQUIRE(same(waits(0xbfc00005), {.loads = 5}));             // s_wait_loadcnt 0x5
    REQUIRE(same(waits(0xbfc10003), {.stores = 3}));            // s_wait_storecnt 0x3
    REQUIRE(same(waits(0xbfc60002), {.lds = 2}));               // s_wait_dscnt 0x2
    REQUIRE(same(waits(0xbfc70001), {.scalar = 1}));            // s_wait_kmcnt 0x1
    REQUIRE(same(waits(0xbfc80402), {.loads = 4, .lds = 2}));   // s_wait_loadcnt_dscnt 0x402
    REQUIRE(same(waits(0xbfc90403), {.stores = 4, .lds = 3}));  // s_wait_storecnt_dscnt 0x403
    REQUIRE(same(waits(0xbf8a0000), {0, 0, 0, 0}));             // s_wait_idle
    REQUIRE_FALSE(waits(0xbfc20000).any());                     // s_wait_samplecnt 0x0

    const Inst load = decoded({0xee050004, 1}),           // global_load_b32 v1, v0, s[4:5]
        local = decoded({0xd8d80000, 0x02000000}),        // ds_load_b32 v2, v0
        scalar = decoded({0xf4000202, 0xf8000000}),       // s_load_b32 s8, s[4:5], 0x0
        store = decoded({0xee068006, 0x00800000}),        // global_store_b32 v0, v1, s[6:7]
        writes_back = decoded({0xee0b007c, 0x000c0000}),  // global_wb scope:SCOPE_SYS
        invalidates = decoded({0xee0ac07c, 0x00080000}),  // global_inv scope:SCOPE_DEV
        adds = decoded({0xee0d4006, 0x00800000}),         // global_atomic_add_u32 v0, v1, s[6:7]
        exchanges = decoded({0xee0d4006, 0x00900003});    // with TH_ATOMIC_RETURN
    for (const Inst& inst : {load, invalidates, exchanges})
        REQUIRE((counters.counts_load(inst) && !counters.counts_store(inst)));
    for (const Inst& inst : {store, writes_back, adds})
        REQUIRE((!counters.counts_load(inst) && counters.counts_store(inst)));

    Scoreboard board;
    board.clear(counters.most());
    board.issue(local, {.lds = true}, 1);
    board.issue(scalar, {.any_order = true}, 1);
    board.issue(load, {.memory = true}, 1);
    board.issue(decoded({0xee050004, 3}), {.memory = true}, 1);
    const auto missing = [&](kfdemu::isa::Operand at) {
        const auto* found = board.conflict({.first = at, .count = 1}, 1);
        return found == nullptr ? std::string{} : counters.text(board.needed(*found));
    };
    using kfdemu::isa::kVgpr0;
    REQUIRE(missing(kVgpr0 + 1) == "s_wait_loadcnt 0x1");
    REQUIRE(missing(kVgpr0 + 2) == "s_wait_dscnt 0x0");
    REQUIRE(missing(8) == "s_wait_kmcnt 0x0");
    board.wait(waits(0xbfc60000));  // s_wait_dscnt 0x0
    REQUIRE(missing(kVgpr0 + 2).empty());
    REQUIRE(missing(8) == "s_wait_kmcnt 0x0");
    board.wait(waits(0xbfc70000));  // s_wait_kmcnt 0x0
    REQUIRE(missing(8).empty());
    board.wait(waits(0xbfc00001));  // s_wait_loadcnt 0x1
    REQUIRE(missing(kVgpr0 + 1).empty());
    REQUIRE(missing(kVgpr0 + 3) == "s_wait_loadcnt 0x0");
}

TEST_CASE("each missing wait is reported with its load and the wait that it needs", "[check][wait]") {
    for (const Variant target : variants())
        for (const WaitDefect& defect : kWaitDefects) {
            if (!has_kernel(target, defect.kernel)) continue;
            Checked gpu{target, Check::wait};
            const CodeObject code = gpu.load("wait");
            INFO(defect.kernel << " on " << name_of(target));
            require_finished(run_defect(gpu, code, defect.kernel), defect.kernel);
            INFO(gpu.text());
            REQUIRE(gpu.rules() == Rules{defect.rule});
            const Finding found = gpu.findings().front();
            REQUIRE(found.at.instruction.find(spelled(target, defect.instruction)) == 0);
            REQUIRE(found.related.size() == 1);
            REQUIRE(found.related.front().at.instruction.find(spelled(target, defect.load)) == 0);
            REQUIRE(found.what.find(needed_on(target, defect)) != std::string::npos);
            REQUIRE(found.kernel_object == code.symbol(std::string{defect.kernel} + ".kd"));
        }
}

TEST_CASE("kernels with their waits are silent, those that a coarser model would report too", "[check][wait]") {
    require_silence("wait", kWaitDefects, kWaitCorrect);
}

TEST_CASE("instructions that follow each other too closely are reported with both, and what is missing",
          "[check][wait]") {
    for (const Variant target : variants())
        for (const TooClose& defect : kTooClose) {
            if (waits_itself(target)) continue;
            Checked gpu{target, Check::wait};
            const CodeObject code = gpu.load("hazard");
            INFO(defect.kernel << " on " << name_of(target));
            require_finished(run_defect(gpu, code, defect.kernel), defect.kernel);
            INFO(gpu.text());
            REQUIRE(gpu.rules() == Rules{"wait-states"});
            const Finding found = gpu.findings().front();
            REQUIRE(found.at.instruction.find(spelled(target, defect.instruction)) == 0);
            REQUIRE(found.related.front().at.instruction.find(defect.earlier) == 0);
            const char* needed = kfdemu::isa::traits_of(target).scope_bits ? defect.on_gfx942 : defect.needed;
            REQUIRE(found.what.find(std::string{"needs "} + needed) != std::string::npos);
            REQUIRE(found.what.find("s_nop 0 is missing") != std::string::npos);
        }
}

TEST_CASE("instructions that are far enough from each other are silent", "[check][wait]") {
    require_silence("hazard", kTooClose, kFarEnough);
}

TEST_CASE("where the hardware waits itself, GFX9's wait states are not missing", "[check][wait]") {
    for (const Variant target : variants())
        for (const TooClose& defect : kTooClose) {
            if (!waits_itself(target)) continue;
            Checked gpu{target, Check::wait};
            require_finished(run_defect(gpu, gpu.load("hazard"), defect.kernel), defect.kernel);
            INFO(defect.kernel << " on " << name_of(target) << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
}

TEST_CASE("on GFX10, the denormal mode changes three wait states after a float atomic", "[check][wait]") {
    for (const Variant target : variants()) {
        if (target != Target::gfx1030) continue;
        for (const char* kernel : {"denormals", "denormals_mended", "silent_denormals"}) {
            Checked gpu{target, Check::wait};
            require_finished(run_defect(gpu, gpu.load("hazard"), kernel), kernel);
            INFO(kernel << " on " << name_of(target) << "\n" << gpu.text());
            const bool wrong = kernel == std::string{"denormals"};
            REQUIRE(gpu.rules() == (wrong ? Rules{"wait-states"} : Rules{}));
            if (!wrong) continue;
            const Finding found = gpu.findings().front();
            REQUIRE(found.at.instruction.find("s_denorm_mode") == 0);
            REQUIRE(found.related.front().at.instruction.find("global_atomic_fmin") == 0);
            REQUIRE(found.what.find("needs 3 wait states after an earlier one and has 2") != std::string::npos);
        }
    }
}

TEST_CASE("on GFX11 and GFX12, a product's result is a factor of the next but one instruction of the VALU",
          "[check][wait]") {
    for (const Variant target : variants()) {
        if (!kfdemu::isa::traits_of(target).gfx11_numbers) continue;
        for (const std::string kernel : {"product_of_product", "product_of_product_mended", "silent_sum_of_products"}) {
            Checked gpu{target, Check::wait};
            require_finished(run_defect(gpu, gpu.load("hazard"), kernel), kernel);
            INFO(kernel << " on " << name_of(target) << "\n" << gpu.text());
            const bool wrong = kernel == "product_of_product";
            REQUIRE(gpu.rules() == (wrong ? Rules{"wait-states"} : Rules{}));
            if (wrong) REQUIRE(gpu.findings().front().what.find("too soon: v_nop is missing") != std::string::npos);
        }
    }
}

TEST_CASE("gfx1100 reads a transcendental result six instructions of the VALU later", "[check][wait]") {
    for (const Variant target : variants()) {
        if (!kfdemu::isa::traits_of(target).gfx11_numbers) continue;
        for (const std::string kernel : {"transcendental", "transcendental_mended", "silent_transcendentals"}) {
            Checked gpu{target, Check::wait};
            require_finished(run_defect(gpu, gpu.load("hazard"), kernel), kernel);
            INFO(kernel << " on " << name_of(target) << "\n" << gpu.text());
            const bool wrong = kernel == "transcendental" && target == Target::gfx1100;
            REQUIRE(gpu.rules() == (wrong ? Rules{"wait-states"} : Rules{}));
            if (wrong) REQUIRE(gpu.findings().front().at.instruction.find("v_add_f32") == 0);
        }
    }
}

TEST_CASE("without checks, nothing is found and nothing is counted", "[check][wait]") {
    for (const Variant target : variants()) {
        Checked gpu{target, Check::wait};
        gpu.machine.session.checks = {};
        require_finished(run_defect(gpu, gpu.load("wait"), "global_load"), "global_load");
        REQUIRE(gpu.rules().empty());
        REQUIRE(gpu.report.coverage.waves == 0);
    }
}
