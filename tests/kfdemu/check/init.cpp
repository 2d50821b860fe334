// `init`: values that were never written, where they matter.
#include "tests/kfdemu/check/checked.hpp"
#include "tools/kfdemu/check/init/fresh_memory.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

using namespace check_test;

namespace {

struct InitDefect {
    const char *kernel, *rule, *instruction, *source;
};

constexpr InitDefect kInitDefects[] = {
    {"vector_address", "address", "global_load_dword v3, v1", "v2"},
    {"scalar_address", "address", "s_load_dword s8", "s20"},
    {"stack_address", "address", "scratch_store_dword v2, v0, s20", "v2"},
    {"resource_word", "address", "buffer_load_dword v1", "s11"},
    {"branch_scc", "branch", "s_cbranch_scc1", "s20"},
    {"branch_vcc", "branch", "s_cbranch_vccnz", "v2"},
    {"branch_sum", "branch", "s_cbranch_scc1", "s20"},
    {"set_exec", "exec", "s_and_saveexec_b64", "v2"},
    {"compare_exec", "exec", "v_cmpx_gt_u32", "v2"},
    {"lds_sum", "stored", "global_store_dword v0, v2", "LDS at offset 0"},
    {"lds_copy", "stored", "global_store_dwordx2 v0, v[2:3]", "LDS at offset 0"},
    {"lds_byte", "stored", "global_store_dword v0, v2", "LDS at offset 0"},
    {"lds_atomic", "stored", "global_store_dword v0, v2", "LDS at offset 0"},
    {"lane", "address", "s_load_dword s9", "v2"},
    {"all_lanes", "stored", "global_store_dword v0, v1", "v2"},
    {"neighbour", "stored", "global_store_dword v0, v1", "v2"},
    {"permute", "address", "global_load_dword v1, v1", "v2"},
    {"half", "stored", "global_store_dword v0, v2", "v1"},
    {"word_select", "stored", "global_store_dword v0, v2", "v1"},
    {"packed", "stored", "global_store_short_d16_hi v0, v2", "v1"},
    {"bits", "stored", "global_store_dword v0, v1", "v2"},
    {"carry", "address", "global_load_dword v1, v[2:3]", "v2"},
    {"wide_sum", "stored", "global_store_dword v0, v3", "v5"},
    {"cndmask", "stored", "global_store_dword v0, v1", "v2"},
    {"register_number", "address", "s_movrels_b32", "m0"},
    {"group_y", "stored", "global_store_dword v0, v1", "s3"},
    {"stored_byte", "stored", "global_store_byte v0, v1", "v1"},
    {"atomic_data", "stored", "global_atomic_add v0, v1", "v1"},
    {"other_row", "address", "global_load_dword v1, v1", "v2"},
    {"lane_numbers", "stored", "global_store_dword v0, v1", "s9"},
    {"eight_lanes", "stored", "global_store_dword v0, v1", "v2"},
    {"vector_number", "address", "v_movreld_b32", "m0"},
    {"moved", "stored", "global_store_dword v0, v1", "v3"},
    {"sum_of_three", "stored", "global_store_dword v0, v1", "v2"},
    {"high_scalar", "address", "s_load_dword s8", "s104"},
    {"half_exec", "exec", "s_mov_b32 exec_lo", "s20"},
    {"matrix", "stored", "global_store_dword v0, v3", "v1"},
    {"scales", "stored", "global_store_dword v0, v8", "v2"},
    {"upper_half", "stored", "global_store_dword v0, v1", "v2"},
    {"swapped_halves", "stored", "global_store_dword v0, v1", "v2"},
    {"tiles", "stored", "global_store_dword v0, v2", "v8"},
    {"dual", "stored", "global_store_dword v0, v2", "v3"},
};

constexpr const char* kInitCorrect[] = {
    "silent_xor",           "silent_masks",  "silent_known_bits", "silent_padding", "silent_bytes",
    "silent_scalar_choice", "silent_scales", "silent_table",      "silent_moved",   "silent_exec_high",
    "silent_last_register", "silent_halves", "silent_tiles",      "silent_dual",    "silent_swapped_halves"};

struct Compiled {
    const char *kernel, *rule, *source;
};
constexpr Compiled kCompiledDefects[] = {
    {"lds_sum", "stored", "LDS at offset 128"},     {"lds_index", "address", "LDS at offset 252"},
    {"lds_branch", "exec", "LDS at offset 252"},    {"lds_float", "stored", "LDS at offset 0"},
    {"lds_bytes", "stored", "LDS at offset 1"},     {"lds_counter", "address", "LDS at offset 0"},
    {"stack_sum", "stored", "scratch at offset "},  {"stack_index", "address", "scratch at offset "},
    {"stack_copy", "stored", "scratch at offset "}, {"in_function", "stored", "scratch at offset "},
    {"wide", "stored", "scratch at offset "},
};

constexpr Compiled kMemoryDefects[] = {
    {"memory_sum", "stored", "memory at 0x"},    {"memory_uniform", "stored", "memory at 0x"},
    {"memory_index", "address", "memory at 0x"}, {"memory_bytes", "stored", "memory at 0x"},
    {"memory_add", "stored", "memory at 0x"},
};

/// Runs a kernel on 512 bytes of new device memory, which nothing or the host has written.
void run_on_new_memory(Checked& gpu, const char* level, const char* kernel, bool written) {
    auto* in = gpu.machine.allocate<std::uint32_t>(128);
    auto* out = gpu.machine.allocate<std::uint32_t>(128);
    kfdemu::check::fill_fresh(reinterpret_cast<std::byte*>(in), reinterpret_cast<std::uint64_t>(in), 512);
    gpu.machine.session.fresh_memory = true;
    gpu.announce(in, 512);
    for (unsigned n = 0; written && n < 128; ++n) in[n] = n;
    const CodeObject code = gpu.load("unwritten", level);
    require_finished(code.try_launch(kernel, {.grid = {64}, .group = {64}}, in, out), kernel);
}

template <class Test>
void on_each_compiled_defect(Test&& test) {
    on_each_build([&](Variant target, const char* level) {
        for (const Compiled& defect : kCompiledDefects) {
            INFO(defect.kernel);
            test(target, level, defect);
        }
    });
}

}  // namespace

