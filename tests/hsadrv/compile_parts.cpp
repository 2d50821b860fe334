// What hsadrv::compile is made of: functions of text and bytes.
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hsadrv/compile/cache_entry.hpp"
#include "hsadrv/compile/cache_folder.hpp"
#include "hsadrv/compile/cache_memory.hpp"
#include "hsadrv/compile/compilation.hpp"
#include "hsadrv/compile/compile_key.hpp"
#include "hsadrv/compile/depfile.hpp"
#include "hsadrv/compile/diagnostics.hpp"
#include "hsadrv/compile/kernel_types.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_file.hpp"

using namespace hsadrv;
using namespace hsadrv::detail;
using test_support::Contains;

namespace {

const TargetId gfx90a = TargetId::parse("gfx90a");

CacheEntry entry_of(std::string key, std::size_t size = 100) {
    return {std::move(key),
            {{Dependency::By::stamp, "/usr/bin/clang", "1 2.3 4"}, {Dependency::By::content, "/a b.hpp", "00ff"}},
            "k.cpp:1:2: warning: w\n",
            "clang 19",
            std::vector<std::byte>(size, std::byte{7})};
}

/// How many random inputs a case tries: few, or $HSADRV_TEST_MUTATIONS.
unsigned long mutations(unsigned long few) {
    const char* set = std::getenv("HSADRV_TEST_MUTATIONS");
    return set ? std::strtoul(set, nullptr, 10) : few;
}

}  // namespace

TEST_CASE("messages of clang and its linker have their kind and place", "[compile]") {
    struct Row {
        std::string line;
        Diagnostic said;
    };
    using Kind = Diagnostic::Kind;
    const Row row = GENERATE(values<Row>({
        {"k.cpp:3:5: error: expected ';'", {Kind::error, "k.cpp", 3, 5, "expected ';'"}},
        {"<my source>:12:1: fatal error: 'x.hpp' file not found",
         {Kind::error, "<my source>", 12, 1, "'x.hpp' file not found"}},
        {"a b.cl:7:2: warning: w: error: e", {Kind::warning, "a b.cl", 7, 2, "w: error: e"}},
        {"k.s:9: note: here", {Kind::note, "k.s", 9, 0, "here"}},
        {"error: <unknown>:0:0: local memory (70000) exceeds limit (65536) in function 'k'",
         {Kind::error, "", 0, 0, "local memory (70000) exceeds limit (65536) in function 'k'"}},
        {"<unknown>:0: error: symbol 'x' is already defined", {Kind::error, "", 0, 0, "symbol 'x' is already defined"}},
        {"ld.lld: error: undefined hidden symbol: sin", {Kind::error, "", 0, 0, "undefined hidden symbol: sin"}},
        {"remark: r", {Kind::remark, "", 0, 0, "r"}},
    }));
    const auto all = diagnostics_in("\n" + row.line + "\n    3 | int x\n      |      ^\n1 error generated.\n");
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == row.said.kind);
    CHECK(all[0].file == row.said.file);
    CHECK(all[0].line == row.said.line);
    CHECK(all[0].column == row.said.column);
    CHECK(all[0].message == row.said.message);
}

TEST_CASE("quoted source lines are no messages", "[compile]") {
    CHECK(diagnostics_in("int x;  // an example: error: of a comment\n>>> referenced by k.cpp\n").empty());
    CHECK(diagnostics_in("").empty());
}

TEST_CASE("a rule's prerequisites are the names of files", "[compile]") {
    using Names = std::vector<std::string>;
    CHECK(prerequisites_of("made: /a/b.hpp \\\n  /c\\ d.hpp /e\\#.hpp /$$f.hpp /g\\h.hpp\n") ==
          Names{"/a/b.hpp", "/c d.hpp", "/e#.hpp", "/$f.hpp", "/g\\h.hpp"});
    CHECK(prerequisites_of("made:\n").empty());
    CHECK(prerequisites_of("").empty());
}

TEST_CASE("an entry is read as it was written", "[compile]") {
    const CacheEntry entry = entry_of("key");
    REQUIRE(unpack(pack(entry)) == entry);
    CacheEntry empty = entry_of("", 0);
    empty.dependencies.clear();
    REQUIRE(unpack(pack(empty)) == empty);
}

TEST_CASE("a damaged entry is recognised, whatever was damaged", "[compile]") {
    const std::vector<std::byte> good = pack(entry_of("key", 2000));
    std::mt19937 random(static_cast<unsigned>(test_support::test_seed()));
    for (std::size_t size = 0; size < good.size(); ++size) REQUIRE_FALSE(unpack(std::span(good).first(size)));
    for (unsigned long left = mutations(3000); left > 0; --left) {
        std::vector<std::byte> bad = good;
        for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
            const std::size_t at = random() % bad.size();
            switch (random() % 3) {
                case 0:
                    bad[at] ^= static_cast<std::byte>(1 + random() % 255);
                    break;
                case 1:
                    bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random()));
                    break;
                default:
                    bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(at));
            }
        }
        if (bad != good) REQUIRE_FALSE(unpack(bad));
    }
}

