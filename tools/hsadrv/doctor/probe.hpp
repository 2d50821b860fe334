// Probe: queries that run in a separate process, because they may crash, abort or hang.
//
//     const Heard heard = ask({"runtime"}, limits, interruptions);       // hsadrv doctor --probe runtime
//     for (const Json& message : heard.messages) …
//     if (auto end = heard.how_it_ended()) …                             // "died of SIGSEGV after 0.3 s; …"
//
// The child prints each message at once (a JSON text sequence: RFC 7464), mixed with the output of the runtime.
// Thread safety: one thread. Throws: tools::Interrupted, when the child has ended.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/process.hpp"
#include "tools/hsadrv/doctor/row.hpp"
#include "tools/hsadrv/json.hpp"

namespace hsadrv_tool::doctor {

struct Heard {
    std::vector<Json> messages;
    std::string last_words;  ///< the last line that was not a message
    tools::Captured captured;
    double seconds = 0;

    /// std::nullopt if it ended normally.
    std::optional<std::string> how_it_ended() const;
    /// The last message with that key; null if there is none.
    const Json* find(std::string_view key) const;
};

/// Separates messages from other lines. Pure.
Heard hear(const tools::Captured& captured, double seconds);

/// `words`: the arguments of the hidden option --probe, and other options for the child.
Heard ask(const std::vector<std::string>& words, std::chrono::seconds limit, const tools::Interruptions& interruptions);

/// In the child: prints one message and flushes it.
void say(const Json& message);

Json as_json(const Row& row);
Row row_from(const Json& json);

/// The child's main: answers the query `what` ("files", "runtime", "gpu"). Returns its exit status.
int answer(const std::string& what, const std::string& device, std::chrono::seconds limit);

}  // namespace hsadrv_tool::doctor
