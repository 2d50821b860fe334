#include "tools/hsadrv/objdump/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tools/common/kernel_report.hpp"
#include "tools/hsadrv/objdump/kernel_text.hpp"
#include "tools/hsadrv/objdump/words.hpp"

namespace hsadrv_tool::objdump {
namespace {

using hsadrv::CodeObject;
using tools::wrapped;

constexpr std::size_t columns = 100;

/// Not needed for a single kernel, whose details contain the same.
bool has_table(const Options& options) { return options.kernel.empty(); }

std::string places(const std::set<std::string>& targets) { return fmt::format("{}", fmt::join(targets, ", ")); }

/// "kernels.hsaco: a plain bundle for gfx900, gfx90a, 11 KiB"; empty if the file is a code object.
std::string bundle_text(const FileFacts& file, std::size_t index) {
    const Contents& contents = file.contents;
    const Bundle& bundle = contents.bundles[index];
    std::set<std::string> targets;
    for (const Entry& entry : contents.entries)
        if (entry.bundle == index)
            if (const auto target = entry.target()) targets.insert(target->name());
    std::string text = kind_text(bundle);
    text += targets.empty() ? " without code for AMD's GPUs" : " for " + places(targets);
    text += ", " + tools::size_text(bundle.size_bytes);
    if (bundle.unpacked_bytes) text += fmt::format(" ({} unpacked)", tools::size_text(bundle.unpacked_bytes));
    if (!bundle.section.empty()) text += fmt::format(", at {} in {}", bundle.offset_bytes, bundle.section);
    return text;
}

std::string file_text(const FileFacts& file) {
    const Contents& contents = file.contents;
    if (contents.bundles.empty()) return "";
    const std::string size = tools::size_text(contents.size_bytes);
    std::string text;
    if (!contents.host.empty())
        text += wrapped(contents.name + ": ",
                        fmt::format("{} with {} bundle{} for GPUs, {}", contents.host, contents.bundles.size(),
                                    contents.bundles.size() == 1 ? "" : "s", size),
                        columns);
    for (std::size_t i = 0; i < contents.bundles.size(); ++i) {
        const std::string which = contents.host.empty() ? contents.name + ": " : fmt::format("  {}. ", i + 1);
        text += wrapped(which, bundle_text(file, i), columns);
    }
    return text + "\n";
}

std::string heading(const FileFacts& file, const EntryFacts& facts) {
    const Entry& entry = *facts.entry;
    std::string name = file.contents.name;
    if (file.contents.bundles.size() > 1) name += fmt::format(" ({})", entry.bundle.value_or(0) + 1);
    if (!entry.code) return fmt::format("{}: '{}', {}", name, entry.id, tools::size_text(entry.bytes.size()));
    return fmt::format("{} for {}: {}, code object V{}", name, entry.code->target.name(),
                       tools::size_text(entry.bytes.size()), entry.code->version);
}

std::string answers_text(const Facts& facts, const EntryFacts& entry) {
    std::string loads, text;
    for (const Answer& answer : entry.answers) {
        const std::string& label = facts.agents[answer.agent].label;
        if (answer.why_not.empty())
            loads += (loads.empty() ? "" : ", ") + label;
        else
            text += wrapped("  not on     ", fmt::format("{}: {}", label, answer.why_not), columns);
    }
    return (loads.empty() ? "" : wrapped("  loads on   ", loads, columns)) + text;
}

std::string names_text(const char* head, const std::vector<std::string>& names, const char* suffix = "") {
    return names.empty() ? "" : wrapped(head, fmt::format("{}{}", fmt::join(names, ", "), suffix), columns);
}

std::string symbols_text(const CodeObject& code) {
    std::vector<std::string> variables;
    for (const hsadrv::VariableFacts& variable : code.variables)
        variables.push_back(fmt::format("{} ({}{})", variable.name, tools::size_text(variable.size_bytes),
                                        variable.read_only ? ", read only" : ""));
    std::string text = names_text("  variables  ", variables);
    text += names_text("  functions  ", code.functions);
    text += names_text("  needs      ", code.undefined, ": from another code object, or from the program");
    for (const std::string& format : code.printf_formats)
        text += wrapped("  printf     ", fmt::format("{:?}", format), columns);
    if (!code.has_symbol_table) text += "  stripped   what is not needed for loading has no name\n";
    return text;
}

std::string kernels_text(const EntryFacts& entry, const Options& options) {
    if (entry.kernels.empty()) return "  no kernels\n";
    std::string text;
    if (has_table(options)) text += kernel_table(entry.kernels, columns);
    for (const KernelFacts& kernel : entry.kernels) {
        if (options.verbose || !has_table(options))
            text += "\n" + kernel_detail(kernel, columns);
        else
            text += kernel_notes(kernel, "  ", columns);
    }
    return text;
}

std::string listings_text(const EntryFacts& entry) {
    std::string text;
    for (const Listing& listing : entry.disassembly) {
        text += fmt::format("\n  {}:\n", listing.symbol);
        for (const std::string& line : listing.lines) text += "    " + line + "\n";
    }
    return text;
}

std::string entry_text(const Facts& facts, const EntryFacts& entry, const Options& options) {
    std::string text;
    if (!entry.written_to.empty()) text += wrapped("  written to ", entry.written_to, columns);
    if (!entry.entry->code) return text + wrapped("  broken     ", entry.entry->error, columns);
    text += answers_text(facts, entry) + symbols_text(*entry.entry->code) + kernels_text(entry, options);
    if (facts.disassembled) text += entry.disassembly.empty() ? "\n  no code to disassemble\n" : listings_text(entry);
    return text;
}

/// Explains the figures of the tables.
std::string legend(const Facts& facts, const Options& options) {
    const bool table =
        has_table(options) && std::any_of(facts.files.begin(), facts.files.end(), [](const FileFacts& file) {
            return std::any_of(file.entries.begin(), file.entries.end(),
                               [](const EntryFacts& entry) { return !entry.kernels.empty(); });
        });
    std::string text;
    if (table)
        text += wrapped(
            "",
            fmt::format("Waves are those that a SIMD holds at once, of the most it can, for work-groups of {}{}.",
                        options.workgroup ? options.workgroup->text() : "256 work-items or what the kernel takes",
                        options.dynamic_lds_bytes
                            ? fmt::format(" with {} bytes of LDS sized at launch", *options.dynamic_lds_bytes)
                            : ""),
            columns);
    if (!facts.no_agent.empty())
        text += wrapped("", "No agent here to load code objects on: " + facts.no_agent, columns);
    return text;
}

}  // namespace

std::string as_text(const Facts& facts, const Options& options, const Terminal& terminal) {
    std::string text;
    for (const FileFacts& file : facts.files) {
        if (!file.contents.error.empty()) continue;
        text += terminal.paint(Ink::heading, printable(file_text(file)));
        for (const EntryFacts& entry : file.entries) {
            text += terminal.paint(Ink::heading, printable(heading(file, entry))) + "\n";
            text += printable(entry_text(facts, entry, options)) + "\n";
        }
    }
    return text + printable(legend(facts, options));
}

}  // namespace hsadrv_tool::objdump