TEST_CASE("each use of a value that was never written is reported with its origin", "[check][init]") {
    for (const Variant target : variants())
        for (const InitDefect& defect : kInitDefects) {
            if (!has_kernel(target, defect.kernel)) continue;
            Checked gpu{target, Check::init};
            const CodeObject code = gpu.load("init");
            require_finished(run_defect(gpu, code, defect.kernel), defect.kernel);
            INFO(defect.kernel << " on " << name_of(target) << "\n" << gpu.text());
            REQUIRE(gpu.rules() == Rules{defect.rule});
            const Finding found = gpu.findings().front();
            REQUIRE(found.at.instruction.find(spelled(target, defect.instruction)) == 0);
            const bool in_ttmp =
                std::string_view{"group_y"} == defect.kernel && kfdemu::isa::traits_of(target).group_id_in_ttmp;
            const std::string source = in_ttmp ? "ttmp7" : defect.source;
            REQUIRE(found.what.ends_with(" " + source + ", which nothing wrote"));
            REQUIRE(found.kernel_object == code.symbol(std::string{defect.kernel} + ".kd"));
        }
}

TEST_CASE("the twins that write the value first are silent", "[check][init]") {
    for (const Variant target : variants())
        for (const InitDefect& defect : kInitDefects) {
            if (!has_kernel(target, defect.kernel)) continue;
            Checked gpu{target, Check::init};
            const std::string kernel = std::string{defect.kernel} + "_mended";
            require_finished(run_defect(gpu, gpu.load("init"), kernel), kernel);
            INFO(kernel << " on " << name_of(target) << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
}

TEST_CASE("undefined bits that do not matter are not reported", "[check][init]") {
    for (const Variant target : variants())
        for (const char* kernel : kInitCorrect) {
            if (!has_kernel(target, kernel)) continue;
            Checked gpu{target, Check::init};
            require_finished(run_defect(gpu, gpu.load("init"), kernel), kernel);
            INFO(kernel << " on " << name_of(target) << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
}

TEST_CASE("unwritten LDS and stack variables of compiled kernels are reported", "[check][init]") {
    on_each_compiled_defect([](Variant target, const char* level, const Compiled& defect) {
        Checked gpu{target, Check::init};
        require_finished(run_defect(gpu, gpu.load("unwritten", level), defect.kernel), defect.kernel);
        INFO(gpu.text());
        REQUIRE(gpu.rules() == Rules{defect.rule});
        REQUIRE(gpu.findings().front().what.find(std::string{" "} + defect.source) != std::string::npos);
    });
}

TEST_CASE("compiled kernels that write their variables first are silent", "[check][init]") {
    on_each_compiled_defect([](Variant target, const char* level, const Compiled& defect) {
        Checked gpu{target, Check::init};
        const std::string kernel = std::string{defect.kernel} + "_mended";
        require_finished(run_defect(gpu, gpu.load("unwritten", level), kernel), kernel);
        INFO(gpu.text());
        REQUIRE(gpu.rules().empty());
    });
    for (const Variant target : variants())
        for (const char* level : kCompiled) {
            Checked gpu{target, Check::init};
            require_finished(run_defect(gpu, gpu.load("unwritten", level), "silent_padding"), "silent_padding");
            INFO(name_of(target) << " at -" << level << "\n" << gpu.text());
            REQUIRE(gpu.rules().empty());
        }
}

TEST_CASE("device memory that nothing wrote is reported where its contents matter", "[check][init]") {
    for (const Variant target : variants())
        for (const char* level : kCompiled)
            for (const Compiled& defect : kMemoryDefects) {
                INFO(defect.kernel << " on " << name_of(target) << " at -" << level);
                Checked gpu{target, Check::init};
                run_on_new_memory(gpu, level, defect.kernel, false);
                INFO(gpu.text());
                REQUIRE(gpu.rules() == Rules{defect.rule});
                const Finding found = gpu.findings().front();
                REQUIRE(found.what.find(defect.source) != std::string::npos);
                REQUIRE(found.place.find("of 512 bytes allocated at 0x") != std::string::npos);
            }
}

TEST_CASE("memory that the host has written, and copies of what nothing wrote, are silent", "[check][init]") {
    for (const Variant target : variants())
        for (const char* level : kCompiled) {
            for (const Compiled& defect : kMemoryDefects) {
                INFO(defect.kernel << " on " << name_of(target) << " at -" << level);
                Checked gpu{target, Check::init};
                run_on_new_memory(gpu, level, defect.kernel, true);
                INFO(gpu.text());
                REQUIRE(gpu.rules().empty());
            }
            Checked gpu{target, Check::init};
            run_on_new_memory(gpu, level, "silent_copy", false);
            INFO(gpu.text());
            REQUIRE(gpu.rules().empty());
        }
}

TEST_CASE("bytes that end within a dword may be those of the pattern", "[check][init]") {
    on_each_build([](Variant target, const char* level) {
        Checked gpu{target, Check::init};
        auto* in = gpu.machine.allocate<std::uint32_t>(16);
        auto* out = gpu.machine.allocate<std::uint32_t>(64);
        kfdemu::check::fill_fresh(reinterpret_cast<std::byte*>(in), reinterpret_cast<std::uint64_t>(in), 64);
        gpu.machine.session.fresh_memory = true;
        std::fill(in, in + 7, 0);  // and byte 28 has its value, too
        const CodeObject code = gpu.load("unwritten", level);
        require_finished(code.try_launch("memory_bytes", {.grid = {28}, .group = {28}}, in, out), level);
        INFO(gpu.text());
        CHECK(gpu.rules().empty());
        require_finished(code.try_launch("memory_bytes", {.grid = {32}, .group = {32}}, in, out), level);
        CHECK(gpu.rules() == Rules{"stored"});
    });
}

TEST_CASE("of a load that a buffer's end cuts, each dword has its own undefined bits", "[check][init]") {
    for (const Variant target : variants())
        for (const bool third : {false, true}) {
            Checked gpu{target, Check::init};
            auto* in = gpu.machine.allocate<std::uint32_t>(4);
            auto* out = gpu.machine.allocate<std::uint32_t>(64);
            kfdemu::check::fill_fresh(reinterpret_cast<std::byte*>(in), reinterpret_cast<std::uint64_t>(in), 16);
            in[0] = in[1] = 7;
            gpu.machine.session.fresh_memory = true;
            const char* kernel = third ? "cut_third" : "cut_first";
            require_finished(gpu.load("memory").try_launch(kernel, {.grid = {64}, .group = {64}}, in, out), kernel);
            INFO(kernel << "\n" << gpu.text());
            REQUIRE(gpu.rules() == (third ? Rules{"stored"} : Rules{}));
        }
}
