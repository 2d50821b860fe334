// hsadrv trace: a program's calls of the HSA runtime and its GPU's work, as a file that ui.perfetto.dev opens.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "tools/common/pending_file.hpp"
#include "tools/hsadrv/subcommands.hpp"
#include "tools/hsadrv/trace/report.hpp"
#include "tools/hsadrv/trace/traced_program.hpp"

namespace hsadrv_tool {
namespace trace {
namespace {

struct Given {
    std::string file = "trace.pftrace", limit;
    bool ring = false;
    std::vector<std::string> command;
    Run report;  ///< hsadrv trace report
};

struct ReportOptions {
    std::string file, svg;
    bool json = false, all = false;
};

std::string content_of(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    std::ostringstream content;
    content << in.rdbuf();
    if (!in) throw tools::Failure(exit_status::files, fmt::format("cannot read '{}'", file));
    return content.str();
}

::trace::Events events_of(const std::string& file) {
    ::trace::Events events = ::trace::read_trace(content_of(file));
    if (events.processes.empty())
        throw tools::Failure(exit_status::files, fmt::format("'{}' is not a trace of hsadrv trace", file));
    return events;
}

/// "64M", "2G"; without a unit, bytes.
std::uint64_t parse_limit(const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
    constexpr std::uint64_t least = 1 << 20;
    if (error != std::errc{} || (!unit.empty() && shift == 0) || number > ~std::uint64_t{0} >> (shift + 1) ||
        number << shift < least)
        throw tools::Failure(exit_status::usage,
                             fmt::format("--limit {}: wanted is a size of 1M or more, such as 64M or 2G", text));
    return number << shift;
}

void tell(const std::string& file) {
    if (!std::filesystem::exists(file)) {
        fmt::print(stderr, "hsadrv: no trace: the program did not start the HSA runtime\n");
        return;
    }
    const ::trace::Summary summary = ::trace::summarize(events_of(file));
    fmt::print(stderr,
               "hsadrv: {}: {} dispatches, {} copies; ui.perfetto.dev opens it, hsadrv trace report {} sums it up\n",
               file, summary.dispatches, summary.copies, file);
}

int run(const Given& given) {
    if (given.command.empty())
        throw tools::Failure(exit_status::usage,
                             "trace: missing program: hsadrv trace [-o FILE] -- PROGRAM ARGUMENT...");
    TraceOptions options{.file = given.file, .ring = given.ring};
    if (!given.limit.empty()) options.limit_bytes = parse_limit(given.limit);
    const int status = run_traced(given.command, options);
    tell(given.file);
    return status;
}

int report(const ReportOptions& options, Session& session) {
    const ::trace::Events events = events_of(options.file);
    if (!options.svg.empty()) {
        const std::string drawing = as_svg(events);
        tools::PendingFile file(options.svg);
        file.write(std::as_bytes(std::span(drawing)));
        file.commit();
    }
    const ::trace::Summary summary = ::trace::summarize(events);
    if (options.json)
        session.print(json_text(as_json(summary)));
    else if (options.svg.empty())
        session.print(as_text(summary, session.terminal, options.all ? 0 : 12));
    return exit_status::done;
}

Run declare_report(tools::CommandSyntax& command) {
    auto options = std::make_shared<ReportOptions>();
    command.options = {{"FILE", &options->file, "a trace", {.value = "FILE", .required = true}},
                       {"--json", &options->json, "print JSON (docs/schema/trace.v1.json)"},
                       {"--svg", &options->svg, "draw the work of each queue over time as SVG", {.value = "FILE"}},
                       {"--all", &options->all, "all kernels and calls, not only those that took the longest"}};
    return [options](Session& session) { return report(*options, session); };
}

}  // namespace
}  // namespace trace

Run declare_trace(tools::CommandSyntax& command) {
    using namespace trace;
    auto given = std::make_shared<Given>();
    command.options = {
        {"-o,--output", &given->file, "the file to write", {.value = "FILE", .shows_default = true}},
        {"--limit", &given->limit, "the file's most bytes: later events are left out. Default: 1G", {.value = "SIZE"}},
        {"--ring", &given->ring, "leave out the earlier events instead: the last half of the limit, or more, is kept"}};
    command.program = &given->command;
    tools::CommandSyntax own{.name = "report", .summary = "sum up a trace: kernels, copies, gaps, latencies, calls"};
    own.when_chosen = [given, run = declare_report(own)] { given->report = run; };
    command.subcommands.push_back(std::move(own));
    command.footer =
        "hsadrv trace -- PROGRAM ARGUMENT... runs any program of the HSA runtime: HIP, OpenCL, OpenMP, hsadrv.\n"
        "hsadrv trace report --help lists the report's options.";
    return [given](Session& session) { return given->report ? given->report(session) : run(*given); };
}

}  // namespace hsadrv_tool
