// The compiler as a child process: how it may fail, and that nothing of it remains.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "hsadrv/compile.hpp"
#include "tests/hsadrv/compile_fixture.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace compile_test;
using test_support::Contains;
using namespace std::chrono_literals;

namespace {

/// A clang that answers questions, and does something else instead of compiling.
std::string changed_clang(const Folder& folder, const std::string& name, const std::string& instead) {
    return folder.script(
        name,
        "case \"$*\" in *--version*|*--print-targets*|*-print-prog-name*|*-print-supported-cpus*) exec " KERNEL_CLANG
        " \"$@\";; esac\n" +
            instead + "\n");
}

/// This program again, with one of its test cases, in a process group of its own.
pid_t start(const char* test_case) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::setpgid(0, 0);
    ::execl("/proc/self/exe", "child", test_case, static_cast<char*>(nullptr));
    ::_exit(127);
}

/// Returns when it has stopped.
void stop(pid_t child) {
    ::kill(child, SIGSTOP);
    int status = 0;
    REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
    REQUIRE(WIFSTOPPED(status));
}

/// Not ended, nor waited for.
bool runs(pid_t process) {
    std::string name, state;
    std::ifstream("/proc/" + std::to_string(process) + "/stat") >> process >> name >> state;
    return state == "R" || state == "S";
}

}  // namespace

TEST_CASE("a compiler that hangs is killed at the deadline", "[compile]") {
    const OwnCache cache;
    const Folder folder;
    CompileOptions options = options_for();
    options.clang = changed_clang(folder, "clang-hangs",
                                  "echo $$ >" + (folder.path() / "pid").string() + "; sleep 1000 & sleep 1000");
    pid_t child = 0;
    // On a busy machine it may not have begun at the first deadlines.
    for (auto deadline = 1500ms; child == 0 && deadline < device_test::patience; deadline *= 2) {
        const auto begin = std::chrono::steady_clock::now();
        REQUIRE_THROWS_AS(compile(double_it, options, deadline), Timeout);
        CHECK(std::chrono::steady_clock::now() - begin < deadline + 10s);
        std::ifstream(folder.path() / "pid") >> child;
    }
    REQUIRE(child > 0);
    CHECK(device_test::eventually([&] { return ::kill(-child, 0) != 0; }));  // its group is gone
    CHECK(cache.temporary.files().empty());
}

TEST_CASE("a compiler that fails without a message, or is killed, is an error that says so", "[compile]") {
    const OwnCache cache;
    const Folder folder;
    CompileOptions options = options_for();
    options.clang = changed_clang(folder, "clang-fails", "exit 9");
    REQUIRE_THROWS_WITH(compile(double_it, options), Contains("clang-fails ended with exit status 9"));
    options.clang = changed_clang(folder, "clang-killed", "kill -9 $$");
    REQUIRE_THROWS_WITH(compile(double_it, options), Contains("ended with exit status 137"));
    options.clang = changed_clang(folder, "clang-lies", "echo not an object");
    REQUIRE_THROWS_AS(compile(double_it, options), Error);
    CHECK(cache.entries.files().empty());
}

TEST_CASE("a program that ignores or reaps its children compiles", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.cache = false;
    struct sigaction before{}, ignored{};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGCHLD, &ignored, &before);
    CHECK(compile(double_it, options).from == Compiled::From::compiler);
    CHECK_THROWS_AS(compile("int x", options), CompileError);
    sigaction(SIGCHLD, &before, nullptr);
    std::atomic<bool> done = false;
    std::thread reaper([&] {
        while (!done) {
            if (waitpid(-1, nullptr, WNOHANG) <= 0) std::this_thread::sleep_for(100us);
        }
    });
    CHECK(compile(double_it, options).from == Compiled::From::compiler);
    CHECK_THROWS_AS(compile("int x", options), CompileError);
    done = true;
    reaper.join();
}

