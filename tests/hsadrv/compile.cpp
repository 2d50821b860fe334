// hsadrv::compile: what it makes runs, in each language; what it refuses.
#include "hsadrv/compile.hpp"

#include <cstdio>
#include <numeric>
#include <random>

#include "hsadrv/code_object.hpp"
#include "hsadrv/compile/header_folder.hpp"
#include "tests/hsadrv/compile_fixture.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace compile_test;
using device_test::Device;
using test_support::Contains;
using namespace std::chrono_literals;

namespace {

const std::string opencl = R"(#include <shared/device/opencl.h>
__kernel void double_it(__global float* data, uint count) {
    const uint i = get_global_id(0);
    if (i < count) data[i] *= FACTOR;
}
)";

std::string printed_by(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += "'" + word + "' ";
    std::string all;
    FILE* pipe = popen(line.c_str(), "r");
    char part[4096];
    for (std::size_t got; (got = fread(part, 1, sizeof part, pipe)) > 0;) all.append(part, got);
    return pclose(pipe) == 0 ? all : "";
}

/// double_it as clang's own IR or assembly.
std::string as(const Folder& folder, const std::string& target, const std::vector<std::string>& how) {
    const std::string file = folder.write("double.cl", "#define FACTOR 2\n" + opencl);
    std::vector<std::string> words{KERNEL_CLANG,
                                   "--target=amdgcn-amd-amdhsa",
                                   "-mcpu=" + target,
                                   "-nogpulib",
                                   "-mcode-object-version=5",
                                   "-O2",
                                   "-x",
                                   "cl",
                                   "-cl-std=CL2.0",
                                   file,
                                   "-o",
                                   "-"};
    const std::string headers = detail::header_folder(detail::folder_of_this_library());
    words.insert(words.begin() + 1, {"-isystem", headers});
    words.insert(words.begin() + 1, how.begin(), how.end());
    return printed_by(words);
}

void check_doubles(const Device& device, const Compiled& made) {
    const Executable code = Executable::load(device.gpu, made.code_object);
    const Context context(device.gpu);
    const Allocation data = context.allocate_host(100 * sizeof(float));
    std::iota(data.as<float>(), data.as<float>() + 100, 0.0f);
    Stream stream = context.stream();
    code.kernel("double_it").launch(stream, {.grid = 128, .workgroup = 64}, data, 99u);
    stream.synchronize(device_test::patience);
    for (int i = 0; i < 99; ++i) REQUIRE(data.as<float>()[i] == 2.0f * static_cast<float>(i));
    REQUIRE(data.as<float>()[99] == 99);
}

CompileOptions any_options() {
    CompileOptions options;
    options.clang = KERNEL_CLANG;
    return options;
}