TEST_CASE("sizes have units", "[compile]") {
    CHECK(parse_size("4096") == 4096);
    CHECK(parse_size("3K") == 3072);
    CHECK(parse_size("256M") == 256u << 20);
    CHECK(parse_size("2G") == std::uint64_t{2} << 30);
    const std::string wrong = GENERATE("", "M", "-1", "12 M", "1T", "99999999999G", "10m", "0x10");
    REQUIRE_THROWS_WITH(parse_size(wrong), Contains("HSADRV_CACHE_SIZE=" + wrong) && Contains("such as 256M"));
}

TEST_CASE("the memory cache keeps what was used last", "[compile]") {
    CacheMemory memory(3 * (1000 + 3 + sizeof(CacheEntry) + 60));
    const auto keep = [&](const char* key) { memory.store(std::make_shared<const CacheEntry>(entry_of(key, 1000))); };
    keep("a");
    keep("b");
    keep("c");
    REQUIRE(memory.load("a"));
    keep("d");  // instead of b
    CHECK(memory.load("a"));
    CHECK_FALSE(memory.load("b"));
    CHECK(memory.load("c"));
    CHECK(memory.load("d"));
    keep("d");
    CHECK(memory.load("a"));
    memory.store(std::make_shared<const CacheEntry>(entry_of("large", 100000)));
    CHECK_FALSE(memory.load("large"));
    CHECK(memory.load("a"));
    memory.clear();
    CHECK_FALSE(memory.load("a"));
}

TEST_CASE("each option changes the key", "[compile]") {
    const CompileOptions same;
    const std::string key = key_of("int x;", same, gfx90a, "/headers");
    CHECK(key == key_of("int x;", CompileOptions(), gfx90a, "/headers"));
    CHECK(key != key_of("int y;", same, gfx90a, "/headers"));
    CHECK(key != key_of("int x;", same, TargetId::parse("gfx90a:xnack+"), "/headers"));
    CHECK(key != key_of("int x;", same, gfx90a, "/other"));
    std::vector<CompileOptions> others(9);
    others[0].language = Language::opencl;
    others[1].name = "k.cpp";
    others[2].level = "3";
    others[3].line_numbers = true;
    others[4].code_object_version = 4;
    others[5].defines = {"A"};
    others[6].folders = {"A"};
    others[7].clang_options = {"A"};
    others[8].clang = "clang-20";
    for (std::size_t i = 0; i < others.size(); ++i) {
        CHECK(key != key_of("int x;", others[i], gfx90a, "/headers"));
        for (std::size_t j = 0; j < i; ++j)
            CHECK(key_of("int x;", others[j], gfx90a, "/headers") != key_of("int x;", others[i], gfx90a, "/headers"));
    }
    CompileOptions joined, split;
    joined.defines = {"A 1\ndefine 1 B"};
    split.defines = {"A", "B"};
    CHECK(key_of("", joined, gfx90a, "") != key_of("", split, gfx90a, ""));
}

TEST_CASE("the current folder is part of the key if files in it may be read", "[compile]") {
    const auto has_folder = [](const std::string& source, const CompileOptions& options = {}) {
        return key_of(source, options, gfx90a, "/headers").find("\nhere ") != std::string::npos;
    };
    CHECK_FALSE(has_folder("#include <shared/device/device.hpp>\n#define N 1\n"));
    CHECK(has_folder("#include \"mine.hpp\"\n"));
    CHECK(has_folder("  # include MINE\n"));
    CHECK(has_folder("#if __has_include(<mine.hpp>)\n#endif\n"));
    CHECK_FALSE(has_folder("", {.folders = {"/absolute"}}));
    CHECK(has_folder("", {.folders = {"relative"}}));
    CHECK(has_folder("", {.clang_options = {"-Wall"}}));
}

TEST_CASE("what depends on the time or on unlisted files is not kept", "[compile]") {
    CHECK(is_reproducible("#include <a.hpp>\n", Language::cpp));
    CHECK_FALSE(is_reproducible("const char* t = __TIME__;", Language::cpp));
    CHECK_FALSE(is_reproducible("asm(\".incbin \\\"x\\\"\");", Language::opencl));
    CHECK_FALSE(is_reproducible(".include \"x.s\"", Language::assembly));
    CHECK(is_reproducible("// .include", Language::cpp));
}

