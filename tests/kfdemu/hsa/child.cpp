#include "tests/kfdemu/hsa/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace hsa_test {
namespace {

constexpr const char* kRowVariable = "HSA_TEST_ROW";

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> environment_with(const Environment& more) {
    std::vector<std::string> result;
    const auto replaced = [&](const std::string& entry) {
        for (const auto& [name, value] : more)
            if (entry.compare(0, name.size() + 1, name + "=") == 0) return true;
        return false;
    };
    for (char** entry = environ; *entry; ++entry)
        if (!replaced(*entry)) result.emplace_back(*entry);
    for (const auto& [name, value] : more) result.push_back(name + "=" + value);
    return result;
}

/// Reads until the other end closes or the deadline passes; whether it closed.
bool read_all(int fd, std::string& text, std::chrono::steady_clock::time_point until) {
    char buffer[4096];
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        pollfd wait{fd, POLLIN, 0};
        if (poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
        const ssize_t size = read(fd, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return true;
        text.append(buffer, static_cast<std::size_t>(size));
    }
}

}  // namespace

ChildResult run_program(const std::vector<std::string>& command, const Environment& more, Duration timeout) {
    std::vector<std::string> words = command, variables = environment_with(more);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t process = 0;
    const int error =
        posix_spawnp(&process, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    ChildResult result;
    if (error == 0) {
        result.timed_out = !read_all(ends[0], result.output, std::chrono::steady_clock::now() + timeout);
        if (result.timed_out) kill(process, SIGKILL);
        int status = 0;
        waitpid(process, &status, 0);
        if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    }
    close(ends[0]);
    if (error != 0) throw std::runtime_error{words[0] + ": " + std::strerror(error)};
    return result;
}

ChildResult run_child(const std::string& test_case, const std::string& row, const Environment& more, Duration timeout) {
    Environment all = more;
    all.emplace_back(kRowVariable, row);
    // A random seed would change the output of each run of Catch2 3.
    return run_program({"/proc/self/exe", "--rng-seed", "1", test_case}, all, timeout);
}

std::string row() {
    const char* text = std::getenv(kRowVariable);
    return text ? text : "";
}

}  // namespace hsa_test
