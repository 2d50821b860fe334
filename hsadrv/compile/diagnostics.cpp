#include "hsadrv/compile/diagnostics.hpp"

#include <charconv>
#include <optional>

namespace hsadrv::detail {
namespace {

using Kind = Diagnostic::Kind;

struct Word {
    std::string_view text;
    Kind kind;
};
constexpr Word words[] = {{"fatal error: ", Kind::error},
                          {"error: ", Kind::error},
                          {"warning: ", Kind::warning},
                          {"remark: ", Kind::remark},
                          {"note: ", Kind::note}};

/// Takes ":NUMBER" from the end.
std::optional<std::uint32_t> take_number(std::string_view& text) {
    const auto colon = text.rfind(':');
    if (colon == text.npos) return {};
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data() + colon + 1, end, number);
    if (error != std::errc{} || stopped != end) return {};
    text = text.substr(0, colon);
    return number;
}

/// "FILE:LINE:COLUMN", "FILE:LINE", or a program's name; false for other text.
bool read_place(std::string_view text, Diagnostic& said) {
    const auto last = take_number(text);
    if (!last) return text.find(' ') == text.npos;  // a program; with spaces: a quoted line
    if (const auto line = take_number(text)) {
        said.line = *line;
        said.column = *last;
    } else {
        said.line = *last;
    }
    if (text != "<unknown>") said.file = text;
    return true;
}

/// The back end's place is in the message: "error: <unknown>:0:0: local memory …".
void skip_unknown_place(std::string& message) {
    constexpr std::string_view unknown = "<unknown>:0:0: ";
    if (message.starts_with(unknown)) message.erase(0, unknown.size());
}

std::optional<Diagnostic> read_line(std::string_view line) {
    for (const Word& word : words) {
        const auto at = line.find(word.text);
        if (at == line.npos) continue;
        const std::string_view before = line.substr(0, at);
        if (!before.empty() && !before.ends_with(": ")) continue;
        Diagnostic said;
        said.kind = word.kind;
        said.message = line.substr(at + word.text.size());
        if (!before.empty() && !read_place(before.substr(0, at - 2), said)) continue;
        skip_unknown_place(said.message);
        return said;
    }
    return {};
}

}  // namespace

std::vector<Diagnostic> diagnostics_in(std::string_view printed) {
    std::vector<Diagnostic> all;
    while (!printed.empty()) {
        const std::string_view line = printed.substr(0, printed.find('\n'));
        printed.remove_prefix(std::min(printed.size(), line.size() + 1));
        if (auto said = read_line(line)) all.push_back(*std::move(said));
    }
    return all;
}

}  // namespace hsadrv::detail

namespace hsadrv {

std::string_view to_string(Diagnostic::Kind kind) {
    switch (kind) {
        case Diagnostic::Kind::note:
            return "note";
        case Diagnostic::Kind::remark:
            return "remark";
        case Diagnostic::Kind::warning:
            return "warning";
        case Diagnostic::Kind::error:
            return "error";
    }
    return "message";
}

}  // namespace hsadrv