std::string refusal(const std::string& source, const CompileOptions& options) {
    try {
        compile(source, options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

CompileError error_of(const std::string& source, const CompileOptions& options) {
    try {
        compile(source, options);
    } catch (const CompileError& error) {
        return error;
    }
    FAIL("there is no CompileError");
    return CompileError("", {});
}

}  // namespace

TEST_CASE("C++, OpenCL C, LLVM IR and assembly become kernels that run", "[compile]") {
    NEEDS_DEVICE();
    const OwnCache cache;
    const Device device;
    const std::string target = device.gpu.name();
    CompileOptions options = any_options();
    SECTION("C++") { check_doubles(device, compile(device.gpu, double_it, options)); }
    SECTION("OpenCL C, with a macro") {
        options.language = Language::opencl;
        options.defines = {"FACTOR=2"};
        check_doubles(device, compile(device.gpu, opencl, options));
    }
    SECTION("LLVM IR") {
        options.language = Language::llvm_ir;
        const std::string text = as(cache.temporary, target, {"-S", "-emit-llvm"});
        REQUIRE_THAT(text, Contains("define"));
        check_doubles(device, compile(device.gpu, text, options));
    }
    SECTION("bitcode") {
        options.language = Language::llvm_ir;
        const std::string bitcode = as(cache.temporary, target, {"-c", "-emit-llvm"});
        REQUIRE(bitcode.starts_with("BC"));
        check_doubles(device, compile(device.gpu, bitcode, options));
    }
    SECTION("assembly") {
        options.language = Language::assembly;
        options.target = TargetId::parse(target);
        const std::string text = as(cache.temporary, target, {"-S"});
        REQUIRE_THAT(text, Contains(".amdhsa_kernel double_it"));
        check_doubles(device, compile(device.gpu, text, options));
    }
}

TEST_CASE("the code object states the argument types of C++ kernels", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.clang_options = {"-Wall", "-Wextra", "-Wpedantic", "-Wunused", "-Werror", "-Wno-unused-parameter"};
    const auto types = [&](const std::string& source) {
        const CodeObject code = read_code_object(compile(source, options).code_object);
        std::string text;
        for (const KernelMetadata& kernel : code.kernels) {
            text += kernel.name + "(";
            for (const ArgumentMetadata& argument : kernel.arguments)
                if (!is_hidden(argument.kind)) text += argument.type_name + ",";
            text += ")";
        }
        return text;
    };
    const std::string head = "#include <shared/device/device.hpp>\n";
    CHECK(types(double_it) == "double_it(float*,uint,)");
    CHECK(
        types(
            head +
            "typedef double real; struct P { int a; };\n#define KERNEL(T) HSADRV_KERNEL void fill_##T(T*, real, P) {}\n"
            "namespace app { KERNEL(short) }\nKERNEL(real)") ==
        "fill_short(short*,double,,)fill_real(double*,double,,)");
    CHECK(types("extern \"C\" __attribute__((amdgpu_kernel)) void k(const char*, unsigned long long) {}") ==
          "k(char*,ulong,)");
    CHECK(types("template <class T> __attribute__((amdgpu_kernel)) void k(T*, float) {}\n"
                "template __attribute__((amdgpu_kernel)) void k(int*, float);") == "_Z1kIiEvPT_f(int*,float,)");
    CHECK(types(head + "HSADRV_KERNEL void k(float*) {}\nvoid k(int) {}\n") == "k(float*,)");
}

TEST_CASE("a GPU's target has its settings", "[compile]") {
    NEEDS_DEVICE();
    const OwnCache cache;
    const Device device;
    const Compiled made = compile(device.gpu, double_it, any_options());
    CHECK(read_code_object(made.code_object).target == TargetId::parse(device.gpu.isas().front().name));
    CHECK_THAT(made.clang, Contains("clang") && Contains("."));
    CHECK(made.printed.empty());
    CHECK(made.warnings.empty());
    const AgentRef cpu = *std::ranges::find_if(device.driver.agents(), &AgentRef::is_cpu);
    REQUIRE_THROWS_WITH(compile(cpu, double_it), Contains("cpu0 runs no code objects"));
}

TEST_CASE("errors have the source's name, line and text", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.name = "my \"kernel\".cpp";
    const CompileError error = error_of("int f() { return 1; }\n\nint g() { return nobody_has_it; }\n", options);
    CHECK_THAT(error.what(),
               Contains("hsadrv::compile(my \"kernel\".cpp, C++, gfx90a):\n") &&
                   Contains("my \"kernel\".cpp:3:18: error: use of undeclared identifier 'nobody_has_it'") &&
                   Contains("int g() { return nobody_has_it; }"));
    INFO(error.what());
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].file == "my \"kernel\".cpp");
    CHECK(error.diagnostics()[0].line == 3);
    CHECK(error.diagnostics()[0].column == 18);

    options.name = "<source>";
    options.language = Language::opencl;
    CHECK(error_of("\n\n\n__kernel void k(int x) { y; }", options).diagnostics()[0].line == 4);
    options.language = Language::assembly;
    CHECK_THAT(error_of("\n  v_nonsense v0\n", options).what(), Contains("<source>:2:3: error: invalid instruction"));
    options.language = Language::llvm_ir;
    CHECK_THAT(error_of("\nnonsense\n", options).what(), Contains("<source>:2:1: error: expected top-level entity"));
}

TEST_CASE("errors of the linker and of the back end name the source", "[compile]") {
    const OwnCache cache;
    const std::string head = "#include <shared/device/device.hpp>\n";
    const CompileError undefined = error_of(
        head + "extern \"C\" int other(int);\nHSADRV_KERNEL void k(int* p) { *p = other(*p); }\n", options_for());
    CHECK_THAT(undefined.what(),
               Contains("undefined") && Contains("other") && Contains("<source>") && !Contains("/proc/self"));
    CHECK_THAT(error_of(head + "HSADRV_KERNEL void k(double* p) { *p = sin(*p); }\n", options_for()).what(),
               Contains("link ROCm's device libraries"));
    const CompileError large =
        error_of(head +
                     "HSADRV_KERNEL void k(int* p) { auto t = hsadrv::shared::array<int, 30000>(); t[p[0]] = 1; "
                     "hsadrv::barrier(); p[1] = t[p[2]]; }\n",
                 options_for());
    CHECK_THAT(large.what(), Contains("exceeds limit"));
}

TEST_CASE("warnings are returned, and an unknown option is the compiler's error", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.clang_options = {"-Wall"};
    for (const auto from : {Compiled::From::compiler, Compiled::From::memory}) {
        const Compiled made = compile("\nvoid f() { int unused; }\n", options);
        CHECK(made.from == from);
        REQUIRE(made.warnings.size() == 1);
        CHECK(made.warnings[0].kind == Diagnostic::Kind::warning);
        CHECK(made.warnings[0].line == 2);
        CHECK_THAT(made.printed, Contains("<source>:2:16: warning: unused variable 'unused'"));
    }
    options.clang_options = {"-fno-such-option"};
    CHECK_THAT(error_of("", options).what(), Contains("unknown argument: '-fno-such-option'"));
}

