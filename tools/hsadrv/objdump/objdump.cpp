// hsadrv objdump: the command line and the sequence of steps.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "hsadrv/error.hpp"
#include "tools/hsadrv/objdump/agents.hpp"
#include "tools/hsadrv/objdump/chosen.hpp"
#include "tools/hsadrv/objdump/disassembly.hpp"
#include "tools/hsadrv/objdump/extraction.hpp"
#include "tools/hsadrv/objdump/input.hpp"
#include "tools/hsadrv/objdump/options.hpp"
#include "tools/hsadrv/objdump/report_json.hpp"
#include "tools/hsadrv/objdump/text.hpp"
#include "tools/hsadrv/objdump/words.hpp"
#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {
namespace objdump {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw tools::Failure(exit_status::usage, why); }

/// "64", "16,16" or "8,8,4"; also with x as the separator, as printed. The limits are checked later, as for a launch.
hsadrv::Dim3 parse_workgroup(std::string_view text) {
    const std::string given(text);
    std::uint32_t sizes[3] = {1, 1, 1};
    for (std::uint32_t& size : sizes) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
        if (error != std::errc{}) break;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty()) return {sizes[0], sizes[1], sizes[2]};
        if (text.size() < 2 || (text.front() != ',' && text.front() != 'x')) break;
        text.remove_prefix(1);
    }
    refuse(fmt::format("--workgroup {}: wanted are one to three numbers, such as 256 or 16,16", given));
}

Contents contents_of(const std::string& file) {
    try {
        return read_contents(input_name(file), read_input(file));
    } catch (const hsadrv::Error& error) {
        return unreadable(input_name(file), error.what());
    }
}

void tell(const std::string& where, const std::string& error) {
    std::fprintf(stderr, "hsadrv: %s: %s\n", printable(where).c_str(), printable(error).c_str());
}

/// Prints the errors of files; true if there are none.
bool good_files(const std::vector<Contents>& all) {
    bool good = true;
    for (const Contents& contents : all) {
        if (contents.error.empty()) continue;
        tell(fmt::format("'{}'", contents.name), contents.error);
        good = false;
    }
    return good;
}

/// The same for entries of bundles.
bool good_entries(const Facts& facts) {
    bool good = true;
    for (const FileFacts& file : facts.files) {
        for (const EntryFacts& entry : file.entries) {
            if (entry.entry->error.empty()) continue;
            tell(fmt::format("'{}', entry '{}'", file.contents.name, entry.entry->id), entry.entry->error);
            good = false;
        }
    }
    return good;
}

void disassemble(Facts& facts, const Options& options) {
    const Disassembler disassembler;
    for (FileFacts& file : facts.files) {
        for (EntryFacts& entry : file.entries) {
            if (!entry.entry->code) continue;
            std::vector<std::string> symbols;
            for (const KernelFacts& kernel : entry.kernels)
                if (!options.kernel.empty())
                    symbols.push_back(kernel.kernel->symbol.substr(0, kernel.kernel->symbol.size() - 3));
            entry.disassembly = disassembler.list(entry.entry->bytes, symbols);
        }
    }
    facts.disassembled = true;
}

int run(const Options& options, Session& session) {
    if (std::count(options.files.begin(), options.files.end(), "-") > 1)
        refuse("- twice: standard input can be read once");
    std::vector<Contents> contents;
    for (const std::string& file : options.files) contents.push_back(contents_of(file));
    const bool readable = good_files(contents);
    Facts facts = choose(std::move(contents), options);
    ask_agents(facts, session);
    if (options.disassemble) disassemble(facts, options);
    if (!options.extract.empty()) extract(facts, options.extract);
    session.print(session.json ? json_text(as_json(facts)) : as_text(facts, options, session.terminal));
    return good_entries(facts) && readable ? exit_status::done : exit_status::files;
}

}  // namespace
}  // namespace objdump

Run declare_objdump(tools::CommandSyntax& command) {
    using namespace objdump;
    struct Given {
        Options options;
        std::string workgroup;
    };
    auto given = std::make_shared<Given>();
    Options& options = given->options;
    command.options = {
        {"FILE",
         &options.files,
         "code objects, bundles of them, or programs with device code; - is standard input",
         {.value = "FILE", .required = true}},
        {"--kernel", &options.kernel, "only this kernel, with its arguments", {.value = "NAME"}},
        {"--target", &options.target, "only code for this target, such as gfx90a:xnack-", {.value = "TARGET"}},
        {"--workgroup",
         &given->workgroup,
         "compute the occupancy for this work-group. Default: 256, or what the kernel allows",
         {.value = "N[,N,N]"}},
        {"--lds", &options.dynamic_lds_bytes, "compute the occupancy for this much dynamic LDS", {.value = "BYTES"}},
        {"-v,--verbose", &options.verbose, "show every kernel with its arguments"},
        {"-d,--disassemble", &options.disassemble, "show the instructions, by llvm-objdump"},
        {"--extract", &options.extract, "write each code object to a file in this folder", {.value = "FOLDER"}}};
    return [given](Session& session) {
        if (!given->workgroup.empty()) given->options.workgroup = parse_workgroup(given->workgroup);
        return run(given->options, session);
    };
}

}  // namespace hsadrv_tool
