// The cache of hsadrv::compile: what it takes, what it does not, and what damage does.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>

#include "hsadrv/compile.hpp"
#include "hsadrv/compile/cache_folder.hpp"
#include "tests/hsadrv/compile_fixture.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace compile_test;
using test_support::Contains;
using From = Compiled::From;

namespace {

/// The n-th of many sources.
std::string source(int n) { return "int f() { return " + std::to_string(n) + "; }\n"; }

From from(const std::string& text, const CompileOptions& options = options_for()) {
    return compile(text, options).from;
}

std::vector<std::byte> bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void write(const fs::path& file, const std::vector<std::byte>& bytes) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void make_old(const fs::path& file) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

}  // namespace

TEST_CASE("what was compiled is taken from memory, then from disk", "[compile]") {
    const OwnCache cache;
    const Compiled first = compile(double_it, options_for());
    CHECK(first.from == From::compiler);
    const Compiled second = compile(double_it, options_for());
    CHECK(second.from == From::memory);
    cache.forget();
    const Compiled third = compile(double_it, options_for());
    CHECK(third.from == From::disk);
    CHECK(from(double_it) == From::memory);
    CHECK(first.code_object == second.code_object);
    CHECK(first.code_object == third.code_object);
    CHECK(first.clang == third.clang);
    CHECK(cache.entries.files().size() == 1);
    CHECK(from(double_it, options_for("gfx900")) == From::compiler);
    CHECK(cache.entries.files().size() == 2);
}

TEST_CASE("without a cache everything is compiled", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.cache = false;
    CHECK(from(double_it, options) == From::compiler);
    CHECK(from(double_it, options) == From::compiler);
    CHECK(cache.entries.files().empty());
    const Variable off("HSADRV_CACHE", "off");
    CHECK(from(double_it) == From::compiler);
    CHECK(from(double_it) == From::memory);
    CHECK(cache.entries.files().empty());
    CHECK(from("const char* t = __TIME__;") == From::compiler);
    CHECK(from("const char* t = __TIME__;") == From::compiler);
}

