#include "tools/hsadrv-cc/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "hsadrv/compile/recipe.hpp"
#include "tools/common/command_line.hpp"
#include "tools/hsadrv-cc/failure.hpp"

namespace hsadrv_cc {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Failure(ExitStatus::usage, why); }

void refuse_own(const std::vector<std::string>& clang_options) {
    bool may_be_value = false;  // of the preceding option, as in -include names.cl
    for (const std::string& word : clang_options) {
        if (const auto instead = hsadrv::detail::instead_of(word))
            refuse(fmt::format("{} is not allowed after --: use {}", word, *instead));
        if (word.starts_with('@'))
            refuse(
                fmt::format("{} is not allowed after --: use the options in the file, so that they are checked", word));
        const bool is_option = word.starts_with('-');
        if (!is_option && !may_be_value && (word.ends_with(".cl") || word.ends_with(".cpp")))
            refuse(fmt::format("{} is not allowed after --: name sources before it", word));
        may_be_value = is_option;
    }
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error) && !fs::is_character_file(a, error);
}

void refuse_overwriting(const Options& options) {
    for (const std::string& source : options.sources) {
        if (source == "-") continue;  // standard input
        if (same_file(source, options.output)) refuse(fmt::format("-o {} is also a source", options.output));
        if (!options.depfile.empty() && same_file(source, options.depfile))
            refuse(fmt::format("--depfile {} is also a source", options.depfile));
    }
    if (!options.depfile.empty() && same_file(options.output, options.depfile))
        refuse(fmt::format("-o and --depfile are both {}", options.depfile));
}

struct Name {
    std::string_view text;
    hsadrv::Language language;
};
constexpr Name language_names[] = {{"c++", hsadrv::Language::cpp},
                                   {"cl", hsadrv::Language::opencl},
                                   {"ir", hsadrv::Language::llvm_ir},
                                   {"asm", hsadrv::Language::assembly}};
constexpr Name extensions[] = {{".cl", hsadrv::Language::opencl},  {".cpp", hsadrv::Language::cpp},
                               {".cc", hsadrv::Language::cpp},     {".cxx", hsadrv::Language::cpp},
                               {".ll", hsadrv::Language::llvm_ir}, {".bc", hsadrv::Language::llvm_ir},
                               {".s", hsadrv::Language::assembly}};

/// clang's own message is: "does not support code object version".
void refuse_generic(const Options& options) {
    for (const std::string& target : options.targets) {
        if (options.code_object_version < 6 && target.find("-generic") != target.npos)
            refuse(
                fmt::format("--target {}: generic targets need --code-object-version 6, which runtimes load from "
                            "ROCm 6.2 on",
                            target));
    }
}

void refuse_conflicts(const Options& options) {
    const auto conflict = [](bool is, std::string_view which, std::string_view why) {
        if (is) refuse(fmt::format("{} do not go together: {}", which, why));
    };
    conflict(options.json && options.quiet, "--json and --quiet", "one prints, the other suppresses printing");
    conflict(options.assembly && options.compress, "-S and --compress", "assembly is not bundled");
    conflict(options.assembly && options.json, "-S and --json",
             "assembly is not read back; it lists the resources itself");
    conflict(to_standard_output(options) && options.json, "-o - and --json", "both write to standard output");
    conflict(to_standard_output(options) && !options.depfile.empty(), "-o - and --depfile",
             "a rule needs an output file");
    conflict(from_standard_input(options) && !options.depfile.empty(), "the source - and --depfile",
             "standard input has no name");
    conflict(std::count(options.sources.begin(), options.sources.end(), "-") > 1, "the source - and itself",
             "standard input can be read once");
    conflict(options.assembly && options.sources.size() > 1, "-S and several sources",
             "the output is one assembly file");
}

/// Assembly is not optimised: it can be neither linked with other sources nor written as assembly again. It and LLVM IR
/// have no preprocessor.
void refuse_language(const Options& options, const std::string& source) {
    const hsadrv::Language language = language_of(options, source);
    const bool is_assembly = language == hsadrv::Language::assembly;
    if (is_assembly && options.sources.size() > 1)
        refuse(
            fmt::format("source {}: assembly cannot be optimised together with other sources: give it alone", source));
    if (is_assembly && options.assembly) refuse(fmt::format("-S and the assembly {}: it is the output", source));
    if (options.defines.empty() || language == hsadrv::Language::cpp || language == hsadrv::Language::opencl) return;
    refuse(fmt::format("-D {}: {} has no preprocessor{}", options.defines.front(), hsadrv::to_string(language),
                       is_assembly ? "; use -- -Wa,-defsym,NAME=VALUE" : ""));
}

