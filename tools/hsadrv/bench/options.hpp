// The options of hsadrv bench: those that all benchmarks share, and those of each benchmark.
//
//     auto options = std::make_shared<CopyOptions>();
//     command.options = options_of(*options);
//     …
//     check(*options);                     // throws Failure(usage), naming the options that cannot be combined
//
// Plain data; check() is a pure function. Thread safety: values.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/command_line.hpp"
#include "tools/hsadrv/bench/sampler.hpp"

namespace hsadrv_bench {

struct CommonOptions {
    std::string device;
    Sampling sampling;
    double timeout_seconds = 60;  ///< for one sample
    bool csv = false, json = false, plot = false;
    std::string svg;

    std::chrono::nanoseconds timeout() const {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(timeout_seconds * 1e9));
    }
};

/// Which engine carries copies.
struct EngineChoice {
    enum class Kind { runtime, all, one };
    Kind kind = Kind::runtime;
    unsigned number = 0;  ///< of the selected engine
};

struct CopyOptions : CommonOptions {
    std::string peer;
    std::string sizes = "4K..64M";
    std::vector<std::string> directions;  ///< words; none: all that there are
    std::string engine = "auto";
};

struct LaunchOptions : CommonOptions {
    unsigned batch = 256;
    bool instructions = false;
    std::string code_object;
    std::string counted;  ///< in the run under callgrind: the way of launching
};

struct AllocOptions : CommonOptions {
    std::string sizes = "4K..64M";
};

struct KernelOptions : CommonOptions {
    std::vector<std::string> kernels;  ///< words; none: all
    std::string size = "64M";
    std::string code_object;
};

std::vector<tools::Option> options_of(CopyOptions& options);
std::vector<tools::Option> options_of(LaunchOptions& options);
std::vector<tools::Option> options_of(AllocOptions& options);
std::vector<tools::Option> options_of(KernelOptions& options);

void check(const CommonOptions& options);
void check(const CopyOptions& options);
void check(const LaunchOptions& options);
void check(const KernelOptions& options);

/// Throws Failure(usage).
[[noreturn]] void refuse_usage(const std::string& why);

EngineChoice parse_engine(const std::string& text);

}  // namespace hsadrv_bench
