#include "tools/hsadrv/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/common/nearest.hpp"
#include "tools/common/standard_streams.hpp"
#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {
namespace {

bool is_subcommand(std::string_view word) {
    const auto all = subcommands();
    return std::any_of(all.begin(), all.end(), [&](const Subcommand& subcommand) { return word == subcommand.name; });
}

std::vector<std::string> names_of_all() {
    std::vector<std::string> names;
    for (const Subcommand& subcommand : subcommands()) names.emplace_back(subcommand.name);
    return names;
}

[[noreturn]] void refuse_none() {
    throw tools::Failure(
        exit_status::usage,
        fmt::format("missing subcommand: there are {}\nhsadrv --help describes them", fmt::join(names_of_all(), ", ")));
}

[[noreturn]] void refuse_word(const std::string& word) {
    const std::vector<std::string> names = names_of_all();
    const std::string near = tools::nearest(word, names);
    const std::string meant = near.empty() ? "" : fmt::format(": did you mean {}?", near);
    throw tools::Failure(exit_status::usage, fmt::format("there is no subcommand '{}'{}; there are {}", word, meant,
                                                         fmt::join(names, ", ")));
}

}  // namespace

tools::Option device_option(std::string& device, const char* by_default) {
    return {"--device",
            &device,
            fmt::format("the GPU: a number from 0, a UUID, a PCI address or a name. Default: {}", by_default),
            {.value = "GPU"}};
}

tools::Option json_option(bool& json) { return {"--json", &json, "print JSON; man hsadrv describes the format"}; }

tools::CommandSyntax whole_command(Session& session, Run& run) {
    tools::CommandSyntax whole{
        .name = "hsadrv",
        .summary = "hsadrv: inspect, diagnose, benchmark and test the AMD GPUs of this machine",
        .options = {{"--version", tools::Version{"hsadrv " HSADRV_VERSION_TEXT}, tools::version_option_help}},
        .names_columns = 32};
    whole.footer =
        "hsadrv SUBCOMMAND --help lists its options; man hsadrv-SUBCOMMAND describes it in full.\n"
        "Without an AMD GPU: kfdemu run -- hsadrv SUBCOMMAND\n"
        "Environment: ROCR_VISIBLE_DEVICES, the visible GPUs; NO_COLOR; TMPDIR.\n"
        "Exit status: 0 success, 1 a check failed (doctor, test, bench), 2 wrong options, 3 no such "
        "GPU,\n"
        "4 a file cannot be read or written, 5 the HSA runtime failed.";
    for (const Subcommand& subcommand : subcommands()) {
        tools::CommandSyntax own{.name = subcommand.name, .summary = subcommand.summary};
        own.when_chosen = [&run, own_run = subcommand.declare(own)] { run = own_run; };
        if (subcommand.takes_device) own.options.push_back(device_option(session.device, subcommand.default_device));
        if (subcommand.prints_json) own.options.push_back(json_option(session.json));
        whole.subcommands.push_back(std::move(own));
    }
    return whole;
}

Run parse_command_line(int argc, char** argv, Session& session) {
    Run run;
    const tools::CommandSyntax whole = whole_command(session, run);
    // The library's own message says only that the word was not expected.
    if (argc > 1 && argv[1][0] != '-' && !is_subcommand(argv[1])) refuse_word(argv[1]);
    const std::string text = tools::parse_command_line(whole, argc, argv);
    if (!text.empty()) {
        tools::print_or_fail(text);
        throw Finished{};
    }
    if (!run) refuse_none();
    return run;
}

}  // namespace hsadrv_tool
