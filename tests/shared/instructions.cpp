// The instructions that clang emits for the device headers, in the assembly of the kernels.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

namespace {

std::vector<std::string> targets() {
    std::vector<std::string> names;
    std::istringstream list(TARGETS);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
}

/// Read once: some are megabytes long.
const std::string& assembly(const std::string& source, const std::string& level, const std::string& target) {
    static std::map<std::string, std::string> texts;
    const std::string path = KERNEL_DIR "/" + source + "." + level + "." + target + ".s";
    std::string& text = texts[path];
    if (!text.empty()) return text;
    std::ifstream file(path);
    INFO(path);
    REQUIRE(file);
    text = (std::ostringstream() << file.rdbuf()).str();
    return text;
}

/// The lines of one kernel, from its label to its end; of clang 22's OpenCL C those of the function that it calls at
/// -O0.
std::string kernel(const std::string& text, const std::string& name) {
    std::size_t start = text.find("\n__clang_ocl_kern_imp_" + name + ":");
    if (start == std::string::npos) start = text.find("\n" + name + ":");
    REQUIRE(start != std::string::npos);
    return text.substr(start, text.find("\n.Lfunc_end", start) - start);
}

/// One of the texts between the bars.
bool has_any(const std::string& body, const std::string& texts) {
    std::istringstream list(texts);
    for (std::string text; std::getline(list, text, '|');)
        if (body.find(text) != std::string::npos) return true;
    return false;
}

/// In GFX11's names.
std::string on_gfx11(std::string texts) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {{"ds_write2", "ds_store_2addr"},
                                                                       {"ds_write", "ds_store"},
                                                                       {"ds_read", "ds_load"},
                                                                       {"ds_wrxchg", "ds_storexchg"},
                                                                       {"ds_cmpst_", "ds_cmpstore_"},
                                                                       {"_add_x2 ", "_add_u64 "},
                                                                       {"atomic_add ", "atomic_add_u32 "},
                                                                       {"_umin ", "_min_u32 "},
                                                                       {"_smax_x2 ", "_max_i64 "},
                                                                       {"atomic_and ", "atomic_and_b32 "},
                                                                       {"atomic_or ", "atomic_or_b32 "},
                                                                       {"atomic_xor ", "atomic_xor_b32 "},
                                                                       {"_cmpswap_x2 ", "_cmpswap_b64 "},
                                                                       {"atomic_swap ", "atomic_swap_b32 "}};
    for (const auto& [old, now] : names)
        for (std::size_t at = 0; (at = texts.find(old, at)) != texts.npos; at += now.size())
            texts.replace(at, old.size(), now);
    return texts;
}

