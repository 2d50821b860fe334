// hsadrv test: the conformance suite, on the GPU that is chosen.
#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>
#include <memory>
#include <span>

#include "hsadrv/hsadrv.hpp"
#include "tools/common/environment.hpp"
#include "tools/common/pending_file.hpp"
#include "tools/common/split.hpp"
#include "tools/hsadrv/conformance/report.hpp"
#include "tools/hsadrv/conformance/runner.hpp"
#include "tools/hsadrv/conformance/suite.hpp"
#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {
namespace {

struct TestOptions {
    std::vector<std::string> areas, filters;
    bool list = false, fail_fast = false;
    unsigned timeout_s = 300;
    double stress_minutes = 0;
    std::string junit, checks;
};

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool is_wanted(const TestOptions& options, const TestResult& test) {
    const auto is_area = [&](const std::string& area) { return area == test.area; };
    const auto is_in_name = [&](const std::string& text) {
        return lower(test.name).find(lower(text)) != std::string::npos;
    };
    return (options.areas.empty() || std::any_of(options.areas.begin(), options.areas.end(), is_area)) &&
           (options.filters.empty() || std::any_of(options.filters.begin(), options.filters.end(), is_in_name));
}

void choose(const TestOptions& options, std::vector<TestResult>& tests) {
    std::erase_if(tests, [&](const TestResult& test) { return !is_wanted(options, test); });
    if (tests.empty())
        throw tools::Failure(exit_status::usage,
                             "no test is in the areas of --area and has a text of --filter in its name; "
                             "--list prints all names");
    const bool stress =
        std::any_of(tests.begin(), tests.end(), [](const TestResult& test) { return test.area == "stress"; });
    if (options.stress_minutes > 0 && !stress)
        throw tools::Failure(exit_status::usage,
                             "--stress repeats the area stress, of which --area and --filter leave nothing");
}

/// The value of ROCR_VISIBLE_DEVICES that selects only that GPU: its UUID, or its index among the visible GPUs if it
/// has none.
std::string visible_alone(const hsadrv::AgentRef& gpu, std::size_t index) {
    if (gpu.uuid() != "GPU-XX") return gpu.uuid();
    const std::vector<std::string> shown = tools::split(tools::variable("ROCR_VISIBLE_DEVICES"), ',');
    return index < shown.size() ? shown[index] : std::to_string(index);
}

/// The GPU. The runtime is shut down when this returns: the tests start their own.
TestedDevice look_at_device(const Session& session, RunnerOptions& options) {
    const hsadrv::Driver driver;
    const hsadrv::AgentRef gpu = session.gpu(driver);
    const auto& gpus = driver.gpus();
    const auto index = static_cast<std::size_t>(std::find(gpus.begin(), gpus.end(), gpu) - gpus.begin());
    if (!session.device.empty()) options.variables.emplace_back("ROCR_VISIBLE_DEVICES", visible_alone(gpu, index));
    return {static_cast<unsigned>(index), gpu.name(), gpu.product_name(), gpu.uuid(), hsadrv::runtime_version_text()};
}

/// The tests run under checks of kfdemu, whose findings fail them.
void add_checks(const std::string& checks, RunnerOptions& options) {
    if (checks.empty()) return;
    if (::dlsym(RTLD_DEFAULT, "kfdemu_get_control") == nullptr)
        throw tools::Failure(exit_status::usage,
                             "--check needs an emulated GPU: kfdemu run -- hsadrv test --check " + checks);
    std::string names = checks;
    std::replace(names.begin(), names.end(), ',', '+');  // a comma ends an option of KFDEMU
    options.variables.emplace_back("KFDEMU", tools::variable("KFDEMU") + ",check=" + names);
}

/// Under checks, kernels and packets take several times as long.
std::chrono::seconds time_limit(const TestOptions& options) {
    const bool checked = !options.checks.empty() || tools::variable("KFDEMU").find(",check") != std::string::npos;
    return std::chrono::seconds(options.timeout_s) * (checked ? 4 : 1);
}

std::string now_text() {
    const std::time_t now = std::time(nullptr);
    std::tm utc;
    char text[sizeof "2026-01-31T23:59:59Z"];
    gmtime_r(&now, &utc);
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

void print(const Session& session, const TestReport& report) {
    // All is done: from here SIGPIPE may end the process, as usual.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigprocmask(SIG_UNBLOCK, &pipe, nullptr);
    session.print(session.json    ? json_text(as_json(report))
                  : report.device ? as_text(report, session.terminal)
                                  : list_text(report));
}

int list(Session& session, TestReport& report) {
    for (TestResult& test : report.tests) test.message = "only listed";
    print(session, report);
    return exit_status::done;
}

int run(const TestOptions& options, Session& session) {
    const tools::Interruptions interruptions;
    Suite suite = find_suite(interruptions);
    choose(options, suite.tests);
    TestReport report;
    report.tests = std::move(suite.tests);
    if (options.list) return list(session, report);

    std::unique_ptr<tools::PendingFile> junit;
    if (!options.junit.empty()) junit = std::make_unique<tools::PendingFile>(options.junit);
    RunnerOptions how{time_limit(options), std::chrono::duration<double>(options.stress_minutes * 60),
                      options.fail_fast, std::strtoul(tools::variable("HSADRV_TEST_SEED").c_str(), nullptr, 10)};
    add_checks(options.checks, how);
    report.device = look_at_device(session, how);
    report.started = now_text();
    const auto start = std::chrono::steady_clock::now();
    try {
        Runner(suite.program, how, report, interruptions).run();
    } catch (const tools::Interrupted& interrupted) {
        report.interrupted_by = interrupted.signal;
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (junit) {
        const std::string xml = as_junit(report);
        junit->write(std::as_bytes(std::span(xml)));
        junit->commit();
    }
    print(session, report);
    if (report.interrupted_by) throw tools::Interrupted{report.interrupted_by};
    return count(report).failures() > 0 ? exit_status::not_right : exit_status::done;
}

}  // namespace

Run declare_test(tools::CommandSyntax& command) {
    auto options = std::make_shared<TestOptions>();
    command.options = {{"--area",
                        &options->areas,
                        "only tests of these areas; separated by commas, or repeated",
                        {.words = {areas.begin(), areas.end()}, .separator = ',', .takes_following_words = true}},
                       {"--filter",
                        &options->filters,
                        "only tests with this text in their name; may be repeated",
                        {.value = "TEXT", .takes_following_words = true}},
                       {"--list",
                        &options->list,
                        "print the tests by area without running them",
                        {.excludes = {"--stress", "--junit"}}},
                       {"--timeout",
                        &options->timeout_s,
                        "kill a test that takes longer than this; under checks, four times as long",
                        {.value = "SECONDS", .shows_default = true, .range = {{1, 86400}}}},
                       {"--stress",
                        &options->stress_minutes,
                        "repeat the area stress with new seeds for this long",
                        {.value = "MINUTES", .range = {{0.01, 10080}}}},
                       {"--check",
                        &options->checks,
                        "on an emulated GPU: run the tests under these checks of kfdemu, such as all or memory,wait",
                        {.value = "NAMES"}},
                       {"--junit", &options->junit, "also write JUnit XML", {.value = "FILE"}},
                       {"--fail-fast", &options->fail_fast, "stop after the first test that fails"}};
    command.footer = "Environment: HSADRV_TEST_SEED, the seed of the tests' random input (0).";
    return [options](Session& session) { return run(*options, session); };
}

}  // namespace hsadrv_tool