TEST_CASE("a header that changes is compiled again", "[compile]") {
    const OwnCache cache;
    const Folder mine;
    CompileOptions options = options_for();
    options.folders = {mine.path().string()};
    const std::string text = "#include <mine.hpp>\nint f() { return N; }\n";
    make_old(mine.write("mine.hpp", "#define N 1\n"));
    const Compiled one = compile(text, options);
    CHECK(from(text, options) == From::memory);
    make_old(mine.write("mine.hpp", "#define N 2\n"));
    const Compiled two = compile(text, options);
    CHECK(two.from == From::compiler);
    CHECK(two.code_object != one.code_object);
    cache.forget();
    CHECK(from(text, options) == From::disk);
    make_old(mine.write("mine.hpp", "#define N 3\n"));
    cache.forget();
    CHECK(from(text, options) == From::compiler);
    // Later than the compiler begins, so perhaps after it has read it.
    fs::last_write_time(mine.write("mine.hpp", "#define N 4\n"),
                        fs::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(from(text, options) == From::compiler);
    CHECK(from(text, options) == From::compiler);
}

TEST_CASE("a file that an option names is compiled again when it changes", "[compile]") {
    const OwnCache cache;
    const Folder mine;
    const std::string script = mine.write("exports.map", "{ global: *; };\n");
    make_old(script);
    CompileOptions options = options_for();
    options.clang_options = {"-Wl,--version-script=" + script};
    CHECK(from(source(1), options) == From::compiler);
    CHECK(from(source(1), options) == From::memory);
    make_old(mine.write("exports.map", "{ local: *; };\n"));
    CHECK(from(source(1), options) == From::compiler);
}

TEST_CASE("another compiler of the same name compiles again", "[compile]") {
    const OwnCache cache;
    const Folder mine;
    CompileOptions options = options_for();
    options.clang = mine.script("clang-mine", "exec " KERNEL_CLANG " \"$@\"\n");
    make_old(options.clang);
    CHECK(from(source(1), options) == From::compiler);
    CHECK(from(source(1), options) == From::memory);
    make_old(mine.script("clang-mine", "exec  " KERNEL_CLANG " \"$@\"\n"));
    CHECK(from(source(1), options) == From::compiler);
}

TEST_CASE("a damaged entry is dropped and compiled again", "[compile]") {
    const OwnCache cache;
    const Compiled good = compile(double_it, options_for());
    const fs::path file = cache.entries.files().at(0);
    const std::vector<std::byte> bytes = bytes_of(file);
    std::mt19937 random(1);
    for (int round = 0; round < 12; ++round) {
        std::vector<std::byte> bad = bytes;
        const std::size_t at = random() % bad.size();
        if (round % 3 == 0) bad[at] ^= std::byte{1};
        if (round % 3 == 1) bad.resize(at);
        if (round % 3 == 2) bad.push_back(std::byte{0});
        write(file, bad);
        cache.forget();
        const Compiled made = compile(double_it, options_for());
        CHECK(made.from == From::compiler);
        CHECK(made.code_object == good.code_object);
        CHECK(bytes_of(file) == bytes);
    }
}

TEST_CASE("an entry larger than any that is written is dropped unread", "[compile]") {
    const OwnCache cache;
    CHECK(from(double_it) == From::compiler);
    const fs::path file = cache.entries.files().front();
    for (const std::uint64_t size : {std::uint64_t{12} << 30, std::uint64_t{1} << 40}) {
        fs::resize_file(file, size);  // sparse
        cache.forget();
        CHECK(from(double_it) == From::compiler);
        CHECK(fs::file_size(file) < 1 << 20);
    }
}

TEST_CASE("mutated entries are never taken", "[compile]") {
    const OwnCache cache;
    compile(double_it, options_for());
    const fs::path file = cache.entries.files().at(0);
    const std::vector<std::byte> bytes = bytes_of(file);
    const std::string key = detail::unpack(bytes)->key;
    const detail::CacheFolder folder(detail::cache_place());
    REQUIRE(folder.load(key));
    const char* set = std::getenv("HSADRV_TEST_MUTATIONS");
    std::mt19937 random(2);
    for (unsigned long left = set ? std::strtoul(set, nullptr, 10) : 500; left > 0; --left) {
        std::vector<std::byte> bad = bytes;
        for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % bad.size();
            if (random() % 4)
                bad[at] ^= static_cast<std::byte>(1 + random() % 255);
            else
                bad.resize(at + 1);
        }
        if (bad == bytes) continue;
        write(file, bad);
        REQUIRE_FALSE(folder.load(key));
        REQUIRE_FALSE(fs::exists(file));
    }
}

TEST_CASE("an entry of another key, of another kind, or of a link is not taken", "[compile]") {
    const OwnCache cache;
    const detail::CacheFolder folder(detail::cache_place());
    const detail::CacheEntry entry{"one", {}, "", "", {}};
    folder.store(entry);
    REQUIRE(folder.load("one"));
    fs::rename(folder.file_of("one"), folder.file_of("two"));
    CHECK_FALSE(folder.load("two"));
    fs::create_symlink(folder.file_of("two"), folder.file_of("one"));
    CHECK_FALSE(folder.load("one"));
    fs::remove(folder.file_of("one"));
    fs::create_directory(folder.file_of("one"));
    CHECK_FALSE(folder.load("one"));
    folder.store(entry);  // cannot
    CHECK_FALSE(folder.load("one"));
    fs::remove(folder.file_of("one"));
    REQUIRE(::mkfifo(folder.file_of("one").c_str(), 0600) == 0);
    CHECK_FALSE(folder.load("one"));
}

TEST_CASE("the oldest entries go when the folder is larger than its limit", "[compile]") {
    const OwnCache cache;
    const Variable size("HSADRV_CACHE_SIZE", "64K");
    const detail::CacheFolder folder(detail::cache_place());
    const auto store = [&](int n) {
        folder.store({"key " + std::to_string(n), {}, "", "", std::vector<std::byte>(8000)});
    };
    for (int n = 0; n < 6; ++n) {
        store(n);
        const std::string file = folder.file_of("key " + std::to_string(n));
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(100 - n));
    }
    cache.entries.write(".tmp-old", "left by a killed process");
    make_old(cache.entries.path() / ".tmp-old");
    cache.entries.write(".tmp-new", "being written");
    cache.entries.write("note.txt", "another program's");
    REQUIRE(folder.load("key 0"));  // now the youngest
    for (int n = 6; n < 12; ++n) store(n);
    folder.trim();
    CHECK(folder.load("key 0"));
    CHECK_FALSE(folder.load("key 1"));
    CHECK_FALSE(folder.load("key 2"));
    CHECK(folder.load("key 11"));
    std::uint64_t total = 0;
    for (const fs::path& file : cache.entries.files())
        if (file.extension() == ".hsadrv") total += fs::file_size(file);
    CHECK(total <= 64 << 10);
    CHECK(total > 40 << 10);
    CHECK_FALSE(fs::exists(cache.entries.path() / ".tmp-old"));
    CHECK(fs::exists(cache.entries.path() / ".tmp-new"));
    CHECK(fs::exists(cache.entries.path() / "note.txt"));
    folder.store({"large", {}, "", "", std::vector<std::byte>(70000)});
    CHECK_FALSE(folder.load("large"));
}

