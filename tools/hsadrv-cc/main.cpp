// hsadrv-cc: compiles kernels for AMD GPUs with a clang that it finds, and reports the resources that they use.
#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "hsadrv/compile.hpp"
#include "hsadrv/compile/advice.hpp"
#include "tools/common/process.hpp"
#include "tools/hsadrv-cc/build.hpp"
#include "tools/hsadrv-cc/failure.hpp"
#include "tools/hsadrv-cc/options.hpp"
#include "tools/hsadrv-cc/report.hpp"
#include "tools/hsadrv-cc/targets.hpp"

namespace {

using namespace hsadrv_cc;
using tools::Interrupted;
using tools::Interruptions;

/// Returns the text to print at the end.
std::string work(const Options& options, const Interruptions& interruptions) {
    const Log log = [&](const std::string& line) {
        if (options.verbose) fmt::print(stderr, "{}\n", line);
    };
    std::vector<hsadrv::TargetId> targets = parse_targets(options.targets);
    if (targets.empty() && !options.print_clang) targets = targets_of_this_machine();
    if (options.assembly && targets.size() > 1) {
        throw Failure(ExitStatus::usage,
                      fmt::format("-S and {} targets do not go together: the output is one assembly file; "
                                  "name one target",
                                  targets.size()));
    }
    const hsadrv::detail::Ask ask = ask_with(interruptions);
    const Clang clang = hsadrv::detail::find_clang(
        {.clang = options.clang, .option = "--clang", .targets = targets, .bundles = makes_bundle(options, targets)},
        ask, log);
    if (!clang.unknown.empty())
        throw Failure(ExitStatus::usage,
                      fmt::format("--target: {} (version {}) {}", clang.path, clang.version, clang.unknown));
    if (options.print_clang) return clang.path + "\n";
    if (const std::string warning = hsadrv::detail::warning_on(clang.major, options.level); !warning.empty())
        fmt::print(stderr, "hsadrv-cc: warning: {}\n", warning);
    const Made made = build(options, targets, clang, interruptions, log);
    if (options.quiet || options.assembly || to_standard_output(options)) return "";
    return options.json ? as_json(made, options.workgroup) : as_table(made, options.workgroup);
}

/// Does not throw if standard error is closed.
int say(const char* text) {
    std::fprintf(stderr, "hsadrv-cc: %s\n", text);
    return static_cast<int>(ExitStatus::files);
}

}  // namespace

int main(int argc, char** argv) {
    std::optional<Interruptions> interruptions(std::in_place);
    try {
        const std::string report = work(parse_options(argc, argv), *interruptions);
        interruptions.reset();
        fmt::print("{}", report);
        if (std::fflush(stdout) != 0) return say("cannot write to standard output");
        return 0;
    } catch (const Finished&) {
        return 0;
    } catch (const Interrupted& interrupted) {
        interruptions.reset();
        tools::die_of(interrupted.signal);
    } catch (const hsadrv::NoCompiler& error) {
        say(error.what());
        return static_cast<int>(ExitStatus::no_clang);
    } catch (const tools::Failure& failure) {
        if (*failure.what()) say(failure.what());
        return failure.status();
    } catch (const std::exception& error) {
        return say(error.what());
    }
}
