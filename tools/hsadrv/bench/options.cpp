#include "options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "copy_direction.hpp"
#include "kernel_list.hpp"
#include "sizes.hpp"
#include "subcommand.hpp"
#include "tools/common/failure.hpp"

namespace hsadrv_bench {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw tools::Failure(tools::ExitStatus::usage, why); }

void conflict(bool is, std::string_view which, std::string_view why) {
    if (is) refuse(fmt::format("{} do not go together: {}", which, why));
}

void require_range(const char* option, double value, double least, double most) {
    if (!(value >= least && value <= most))
        refuse(fmt::format("{} {:g}: not from {:g} to {:.7g}", option, value, least, most));
}

CLI::Option* list(CLI::Option* option) { return option->allow_extra_args(false)->take_all()->delimiter(','); }

void declare_common(CLI::App& app, CommonOptions& options) {
    hsadrv_tool::add_device_option(app, options.device);
    app.add_option("--samples", options.sampling.samples, "samples of each row")
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--warmup", options.sampling.warmup, "samples before them that do not count")
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--seconds", options.sampling.seconds,
                   "no more samples of a row that has taken so long and has five")
        ->capture_default_str()
        ->type_name("SECONDS");
    app.add_option("--timeout", options.timeout_seconds,
                   "a sample that takes longer is an error: the device hangs")
        ->capture_default_str()
        ->type_name("SECONDS");
    app.add_flag("--csv", options.csv, "print CSV");
    hsadrv_tool::add_json_option(app, options.json);
    app.add_flag("--plot", options.plot, "draw the figures behind the table");
    app.add_option("--svg", options.svg, "write a drawing")->type_name("FILE");
}

void declare_sizes(CLI::App& app, std::string& sizes) {
    app.add_option("--sizes", sizes,
                   "sizes: a list such as 4K,1M,100, a range such as 4K..64M (each four times the one "
                   "before) or 4K..64M*2, or a list of both")
        ->capture_default_str()
        ->type_name("SIZES");
}

void declare_code_object(CLI::App& app, std::string& file) {
    app.add_option("--code-object", file, "take the kernels from there, not those that hsadrv brings along")
        ->type_name("FILE");
}

template <class Words>
void refuse_unknown(const char* option, const std::vector<std::string>& given, const Words& known) {
    for (const std::string& word : given) {
        if (std::any_of(known.begin(), known.end(), [&](const auto& one) { return word == one.word; }))
            continue;
        std::string all;
        for (const auto& one : known) all += (all.empty() ? "" : ", ") + std::string(one.word);
        refuse(fmt::format("{} {}: there is no such; there are {}", option, word, all));
    }
}

}  // namespace

void declare(CLI::App& app, CopyOptions& options) {
    declare_common(app, options);
    app.add_option("--peer", options.peer, "the other GPU, as with --device. Default: the first other one")
        ->type_name("GPU");
    declare_sizes(app, options.sizes);
    list(app.add_option("--direction", options.directions,
                        "from where to where; may be repeated. Default: all of them"))
        ->type_name("TEXT:{" + direction_words() + "}");
    app.add_option(
           "--engine", options.engine,
           "the DMA engine: a number from 0 to 31, all for a row each, or auto for the runtime's choice")
        ->capture_default_str()
        ->type_name("TEXT:{auto,all,0,1}");
}

void declare(CLI::App& app, LaunchOptions& options) {
    declare_common(app, options);
    app.add_option("--batch", options.batch, "launches of which the rate is taken")
        ->capture_default_str()
        ->type_name("N");
    app.add_flag("--instructions", options.instructions,
                 "count the calling thread's instructions for each launch, under valgrind");
    declare_code_object(app, options.code_object);
    app.add_option("--counted", options.counted)->group("");  // what --instructions runs under callgrind
}

void declare(CLI::App& app, AllocOptions& options) {
    declare_common(app, options);
    declare_sizes(app, options.sizes);
}

void declare(CLI::App& app, KernelOptions& options) {
    declare_common(app, options);
    list(
        app.add_option("--kernel", options.kernels, "what to measure; may be repeated. Default: all of them"))
        ->type_name("TEXT:{" + kernel_words() + "}");
    app.add_option("--size", options.size, "bytes of each array in global memory")
        ->capture_default_str()
        ->type_name("SIZE");
    declare_code_object(app, options.code_object);
}

EngineChoice parse_engine(const std::string& text) {
    if (text == "auto") return {EngineChoice::Kind::runtime, 0};
    if (text == "all") return {EngineChoice::Kind::all, 0};
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number > 31)
        refuse(fmt::format("--engine {}: auto, all or a number from 0 to 31", text));
    return {EngineChoice::Kind::one, number};
}

void check(const CommonOptions& options) {
    const Sampling& sampling = options.sampling;
    if (sampling.samples == 0) refuse("--samples 0: without a sample there is nothing to tell");
    require_range("--samples", sampling.samples, 1, 1'000'000);
    require_range("--warmup", sampling.warmup, 0, 1'000'000);
    require_range("--seconds", sampling.seconds, 0.001, 86'400);
    require_range("--timeout", options.timeout_seconds, 0.01, 86'400);
    conflict(options.csv && options.json, "--csv and --json", "standard output is one or the other");
    conflict(options.csv && options.plot, "--csv and --plot",
             "both go to standard output; --svg FILE draws beside CSV");
    conflict(options.json && options.plot, "--json and --plot",
             "both go to standard output; --svg FILE draws beside JSON");
}

void check(const CopyOptions& options) {
    check(static_cast<const CommonOptions&>(options));
    parse_sizes(options.sizes);
    refuse_unknown("--direction", options.directions, copy_directions());
    if (parse_engine(options.engine).kind == EngineChoice::Kind::runtime) return;
    for (const std::string& word : options.directions)
        conflict(!direction_of(word)->by_engine,
                 fmt::format("--engine {} and --direction {}", options.engine, word),
                 "no engine is asked for such a copy as a whole");
}

void check(const LaunchOptions& options) {
    check(static_cast<const CommonOptions&>(options));
    require_range("--batch", options.batch, 1, 512);
    conflict(options.instructions && !options.counted.empty(), "--instructions and --counted",
             "one runs the other");
}

void check(const KernelOptions& options) {
    check(static_cast<const CommonOptions&>(options));
    refuse_unknown("--kernel", options.kernels, kernel_list());
    if (parse_sizes(options.size, "--size").size() != 1)
        refuse(fmt::format("--size {}: one size", options.size));
}

}  // namespace hsadrv_bench
