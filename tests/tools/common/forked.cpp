#include "tools/common/forked.hpp"

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace tools;

TEST_CASE("a child answers in lines", "[forked]") {
    const Answers heard = ask_in_child(
        [](const Say& say) {
            say("one");
            say(std::string(100000, 'x'));
        },
        10s);
    REQUIRE(heard.lines.size() == 2);
    CHECK(heard.lines[0] == "one");
    CHECK(heard.lines[1].size() == 100000);
    CHECK(heard.signal == 0);
    CHECK(heard.status == 0);
    CHECK_FALSE(heard.timed_out);
}

TEST_CASE("a child's output before a crash is kept", "[forked]") {
    const Answers heard = ask_in_child(
        [](const Say& say) {
            say("one");
            raise(SIGKILL);  // a sanitizer would handle SIGSEGV
        },
        10s);
    CHECK(heard.lines == std::vector<std::string>{"one"});
    CHECK(heard.signal == SIGKILL);
}

TEST_CASE("a child that hangs is ended", "[forked]") {
    const auto before = std::chrono::steady_clock::now();
    const Answers heard = ask_in_child(
        [](const Say& say) {
            say("one");
            for (;;) pause();
        },
        200ms);
    CHECK(heard.timed_out);
    CHECK(heard.signal == 0);
    CHECK(heard.lines.size() == 1);
    CHECK(std::chrono::steady_clock::now() - before < 10s);
}

TEST_CASE("a child that exits has not answered", "[forked]") {
    CHECK(ask_in_child([](const Say&) { _exit(7); }, 10s).status == 7);
}

TEST_CASE("a child's changes do not affect the parent", "[forked]") {
    int value = 1;
    const Answers heard = ask_in_child(
        [&](const Say& say) {
            value = 2;
            std::thread([&] { say(std::to_string(value)); }).join();
        },
        10s);
    CHECK(heard.lines == std::vector<std::string>{"2"});
    CHECK(value == 1);
}
