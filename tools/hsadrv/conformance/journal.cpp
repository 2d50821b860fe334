#include "tools/hsadrv/conformance/journal.hpp"

#include <fstream>
#include <iterator>

#include "tools/hsadrv/json.hpp"

namespace hsadrv_tool {
namespace {

Outcome outcome_of(const std::string& word) {
    return word == "passed" ? Outcome::passed : word == "skipped" ? Outcome::skipped : Outcome::failed;
}

void add_line(std::string& text, const std::string& line) { text += (text.empty() ? "" : "\n") + line; }

}  // namespace

void JournalReader::read() {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset_));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    offset_ += text.size();
    take(text);
}

void JournalReader::take(std::string_view lines) {
    if (lines.empty()) return;
    last_ = std::chrono::steady_clock::now();
    rest_ += lines;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest_.find('\n', begin)) != rest_.npos; begin = end + 1)
        take_line(std::string_view(rest_).substr(begin, end - begin));
    rest_.erase(0, begin);
}

void JournalReader::take_line(std::string_view line) try {
    const Json event = Json::parse(line);
    if (event.contains("begin")) {
        running_ = RunningTest{event.at("begin"), event.at("output")};
    } else if (event.contains("failure")) {
        if (running_) add_line(running_->failures, event.at("failure"));
    } else if (event.contains("fatal")) {
        if (running_) running_->fatal = event.at("fatal");
    } else if (event.contains("end")) {
        // After a signal Catch2 still ends the test case; then the program dies of the signal.
        if (!running_ || !running_->fatal.empty()) return;
        const Outcome outcome = outcome_of(event.at("outcome"));
        ended_.push_back({event.at("end"), outcome,
                          outcome == Outcome::skipped ? event.at("reason").get<std::string>() : running_->failures,
                          event.at("seconds"), running_->output_begin, event.at("output"), seed_});
        running_.reset();
    } else if (event.contains("round")) {
        rounds_.push_back({event.at("round"), {event.at("resident_kb"), event.at("descriptors")}});
        seed_ = rounds_.back().seed + 1;
    }
} catch (const tools::JsonError&) {
}

}  // namespace hsadrv_tool