TEST_CASE("options that contradict the call are refused", "[compile]") {
    CHECK_THAT(refusal("", CompileOptions()), Contains("no target: set CompileOptions::target"));
    const auto with = [](auto&& change) {
        CompileOptions options = options_for();
        change(options);
        return refusal("", options);
    };
    CHECK_THAT(with([](auto& o) { o.level = "4"; }), Contains("level \"4\": the optimisation levels are"));
    CHECK_THAT(with([](auto& o) { o.code_object_version = 3; }), Contains("code_object_version 3: 4, 5 or 6"));
    CHECK_THAT(with([](auto& o) { o.name = "a\nb"; }), Contains("name is empty or has more than one line"));
    CHECK_THAT(with([](auto& o) { o.defines = {""}; }), Contains("an option is empty"));
    CHECK_THAT(with([](auto& o) { o.defines = {std::string("A\0B", 3)}; }), Contains("null character"));
    CHECK_THAT(with([](auto& o) { o.clang_options = {"@file"}; }), Contains("give the options in that file"));
    for (const char* word : {"-o", "-c", "-S", "-xcl", "-mcpu=gfx900", "--target=x86_64", "-flto", "-MD"})
        CHECK_THAT(with([&](auto& o) { o.clang_options = {word}; }), Contains(std::string(word) + " in clang_options"));
    CHECK_THAT(with([](auto& o) {
                   o.language = Language::assembly;
                   o.defines = {"N=1"};
               }),
               Contains("define N=1: there is no preprocessor; use the option -Wa,-defsym"));
}

TEST_CASE("headers are found in given folders, and options reach clang and its linker", "[compile]") {
    const OwnCache cache;
    const Folder mine;
    mine.write("mine.hpp", "#define ANSWER 42\n");
    CompileOptions options = options_for();
    options.folders = {mine.path().string()};
    options.defines = {"WANTED=42"};
    options.level = "0";
    options.code_object_version = 4;
    options.clang_options = {"-std=c++23", "-Wl,--unresolved-symbols=ignore-all"};
    const Compiled made = compile(
        "#include <mine.hpp>\nstatic_assert(ANSWER == WANTED && __cplusplus > 202002);\nint other();\n"
        "int f() { return other(); }\n",
        options);
    CHECK(read_code_object(made.code_object).version == 4);
}

TEST_CASE("a missing or unsuitable compiler is an error that names the remedy", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.clang = "/nowhere/clang";
    REQUIRE_THROWS_WITH(compile(double_it, options), "CompileOptions::clang is /nowhere/clang, which is not a program");
    options.clang = "/bin/true";
    REQUIRE_THROWS_AS(compile(double_it, options), NoCompiler);
    options.clang.clear();
    const Variable chosen("HSADRV_CLANG", "clang-that-is-missing");
    REQUIRE_THROWS_WITH(compile(double_it, options),
                        "$HSADRV_CLANG is clang-that-is-missing, which is not a program in $PATH");
    const Variable none("HSADRV_CLANG", ""), nowhere("PATH", "/nowhere"), no_rocm("ROCM_PATH", "");
    if (!fs::exists("/opt/rocm")) {
        REQUIRE_THROWS_WITH(compile(double_it, options), Contains("no suitable clang") &&
                                                             Contains("apt-get install clang-19 lld-19") &&
                                                             Contains("CompileOptions::clang or $HSADRV_CLANG"));
    }
}

TEST_CASE("mutated sources compile or are refused", "[compile]") {
    const OwnCache cache;
    const char* set = std::getenv("HSADRV_TEST_MUTATIONS");
    std::mt19937 random(1);
    unsigned long accepted = 0, left = set ? std::strtoul(set, nullptr, 10) : 30;
    for (; left > 0; --left) {
        CompileOptions options = options_for();
        options.cache = false;
        std::string source = double_it;
        if (random() % 2) {
            source = "#define FACTOR 2\n" + opencl;
            options.language = Language::opencl;
        }
        source += "// " + std::string(400, 'c');  // where changes do no harm
        for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % source.size(), size = 1 + random() % 8;
            switch (random() % 3) {
                case 0:
                    source[at] = static_cast<char>(random());
                    break;
                case 1:
                    source.erase(at, size);
                    break;
                default:
                    source.insert(at, source.substr(random() % source.size(), size));
            }
        }
        INFO(source);
        try {
            const Compiled made = compile(source, options, 60s);
            CHECK(read_code_object(made.code_object).target == *options.target);
            ++accepted;
        } catch (const CompileError& error) {
            CHECK_FALSE(error.diagnostics().empty());
        }
    }
    CHECK(accepted > 0);
    CHECK(cache.temporary.files().empty());
}
