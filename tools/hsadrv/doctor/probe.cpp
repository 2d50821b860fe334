#include "tools/hsadrv/doctor/probe.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tools/common/own_program.hpp"
#include "tools/common/standard_streams.hpp"

namespace hsadrv_tool::doctor {
namespace {

constexpr char record_separator = '\x1e';

/// The last line of a text that is not blank.
std::string last_line(const std::string& text) {
    const std::size_t end = text.find_last_not_of(" \r\n");
    if (end == text.npos) return "";
    const std::size_t begin = text.rfind('\n', end);
    return text.substr(begin == text.npos ? 0 : begin + 1, end - (begin == text.npos ? 0 : begin + 1) + 1);
}

}  // namespace

Heard hear(const tools::Captured& captured, double seconds) {
    Heard heard;
    heard.captured = captured;
    heard.seconds = seconds;
    std::string others;
    const std::string& text = captured.text;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = std::min(text.find(record_separator, at), text.size());
        others += text.substr(at, begin - at);
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (begin < text.size()) {
            others += '\n';  // a message ends an incomplete line
            auto message = Json::try_parse(text.substr(begin + 1, end - begin - 1));
            if (message) heard.messages.push_back(std::move(*message));
        }
        at = end == text.size() ? end : begin < text.size() ? end + 1 : end;
    }
    heard.last_words = last_line(others);
    return heard;
}

std::optional<std::string> Heard::how_it_ended() const {
    if (captured.status == 0 && !captured.timed_out) return std::nullopt;
    std::string text;
    if (captured.stuck)
        text = fmt::format("did not end within {:.0f} s, and cannot be killed: it waits inside the kernel", seconds);
    else if (captured.timed_out)
        text = fmt::format("did not end within {:.0f} s, and was killed", seconds);
    else if (captured.status > 128)
        text = fmt::format("died of {} after {:.1f} s", tools::signal_name(captured.status - 128), seconds);
    else if (captured.status == 126 || captured.status == 127)
        text = "could not be started";
    else
        text = fmt::format("ended with status {} after {:.1f} s", captured.status, seconds);
    if (!last_words.empty()) text += fmt::format("; it last said \"{}\"", last_words);
    return text;
}

const Json* Heard::find(std::string_view key) const {
    const Json* found = nullptr;
    for (const Json& message : messages)
        if (const Json* value = message.find(key)) found = value;
    return found;
}

Heard ask(const std::vector<std::string>& words, std::chrono::seconds limit,
          const tools::Interruptions& interruptions) {
    tools::Command command{tools::own_program().string(), "doctor", "--timeout", std::to_string(limit.count()),
                           "--probe"};
    command.insert(command.end(), words.begin(), words.end());
    const auto begin = std::chrono::steady_clock::now();
    tools::Surroundings surroundings{.variables = {}, .limit = limit};
    // By default the thunk does not report what fails. 4: errors and warnings.
    if (!std::getenv("HSAKMT_DEBUG_LEVEL")) surroundings.variables.emplace_back("HSAKMT_DEBUG_LEVEL", "4");
    const tools::Captured captured = tools::capture(command, interruptions, surroundings);
    return hear(captured, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

void say(const Json& message) { tools::print_or_fail(record_separator + json_line(message) + "\n"); }

Json as_json(const Row& row) {
    Json evidence = Json::array();
    for (const auto& [name, value] : row.evidence) evidence.push_back({{"name", name}, {"value", value}});
    return {{"id", row.id},        {"checked", row.title}, {"verdict", name_of(row.verdict)},
            {"found", row.found},  {"remedy", row.remedy}, {"commands", row.commands},
            {"evidence", evidence}};
}

Row row_from(const Json& json) {
    Row row;
    row.id = json.at("id");
    row.title = json.at("checked");
    row.verdict = verdict_of(json.at("verdict").get<std::string>()).value_or(Verdict::fault);
    row.found = json.at("found");
    row.remedy = json.at("remedy");
    for (const Json& command : json.at("commands")) row.commands.push_back(command);
    for (const Json& fact : json.at("evidence")) row.because(fact.at("name"), fact.at("value"));
    return row;
}

}  // namespace hsadrv_tool::doctor
