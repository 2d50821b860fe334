#include "hsadrv/compile/recipe.hpp"

#include "hsadrv/compile/kernel_types.hpp"

namespace hsadrv::detail {
namespace {

struct Own {
    std::string_view begins, instead;
};
constexpr Own own_options[] = {
    {"-o", "-o before --"},
    {"-c", "several sources in one command"},
    {"-S", "-S before --"},
    {"-E", "clang itself"},
    {"-emit-llvm", "clang itself"},
    {"-fsyntax-only", "-o /dev/null"},
    {"-M", "--depfile"},
    {"--output", "-o before --"},
    {"--compile", "several sources in one command"},
    {"--assemble", "-S before --"},
    {"--preprocess", "clang itself"},
    {"--precompile", "clang itself"},
    {"--analyze", "clang itself"},
    {"-emit-obj", "several sources in one command"},
    {"-###", "-v before --"},
    {"--dependencies", "--depfile"},
    {"--user-dependencies", "--depfile"},
    {"--write-dependencies", "--depfile"},
    {"--write-user-dependencies", "--depfile"},
    {"-x", "-x before --"},
    {"--language", "-x before --"},
    {"-mcpu", "--target"},
    {"-march", "--target"},
    {"--cuda-gpu-arch", "--target"},
    {"--offload", "--target"},
    {"-triple", "--target"},
    {"-target-cpu", "--target"},
    {"--config", "the options themselves"},
    {"--target", "--target before --"},
    {"-target", "--target"},
    {"--offload-arch", "--target"},
    {"-mcode-object-version", "--code-object-version"},
    {"-flto", "several sources in one command"},
    {"-fno-lto", "a single source"},
};

bool is_own(std::string_view word, std::string_view begins) {
    if (!word.starts_with(begins)) return false;
    const std::string_view rest = word.substr(begins.size());
    // -c matches exactly (-cl-fast-relaxed-math is another option); text attached to -o, -x and -M is a value.
    if (begins == "-c" || begins == "-S" || begins == "-E" || begins == "-emit-llvm" || begins == "-fsyntax-only")
        return rest.empty();
    if (begins == "-o" || begins == "-x" || begins == "-M") return true;
    return rest.empty() || rest.front() == '=';
}

Command front_end_words(Language language) {
    switch (language) {
        case Language::opencl:
            return {"-x", "cl", "-cl-std=CL2.0"};
        case Language::llvm_ir:
            return {"-x", "ir", "-Wno-unused-command-line-argument"};
        case Language::assembly:
            return {"-x", "assembler", "-Wno-unused-command-line-argument"};
        case Language::cpp:
            break;
    }
    // Functions are convergent in OpenCL C, and from clang 20 on in C++ for GPUs: see shared/device/kernel.hpp.
    return {"-x",
            "c++",
            "-std=c++20",
            "-ffreestanding",
            "-fno-exceptions",
            "-fno-rtti",
            "-fvisibility=hidden",
            "-Xclang",
            "-fconvergent-functions"};
}

}  // namespace

Command target_words(const Clang& clang, const TargetId& target, unsigned code_object_version,
                     const std::string& level) {
    const std::string version = std::to_string(code_object_version);
    Command words{clang.path,  "--target=amdgcn-amd-amdhsa",       "-mcpu=" + target.name(),
                  "-nogpulib", "-mcode-object-version=" + version, "-O" + level};
    // Hidden arguments are at other offsets: see shared/device/hostcall.hpp.
    if (code_object_version < 5) words.push_back("-DHSADRV_CODE_OBJECT_VERSION=" + version);
    return words;
}

Command language_words(Language language, unsigned clang_major) {
    Command words = front_end_words(language);
    // LLVM 16 merges equal calls on both sides of a branch even if they are convergent.
    if (clang_major < 17 && language != Language::assembly)
        append(words, {"-mllvm", "-simplifycfg-hoist-common=false", "-mllvm", "-simplifycfg-sink-common=false"});
    return words;
}

std::string line_marker(Language language, std::string_view name) {
    if (language == Language::llvm_ir) return {};
    // An assembler knows no #line; and of the other form, clang warns.
    std::string text = language == Language::assembly ? "# 1 \"" : "#line 1 \"";
    for (const char c : name) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + "\"\n";
}

Command types_words(std::string_view preprocessed, const std::string& headers) {
    constexpr std::size_t longest = 100'000;  // Linux takes 128 KiB, execve(2)
    const std::string types = kernel_types(preprocessed);
    if (types.empty() || types.size() > longest) return {};
    return {"-DHSADRV_KERNEL_TYPES=\"" + types + "\"", "-include", headers + "/shared/device/kernel_types.hpp"};
}

std::optional<std::string_view> instead_of(std::string_view word) {
    for (const Own& own : own_options)
        if (is_own(word, own.begins)) return own.instead;
    return std::nullopt;
}

}  // namespace hsadrv::detail

namespace hsadrv {

std::string_view to_string(Language language) {
    switch (language) {
        case Language::cpp:
            return "C++";
        case Language::opencl:
            return "OpenCL C";
        case Language::llvm_ir:
            return "LLVM IR";
        case Language::assembly:
            return "assembly";
    }
    return "unknown language";
}

}  // namespace hsadrv
