#include "tools/kfdemu/count/listing.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tools/kfdemu/check/report/code_objects.hpp"
#include "tools/kfdemu/check/report/elf_symbols.hpp"
#include "tools/kfdemu/isa/text/disassemble.hpp"

namespace kfdemu::count {
namespace {

std::string name_of(const KernelTotal& kernel) {
    const std::string symbol =
        kernel.object ? check::function_at(kernel.object->bytes, kernel.entry - kernel.object->bias) : "";
    return symbol.empty() ? fmt::format("kernel object {:#x}", kernel.kernel_object) : check::readable(symbol);
}

ListedInstruction listed(const KernelTotal& kernel, const Counted& counted) {
    ListedInstruction result;
    result.text = isa::disassemble(kernel.target, counted.inst);
    result.kind = counted.kind, result.sums = counted.sums;
    result.offset = counted.inst.pc - (kernel.object ? kernel.object->bias : kernel.entry);
    if (!kernel.object) return result;
    check::Site site;
    site.pc = counted.inst.pc;
    locate(site, *kernel.object);
    result.function = check::readable(site.function), result.source = std::move(site.source);
    return result;
}

std::vector<ListedLine> lines_of(const std::vector<ListedInstruction>& instructions) {
    std::map<std::pair<std::string, std::uint32_t>, Sums> sums;
    for (const ListedInstruction& i : instructions)
        if (!i.source.empty()) sums[{i.source[0].file, i.source[0].line}] += i.sums;
    std::vector<ListedLine> lines;
    for (const auto& [where, sum] : sums) lines.push_back({where.first, where.second, sum});
    return lines;
}

}  // namespace

Listing list(std::int64_t process, const std::string& program, const std::vector<KernelTotal>& totals) {
    Listing listing{process, program, {}};
    for (const KernelTotal& total : totals) {
        ListedKernel& kernel = listing.kernels.emplace_back();
        kernel.name = name_of(total), kernel.kernel_object = total.kernel_object;
        kernel.dispatches = total.dispatches, kernel.groups = total.groups, kernel.waves = total.waves;
        kernel.lanes = total.lanes;
        for (const Counted& counted : total.instructions) {
            kernel.total += counted.sums;
            if (is_vector(counted.inst)) kernel.vector += counted.sums;
            kernel.executed[static_cast<std::size_t>(counted.kind)] += counted.sums.executions;
            kernel.instructions.push_back(listed(total, counted));
        }
        kernel.lines = lines_of(kernel.instructions);
    }
    return listing;
}

std::string some(std::uint64_t count) { return count == 0 ? "" : fmt::format("{}", count); }

std::string rounded(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : ""; }

std::string short_name(const std::string& file) { return file.substr(file.rfind('/') + 1); }

std::string place(const std::vector<check::Frame>& source) {
    return source.empty() ? "" : fmt::format("{}:{}", short_name(source[0].file), source[0].line);
}

}  // namespace kfdemu::count