TEST_CASE("kernels are found wherever a preprocessed source declares them", "[compile]") {
    const std::string kernel = "extern \"C\" __attribute__((amdgpu_kernel, visibility(\"protected\"))) ";
    const auto found = [](const std::string& source) { return kernel_types(source); };
    CHECK(found("# 1 \"a.cpp\"\n" + kernel + "void f(float* p) { p[0] = 1; }\n" + kernel + "void g();") ==
          R"(f\0float*\0g\0\0)");
    CHECK(found(kernel + "void f(int); " + kernel + "void f(int) {}") == R"(f\0int\0)");
    CHECK(found("namespace a::b { inline namespace c { " + kernel + "void f() {} } } namespace { " + kernel +
                "__attribute__((amdgpu_flat_work_group_size(1, 64))) void g() {} }") == R"(f\0\0g\0\0)");
    CHECK(found("namespace [[gnu::unused]] a { extern \"C\" { namespace b { __attribute__((amdgpu_kernel)) void "
                "f(void); } } }") == R"(f\0\0)");
    CHECK(found("namespace x = y; using namespace x; struct S { void m() {} }; [[clang::amdgpu_kernel]] extern \"C\" "
                "alignas(8) void f(decltype(nullptr), int);") == R"(f\0,int\0)");
    // What looks like one: mangled, in a class, a template, in texts.
    CHECK(found("__attribute__((amdgpu_kernel)) void f();").empty());
    CHECK(found("struct S { " + kernel + "void f(); };").empty());
    CHECK(found("template <class T> " + kernel + "void f(T);").empty());
    CHECK(found("auto a = R\"x(" + kernel +
                "void f();)\" x\"; {)x\"; auto b = \"{\\\"{\"; auto c = '{'; int d = 1'0; #\n" + kernel +
                "void g();") == R"(g\0\0)");
    for (const char* cut :
         {"}}} ((([[[ namespace", "typedef", "using", "using x =", "struct", "\"", "R\"(", "R\"", "'\\"})
        CHECK(found(cut + kernel).empty());
}

TEST_CASE("the types of parameters are followed where they are certain", "[compile]") {
    const auto types = [](const std::string& before, const std::string& parameters) {
        const std::string text =
            kernel_types(before + " extern \"C\" __attribute__((amdgpu_kernel)) void k(" + parameters + ");");
        return text.substr(3, text.size() - 5);
    };
    CHECK(types("",
                "const float *__restrict__ x, unsigned n, long unsigned int, volatile char* const c, float y[], "
                "signed char s, bool b, _Float16 h, double d, unsigned short*, long long") ==
          "float*,uint,ulong,char*,float*,char,bool,half,double,ushort*,long");
    CHECK(types("typedef unsigned int uint32_t; using real = const float; typedef real* reals;",
                "uint32_t n, real x, reals y, const reals, real* z, a::real w, uint32_t = 3") ==
          "uint,float,float*,float*,float*,float,uint");
    CHECK(
        types("",
              "__attribute__((address_space(3))) int* l, int __attribute__((address_space(1)))* [[maybe_unused]] g") ==
        "int*,int*");
    // Not stated: structures, vectors, pointers to pointers, functions, templates, other types.
    CHECK(
        types(
            "struct P {}; typedef float float4 __attribute__((ext_vector_type(4))); using float2 = float "
            "__attribute__((ext_vector_type(2)));",
            "P p, struct P* q, float** r, void* v, float4 x, float2 y, N::Span<float, 2> s, void (*f)(int, int), "
            "unsigned __int128 i, long double e, float _Complex c, float& z, auto a, float m[2][2], int x = (1, 2)") ==
        ",,,,,,,,,,,,,,int");
    // Two meanings, in whatever scope.
    CHECK(types("namespace a { using real = float; } namespace b { using real = double; }", "real x, int n") == ",int");
    CHECK(types("using real = float; void f() { struct real {}; }", "real x") == "");
    CHECK(types("using real = float; typedef struct { float x; } real;", "real x") == "");
    CHECK(types("using real = float; template <typename real> void f(real);", "real x") == "");
    CHECK(types("using real = float; namespace c { using real = float; }", "real x") == "float");
    CHECK(types("template <class T> using P = float;", "P<int> x") == "");
}

TEST_CASE("the commands read and write no named file", "[compile]") {
    const Clang clang{.path = "/bin/clang-19",
                      .major = 19,
                      .version = "19.1.7",
                      .linker = "/bin/ld.lld",
                      .bundler = {},
                      .unknown = {}};
    const CompileOptions options{.name = "a\"b.cpp",
                                 .level = "3",
                                 .line_numbers = true,
                                 .defines = {"N=1"},
                                 .folders = {"mine"},
                                 .clang_options = {"-ffast-math", "-Wl,--trace,-z,now"}};
    const std::string headers = "/headers";
    const Compilation compilation("", options, gfx90a, clang, headers);
    const auto has = [](const Command& command, const std::string& word) {
        return std::find(command.begin(), command.end(), word) != command.end();
    };
    const Command compile = compilation.compile_command({"-DTYPES"}), link = compilation.link_command();
    CHECK(has(compile, "-DTYPES"));
    CHECK(has(compilation.preprocess_command(), "-E"));
    for (const char* word : {"-mcpu=gfx90a", "-O3", "-DN=1", "-Imine", "-ffast-math", "-gline-tables-only", "-", "c++"})
        CHECK(has(compile, word));
    CHECK_FALSE(has(compile, "-Wl,--trace,-z,now"));
    CHECK(link ==
          Command{"/bin/ld.lld", "-shared", "--no-undefined", "--trace", "-z", "now", "/proc/self/fd/3", "-o", "-"});
    CHECK(compilation.call() == "hsadrv::compile(a\"b.cpp, C++, gfx90a)");
}
