// BenchRun: what all benchmarks share: the device, the report's header, progress, Ctrl-C, the output.
//
//     BenchRun run(session, options, "copy");               // throws NoDevice; opens the --svg file
//     run.measure_group(cases);                             // into run.report().rows
//     return run.finish();                                  // prints; 1 if a result was wrong
//
// Owns: the reference to the runtime. Thread safety: one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hsadrv/driver.hpp"
#include "tools/common/pending_file.hpp"
#include "tools/hsadrv/bench/options.hpp"
#include "tools/hsadrv/bench/report.hpp"
#include "tools/hsadrv/bench/sampler.hpp"
#include "tools/hsadrv/progress.hpp"
#include "tools/hsadrv/session.hpp"
#include "tools/hsadrv/stop_request.hpp"

namespace hsadrv_bench {

class BenchRun {
  public:
    BenchRun(hsadrv_tool::Session& session, const CommonOptions& options, const char* benchmark);

    const hsadrv::Driver& driver() const { return driver_; }
    hsadrv::AgentRef gpu() const { return gpu_; }
    BenchReport& report() { return report_; }

    /// The number of rows, used only for progress.
    void expect_rows(std::size_t count) { rows_expected_ = count; }
    void say(std::string_view text) { progress_.say(text); }
    void check_stop() const { stop_.check(); }

    /// Samples the cases alternately.
    void measure_group(const std::vector<Case>& cases);

    int finish();

  private:
    hsadrv_tool::Session& session_;
    const CommonOptions& options_;
    std::optional<tools::PendingFile> svg_;
    hsadrv::Driver driver_;
    hsadrv::AgentRef gpu_;
    BenchReport report_;
    hsadrv_tool::StopRequest stop_;
    hsadrv_tool::Progress progress_;
    std::size_t rows_expected_ = 0;
};

/// Checks before an allocation that the pool, or the host, has enough memory. Throws Failure(usage) with what `what`
/// needs and what there is.
void require_pool(const hsadrv::MemPool& pool, std::uint64_t bytes, const std::string& what);
void require_host(std::uint64_t bytes, const std::string& what);

/// The first byte that differs; std::nullopt if none does. `where`: names the memory at `got`.
std::optional<Mismatch> compare(const std::string& where, const void* got, const void* wanted, std::size_t size_bytes);

/// A sequence of distinct words, which depends on the seed.
void fill_pattern(void* to, std::size_t size_bytes, std::uint32_t seed);

}  // namespace hsadrv_bench