/// An atomic that returns the old value.
bool gives_back(const std::string& body, const std::string& instruction) {
    for (std::size_t at = body.find(instruction); at != std::string::npos; at = body.find(instruction, at + 1)) {
        const std::string line = body.substr(at, body.find('\n', at) - at);
        if (line.ends_with(" glc") || line.ends_with(" sc0")) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("device functions become the instructions that their headers name", "[device]") {
    struct Row {
        const char* source;
        const char* kernel;
        const char* texts;            ///< one of them
        const char* of_rdna = texts;  ///< where waves have 32 lanes
    };
    const Row rows[] = {
        {"device_cpp", "reverse", "\ts_barrier"},
        {"device_cpp", "reverse", "\tds_write"},
        {"device_cpp", "reverse", "\tds_read"},
        {"device_cpp", "dynamic_arrays", "\ts_barrier"},
        {"device_cpp", "dynamic_arrays", "\tds_write_b8"},
        {"device_cpp", "dynamic_arrays", "\tds_write_b64|\tds_write2"},
        {"device_cpp", "atomics", "\tds_add_u32|\tds_add_rtn_u32"},
        {"device_cpp", "atomics", "\tglobal_atomic_add |\tflat_atomic_add "},
        {"device_cpp", "atomics", "\tglobal_atomic_add_x2 |\tflat_atomic_add_x2 "},
        {"device_cl", "reverse", "\ts_barrier"},
        {"device_cl", "reverse", "\tds_write"},
        {"device_cl", "dynamic_arrays", "\tds_read_b32"},
        {"device_cl", "atomics", "\tds_add_u32|\tds_add_rtn_u32"},
        {"device_cl", "atomics", "\tglobal_atomic_add |\tflat_atomic_add "},
        {"atomics_cpp", "atomics_u32", "\tds_min_u32|\tds_min_rtn_u32"},
        {"atomics_cpp", "atomics_i32", "\tds_max_i32|\tds_max_rtn_i32"},
        {"atomics_cpp", "atomics_u64", "\tds_and_b64|\tds_and_rtn_b64"},
        {"atomics_cpp", "atomics_u64", "\tds_or_b64|\tds_or_rtn_b64"},
        {"atomics_cpp", "atomics_u64", "\tds_xor_b64|\tds_xor_rtn_b64"},
        {"atomics_cpp", "atomics_i64", "\tds_wrxchg_rtn_b64"},
        {"atomics_cpp", "atomics_u32", "\tds_cmpst_rtn_b32"},
        {"atomics_cpp", "atomics_u32", "\tglobal_atomic_umin |\tflat_atomic_umin "},
        {"atomics_cpp", "atomics_i64", "\tglobal_atomic_smax_x2 |\tflat_atomic_smax_x2 "},
        {"atomics_cpp", "atomics_u32", "\tglobal_atomic_and |\tflat_atomic_and "},
        {"atomics_cpp", "atomics_u32", "\tglobal_atomic_or |\tflat_atomic_or "},
        {"atomics_cpp", "atomics_u32", "\tglobal_atomic_xor |\tflat_atomic_xor "},
        {"atomics_cpp", "atomics_u32", "\tglobal_atomic_swap |\tflat_atomic_swap "},
        {"atomics_cpp", "atomics_u64", "\tglobal_atomic_cmpswap_x2 |\tflat_atomic_cmpswap_x2 "},
        {"atomics_cpp", "atomics_f32", "\tds_add_f32|\tds_add_rtn_f32"},
        {"atomics_cl", "atomics_u32", "\tds_min_u32|\tds_min_rtn_u32"},
        {"atomics_cl", "atomics_i64", "\tds_max_i64|\tds_max_rtn_i64"},
        {"atomics_cl", "atomics_u32", "\tds_cmpst_rtn_b32"},
        {"atomics_cl", "atomics_u64", "\tglobal_atomic_cmpswap_x2 |\tflat_atomic_cmpswap_x2 "},
        {"atomics_cl", "atomics_f32", "\tds_add_f32|\tds_add_rtn_f32"},
        {"wave_cpp", "permutes_u32", "\tds_permute_b32"},
        {"wave_cpp", "permutes_u32", "\tds_bpermute_b32"},
        {"wave_cpp", "lanes", "\tv_readlane_b32"},
        {"wave_cpp", "lanes", "\tv_readfirstlane_b32"},
        {"wave_cpp", "lanes", "\tv_mbcnt_hi_u32_b32", "\tv_mbcnt_lo_u32_b32"},
        {"wave_cpp", "reductions_i32", " row_shr:8 "},
        {"wave_cpp", "reductions_i32", " row_bcast:15 row_mask:0xa", "\tv_readlane_b32"},
        {"wave_cpp", "reductions_i32", " row_bcast:31 row_mask:0xc", "\tv_readlane_b32"},
        {"wave_cl", "permutes_f64", "\tds_permute_b32"},
        {"wave_cl", "permutes_f64", "\tds_bpermute_b32"},
        {"wave_cl", "reductions_f32", " row_bcast:31 row_mask:0xc", "\tv_readlane_b32"},
        {"device_cpp", "pass_message", "\tbuffer_wbinvl1_vol|\tbuffer_inv sc1", "\tbuffer_gl1_inv"},
        {"device_cpp", "fences", "\ts_waitcnt vmcnt(0)"},
        {"arrays_cpp", "transpose", "\ts_barrier"},
        {"arrays_cpp", "write_one", "\ts_trap 2"},
    };
    for (const std::string& target : targets()) {
        for (const char* level : {"O0", "O2"}) {
            for (const Row& row : rows) {
                const std::string named = target.starts_with("gfx9") ? row.texts : row.of_rdna;
                const std::string texts = target.starts_with("gfx11") ? on_gfx11(named) : named;
                CAPTURE(target, level, row.source, row.kernel, texts);
                const std::string body = kernel(assembly(row.source, level, target), row.kernel);
                CHECK(has_any(body, texts));
            }
        }
    }
}

TEST_CASE("gfx90a has its own instructions for floating-point sums and for memory shared with the host", "[device]") {
    for (const std::string& target : targets()) {
        if (target != "gfx90a") continue;
        for (const char* level : {"O0", "O2"}) {
            CAPTURE(level);
            const std::string& text = assembly("atomics_cpp", level, target);
            const std::string fences = kernel(assembly("device_cpp", level, target), "fences");
            const std::size_t written = fences.find("\tbuffer_wbl2\n");
            REQUIRE(written != std::string::npos);
            CHECK(fences.find("buffer_invl2", written) != std::string::npos);
            CHECK(gives_back(kernel(text, "atomics_f32"), "\tglobal_atomic_add_f32 "));
            CHECK(gives_back(kernel(text, "atomics_f64"), "\tglobal_atomic_add_f64 "));
            CHECK(has_any(kernel(text, "atomics_f64"), "\tds_add_f64|\tds_add_rtn_f64"));
        }
    }
}

TEST_CASE("optimised kernels access memory in its address space, never with flat instructions", "[device]") {
    for (const std::string& target : targets()) {
        for (const char* source : {"atomics_cpp", "atomics_cl", "device_cpp", "device_cl", "wave_cpp", "wave_cl"}) {
            CAPTURE(target, source);
            const std::string& text = assembly(source, "O2", target);
            CHECK(text.find("\tflat_load") == std::string::npos);
            CHECK(text.find("\tflat_store") == std::string::npos);
            CHECK(text.find("\tflat_atomic") == std::string::npos);
            CHECK(text.find("s_swappc") == std::string::npos);
        }
    }
}
