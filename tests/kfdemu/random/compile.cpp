#include "tests/kfdemu/random/compile.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "tools/kfdemu/isa/rows/traits.hpp"

namespace random_programs {
namespace {

/// True if it succeeded. Its output is in `log`.
bool run(const std::vector<std::string>& command, const std::string& log) {
    std::vector<char*> arguments;
    for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return false;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Both sides: no operation is contracted, no access is judged by its type, nothing is warned of in generated text.
const std::vector<std::string> kBoth = {"-std=c++20", "-ffp-contract=off",    "-fno-strict-aliasing", "-fwrapv", "-w",
                                        "-I",         RANDOM_PROGRAMS_KERNELS};

std::vector<std::string> command(const std::string& clang, std::vector<std::string> more) {
    std::vector<std::string> all{clang};
    all.insert(all.end(), kBoth.begin(), kBoth.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

std::vector<std::string> wave_macros(const Setting& setting) {
    if (!kfdemu::isa::traits_of(setting.target).wave32) return {};
    const unsigned permuted = setting.target == kfdemu::isa::Target::gfx1201 ? setting.lanes : 32;
    return {"-DWAVE_LANES=" + std::to_string(setting.lanes), "-DPERMUTED_LANES=" + std::to_string(permuted),
            "-DNO_WAVE_SHIFTS"};
}

std::string describe(const Setting& setting) {
    const bool wide = kfdemu::isa::traits_of(setting.target).wave32 && setting.lanes == 64;
    return std::string{kfdemu::isa::name(setting.target)} + (wide ? "w64" : "") + " -" + setting.level + " " +
           setting.clang;
}

bool compile_host(const std::string& source, const std::string& output, const std::string& clang,
                  const std::string& level, const std::vector<std::string>& macros) {
    // Halves are rounded after each operation, as the device does it.
    std::vector<std::string> arguments{"-x",      "c++",   "-" + level, "-Xclang", "-ffloat16-excess-precision=none",
                                       "-shared", "-fPIC", source,      "-o",      output};
    arguments.insert(arguments.end(), macros.begin(), macros.end());
    return run(command(clang, arguments), output + ".log");
}

bool compile_device(const std::string& source, const std::string& output, const Setting& setting) {
    const std::string target = kfdemu::isa::name(setting.target);
    std::vector<std::string> language{"-x", "c++", "--target=amdgcn-amd-amdhsa", "-mcpu=" + target};
    if (setting.hip) language = {"-x", "hip", "-nogpuinc", "--cuda-device-only", "--offload-arch=" + target};
    if (setting.hip) language.push_back("--no-gpu-bundle-output");
    // HIP's functions are convergent by themselves.
    if (!setting.hip) language.insert(language.end(), {"-Xclang", "-fconvergent-functions"});
    language.insert(language.end(), {"-ffreestanding", "-fno-exceptions", "-fno-rtti", "-nogpulib",
                                     "-mcode-object-version=4", "-" + setting.level, source, "-o", output});
    const std::vector<std::string> macros = wave_macros(setting);
    language.insert(language.end(), macros.begin(), macros.end());
    if (!macros.empty() && setting.lanes == 64) language.push_back("-mwavefrontsize64");
    return run(command(setting.clang, language), output + ".log");
}

}  // namespace random_programs
