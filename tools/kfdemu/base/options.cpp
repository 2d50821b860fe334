#include "tools/kfdemu/base/options.hpp"

#include <cstdlib>

#include "tools/kfdemu/base/parse_number.hpp"

namespace kfdemu {
namespace {

constexpr std::string_view kLevelNames[] = {"off", "error", "warning", "info", "debug"};

bool parse_level(std::string_view text, LogLevel& level) {
    for (unsigned i = 0; i < std::size(kLevelNames); ++i) {
        if (text != kLevelNames[i]) continue;
        level = static_cast<LogLevel>(i);
        return true;
    }
    return false;
}

std::string set(Options& options, std::string_view key, std::string_view value) {
    const std::string given = std::string{key} + "=" + std::string{value};
    if (key == "gpu") {
        if (!find_model(value)) return given + ": no such model; the models are " + model_names();
        options.model = value;
    } else if (key == "gpus") {
        if (!parse_number(value, options.gpus) || options.gpus < 1 || options.gpus > kMaxGpus)
            return given + ": expected a number from 1 to " + std::to_string(kMaxGpus);
    } else if (key == "partition") {
        if (value != "spx" && value != "cpx") return given + ": expected spx or cpx";
        options.partition = value == "spx" ? Partition::spx : Partition::cpx;
    } else if (key == "vram") {
        if (!parse_size(value, options.vram_bytes) || options.vram_bytes < (64u << 20) ||
            options.vram_bytes > (std::uint64_t{1} << 42))
            return given + ": expected a size from 64M to 4096G, such as 8G";
        options.vram_bytes &= ~std::uint64_t{4095};
    } else if (key == "vram-access") {
        if (value != "host" && value != "private") return given + ": expected host or private";
        options.behaviours.set(Behaviour::private_vram, value == "private");
    } else if (key == "workers") {
        if (!parse_number(value, options.workers) || options.workers > 256)
            return given + ": expected a number up to 256 (0: one per core)";
    } else if (key == "jit") {
        if (value != "on" && value != "off") return given + ": expected on or off";
        options.jit = value == "on";
    } else if (key == "waits") {
        if (value != "sleep" && value != "spin") return given + ": expected sleep or spin";
        options.waits_sleep = value == "sleep";
    } else if (key == "kfd") {
        const auto dot = value.find('.');
        if (dot == value.npos || !parse_number(value.substr(0, dot), options.kfd_major) ||
            !parse_number(value.substr(dot + 1), options.kfd_minor))
            return given + ": expected a version, such as 1.15";
    } else if (key == "seed") {
        if (!parse_number(value, options.seed)) return given + ": expected a number (0: unordered)";
    } else if (key == "fail") {
        auto failure = parse_failure(value);
        if (auto* error = std::get_if<std::string>(&failure)) return given + ": " + *error;
        options.failures.push_back(std::get<Failure>(failure));
    } else if (key == "defect") {
        auto defect = parse_defect(value);
        if (auto* error = std::get_if<std::string>(&defect)) return given + ": " + *error;
        options.defects.push_back(std::get<Defect>(defect));
    } else if (key == "hide") {
        unsigned gpu = 0;
        if (!parse_number(value, gpu) || gpu >= kMaxGpus) return given + ": expected the number of a GPU, from 0 to 7";
        options.hidden.push_back(gpu);
    } else if (key == "strict") {
        if (auto error = change(options.behaviours, value); !error.empty()) return given + ": " + error;
    } else if (key == "check") {
        if (auto error = add(options.checks, value); !error.empty()) return given + ": " + error;
    } else if (key == "check-report") {
        if (value.empty()) return given + ": expected the name of a file";
        options.check_report = value;
    } else if (key == "counters") {
        if (value.empty()) return given + ": expected the name of a file";
        options.counters = value;
    } else if (key == "suppress") {
        if (value.empty()) return given + ": expected the name of a file";
        options.suppressions.emplace_back(value);
    } else if (key == "check-first") {
        if (!parse_number(value, options.check_first)) return given + ": expected the number of a process";
    } else if (key == "check-limit") {
        if (!parse_number(value, options.check_limit)) return given + ": expected a number";
    } else if (key == "log") {
        if (!parse_level(value, options.log)) return given + ": expected off, error, warning, info or debug";
    } else {
        return given +
               ": no such option; the options are gpu, gpus, partition, vram, vram-access, kfd, workers, jit, waits, "
               "log, seed, "
               "hide, "
               "fail, "
               "defect, strict, check, check-report, suppress, check-limit, check-stop, counters";
    }
    return {};
}

/// The text up to a comma, without backslashes; removes both from `text`.
std::string take_word(std::string_view& text) {
    std::string word;
    while (!text.empty()) {
        if (text[0] == '\\' && text.size() > 1) {
            text.remove_prefix(1);
        } else if (text[0] == ',') {
            text.remove_prefix(1);
            break;
        }
        word += text[0];
        text.remove_prefix(1);
    }
    return word;
}

}  // namespace

bool parse_size(std::string_view text, std::uint64_t& bytes) {
    unsigned shift = 0;
    if (!text.empty()) {
        const std::string_view units = "KMGT";
        if (auto at = units.find(text.back()); at != units.npos) {
            shift = 10 * (static_cast<unsigned>(at) + 1);
            text.remove_suffix(1);
        }
    }
    std::uint64_t count = 0;
    if (!parse_number(text, count) || count > (~std::uint64_t{0} >> shift)) return false;
    bytes = count << shift;
    return true;
}

std::string escaped(std::string_view value) {
    std::string text;
    for (const char c : value) {
        if (c == ',' || c == '\\') text += '\\';
        text += c;
    }
    return text;
}

std::variant<Options, std::string> parse_options(std::string_view text) {
    Options options;
    bool private_vram = false;
    while (!text.empty()) {
        const std::string next = take_word(text);
        const std::string_view word = next;
        if (word.empty()) continue;
        private_vram |= word == "vram-access=private";
        if (word == "auto") {
            options.mode = Mode::automatic;
        } else if (word == "on") {
            options.mode = Mode::on;
        } else if (word == "off") {
            options.mode = Mode::off;
        } else if (word == "strict") {
            options.behaviours = Behaviours::all();
        } else if (word == "check") {
            options.checks = Checks::cheap();
        } else if (word == "check-stop") {
            options.check_stop = true;
        } else if (const auto equals = word.find('='); equals != word.npos) {
            if (auto error = set(options, word.substr(0, equals), word.substr(equals + 1)); !error.empty())
                return error;
        } else {
            return std::string{word} + ": expected auto, on, off, strict, check, check-stop or NAME=VALUE";
        }
    }
    if (private_vram && find_model(options.model)->integrated)
        return "vram-access=private: " + options.model + " is an APU, whose memory the host can access";
    if (!options.checks.any() && !options.check_report.empty())
        return "check-report=" + options.check_report + ": nothing is checked; add check or check=NAME";
    return options;
}

std::string options_of_environment() {
    const char *strict = std::getenv("KFDEMU_STRICT"), *text = std::getenv("KFDEMU");
    return (strict && *strict ? "strict=" + std::string{strict} + "," : "") + (text ? text : "");
}

std::string to_string(const Options& options) {
    constexpr std::string_view modes[] = {"auto", "on", "off"};
    // private_vram is written as vram-access=, which precedes strict=.
    Behaviours others = options.behaviours;
    if (others != Behaviours::all()) others.set(Behaviour::private_vram, false);
    const std::string strict = to_string(others);
    std::string failures = strict.empty() ? "" : ",strict=" + strict;
    for (unsigned gpu : options.hidden) failures += ",hide=" + std::to_string(gpu);
    for (const Failure& failure : options.failures) failures += ",fail=" + to_string(failure);
    for (const Defect& defect : options.defects) failures += ",defect=" + to_string(defect);
    if (options.checks.any()) failures += ",check=" + to_string(options.checks);
    if (!options.check_report.empty()) failures += ",check-report=" + escaped(options.check_report);
    for (const std::string& file : options.suppressions) failures += ",suppress=" + escaped(file);
    if (options.check_limit != Options{}.check_limit) failures += ",check-limit=" + std::to_string(options.check_limit);
    if (options.check_stop) failures += ",check-stop";
    if (!options.counters.empty()) failures += ",counters=" + escaped(options.counters);
    if (options.check_first != 0) failures += ",check-first=" + std::to_string(options.check_first);
    return std::string{modes[static_cast<int>(options.mode)]} + ",gpu=" + options.model +
           ",gpus=" + std::to_string(options.gpus) + (options.partition == Partition::cpx ? ",partition=cpx" : "") +
           (options.vram_bytes != 0 ? ",vram=" + std::to_string(options.vram_bytes) : "") +
           ",vram-access=" + (options.private_vram() ? "private" : "host") +
           ",kfd=" + std::to_string(options.kfd_major) + "." + std::to_string(options.kfd_minor) +
           ",workers=" + std::to_string(options.workers) + (options.jit ? "" : ",jit=off") +
           (options.waits_sleep ? "" : ",waits=spin") +
           ",log=" + std::string{kLevelNames[static_cast<int>(options.log)]} +
           (options.seed ? ",seed=" + std::to_string(options.seed) : "") + failures;
}

}  // namespace kfdemu
