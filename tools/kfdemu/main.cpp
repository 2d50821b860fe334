// The command kfdemu: `kfdemu run [options] -- PROGRAM…` runs a program on emulated GPUs by preloading libkfdemu.
#include <CLI/CLI.hpp>

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/kfdemu/base/companion.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/model.hpp"
#include "tools/kfdemu/base/options.hpp"
#include "tools/kfdemu/check/report/report_file.hpp"
#include "tools/kfdemu/count/write.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"

namespace fs = std::filesystem;

namespace {

constexpr int kUsage = 2;  ///< exit status for invalid options

/// The directory of this executable. Without /proc, taken from the path passed to execve().
fs::path program_folder() {
    std::error_code error;
    fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) program = fs::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)));
    return program.parent_path();
}

/// libkfdemu.so: next to this executable in a build directory, else in the installed library directory.
fs::path find_library() {
    const fs::path here = program_folder();
    for (const fs::path& folder : {here, here / KFDEMU_LIBRARY_FROM_BIN})
        if (fs::exists(folder / "libkfdemu.so")) return fs::canonical(folder / "libkfdemu.so");
    throw std::runtime_error{fmt::format("libkfdemu.so is not in {} or {}: build or install it first", here.string(),
                                         (here / KFDEMU_LIBRARY_FROM_BIN).lexically_normal().string())};
}

void preload(const fs::path& library) {
    const char* before = std::getenv("LD_PRELOAD");
    const std::string list = before && *before ? library.string() + ':' + before : library.string();
    setenv("LD_PRELOAD", list.c_str(), 1);
}

/// Its waits sleep (boundary/hsa_waits.cpp).
void add_waits(const fs::path& library) {
    const char* name = "libkfdemu-tool.so";
    const fs::path here = library.parent_path(), path = fs::exists(here / name) ? here / name : here / "tool" / name;
    if (fs::exists(path)) kfdemu::add_tool(path.string());
}

/// Replaces this process. Returns only on failure, with the exit status that a shell uses: 126 or 127.
int exec(std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    fmt::print(stderr, "kfdemu: cannot run {}: {}\n", command[0], std::strerror(error));
    return error == ENOENT ? 127 : 126;
}

