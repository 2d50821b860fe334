// hsadrv doctor: finds out why there is no device, or why it does not work.
#include <fmt/format.h>

#include "tools/hsadrv/doctor/check_hsa.hpp"
#include "tools/hsadrv/doctor/report.hpp"
#include "tools/hsadrv/progress.hpp"
#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {
namespace doctor {
namespace {

struct DoctorOptions {
    bool verbose = false;
    unsigned timeout_seconds = 30;
    std::string probe;  ///< hidden: this process is a child; the query that it answers
};

/// The rows so far and the GPUs that were examined.
class Visit {
  public:
    Visit(std::chrono::seconds limit, const std::string& device) : limit_(limit), device_(device) {}

    Diagnosis diagnose() {
        Machine machine = look_at_machine();
        append(rows_, check_emulation(machine));
        append(rows_, check_kernel(machine));
        if (!obstacle(rows_)) append(rows_, take_opened(machine, hear("the device files", {"files"})));
        append(rows_, check_files(machine, rows_));
        append(rows_, check_surroundings(machine));
        append(rows_, check_libraries(machine));
        rows_.push_back(check_interface(machine, rows_));
        // A limit or a variable is reported as the cause only if it is the first fault.
        append(rows_, check_environment(machine));
        append(rows_, check_limits(machine));
        examine_runtime(machine);
        return conclude(std::move(rows_), examined_);
    }

  private:
    Heard hear(const std::string& what, const std::vector<std::string>& words) {
        progress_.say("asking " + what);
        Heard heard = ask(words, limit_, interruptions_);
        progress_.clear();
        return heard;
    }

    void examine_runtime(const Machine& machine) {
        if (const Row* cause = obstacle(rows_)) {
            const std::string why = because_of(*cause);  // of rows_, which grow
            rows_.push_back(skipped("start", "start of the runtime", why));
            rows_.push_back(skipped("agents", "GPUs of the runtime", why));
            return;
        }
        const Heard heard = hear("the runtime", {"runtime"});
        append(rows_, check_runtime(machine, heard));
        const std::vector<std::string> labels = labels_of(heard);
        if (const Row* cause = obstacle(rows_)) {
            rows_.push_back(skipped("examination", "what GPUs can do", because_of(*cause)));
            return;
        }
        for (std::size_t ordinal : chosen(labels.size())) {
            append(rows_,
                   check_gpu(hear(labels[ordinal], {"gpu", "--device", std::to_string(ordinal)}), labels[ordinal]));
            examined_.push_back(labels[ordinal]);
        }
    }

    /// The GPU of --device, or all.
    std::vector<std::size_t> chosen(std::size_t count) {
        if (device_.empty()) {
            std::vector<std::size_t> all(count);
            for (std::size_t i = 0; i < count; ++i) all[i] = i;
            return all;
        }
        const Heard heard = hear("which GPU " + device_ + " is", {"choice", "--device", device_});
        if (const Json* none = heard.find("no_such_gpu"))
            throw tools::Failure(exit_status::no_device,
                                 fmt::format("--device {}: {}", device_, none->get<std::string>()));
        if (const Json* unclear = heard.find("unclear"))
            throw tools::Failure(exit_status::usage,
                                 fmt::format("--device {}: {}", device_, unclear->get<std::string>()));
        if (const Json* ordinal = heard.find("chosen")) return {ordinal->get<std::size_t>()};
        throw tools::Failure(exit_status::runtime,
                             fmt::format("--device {}: the process that looked for it {}", device_,
                                         heard.how_it_ended().value_or("printed nothing")));
    }

    std::chrono::seconds limit_;
    std::string device_;
    tools::Interruptions interruptions_;
    Progress progress_;
    Rows rows_;
    std::vector<std::string> examined_;
};

int run_doctor(const DoctorOptions& options, Session& session) {
    const std::chrono::seconds limit(options.timeout_seconds);
    if (!options.probe.empty()) return answer(options.probe, session.device, limit);
    const Diagnosis diagnosis = Visit(limit, session.device).diagnose();
    session.print(session.json ? json_text(report_json(diagnosis))
                               : report_text(diagnosis, session.terminal, options.verbose));
    return diagnosis.healthy() ? exit_status::done : exit_status::not_right;
}

}  // namespace
}  // namespace doctor

Run declare_doctor(tools::CommandSyntax& command) {
    using namespace doctor;
    auto options = std::make_shared<DoctorOptions>();
    command.options = {{"--verbose", &options->verbose, "also print the evidence: paths, modes, numbers"},
                       {"--timeout",
                        &options->timeout_seconds,
                        "how long each query of the runtime may take. Default: 30",
                        {.value = "SECONDS", .range = {{1, 3600}}}},
                       {"--probe", &options->probe, "the query for a child of the doctor", {.hidden = true}}};
    command.footer =
        "Exit status: 0 every GPU works, 1 a fault was found (no GPU is one), 3 --device names no "
        "GPU.";
    return [options](Session& session) { return run_doctor(*options, session); };
}

}  // namespace hsadrv_tool
