#include "tools/hsadrv/objdump/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "hsadrv/error.hpp"
#include "hsadrv/executable.hpp"
#include "tools/common/forked.hpp"
#include "tools/hsadrv/json.hpp"

namespace hsadrv_tool::objdump {
namespace {

// With sanitizers and an emulated GPU the runtime takes seconds to start.
constexpr std::chrono::seconds most_asking{120};

struct Question {
    EntryFacts* facts;
    std::string name;  ///< as the runtime's messages call it
};

std::vector<Question> questions_of(Facts& facts) {
    std::vector<Question> questions;
    for (FileFacts& file : facts.files)
        for (EntryFacts& entry : file.entries)
            if (entry.entry->code) questions.push_back({&entry, file.contents.name});
    return questions;
}

Json json_of(hsadrv::AgentRef agent) {
    Json isas = Json::array();
    for (const hsadrv::Isa& isa : agent.isas()) isas.push_back(isa.name);
    return {{"label", agent.label()}, {"uuid", agent.uuid()}, {"isas", std::move(isas)}};
}

/// Messages begin with the name, as "'k.hsaco': …" or "'k.hsaco' needs …"; the report prints it in the heading instead.
std::string without_name(std::string said, const std::string& name) {
    const std::string quoted = fmt::format("'{}'", name);
    if (!said.starts_with(quoted)) return said;
    return said.substr(std::min(said.size(), quoted.size() + (said.substr(quoted.size()).starts_with(": ") ? 2 : 1)));
}

/// Empty if it loads.
std::string why_not(hsadrv::AgentRef agent, const Question& question) {
    try {
        hsadrv::Executable::load(agent, question.facts->entry->bytes, question.name);
        return "";
    } catch (const std::exception& error) {
        return without_name(error.what(), question.name);
    }
}

// What follows up to be_asked() runs in the child.

void answer(const std::vector<Question>& questions, const Session& session, const tools::Say& say) {
    const hsadrv::Driver driver;
    std::vector<hsadrv::AgentRef> agents;
    if (session.device.empty())
        agents = driver.gpus();
    else
        agents = {session.gpu(driver)};
    Json all = Json::array();
    for (const hsadrv::AgentRef agent : agents) all.push_back(json_of(agent));
    say(json_line({{"agents", std::move(all)}}));
    for (const Question& question : questions)
        for (const hsadrv::AgentRef agent : agents) say(json_line({{"why_not", why_not(agent, question)}}));
}

void be_asked(const std::vector<Question>& questions, const Session& session, const tools::Say& say) noexcept try {
    answer(questions, session, say);
} catch (const tools::Failure& failure) {
    say(json_line({{"failure", failure.what()}, {"status", failure.status()}}));
} catch (const hsadrv::NoDevice& error) {
    say(json_line({{"no_device", error.what()}}));
} catch (const std::exception& error) {
    say(json_line({{"no_answer", error.what()}}));
}

/// Why the child gave no further answers.
std::string end_text(const tools::Answers& heard) {
    if (heard.timed_out) return fmt::format("the HSA runtime gave no answer within {} seconds", most_asking.count());
    if (heard.signal)
        return fmt::format("the HSA runtime crashed: signal {} ({})", heard.signal, strsignal(heard.signal));
    if (heard.status) return fmt::format("the HSA runtime ended its process with exit status {}", heard.status);
    return "the HSA runtime gave no answer";
}

void take_agents(Facts& facts, const Json& agents) {
    for (const Json& agent : agents)
        facts.agents.push_back({agent["label"], agent["uuid"], agent["isas"].get<std::vector<std::string>>()});
}

}  // namespace

void ask_agents(Facts& facts, const Session& session) {
    const std::vector<Question> questions = questions_of(facts);
    if (questions.empty()) return;
    const tools::Answers heard =
        tools::ask_in_child([&](const tools::Say& say) { be_asked(questions, session, say); }, most_asking);
    std::vector<std::string> answers;
    for (const std::string& line : heard.lines) {
        const Json said = Json::parse(line);
        if (said.contains("failure")) throw tools::Failure(said["status"].get<int>(), said["failure"]);
        if (said.contains("no_device") && !session.device.empty())
            throw tools::Failure(exit_status::no_device,
                                 fmt::format("--device {}: {}", session.device, said["no_device"].get<std::string>()));
        if (said.contains("no_device")) facts.no_agent = said["no_device"];
        if (said.contains("no_answer")) facts.no_agent = said["no_answer"];
        if (said.contains("agents")) take_agents(facts, said["agents"]);
        if (said.contains("why_not")) answers.push_back(said["why_not"]);
    }
    if (facts.agents.empty() && facts.no_agent.empty()) facts.no_agent = end_text(heard);
    for (std::size_t i = 0; i < questions.size() * facts.agents.size(); ++i) {
        Answer given{i % facts.agents.size(), i < answers.size() ? answers[i] : end_text(heard)};
        questions[i / facts.agents.size()].facts->answers.push_back(std::move(given));
    }
}

}  // namespace hsadrv_tool::objdump