TEST_CASE("a folder that cannot be written does no harm", "[compile]") {
    const OwnCache cache;
    const std::string file = cache.entries.write("file", "");
    const Variable place("HSADRV_CACHE",
                         GENERATE_REF(file + "/below", std::string("/proc/nothing"), std::string("/dev/null")));
    CHECK(from(source(1)) == From::compiler);
    CHECK(from(source(1)) == From::memory);
}

TEST_CASE("the folder follows the environment", "[compile]") {
    const Variable home("HOME", "/home/me"), caches("XDG_CACHE_HOME", ""), none("HSADRV_CACHE", ""),
        size("HSADRV_CACHE_SIZE", "");
    CHECK(detail::cache_place().folder == "/home/me/.cache/hsadrv");
    CHECK(detail::cache_place().limit_bytes == 256u << 20);
    {
        const Variable set("XDG_CACHE_HOME", "/caches");
        CHECK(detail::cache_place().folder == "/caches/hsadrv");
    }
    {
        const Variable set("XDG_CACHE_HOME", "relative");
        CHECK(detail::cache_place().folder == "/home/me/.cache/hsadrv");
    }
    {
        const Variable set("HSADRV_CACHE", "/mine"), limit("HSADRV_CACHE_SIZE", "1G");
        CHECK(detail::cache_place().folder == "/mine");
        CHECK(detail::cache_place().limit_bytes == 1u << 30);
    }
    const Variable off("HSADRV_CACHE", "off");
    CHECK(detail::cache_place().folder.empty());
    const Variable wrong("HSADRV_CACHE_SIZE", "much");
    CHECK_THROWS_WITH(compile(source(1), options_for()), Contains("HSADRV_CACHE_SIZE=much: not a size"));
}

TEST_CASE("a child compiles what others compile", "[.child][compile]") {
    for (int round = 0; round < 2; ++round)
        for (int n = 0; n < 6; ++n) {
            const Compiled made = compile(source(n), options_for());
            CHECK(read_code_object(made.code_object).target == TargetId::parse("gfx90a"));
            detail::compile_memory().clear();
        }
}

TEST_CASE("8 threads and 4 processes share one cache", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.cache = false;
    std::vector<std::vector<std::byte>> expected;
    for (int n = 0; n < 6; ++n) expected.push_back(compile(source(n), options).code_object);
    std::vector<std::thread> workers;
    std::atomic<int> wrong = 0, right = 0;
    for (int t = 0; t < 8; ++t) {
        workers.emplace_back([&, t] {
            for (int i = 0; i < 12; ++i) {
                const auto n = static_cast<std::size_t>((i + t) % 6);
                try {
                    compile(source(static_cast<int>(n)), options_for()).code_object == expected[n] ? ++right : ++wrong;
                } catch (const std::exception&) {
                    ++wrong;
                }
            }
        });
    }
    std::atomic<int> failed = 0;
    for (int p = 0; p < 4; ++p) {
        workers.emplace_back([&] {
            failed += device_test::run_test_in_child("a child compiles what others compile", "HSADRV_TEST_CHILD", "1")
                          .status != 0;
        });
    }
    for (std::thread& worker : workers) worker.join();
    CHECK(right == 96);
    CHECK(wrong == 0);
    CHECK(failed == 0);
    CHECK(cache.entries.files().size() == 6);
    CHECK(cache.temporary.files().empty());
    cache.forget();
    for (int n = 0; n < 6; ++n) {
        const Compiled made = compile(source(n), options_for());
        CHECK(made.from == From::disk);
        CHECK(made.code_object == expected[static_cast<std::size_t>(n)]);
    }
}
