#include "tests/docs/task.hpp"

#include <unistd.h>

#include <cstdio>

namespace docs_test {

namespace {

/// "…" in `pattern` stands for anything within a line: the shortest that fits first.
bool matches(const char* pattern, const char* text) {
    static const std::string any = "…";
    for (; *pattern; ++pattern, ++text) {
        if (any.compare(0, any.size(), pattern, std::min(any.size(), std::strlen(pattern))) == 0) {
            for (pattern += any.size();; ++text) {
                if (matches(pattern, text)) return true;
                if (*text == '\0' || *text == '\n') return false;
            }
        }
        if (*pattern != *text) return false;
    }
    return *text == '\0';
}

}  // namespace

Output::Output() {
    std::fflush(stdout);
    terminal_ = ::dup(STDOUT_FILENO);
    std::FILE* file = std::tmpfile();
    file_ = ::dup(::fileno(file));
    std::fclose(file);
    ::dup2(file_, STDOUT_FILENO);
}

Output::~Output() {
    std::fflush(stdout);
    ::dup2(terminal_, STDOUT_FILENO);
    ::close(terminal_);
    ::close(file_);
}

std::string Output::take() {
    std::fflush(stdout);
    std::string text(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    const ssize_t got = ::pread(file_, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    if (::ftruncate(file_, 0) != 0) text += "(ftruncate failed)";
    ::lseek(file_, 0, SEEK_SET);
    return text;
}

void Output::expect(const char* page, int line, const std::string& expected) {
    const std::string printed = take();
    if (matches(expected.c_str(), printed.c_str())) return;
    throw std::runtime_error(std::string(page) + ":" + std::to_string(line) + ": printed\n" + printed + "instead of\n" +
                             expected);
}

void Output::expect_no_more(const char* page, int line) {
    const std::string printed = take();
    if (!printed.empty())
        throw std::runtime_error(std::string(page) + ":" + std::to_string(line) +
                                 ": this task prints what the page does not show:\n" + printed);
}

}  // namespace docs_test
