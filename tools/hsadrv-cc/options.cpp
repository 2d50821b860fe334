#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "failure.hpp"

namespace hsadrv_cc {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Failure(ExitStatus::usage, why); }

/// clang's options that decide what the tool itself has to know, and what to say here in their place.
struct Own {
    std::string_view begins, instead;
};
constexpr Own own_options[] = {
    {"-o", "-o in front of --"},
    {"-c", "several sources in one command"},
    {"-S", "-S in front of --"},
    {"-E", "clang itself"},
    {"-emit-llvm", "clang itself"},
    {"-fsyntax-only", "-o /dev/null"},
    {"-M", "--depfile"},
    {"-x", "a file name that ends in .cl or .cpp"},
    {"-mcpu", "--target"},
    {"--target", "--target in front of --"},
    {"-target", "--target"},
    {"--offload-arch", "--target"},
    {"-mcode-object-version", "--code-object-version"},
    {"-flto", "several sources in one command"},
    {"-fno-lto", "a single source"},
};

bool is_own(std::string_view word, std::string_view begins) {
    if (!word.starts_with(begins)) return false;
    const std::string_view rest = word.substr(begins.size());
    // -c is one, -cl-fast-relaxed-math is none; of -o, -x and -M what is attached is a value.
    if (begins == "-c" || begins == "-S" || begins == "-E" || begins == "-emit-llvm" ||
        begins == "-fsyntax-only")
        return rest.empty();
    if (begins == "-o" || begins == "-x" || begins == "-M") return true;
    return rest.empty() || rest.front() == '=';
}

void refuse_own(const std::vector<std::string>& clang_options) {
    bool may_be_value = false;  // of the option before it, as in -include names.cl
    for (const std::string& word : clang_options) {
        for (const Own& own : own_options) {
            if (is_own(word, own.begins))
                refuse(fmt::format("{} does not go behind --: use {}", word, own.instead));
        }
        const bool is_option = word.starts_with('-');
        if (!is_option && !may_be_value && (word.ends_with(".cl") || word.ends_with(".cpp")))
            refuse(fmt::format("{} does not go behind --: sources stand in front of it", word));
        may_be_value = is_option;
    }
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error) &&
           !fs::is_character_file(a, error);
}

void refuse_overwriting(const Options& options) {
    for (const std::string& source : options.sources) {
        if (same_file(source, options.output)) refuse(fmt::format("-o {} is a source too", options.output));
        if (!options.depfile.empty() && same_file(source, options.depfile))
            refuse(fmt::format("--depfile {} is a source too", options.depfile));
    }
    if (!options.depfile.empty() && same_file(options.output, options.depfile))
        refuse(fmt::format("-o and --depfile are both {}", options.depfile));
}

void refuse_conflicts(const Options& options) {
    const auto conflict = [](bool is, std::string_view which, std::string_view why) {
        if (is) refuse(fmt::format("{} do not go together: {}", which, why));
    };
    conflict(options.json && options.quiet, "--json and --quiet", "one prints, the other does not");
    conflict(options.assembly && options.compress, "-S and --compress", "assembly is not bundled");
    conflict(options.assembly && options.json, "-S and --json",
             "assembly is not read back; it states the resources itself");
    conflict(options.assembly && options.sources.size() > 1, "-S and several sources",
             "it is one file of assembly");
}

void check(const Options& options) {
    refuse_own(options.clang_options);
    if (options.print_clang) return;
    if (options.sources.empty()) refuse("no source: name one or more files that end in .cl or .cpp");
    if (options.output.empty()) refuse("no -o: say which file to write");
    if (options.output == "-") refuse("-o -: code objects are not written to standard output; name a file");
    for (const std::string& source : options.sources) is_opencl(source);
    refuse_conflicts(options);
    refuse_overwriting(options);
}

void declare(CLI::App& app, Options& options) {
    const auto list = [](CLI::Option* option) { return option->allow_extra_args(false)->take_all(); };
    app.add_option("SOURCE", options.sources,
                   "kernel sources: .cl is OpenCL C; .cpp, .cc and .cxx are C++20");
    app.add_option("-o,--output", options.output, "the code object or bundle to write")->type_name("FILE");
    list(app.add_option(
             "-t,--target", options.targets,
             "GPUs to compile for, such as gfx90a or gfx90a:xnack+,gfx1100; may be repeated. Default: "
             "those of this machine"))
        ->delimiter(',')
        ->type_name("TARGET");
    app.add_option("-O", options.level, "level of optimisation: 0 to 3, s or z")
        ->capture_default_str()
        ->type_name("LEVEL");
    app.add_flag("-g", options.debug, "with line numbers for debuggers and profilers");
    list(app.add_option("-D,--define", options.defines, "define a macro; may be repeated"))
        ->type_name("NAME[=VALUE]");
    list(app.add_option("-I,--include", options.includes, "look for headers there first; may be repeated"))
        ->type_name("FOLDER");
    app.add_option("--code-object-version", options.code_object_version,
                   "4 to 6; 5 is loaded by every runtime from ROCm 5.2 on")
        ->check(CLI::Range(4u, 6u))
        ->capture_default_str()
        ->type_name("N");
    app.add_flag("-S,--assembly", options.assembly, "write assembly: of one source, for one target");
    app.add_flag("--compress", options.compress, "write a compressed bundle, also for a single target");
    app.add_option("--depfile", options.depfile, "write which files were read, for make and ninja")
        ->type_name("FILE");
    app.add_option("--workgroup", options.workgroup, "the work-group size that the occupancy is printed for")
        ->check(CLI::Range(1u, 1024u))
        ->capture_default_str()
        ->type_name("N");
    app.add_flag("--json", options.json, "print the resources as JSON");
    app.add_flag("-q,--quiet", options.quiet, "print no resources");
    app.add_flag("-v,--verbose", options.verbose,
                 "print the commands that are run, and which clangs are not suitable");
    app.add_option("--clang", options.clang, "the clang to use")->type_name("PROGRAM");
    app.add_flag("--print-clang", options.print_clang, "print which clang would be used");
    app.set_version_flag("--version", "hsadrv-cc " HSADRV_VERSION);
    app.footer(
        "What stands behind -- is handed to clang: hsadrv-cc k.cl -o k.hsaco -- -Wall -ffast-math\n"
        "Environment: HSADRV_CLANG, the clang to use; ROCM_PATH, where ROCm is; TMPDIR.\n"
        "Exit status: 2 wrong options, 3 no suitable clang, 4 a file cannot be written, else clang's.");
}

}  // namespace

bool is_opencl(const std::string& source) {
    const std::string extension = fs::path(source).extension().string();
    if (extension == ".cl") return true;
    if (extension == ".cpp" || extension == ".cc" || extension == ".cxx") return false;
    refuse(fmt::format("source {}: its name ends neither in .cl (OpenCL C) nor in .cpp, .cc or .cxx (C++)",
                       source));
}

Options parse_options(int argc, char** argv) {
    Options options;
    CLI::App app{"hsadrv-cc: compiles kernels with clang, without HIP and device libraries", "hsadrv-cc"};
    declare(app, options);

    const auto end = std::find(argv, argv + argc, std::string_view("--"));
    if (end != argv + argc) options.clang_options.assign(end + 1, argv + argc);
    try {
        app.parse(static_cast<int>(end - argv), argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            app.exit(error);
            throw Finished{};
        }
        refuse(fmt::format("{}\nhsadrv-cc --help lists the options", error.what()));
    }
    check(options);
    return options;
}

}  // namespace hsadrv_cc
