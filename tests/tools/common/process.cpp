// Children: their status, output, environment and time.
#include "tools/common/process.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace tools;

namespace {

/// True if a process exists; a zombie does not count.
bool runs(pid_t process) {
    for (int i = 0; i < 500 && kill(process, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
    return kill(process, 0) == 0;
}

}  // namespace

TEST_CASE("a child's output is kept, both streams, and its status") {
    const Interruptions interruptions;
    const Captured said = capture({"sh", "-c", "echo out; echo err >&2; exit 7"}, interruptions);
    CHECK(said.status == 7);
    CHECK(said.text == "out\nerr\n");
    CHECK_FALSE(said.timed_out);
    CHECK(capture({"sh", "-c", "kill -SEGV $$"}, interruptions).status == 128 + SIGSEGV);
    CHECK(capture({"there-is-no-such-program"}, interruptions).status == 127);
    CHECK(capture({"cat"}, interruptions).text.empty());  // no input
}

TEST_CASE("a child's standard error is kept, and printed after its end") {
    const Interruptions interruptions;
    int ours[2];
    REQUIRE(pipe(ours) == 0);
    const int before = dup(STDERR_FILENO);
    dup2(ours[1], STDERR_FILENO);
    const Captured said = run({"sh", "-c", "echo err >&2; exit 7"}, interruptions);
    dup2(before, STDERR_FILENO);
    char printed[16] = {};
    const ssize_t size = read(ours[0], printed, sizeof printed - 1);
    for (int file : {ours[0], ours[1], before}) close(file);
    CHECK(said.status == 7);
    CHECK(said.text == "err\n");
    CHECK(size == 4);
    CHECK(std::string(printed) == "err\n");
    CHECK(run({"there-is-no-such-program"}, interruptions).status == 127);
}

TEST_CASE("a child inherits the environment, except for given variables") {
    const Interruptions interruptions;
    setenv("HSADRV_TEST_KEPT", "kept", 1);
    setenv("HSADRV_TEST_CHANGED", "before", 1);
    const Surroundings surroundings{{{"HSADRV_TEST_CHANGED", "after"}, {"HSADRV_TEST_NEW", "a b"}}, {}};
    const Command command{"sh", "-c",
                          "echo $HSADRV_TEST_KEPT, $HSADRV_TEST_CHANGED, $HSADRV_TEST_NEW; env | grep -c "
                          "^HSADRV_TEST_CHANGED="};
    CHECK(capture(command, interruptions, surroundings).text == "kept, after, a b\n1\n");
}

TEST_CASE("a child that takes too long is killed, with its descendants") {
    const Interruptions interruptions;
    const auto start = std::chrono::steady_clock::now();
    const Captured said = capture({"sh", "-c", "sleep 100 & echo $!; wait"}, interruptions, {{}, 300ms});
    CHECK(said.timed_out);
    CHECK(said.status == 128 + SIGKILL);
    CHECK(std::chrono::steady_clock::now() - start < 50s);
    CHECK_FALSE(runs(std::stoi(said.text)));
    CHECK_FALSE(capture({"true"}, interruptions, {{}, 60s}).timed_out);
}

TEST_CASE("a running child is polled, and killed when the poll function returns false") {
    const Interruptions interruptions;
    int looks = 0;
    const Captured said = capture({"sleep", "100"}, interruptions, {{}, {}, [&] { return ++looks < 3; }});
    CHECK(said.timed_out);
    CHECK(looks == 3);
    CHECK_FALSE(capture({"true"}, interruptions, {{}, {}, [] { return true; }}).timed_out);
}

TEST_CASE("descendants of a child end with it") {
    const Interruptions interruptions;
    const Captured said = capture({"sh", "-c", "sleep 100 >/dev/null 2>&1 & echo $!"}, interruptions);
    CHECK(said.status == 0);
    CHECK_FALSE(runs(std::stoi(said.text)));
}

TEST_CASE("a child that ignores the signal is killed after a while") {
    const Interruptions interruptions;
    const pid_t self = getpid();
    std::thread sender([self] {
        std::this_thread::sleep_for(500ms);
        kill(self, SIGTERM);
    });
    const auto start = std::chrono::steady_clock::now();
    int signal = 0;
    try {
        capture({"sh", "-c", "trap '' TERM; sleep 100 & wait"}, interruptions);
    } catch (const Interrupted& interrupted) {
        signal = interrupted.signal;
    }
    sender.join();
    CHECK(signal == SIGTERM);
    CHECK(std::chrono::steady_clock::now() - start < 50s);
}

TEST_CASE("a signal goes first to the child, then to the waiting parent") {
    const Interruptions interruptions;
    const pid_t self = getpid();
    std::thread sender([self] {
        std::this_thread::sleep_for(200ms);
        kill(self, SIGTERM);
    });
    int signal = 0;
    try {
        capture({"sh", "-c", "trap 'exit 0' TERM; sleep 100 & wait"}, interruptions);
    } catch (const Interrupted& interrupted) {
        signal = interrupted.signal;
    }
    sender.join();
    CHECK(signal == SIGTERM);
}
