#include "tools/hsadrv/bench/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tools/common/failure.hpp"
#include "tools/hsadrv/bench/copy_direction.hpp"
#include "tools/hsadrv/bench/kernel_list.hpp"
#include "tools/hsadrv/bench/sizes.hpp"
#include "tools/hsadrv/subcommand.hpp"

namespace hsadrv_bench {
namespace {

using tools::Option;
using tools::OptionTraits;

void conflict(bool is, std::string_view which, std::string_view why) {
    if (is) refuse_usage(fmt::format("{} cannot be combined: {}", which, why));
}

void require_range(const char* option, double value, double least, double most) {
    if (!(value >= least && value <= most))
        refuse_usage(fmt::format("{} {:g}: not from {:g} to {:.7g}", option, value, least, most));
}

std::vector<Option> common_options(CommonOptions& options) {
    const OptionTraits number{.value = "N", .shows_default = true};
    const OptionTraits seconds{.value = "SECONDS", .shows_default = true};
    return {hsadrv_tool::device_option(options.device),
            {"--samples", &options.sampling.samples, "samples per row", number},
            {"--warmup", &options.sampling.warmup, "warm-up samples per row, not counted", number},
            {"--seconds", &options.sampling.seconds, "stop sampling a row after this time, once it has five samples",
             seconds},
            {"--timeout", &options.timeout_seconds, "report a hang if a sample takes longer", seconds},
            {"--csv", &options.csv, "print CSV"},
            hsadrv_tool::json_option(options.json),
            {"--plot", &options.plot, "draw charts after the table"},
            {"--svg", &options.svg, "write the charts as SVG", {.value = "FILE"}}};
}

/// The common options, then the benchmark's own.
std::vector<Option> with(CommonOptions& common, std::initializer_list<Option> own) {
    std::vector<Option> all = common_options(common);
    all.insert(all.end(), own);
    return all;
}

Option sizes_option(std::string& sizes) {
    return {"--sizes",
            &sizes,
            "sizes: a list such as 4K,1M,100, a range such as 4K..64M (each four times the one "
            "before) or 4K..64M*2, or a list of both",
            {.value = "SIZES", .shows_default = true}};
}

Option code_object_option(std::string& file) {
    return {"--code-object", &file, "load the kernels from this file instead of the built-in ones", {.value = "FILE"}};
}

template <class Known>
std::vector<std::string> words_of(const Known& known) {
    std::vector<std::string> words;
    for (const auto& one : known) words.emplace_back(one.word);
    return words;
}

template <class Words>
void refuse_unknown(const char* option, const std::vector<std::string>& given, const Words& known) {
    for (const std::string& word : given) {
        if (std::any_of(known.begin(), known.end(), [&](const auto& one) { return word == one.word; })) continue;
        std::string all;
        for (const auto& one : known) all += (all.empty() ? "" : ", ") + std::string(one.word);
        refuse_usage(fmt::format("{} {}: unknown; expected one of {}", option, word, all));
    }
}

}  // namespace

std::vector<Option> options_of(CopyOptions& options) {
    return with(options,
                {{"--peer",
                  &options.peer,
                  "the second GPU, named as for --device. Default: the first other one",
                  {.value = "GPU"}},
                 sizes_option(options.sizes),
                 {"--direction",
                  &options.directions,
                  "source and destination; may be repeated. Default: all of them",
                  {.hints = words_of(copy_directions()), .separator = ','}},
                 {"--engine",
                  &options.engine,
                  "the DMA engine: a number from 0 to 31, all for one row per engine, or auto for the runtime's choice",
                  {.shows_default = true, .hints = {"auto", "all", "0", "1"}}}});
}

std::vector<Option> options_of(LaunchOptions& options) {
    return with(
        options,
        {{"--batch", &options.batch, "launches per sample of the launch rate", {.value = "N", .shows_default = true}},
         {"--instructions", &options.instructions,
          "count the calling thread's instructions per launch, under valgrind"},
         code_object_option(options.code_object),
         // --instructions runs this under callgrind.
         {"--counted", &options.counted, "", {.hidden = true}}});
}

std::vector<Option> options_of(AllocOptions& options) { return with(options, {sizes_option(options.sizes)}); }

std::vector<Option> options_of(KernelOptions& options) {
    return with(
        options,
        {{"--kernel",
          &options.kernels,
          "what to measure; may be repeated. Default: all of them",
          {.hints = words_of(kernel_list()), .separator = ','}},
         {"--size", &options.size, "bytes of each array in global memory", {.value = "SIZE", .shows_default = true}},
         code_object_option(options.code_object)});
}

void refuse_usage(const std::string& why) { throw tools::Failure(tools::ExitStatus::usage, why); }

EngineChoice parse_engine(const std::string& text) {
    if (text == "auto") return {EngineChoice::Kind::runtime, 0};
    if (text == "all") return {EngineChoice::Kind::all, 0};
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number > 31)
        refuse_usage(fmt::format("--engine {}: auto, all or a number from 0 to 31", text));
    return {EngineChoice::Kind::one, number};
}

void check(const CommonOptions& options) {
    const Sampling& sampling = options.sampling;
    if (sampling.samples == 0) refuse_usage("--samples 0: at least one sample is needed");
    require_range("--samples", sampling.samples, 1, 1'000'000);
    require_range("--warmup", sampling.warmup, 0, 1'000'000);
    require_range("--seconds", sampling.seconds, 0.001, 86'400);
    require_range("--timeout", options.timeout_seconds, 0.01, 86'400);
    conflict(options.csv && options.json, "--csv and --json", "standard output is one or the other");
    conflict(options.csv && options.plot, "--csv and --plot",
             "both go to standard output; use --svg FILE to draw with CSV");
    conflict(options.json && options.plot, "--json and --plot",
             "both go to standard output; use --svg FILE to draw with JSON");
}

void check(const CopyOptions& options) {
    check(static_cast<const CommonOptions&>(options));
    parse_sizes(options.sizes);
    refuse_unknown("--direction", options.directions, copy_directions());
    if (parse_engine(options.engine).kind == EngineChoice::Kind::runtime) return;
    for (const std::string& word : options.directions)
        conflict(!direction_of(word)->by_engine, fmt::format("--engine {} and --direction {}", options.engine, word),
                 "the runtime does not do such a copy on a single engine");
}

void check(const LaunchOptions& options) {
    check(static_cast<const CommonOptions&>(options));
    require_range("--batch", options.batch, 1, 512);
    conflict(options.instructions && !options.counted.empty(), "--instructions and --counted",
             "--instructions runs --counted");
}

void check(const KernelOptions& options) {
    check(static_cast<const CommonOptions&>(options));
    refuse_unknown("--kernel", options.kernels, kernel_list());
    if (parse_sizes(options.size, "--size").size() != 1)
        refuse_usage(fmt::format("--size {}: give exactly one size", options.size));
}

}  // namespace hsadrv_bench
