#include "tools/hsadrv/bench/run.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "hsadrv/mem_pool.hpp"
#include "hsadrv/optional_api.hpp"
#include "tools/common/environment.hpp"
#include "tools/hsadrv/bench/report_json.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/bench/sizes.hpp"
#include "tools/hsadrv/bench/svg_plot.hpp"
#include "tools/hsadrv/bench/terminal_plot.hpp"

namespace hsadrv_bench {
namespace {

std::string rounds_note(const BenchReport& report) {
    return fmt::format(
        "median, p5 and p95 of n samples: {} of each row or as many as {} allow, after {} warm-ups; rows "
        "that are "
        "compared take turns (A B B A).",
        report.samples_wanted, time_text(report.seconds_limit * 1e9), report.warmup);
}

/// Memory that can be allocated without swapping; all memory if the kernel does not report it.
std::uint64_t host_available_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    std::uint64_t kib = 0;
    for (std::string rest; file >> key >> kib; std::getline(file, rest))
        if (key == "MemAvailable:") return kib << 10;
    struct sysinfo all{};
    return sysinfo(&all) == 0 ? std::uint64_t{all.totalram} * all.mem_unit : UINT64_MAX;
}

}  // namespace

BenchRun::BenchRun(hsadrv_tool::Session& session, const CommonOptions& options, const char* benchmark)
    : session_(session), options_(options) {
    if (!options.svg.empty()) svg_.emplace(options.svg);
    session_.device = options.device;
    gpu_ = session_.gpu(driver_);
    report_.benchmark = benchmark;
    report_.device = gpu_.label();
    report_.device_product = gpu_.product_name();
    report_.device_uuid = gpu_.uuid();
    report_.runtime = hsadrv::runtime_version_text();
    report_.sdma_variable = tools::variable("HSA_ENABLE_SDMA");
    report_.warmup = options.sampling.warmup;
    report_.samples_wanted = options.sampling.samples;
    report_.seconds_limit = options.sampling.seconds;
    report_.notes.push_back(rounds_note(report_));
}

void BenchRun::measure_group(const std::vector<Case>& cases) {
    const auto between = [&](const Row& row, Stage stage) {
        stop_.check();
        progress_.say(fmt::format("{}: {} of {} rows; {}{}", report_.benchmark, report_.rows.size(), rows_expected_,
                                  title_of(row), stage == Stage::verifying ? ": verifying" : ""));
    };
    const std::vector<Row> rows = measure(cases, options_.sampling, between);
    report_.rows.insert(report_.rows.end(), rows.begin(), rows.end());
}

int BenchRun::finish() {
    stop_.check();
    progress_.clear();
    const std::vector<Chart> charts = charts_of(report_);
    if (svg_) {
        const std::string picture = svg_plot(charts);
        svg_->write(std::as_bytes(std::span(picture)));
        svg_->commit();
    }
    if (options_.json) {
        session_.print(hsadrv_tool::json_text(as_json(report_)));
    } else if (options_.csv) {
        session_.print(as_csv(report_));
    } else {
        std::string text = as_table(report_, session_.terminal);
        if (options_.plot)
            for (const Chart& chart : charts) text += "\n" + terminal_plot(chart, session_.terminal);
        session_.print(text);
    }
    return report_.all_right() ? hsadrv_tool::exit_status::done : hsadrv_tool::exit_status::not_right;
}

void require_pool(const hsadrv::MemPool& pool, std::uint64_t bytes, const std::string& what) {
    const std::uint64_t size = pool.size_bytes();
    const std::uint64_t free = pool.available_bytes().value_or(size);
    if (bytes > free)
        refuse_usage(fmt::format("{} needs {} of {}, which has {}{}", what, size_text(bytes), pool.label(),
                                 size_text(size),
                                 free < size ? fmt::format(", {} of them free", size_text(free)) : ""));
}

void require_host(std::uint64_t bytes, const std::string& what) {
    if (const std::uint64_t free = host_available_bytes(); bytes > free)
        refuse_usage(fmt::format("{} needs {} of the host's memory, of which {} are available", what, size_text(bytes),
                                 size_text(free)));
}

std::optional<Mismatch> compare(const std::string& where, const void* got, const void* wanted, std::size_t size_bytes) {
    if (std::memcmp(got, wanted, size_bytes) == 0) return std::nullopt;
    const auto* const is = static_cast<const unsigned char*>(got);
    const auto* const should = static_cast<const unsigned char*>(wanted);
    const auto at = static_cast<std::size_t>(std::mismatch(is, is + size_bytes, should).first - is);
    return Mismatch{fmt::format("{}, byte {} of {}", where, at, size_bytes), fmt::format("0x{:02x}", is[at]),
                    fmt::format("0x{:02x}", should[at])};
}

void fill_pattern(void* to, std::size_t size_bytes, std::uint32_t seed) {
    auto* bytes = static_cast<unsigned char*>(to);
    std::uint32_t word = seed * 0x9e3779b9u + 1;
    for (std::size_t at = 0; at < size_bytes; at += sizeof word) {
        std::memcpy(bytes + at, &word, std::min(sizeof word, size_bytes - at));
        word += 0x9e3779b9u;  // odd, so that the period is 2^32 words
    }
}

}  // namespace hsadrv_bench