void check(const Options& options) {
    refuse_own(options.clang_options);
    if (options.print_clang) return;
    if (options.sources.empty()) refuse("no source: name one or more files that end in .cl or .cpp, or - with -x");
    if (options.output.empty()) refuse("no -o: name the output file");
    for (const std::string& source : options.sources) refuse_language(options, source);
    refuse_generic(options);
    refuse_conflicts(options);
    refuse_overwriting(options);
}

tools::CommandSyntax command_of(Options& options) {
    tools::CommandSyntax command{.name = "hsadrv-cc",
                                 .summary = "hsadrv-cc: compiles kernels with clang, without HIP and device libraries"};
    command.options = {
        {"SOURCE", &options.sources,
         "kernel sources: .cl is OpenCL C; .cpp, .cc and .cxx are C++20; .ll and .bc LLVM IR; .s assembly; - is "
         "standard "
         "input, C++20 without -x"},
        {"-o,--output",
         &options.output,
         "the code object or bundle to write; -: to standard output",
         {.value = "FILE"}},
        {"-t,--target",
         &options.targets,
         "GPUs to compile for, such as gfx90a or gfx90a:xnack+,gfx1100; may be repeated. Default: "
         "this machine's",
         {.value = "TARGET", .separator = ','}},
        {"-x", &options.language, "the language of all sources: c++, cl, ir or asm", {.value = "LANGUAGE"}},
        {"-O", &options.level, "optimisation level: 0 to 3, s or z", {.value = "LEVEL", .shows_default = true}},
        {"-g", &options.debug, "add line numbers for debuggers and profilers"},
        {"-D,--define", &options.defines, "define a macro; may be repeated", {.value = "NAME[=VALUE]"}},
        {"-I,--include", &options.includes, "search FOLDER for headers first; may be repeated", {.value = "FOLDER"}},
        {"--code-object-version",
         &options.code_object_version,
         "4 to 6; every runtime since ROCm 5.2 loads 5",
         {.value = "N", .shows_default = true, .range = {{4, 6}}}},
        {"-S,--assembly", &options.assembly, "write assembly, from one source and for one target"},
        {"--compress", &options.compress, "write a compressed bundle, even for a single target"},
        {"--depfile", &options.depfile, "write the dependencies to FILE, for make and ninja", {.value = "FILE"}},
        {"--workgroup",
         &options.workgroup,
         "the work-group size that the occupancy is printed for",
         {.value = "N", .shows_default = true, .range = {{1, 1024}}}},
        {"--json", &options.json, "print the resources as JSON"},
        {"-q,--quiet", &options.quiet, "do not print the resources"},
        {"-v,--verbose", &options.verbose, "print each command, and why clangs were rejected"},
        {"--clang", &options.clang, "the clang to use", {.value = "PROGRAM"}},
        {"--print-clang", &options.print_clang, "print the clang that would be used, with -t for these targets"},
        {"--version", tools::Version{"hsadrv-cc " HSADRV_VERSION_TEXT}, tools::version_option_help}};
    command.footer =
        "Arguments after -- are passed to clang: hsadrv-cc k.cl -o k.hsaco -- -Wall -ffast-math\n"
        "Environment: HSADRV_CLANG, the clang to use; ROCM_PATH, the ROCm installation; TMPDIR.\n"
        "Exit status: 2 usage error, 3 no suitable clang, 4 cannot write a file, otherwise clang's.";
    return command;
}

}  // namespace

bool to_standard_output(const Options& options) { return options.output == "-" || options.output == "/dev/stdout"; }

bool from_standard_input(const Options& options) {
    return std::find(options.sources.begin(), options.sources.end(), "-") != options.sources.end();
}

hsadrv::Language language_of(const Options& options, const std::string& source) {
    for (const Name& name : language_names)
        if (options.language == name.text) return name.language;
    if (!options.language.empty())
        refuse(fmt::format("-x {}: the languages are c++, cl (OpenCL C), ir (LLVM IR) and asm", options.language));
    if (source == "-") return hsadrv::Language::cpp;
    const std::string extension = fs::path(source).extension().string();
    for (const Name& name : extensions)
        if (extension == name.text) return name.language;
    refuse(
        fmt::format("source {}: its name ends neither in .cl (OpenCL C) nor in .cpp, .cc or .cxx (C++), .ll or .bc "
                    "(LLVM IR) or .s (assembly): name the language with -x",
                    source));
}

Options parse_options(int argc, char** argv) {
    Options options;
    const auto end = std::find(argv, argv + argc, std::string_view("--"));
    if (end != argv + argc) options.clang_options.assign(end + 1, argv + argc);
    const std::string text = tools::parse_command_line(command_of(options), static_cast<int>(end - argv), argv);
    if (!text.empty()) {
        std::fputs(text.c_str(), stdout);
        throw Finished{};
    }
    check(options);
    return options;
}

}  // namespace hsadrv_cc
