// What every benchmark does around its measuring: the device, the report's head, progress, Ctrl-C, the output.
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
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "sampler.hpp"
#include "session.hpp"
#include "stop_request.hpp"
#include "tools/common/pending_file.hpp"

namespace hsadrv_bench {

class BenchRun {
  public:
    BenchRun(hsadrv_tool::Session& session, const CommonOptions& options, const char* benchmark);

    const hsadrv::Driver& driver() const { return driver_; }
    hsadrv::AgentRef gpu() const { return gpu_; }
    BenchReport& report() { return report_; }

    /// For progress alone: how many rows there will be.
    void expect_rows(std::size_t count) { rows_expected_ = count; }
    void say(std::string_view text) { progress_.say(text); }
    void check_stop() const { stop_.check(); }

    /// Measures the cases in turns.
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

/// What is missing for so much memory, before it is asked for. Throws Failure(usage): `what` needs so many bytes of
/// the pool, or of the host, which have not so many.
void require_pool(const hsadrv::MemPool& pool, std::uint64_t bytes, const std::string& what);
void require_host(std::uint64_t bytes, const std::string& what);

/// The first byte that differs, as a Mismatch; nothing if none does. `where`: what begins at `got`.
std::optional<Mismatch> compare(const std::string& where, const void* got, const void* wanted, std::size_t size_bytes);

/// Words that differ from one another, and by seed.
void fill_pattern(void* to, std::size_t size_bytes, std::uint32_t seed);

}  // namespace hsadrv_bench
