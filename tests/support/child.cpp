#include "tests/support/child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "tests/support/catch.hpp"

namespace test_support {

ChildResult run_test_in_child(const std::string& test_case, const char* variable, const char* value) {
    std::array<int, 2> pipe_ends{};
    if (::pipe(pipe_ends.data()) != 0) return {-1, "pipe failed"};
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe_ends[1], STDOUT_FILENO);
        ::dup2(pipe_ends[1], STDERR_FILENO);
        ::close(pipe_ends[0]);
        ::setenv(variable, value, 1);
        ::execl("/proc/self/exe", "child", test_case.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    ::close(pipe_ends[1]);
    std::string output;
    std::array<char, 4096> buffer{};
    for (ssize_t got; (got = ::read(pipe_ends[0], buffer.data(), buffer.size())) > 0;)
        output.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(pipe_ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), output};
}

void check_child(const std::string& test_case) {
    const ChildResult child = run_test_in_child(test_case, "HSADRV_TEST_CHILD", "1");
    INFO(child.output);
    CHECK(child.status == 0);
    CHECK(child.output.find("No test cases matched") == std::string::npos);
}

}  // namespace test_support