/// The words after --, as they are: CLI11 would split "[a,b]".
void keep_words(std::vector<std::string>& command, int argc, char** argv) {
    char** const separator = std::find(argv, argv + argc, std::string_view{"--"});
    if (argv + argc - separator > 1 && command.front() == separator[1]) command.assign(separator + 1, argv + argc);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"kfdemu: an emulated AMD GPU below the unmodified HSA runtime"};
    app.require_subcommand(1);
    app.set_version_flag("--version", "kfdemu " KFDEMU_VERSION);
    app.footer(
        "Programs that link libkfdemu, or run under `kfdemu run`, read the environment variable KFDEMU:\n"
        "  KFDEMU=auto|on|off[,gpu=gfx90a][,gpus=2][,partition=cpx][,vram=8G][,vram-access=host|private][,kfd=1.15]\n"
        "         [,workers=2][,jit=off][,waits=spin][,log=info][,seed=7][,hide=0][,fail=allocation:3:ENOMEM]...\n"
        "         [,strict][,strict=NAME+no-NAME]\n"
        "         [,defect=interrupts:1-]...[,check][,check=NAME+NAME][,check-report=FILE]\n"
        "         [,suppress=FILE]...[,check-limit=100][,check-stop][,counters=FILE]\n"
        "auto emulates only if /dev/kfd cannot be opened.");

    auto* run = app.add_subcommand("run", "run a program on emulated GPUs; options override KFDEMU");
    const auto before = kfdemu::parse_options(kfdemu::options_of_environment());
    if (const auto* error = std::get_if<std::string>(&before)) {
        fmt::print(stderr, "kfdemu: KFDEMU: {}\n", *error);
        return kUsage;
    }
    auto options = std::get<kfdemu::Options>(before);
    options.mode = kfdemu::Mode::on;
    std::string partition, vram, kfd, jit, waits, log, strict, check_report, counters;
    bool private_vram = false;
    std::vector<std::string> failures, defects, suppressions, checks, command;
    run->add_option("--gpu", options.model, "model: " + kfdemu::model_names())
        ->check([](const std::string& name) {
            return kfdemu::find_model(name) ? "" : "no such model; the models are " + kfdemu::model_names();
        })
        ->capture_default_str();
    run->add_option("--gpus", options.gpus, "number of GPUs")
        ->check(CLI::Range(1u, kfdemu::kMaxGpus))
        ->capture_default_str();
    run->add_option("--partition", partition,
                    "how a GPU of several XCCs is shown: spx, as one GPU; cpx, each XCC as a GPU")
        ->check(CLI::IsMember({"spx", "cpx"}))
        ->default_str("spx");
    run->add_option("--vram", vram,
                    "memory of each GPU, such as 512M or 8G; only what is used is taken from the host (default: as the "
                    "model has, and 8G before gfx942)");
    run->add_flag("--private-vram", private_vram, "the host cannot access VRAM, as on a GPU without a large BAR");
    run->add_option("--kfd", kfd, "version of the KFD interface that is reported")->default_str("1.15");
    run->add_option("--workers", options.workers, "threads that execute waves (0: one per host core)")
        ->capture_default_str();
    run->add_option("--jit", jit, "translate hot vector code to the host's: on, off")
        ->check(CLI::IsMember({"on", "off"}))
        ->default_str("on");
    run->add_option("--waits", waits, "what waits that ask to spin do, which takes a core from the GPU: sleep, spin")
        ->check(CLI::IsMember({"sleep", "spin"}))
        ->default_str("sleep");
    run->add_option("--log", log, "messages on stderr: off, error, warning, info, debug")
        ->check(CLI::IsMember({"off", "error", "warning", "info", "debug"}))
        ->default_str("error");
    run->add_option("--seed", options.seed,
                    "run all work on one thread, in an order derived from this number (0: unordered)")
        ->capture_default_str();
    run->add_flag(
        "--strict{all}", strict,
        "emulate strict behaviours of real GPUs: all but torn-packet, --strict=NAME+NAME, or --strict=no-NAME to "
        "disable one: " +
            kfdemu::behaviour_names());
    run->add_flag("--check{cheap}", checks,
                  "report errors of kernels: all, cheap (the default), or names joined with commas: " +
                      kfdemu::check_names() + "; exit status 99 if there are any; may be repeated");
    run->add_option("--check-report", check_report, "write the findings of all processes to this file, as JSON");
    run->add_option(
           "--suppress", suppressions,
           "a file of findings that are not reported, one a line: CHECK:PATTERN, the pattern for a function or a "
           "source file; may be repeated")
        ->check(CLI::ExistingFile)
        ->expected(1)
        ->take_all();
    run->add_option("--check-limit", options.check_limit, "distinct findings that are printed")->capture_default_str();
    run->add_flag("--check-stop", options.check_stop, "end the program, with status 99, at the first finding");
    run->add_option("--counters", counters,
                    "count what kernels execute and access, and write it to this file: JSON if its name ends in .json, "
                    "a page if in .html, else text");
    run->add_option("--fail", failures,
                    "make driver calls fail: POINT:WHICH:ERROR, such as allocation:3:ENOMEM, ioctl/0x16:2-5:EIO, "
                    "mmap:1-:ENOMEM, scratch:1:ENOMEM; may be repeated")
        ->check([](const std::string& text) {
            const auto parsed = kfdemu::parse_failure(text);
            const auto* error = std::get_if<std::string>(&parsed);
            return error ? *error : std::string{};
        })
        ->expected(1)
        ->take_all();
    run->add_option(
           "--defect", defects,
           "make the device malfunction: interrupts:WHICH (lost), copies:WHICH (one wrong bit), dispatches:WHICH "
           "(never complete), queues, engines (take no packets); may be repeated")
        ->check([](const std::string& text) {
            const auto parsed = kfdemu::parse_defect(text);
            const auto* error = std::get_if<std::string>(&parsed);
            return error ? *error : std::string{};
        })
        ->expected(1)
        ->take_all();
    run->add_option("--hide", options.hidden, "number of a GPU (from 0) that the device cgroup denies; may be repeated")
        ->check(CLI::Range(0u, kfdemu::kMaxGpus - 1))
        ->expected(1)
        ->take_all();
    run->add_option("PROGRAM", command, "the program and its arguments, after --")->required();
    run->positionals_at_end();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kUsage;  // 0: --help, --version
    }
    keep_words(command, argc, argv);

    std::string text = kfdemu::to_string(options);
    if (private_vram) text += ",vram-access=private";
    for (const auto& [name, value] : {std::pair{"partition", partition},
                                      {"vram", vram},
                                      {"kfd", kfd},
                                      {"jit", jit},
                                      {"waits", waits},
                                      {"log", log},
                                      {"strict", strict}})
        if (!value.empty()) text += fmt::format(",{}={}", name, value);
    using kfdemu::escaped;
    for (const std::string& check : checks) text += ",check=" + escaped(check);
    if (!check_report.empty()) text += ",check-report=" + escaped(fs::absolute(check_report).string());
    for (const std::string& file : suppressions) text += ",suppress=" + escaped(fs::absolute(file).string());
    for (const std::string& failure : failures) text += ",fail=" + failure;
    for (const std::string& defect : defects) text += ",defect=" + defect;
    if (!counters.empty()) text += ",counters=" + escaped(fs::absolute(counters).string());
    if (!checks.empty() || !counters.empty()) text += fmt::format(",check-first={}", getpid());
    const auto parsed = kfdemu::parse_options(text);
    if (const auto* error = std::get_if<std::string>(&parsed)) {
        fmt::print(stderr, "kfdemu: --{}\n", *error);
        return kUsage;
    }
    if (const std::string error = check_report.empty() ? "" : kfdemu::check::begin_report(check_report);
        !error.empty()) {
        fmt::print(stderr, "kfdemu: --check-report={}: cannot be written: {}\n", check_report, error);
        return kUsage;
    }
    if (const std::string error = counters.empty() ? "" : kfdemu::count::begin_counters(counters); !error.empty()) {
        fmt::print(stderr, "kfdemu: --counters={}: cannot be written: {}\n", counters, error);
        return kUsage;
    }
    if (const std::string problem = kfdemu::isa::no_level_message(); !problem.empty()) {
        fmt::print(stderr, "kfdemu: {}\n", problem);
        return 1;
    }
    try {
        const fs::path library = find_library();
        preload(library);
        if (std::get<kfdemu::Options>(parsed).waits_sleep) add_waits(library);
    } catch (const std::exception& error) {
        fmt::print(stderr, "kfdemu: {}\n", error.what());
        return 1;
    }
    unsetenv("KFDEMU_STRICT");  // KFDEMU includes it now
    setenv("KFDEMU", kfdemu::to_string(std::get<kfdemu::Options>(parsed)).c_str(), 1);
    return exec(command);
}
