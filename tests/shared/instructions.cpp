// What the device headers become: the instructions in the assembly that clang makes of the kernels.
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

std::vector<std::string> targets() {
    std::vector<std::string> names;
    std::istringstream list(TARGETS);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
}

std::string assembly(const std::string& source, const std::string& level, const std::string& target) {
    const std::string path = KERNEL_DIR "/" + source + "." + level + "." + target + ".s";
    std::ifstream file(path);
    INFO(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The lines of one kernel, from its label to its end.
std::string kernel(const std::string& text, const std::string& name) {
    const std::size_t start = text.find("\n" + name + ":");
    REQUIRE(start != std::string::npos);
    return text.substr(start, text.find("s_endpgm", start) - start);
}

}  // namespace

TEST_CASE("device functions become the instructions that their headers name", "[device]") {
    struct Row {
        const char* source;
        const char* kernel;
        const char* pattern;
    };
    const Row rows[] = {
        {"device_cpp", "reverse", "\ts_barrier"},
        {"device_cpp", "reverse", "\tds_write"},
        {"device_cpp", "reverse", "\tds_read"},
        {"device_cpp", "dynamic_arrays", "\ts_barrier"},
        {"device_cpp", "dynamic_arrays", "\tds_write_b8"},
        {"device_cpp", "dynamic_arrays", "\tds_write_b64|\tds_write2"},
        {"device_cpp", "atomics", "\tds_add_(rtn_)?u32"},
        {"device_cpp", "atomics", "\t(global|flat)_atomic_add "},
        {"device_cpp", "atomics", "\t(global|flat)_atomic_add_x2 "},
        {"device_cl", "reverse", "\ts_barrier"},
        {"device_cl", "reverse", "\tds_write"},
        {"device_cl", "dynamic_arrays", "\tds_read_b32"},
        {"device_cl", "atomics", "\tds_add_(rtn_)?u32"},
        {"device_cl", "atomics", "\t(global|flat)_atomic_add "},
        {"atomics_cpp", "atomics_u32", "\tds_min_(rtn_)?u32"},
        {"atomics_cpp", "atomics_i32", "\tds_max_(rtn_)?i32"},
        {"atomics_cpp", "atomics_u64", "\tds_and_(rtn_)?b64"},
        {"atomics_cpp", "atomics_u64", "\tds_or_(rtn_)?b64"},
        {"atomics_cpp", "atomics_u64", "\tds_xor_(rtn_)?b64"},
        {"atomics_cpp", "atomics_i64", "\tds_wrxchg_rtn_b64"},
        {"atomics_cpp", "atomics_u32", "\tds_cmpst_rtn_b32"},
        {"atomics_cpp", "atomics_u32", "\t(global|flat)_atomic_umin "},
        {"atomics_cpp", "atomics_i64", "\t(global|flat)_atomic_smax_x2 "},
        {"atomics_cpp", "atomics_u32", "\t(global|flat)_atomic_and "},
        {"atomics_cpp", "atomics_u32", "\t(global|flat)_atomic_or "},
        {"atomics_cpp", "atomics_u32", "\t(global|flat)_atomic_xor "},
        {"atomics_cpp", "atomics_u32", "\t(global|flat)_atomic_swap "},
        {"atomics_cpp", "atomics_u64", "\t(global|flat)_atomic_cmpswap_x2 "},
        {"atomics_cpp", "atomics_f32", "\tds_add_(rtn_)?f32"},
        {"atomics_cl", "atomics_u32", "\tds_min_(rtn_)?u32"},
        {"atomics_cl", "atomics_i64", "\tds_max_(rtn_)?i64"},
        {"atomics_cl", "atomics_u32", "\tds_cmpst_rtn_b32"},
        {"atomics_cl", "atomics_u64", "\t(global|flat)_atomic_cmpswap_x2 "},
        {"atomics_cl", "atomics_f32", "\tds_add_(rtn_)?f32"},
        {"wave_cpp", "permutes_u32", "\tds_permute_b32"},
        {"wave_cpp", "permutes_u32", "\tds_bpermute_b32"},
        {"wave_cpp", "lanes", "\tv_readlane_b32"},
        {"wave_cpp", "lanes", "\tv_readfirstlane_b32"},
        {"wave_cpp", "lanes", "\tv_mbcnt_hi_u32_b32"},
        {"wave_cpp", "reductions_i32", " row_shr:8 "},
        {"wave_cpp", "reductions_i32", " row_bcast:15 row_mask:0xa"},
        {"wave_cpp", "reductions_i32", " row_bcast:31 row_mask:0xc"},
        {"wave_cl", "permutes_f64", "\tds_permute_b32"},
        {"wave_cl", "permutes_f64", "\tds_bpermute_b32"},
        {"wave_cl", "reductions_f32", " row_bcast:31 row_mask:0xc"},
        {"device_cpp", "pass_message", "\tbuffer_wbinvl1_vol"},
        {"device_cpp", "fences", "\ts_waitcnt vmcnt\\(0\\)"},
        {"arrays_cpp", "transpose", "\ts_barrier"},
        {"arrays_cpp", "write_one", "\ts_trap 2"},
    };
    for (const std::string& target : targets()) {
        for (const char* level : {"O0", "O2"}) {
            for (const Row& row : rows) {
                CAPTURE(target, level, row.source, row.kernel, row.pattern);
                const std::string body = kernel(assembly(row.source, level, target), row.kernel);
                CHECK(std::regex_search(body, std::regex(row.pattern)));
            }
        }
    }
}

TEST_CASE("gfx90a has its own instructions for floating-point sums and for what the host sees", "[device]") {
    for (const std::string& target : targets()) {
        if (target != "gfx90a") continue;
        for (const char* level : {"O0", "O2"}) {
            CAPTURE(level);
            const std::string text = assembly("atomics_cpp", level, target);
            const std::string fences = kernel(assembly("device_cpp", level, target), "fences");
            CHECK(std::regex_search(fences, std::regex("\tbuffer_wbl2\n[^]*buffer_invl2")));
            CHECK(std::regex_search(kernel(text, "atomics_f32"), std::regex("\tglobal_atomic_add_f32 .* glc")));
            CHECK(std::regex_search(kernel(text, "atomics_f64"), std::regex("\tglobal_atomic_add_f64 .* glc")));
            CHECK(std::regex_search(kernel(text, "atomics_f64"), std::regex("\tds_add_(rtn_)?f64")));
        }
    }
}

TEST_CASE("optimised kernels reach memory in its own address space, never through flat instructions",
          "[device]") {
    for (const std::string& target : targets()) {
        for (const char* source : {"atomics_cpp", "atomics_cl", "device_cpp", "device_cl", "wave_cpp", "wave_cl"}) {
            CAPTURE(target, source);
            const std::string text = assembly(source, "O2", target);
            CHECK(text.find("\tflat_load") == std::string::npos);
            CHECK(text.find("\tflat_store") == std::string::npos);
            CHECK(text.find("\tflat_atomic") == std::string::npos);
            CHECK(text.find("s_swappc") == std::string::npos);
        }
    }
}