TEST_CASE("signal mask, handlers and descriptors are as before", "[compile]") {
    const OwnCache cache;
    CompileOptions options = options_for();
    options.cache = false;
    compile(double_it, options);
    const auto descriptors = [] {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator("/proc/self/fd")) all.push_back(entry.path());
        return all.size();
    };
    sigset_t blocked, mask, after;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    const auto before = descriptors();
    compile(double_it, options);
    CHECK(descriptors() == before);
    sigprocmask(SIG_SETMASK, &mask, &after);
    CHECK(sigismember(&after, SIGUSR1) == 1);
    CHECK(sigismember(&after, SIGCHLD) == 0);
    CHECK(cache.temporary.files().empty());
    CHECK(cache.entries.files().empty());
}

TEST_CASE("a file called - in the current folder, and /dev/stdout, are left alone", "[compile]") {
    const OwnCache cache;
    const Folder here;
    const fs::path before = fs::current_path();
    here.write("-", "mine");
    CompileOptions options = options_for();
    options.cache = false;
    fs::current_path(here.path());
    CHECK(compile(double_it, options).from == Compiled::From::compiler);
    CHECK_THROWS_AS(compile("int x", options), CompileError);
    CHECK_THROWS_AS(compile("int other(); int f() { return other(); }", options), CompileError);
    fs::current_path(before);
    std::string text;
    std::getline(std::ifstream(here.path() / "-"), text);
    CHECK(text == "mine");
    CHECK(here.files().size() == 1);
    CHECK(fs::is_symlink("/dev/stdout"));
}

TEST_CASE("a child compiles until it is killed", "[.child][compile]") {
    CompileOptions options = options_for();
    options.cache = false;
    for (;;) compile(double_it, options);
}

TEST_CASE("a child waits for a compiler that spins", "[.child][compile]") {
    CompileOptions options = options_for();
    options.clang = std::getenv("SPINNING_CLANG");
    for (auto deadline = 3s;; deadline *= 2) {  // on a busy machine it may not have begun at the first
        try {
            compile(double_it, options, deadline);
        } catch (const Timeout&) {
        }
    }
}

TEST_CASE("a compiler that spins ends although the program was killed", "[compile]") {
    const OwnCache cache;
    const Folder folder;
    const fs::path written = folder.path() / "pid";
    const Variable clang(
        "SPINNING_CLANG",
        changed_clang(folder, "clang-spins", "sleep 0.2; echo $$ >" + written.string() + "; while :; do :; done"));
    const pid_t child = start("a child waits for a compiler that spins");
    pid_t compiler = 0;
    REQUIRE(device_test::eventually([&] {
        if (!(std::ifstream(written) >> compiler)) return false;
        stop(child);  // or the deadline may end the compiler now
        if (runs(compiler)) return true;
        ::kill(child, SIGCONT);
        return false;
    }));
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // the compiler becomes a child of this process
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(::waitpid(compiler, nullptr, WNOHANG) == 0);
    int status = 0;
    CHECK(device_test::eventually([&] { return ::waitpid(compiler, &status, WNOHANG) == compiler; }));
    CHECK(WTERMSIG(status) == SIGKILL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (status == 0) ::kill(compiler, SIGKILL);  // it still spins
}

TEST_CASE("a compiler has no more processor time than its program allows", "[compile]") {
    const OwnCache cache;
    const Folder folder;
    const fs::path written = folder.path() / "limit";
    CompileOptions options = options_for();
    options.clang = changed_clang(folder, "clang-limited", "sleep 0.2; ulimit -S -t >" + written.string() + "; exit 9");
    rlimit before{};
    ::getrlimit(RLIMIT_CPU, &before);
    const rlimit low{100, before.rlim_max};
    ::setrlimit(RLIMIT_CPU, &low);
    CHECK_THROWS_AS(compile(double_it, options, 60s), Error);
    ::setrlimit(RLIMIT_CPU, &before);
    unsigned seconds = 0;
    std::ifstream(written) >> seconds;
    CHECK(seconds == 100);
}

TEST_CASE("a killed program leaves no file", "[compile]") {
    const OwnCache cache;
    const pid_t child = start("a child compiles until it is killed");
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(150ms);
        CHECK(cache.temporary.files().empty());
    }
    CHECK(waitpid(child, nullptr, WNOHANG) == 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::this_thread::sleep_for(300ms);
    CHECK(cache.temporary.files().empty());
}
