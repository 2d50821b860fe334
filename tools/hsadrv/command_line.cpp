#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "subcommands.hpp"
#include "tools/common/nearest.hpp"
#include "tools/common/standard_streams.hpp"

namespace hsadrv_tool {
namespace {

bool is_subcommand(std::string_view word) {
    const auto all = subcommands();
    return std::any_of(all.begin(), all.end(),
                       [&](const Subcommand& subcommand) { return word == subcommand.name; });
}

std::vector<std::string> names_of_all() {
    std::vector<std::string> names;
    for (const Subcommand& subcommand : subcommands()) names.emplace_back(subcommand.name);
    return names;
}

[[noreturn]] void refuse_none() {
    throw tools::Failure(exit_status::usage,
                         fmt::format("say a subcommand: there are {}\nhsadrv --help tells what they do",
                                     fmt::join(names_of_all(), ", ")));
}

[[noreturn]] void refuse_word(const std::string& word) {
    const std::vector<std::string> names = names_of_all();
    const std::string near = tools::nearest(word, names);
    const std::string meant = near.empty() ? "" : fmt::format(": did you mean {}?", near);
    throw tools::Failure(exit_status::usage, fmt::format("there is no subcommand '{}'{}; there are {}", word,
                                                         meant, fmt::join(names, ", ")));
}

}  // namespace

CLI::Option* add_device_option(CLI::App& app, std::string& device, const char* by_default) {
    return app
        .add_option(
            "--device", device,
            fmt::format("the GPU: a number from 0, a UUID, a PCI address or a name. Default: {}", by_default))
        ->type_name("GPU");
}

CLI::Option* add_json_option(CLI::App& app, bool& json) {
    return app.add_flag("--json", json, "print JSON: man hsadrv tells how it is laid out");
}

void declare_all(CLI::App& app, Session& session, std::function<void(CLI::App&, Run)> found) {
    app.require_subcommand(0, 1);  // what is missing, refuse_none() says better
    app.get_formatter()->column_width(32);
    app.set_version_flag("--version", "hsadrv " HSADRV_VERSION);
    app.footer(
        "hsadrv SUBCOMMAND --help tells its options; man hsadrv-SUBCOMMAND the rest.\n"
        "Without an AMD GPU: kfdemu run -- hsadrv SUBCOMMAND\n"
        "Environment: ROCR_VISIBLE_DEVICES, the GPUs to be seen; NO_COLOR; TMPDIR.\n"
        "Exit status: 0 all is well, 1 something is not (doctor, test, bench), 2 wrong options, 3 no such "
        "GPU,\n"
        "4 a file cannot be read or written, 5 the HSA runtime refused.");
    for (const Subcommand& subcommand : subcommands()) {
        CLI::App* const own = app.add_subcommand(subcommand.name, subcommand.summary);
        own->get_formatter()->column_width(32);
        const Run run = subcommand.declare(*own);
        if (subcommand.takes_device) add_device_option(*own, session.device, subcommand.default_device);
        if (subcommand.prints_json) add_json_option(*own, session.json);
        found(*own, run);
    }
}

Run parse_command_line(int argc, char** argv, Session& session) {
    CLI::App app{"hsadrv: what AMD GPUs this machine has, why they do not work, and how fast they are",
                 "hsadrv"};
    std::vector<std::pair<CLI::App*, Run>> runs;
    declare_all(app, session, [&](CLI::App& own, Run run) { runs.emplace_back(&own, std::move(run)); });
    // The library would only say that the word was not expected.
    if (argc > 1 && argv[1][0] != '-' && !is_subcommand(argv[1])) refuse_word(argv[1]);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::string name = "hsadrv";
        for (const CLI::App* parsed = &app; !parsed->get_subcommands().empty();) {
            parsed = parsed->get_subcommands().front();
            name += " " + parsed->get_name();
        }
        if (error.get_exit_code() != 0)
            throw tools::Failure(exit_status::usage,
                                 fmt::format("{}\n{} --help lists the options", error.what(), name));
        std::ostringstream text;
        app.exit(error, text, text);
        tools::print_or_fail(text.str());
        throw Finished{};
    }
    for (const auto& [own, run] : runs)
        if (own->parsed()) return run;
    refuse_none();
}

}  // namespace hsadrv_tool
