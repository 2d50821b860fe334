#include "tests/kfdemu/check/checked.hpp"

namespace check_test {

Checked::Checked(Target target, Check check) : machine{target} {
    machine.session = {};
    machine.session.checks.set(check);
    machine.session.report = &report;
    machine.session.allocations = &allocations;
}

CodeObject Checked::load(const std::string& source) { return machine.load(source, "asm"); }

CodeObject Checked::load(const std::string& source, const std::string& level) {
    return machine.load_file(std::string{KFDEMU_TEST_KERNELS "/"} + source + "." + level + "." +
                             kfdemu::isa::name(machine.target()) + ".hsaco");
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
