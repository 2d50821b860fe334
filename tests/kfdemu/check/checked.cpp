#include "tests/kfdemu/check/checked.hpp"

#include <utility>

#include "tools/kfdemu/isa/rows/traits.hpp"

namespace check_test {

std::vector<Variant> variants() {
    std::vector<Variant> result;
    for (const Target target : targets()) {
        result.emplace_back(target);
        if (kfdemu::isa::traits_of(target).wave32) result.emplace_back(target, true);
    }
    return result;
}

std::string name_of(const Variant& variant) {
    return std::string{kfdemu::isa::name(variant.target)} + (variant.wide ? "w64" : "");
}

namespace {

constexpr std::pair<std::string_view, std::string_view> kOnGfx11[] = {
    {"_short_d16_hi ", "_d16_hi_b16 "},
    {"_dwordx4 ", "_b128 "},
    {"_dwordx2 ", "_b64 "},
    {"_dword ", "_b32 "},
    {"store_byte ", "store_b8 "},
    {"ds_read_", "ds_load_"},
    {"ds_read2_", "ds_load_2addr_"},
    {"ds_write_", "ds_store_"},
    {"atomic_add ", "atomic_add_u32 "},
    {"src_vccz", "src_scc"},
};

}  // namespace

std::string spelled(const Variant& variant, std::string instruction) {
    const auto replace = [&](std::string_view from, std::string_view to) {
        if (const auto at = instruction.find(from); at != instruction.npos) instruction.replace(at, from.size(), to);
    };
    if (!kfdemu::isa::traits_of(variant).wave32) return instruction;
    replace("v_add_u32", "v_add_nc_u32");
    replace("RETURNS", "glc");
    const bool gfx11 = kfdemu::isa::traits_of(variant).gfx11_numbers;
    for (const auto& [old, now] : kOnGfx11)
        if (gfx11) replace(old, now);
    if (kfdemu::isa::traits_of(variant).gfx12_names) replace("s_add_u32", "s_add_co_u32");
    if (variant.wide) return instruction;
    replace("saveexec_b64", "saveexec_b32");
    replace(gfx11 ? "b64 vcc" : "dwordx2 vcc", gfx11 ? "b32 vcc" : "dword vcc");
    replace(" vcc", " vcc_lo");
    return instruction;
}

bool has_one_scope(const Variant& target) {
    const kfdemu::isa::Traits& traits = kfdemu::isa::traits_of(target);
    return traits.workgroup_processors && !traits.dlc_misses && !traits.temporal_hints;
}

Checked::Checked(Variant of, Check check) : variant{of}, machine{of} {
    machine.session = {};
    machine.session.checks.set(check);
    machine.session.report = &report;
    machine.session.allocations = &allocations;
}

CodeObject Checked::load(const std::string& source) { return load(source, "asm"); }

CodeObject Checked::load(const std::string& source, const std::string& level) {
    const std::string name = name_of(variant);
    const std::string build = level == "asm" ? name + ".asm" : level + "." + name;
    return machine.load_file(std::string{KFDEMU_TEST_KERNELS "/"} + source + "." + build + ".hsaco");
}

CodeObject Checked::load_dispatch(const std::string& source, const std::string& level) {
    return machine.load_built(KFDEMU_DISPATCH_KERNELS, source, level);
}

Rules Checked::rules() const {
    Rules result;
    for (const Finding& finding : report.findings()) result.emplace_back(finding.rule);
    return result;
}

std::string Checked::text() const {
    std::string all;
    for (const Finding& finding : report.findings()) all += to_text(finding);
    return all;
}

Outcome run_groups(Checked& gpu, const CodeObject& code, const std::string& kernel, unsigned threads) {
    std::vector<std::uint32_t> values(256);
    for (std::uint32_t n = 0; n < 256; ++n) values[n] = n * 7 + 4;
    auto* in = gpu.machine.copy(values);
    auto* out = gpu.machine.allocate<std::uint32_t>(4096);
    return code.try_launch(kernel, {.grid = {1024}, .group = {128}, .threads = threads}, in, out);
}

std::vector<Target> matrix_targets() {
    std::vector<Target> result;
    for (const Target target : targets())
        if (has_matrix(target)) result.push_back(target);
    return result;
}

std::vector<std::string> matrix_kernels(Target target) {
    std::vector<std::string> sizes{"By4", "By16", "By16Blocks", "By32", "By32Blocks"}, kernels{"parts"};
    if (target != Target::gfx908) sizes.insert(sizes.end(), {"Doubles", "SmallDoubles"});
    if (target == Target::gfx942) sizes.insert(sizes.end(), {"Halves", "HalfBlocks", "Bytes", "Singles", "Sparse"});
    for (const std::string& size : sizes)
        for (const char* kernel : {"_chain", "_independent", "_factors", "_loop", "_branches", "_calls"})
            kernels.push_back(size + kernel);
    return kernels;
}

Outcome run_matrix(Checked& gpu, const CodeObject& code, const std::string& kernel, std::uint32_t turns) {
    auto* in = gpu.machine.allocate<float>(4096);
    auto* out = gpu.machine.allocate<float>(4096);
    return code.try_launch(kernel, {.grid = {64}, .group = {64}}, in, out, turns);
}

Outcome run_defect(Checked& gpu, const CodeObject& code, const std::string& kernel) {
    auto* in = gpu.machine.allocate<std::uint32_t>(128);
    auto* out = gpu.machine.allocate<std::uint32_t>(128);
    for (unsigned n = 0; n < 128; ++n) in[n] = 4 * (n % 64);  // also valid offsets
    return code.try_launch(kernel, {.grid = {64}, .group = {64}}, in, out);
}

}  // namespace check_test
