#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "tests/conformance/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "tests/support/catch.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/session.hpp"

namespace conformance {
namespace {

using Json = nlohmann::ordered_json;

int file = -1;
std::string foreign_gpu;

void write_line(const Json& event) noexcept {
    if (file < 0) return;
    const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    // One write per line: a line is written entirely or not at all.
    [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
}

/// The bytes printed so far: standard output is a file.
long long output_bytes() {
    std::fflush(stdout);
    return std::max<long long>(0, ::lseek(STDOUT_FILENO, 0, SEEK_CUR));
}

std::string text_of(const Catch::AssertionStats& stats) {
    const Catch::AssertionResult& result = stats.assertionResult;
    const auto source = result.getSourceInfo();
    std::string file_name = source.file;
    if (const std::size_t at = file_name.find("tests/"); at != file_name.npos) file_name.erase(0, at);
    std::string text = file_name + ":" + std::to_string(source.line) + ":";
    if (result.hasExpression()) text += " " + std::string(result.getExpressionInMacro());
    if (result.hasExpandedExpression()) text += "\n    with " + std::string(result.getExpandedExpression());
    if (result.hasMessage()) text += "\n    " + std::string(result.getMessage());
    for (const Catch::MessageInfo& message : stats.infoMessages)
        if (message.message != std::string(result.getMessage())) text += "\n    " + message.message;
    return text;
}

/// The library's refusal, which a test case's child may have printed in lines of Catch2's: "…, this agent is gfx906".
bool is_want_of_a_kernel(const std::string& text) {
    if (foreign_gpu.empty()) return false;
    std::string words;
    for (const char c : text)
        if (!std::isspace(static_cast<unsigned char>(c)))
            words += c;
        else if (!words.empty() && words.back() != ' ')
            words += ' ';
    return words.find("this agent is " + foreign_gpu) != words.npos;
}

#if CATCH_VERSION_MAJOR >= 3
using ListenerBase = Catch::EventListenerBase;
using AssertionEnded = void;
#else
using ListenerBase = Catch::TestEventListenerBase;
using AssertionEnded = bool;
#endif

class Journal : public ListenerBase {
  public:
    using ListenerBase::ListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        began_ = std::chrono::steady_clock::now();
        name_ = info.name;
        tags_ = info.tagsAsString();
        if (makes_defects()) test_support::check_nothing();
        failures_ = 0;
        no_kernel_.reset();
        write_line({{"begin", info.name}, {"output", output_bytes()}});
    }

    AssertionEnded assertionEnded(const Catch::AssertionStats& stats) override {
        note(stats);
        return AssertionEnded(true);
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
        note_findings();
        std::optional<std::string> reason = test_support::skip_reason(name_);
        if (no_kernel_ && failures_ == 0) reason = no_kernel_;
        const char* outcome = failures_ > 0 || (!reason && !stats.totals.assertions.allOk()) ? "failed"
                              : reason                                                       ? "skipped"
                                                                                             : "passed";
        write_line({{"end", name_},
                    {"outcome", outcome},
                    {"reason", reason.value_or("")},
                    {"seconds", took.count()},
                    {"output", output_bytes()}});
    }

  private:
    void note(const Catch::AssertionStats& stats) {
        const Catch::AssertionResult& result = stats.assertionResult;
        if (result.isOk()) return;
        const std::string text = text_of(stats);
        if (result.getResultType() == Catch::ResultWas::FatalErrorCondition) return write_line({{"fatal", text}});
        if (is_want_of_a_kernel(text)) {
            no_kernel_ = "the tests' kernels were not compiled for " + foreign_gpu;
            return;
        }
        if (++failures_ <= 20) write_line({{"failure", text}});
    }

    /// In a child process, they are left for its exit status.
    void note_findings() {
        if (file < 0) return;
        const std::string found = test_support::take_findings();
        if (makes_defects()) return test_support::check_again();
        if (found.empty()) return;
        ++failures_;
        write_line({{"failure", found}});
    }

    bool makes_defects() const { return tags_.find("[defect]") != tags_.npos; }

    std::chrono::steady_clock::time_point began_;
    std::string name_, tags_;
    int failures_ = 0;
    std::optional<std::string> no_kernel_;
};
CATCH_REGISTER_LISTENER(Journal)

}  // namespace

void open_journal(const std::string& path, const std::string& foreign) {
    file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) throw std::system_error(errno, std::generic_category(), path);
    foreign_gpu = foreign;
}

void note_round(unsigned long seed) {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    long descriptors = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++descriptors;
    write_line(
        {{"round", seed}, {"resident_kb", resident * (::sysconf(_SC_PAGESIZE) / 1024)}, {"descriptors", descriptors}});
}

}  // namespace conformance
