// hsadrv bench launch: what a launch takes, by each way to launch.
#include <fmt/format.h>

#include <algorithm>

#include "hsadrv/error.hpp"
#include "tools/hsadrv/bench/declare.hpp"
#include "tools/hsadrv/bench/instructions.hpp"
#include "tools/hsadrv/bench/kernel_code.hpp"
#include "tools/hsadrv/bench/launch_ways.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/bench/run.hpp"

namespace hsadrv_bench {
namespace {

namespace exit_status = hsadrv_tool::exit_status;

constexpr const char* kernel_name = "bench_launch";

/// The kernel, and the memory that its launches write to.
struct Launching {
    Launching(hsadrv::AgentRef gpu, const LaunchOptions& options)
        : code(load_kernels(gpu, options.code_object)),
          memory(hsadrv::Allocation::from_pool(hsadrv::host_pool(), 4096)),
          target{gpu, kernel_of(code, kernel_name, options.code_object), memory.as<std::uint32_t>(), options.batch,
                 options.timeout()},
          ways(launch_ways(target)) {}

    hsadrv::Executable code;
    hsadrv::Allocation memory;
    LaunchTarget target;
    std::vector<std::unique_ptr<LaunchWay>> ways;
};

template <class Function>
auto without_hanging(const LaunchOptions& options, const LaunchWay& way, Function&& function) try {
    return function();
} catch (const hsadrv::Timeout& error) {
    throw tools::Failure(exit_status::runtime,
                         fmt::format("kernel {}, launched by {}: not complete after {} s, the device hangs: {}",
                                     kernel_name, way.name(), options.timeout_seconds, error.what()));
}

/// Every way launches with a distinct argument, which identifies the launch that wrote last.
std::uint64_t argument_of(std::size_t way) { return 1000 * (way + 1); }

Case make_case(Launching& launching, const LaunchOptions& options, std::size_t index, bool batch) {
    LaunchWay& way = *launching.ways[index];
    Case made;
    made.row.group = batch ? "batches" : "launch and wait";
    made.row.name = way.name();
    made.row.work = Work::launches;
    made.row.work_per_sample = batch ? options.batch : 1;
    made.row.reading = batch ? Reading::rate : Reading::time;
    made.sample = [&way, &options, index, batch] {
        return without_hanging(options, way, [&] {
            return time_ns([&] {
                batch ? way.launch_batch(argument_of(index)) : way.launch_one(argument_of(index));
                way.wait();
            });
        });
    };
    made.verify = [sample = made.sample, index, out = launching.target.out]() -> std::optional<Mismatch> {
        std::atomic_ref(*out).store(0);
        sample();
        const std::uint64_t got = std::atomic_ref(*out).load(), wanted = argument_of(index) + LaunchTarget::rest_sum;
        if (got == wanted) return std::nullopt;
        return Mismatch{"what the kernel stored", std::to_string(got), std::to_string(wanted)};
    };
    return made;
}

/// What callgrind watches.
int launch_counted(const LaunchOptions& options, hsadrv_tool::Session& session) {
    const hsadrv::Driver driver;
    session.device = options.device;
    Launching launching(session.gpu(driver), options);
    const auto way = std::find_if(launching.ways.begin(), launching.ways.end(),
                                  [&](const auto& one) { return options.counted == one->word(); });
    if (way == launching.ways.end())
        throw tools::Failure(exit_status::usage, fmt::format("--counted {}: there is no such way", options.counted));
    for (int i = 0; i < 3; ++i) {
        (*way)->launch_batch(1);
        (*way)->wait();
    }
    hsadrv_bench_counted([&] { (*way)->launch_batch(1); });
    (*way)->wait();
    return exit_status::done;
}

std::vector<std::string> way_words() { return {"raw", "stream", "graph"}; }

int run_launch(const LaunchOptions& options, hsadrv_tool::Session& session) {
    check(options);
    if (!options.counted.empty()) return launch_counted(options, session);
    std::map<std::string, double> instructions;
    if (options.instructions) {
        // Before the runtime starts: its threads would receive the signals that this waits for.
        hsadrv_tool::Progress progress;
        instructions = count_instructions(options, way_words(), progress);
    }
    BenchRun run(session, options, "launch");
    Launching launching(run.gpu(), options);
    BenchReport& report = run.report();
    report.baseline = launching.ways.front()->name();
    report.notes.push_back(
        fmt::format("launch+wait: one launch of 64 work-items with 56 bytes of arguments, and the wait for it. "
                    "launches/s: of {} launches and one wait. raw AQL: packets written by hand into a queue.",
                    options.batch));
    if (options.instructions)
        report.notes.push_back("instructions: of the calling thread for each launch of a batch, by callgrind.");
    run.expect_rows(2 * launching.ways.size());
    for (const bool batch : {false, true}) {
        std::vector<Case> cases;
        for (std::size_t i = 0; i < launching.ways.size(); ++i) {
            cases.push_back(make_case(launching, options, i, batch));
            const auto counted = instructions.find(launching.ways[i]->word());
            if (batch && counted != instructions.end()) cases.back().row.instructions = counted->second;
        }
        run.measure_group(cases);
    }
    return run.finish();
}

}  // namespace

hsadrv_tool::Run declare_launch(tools::CommandSyntax& command) { return declare_as(command, run_launch); }

}  // namespace hsadrv_bench
