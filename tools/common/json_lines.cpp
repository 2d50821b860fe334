#include "tools/common/json_lines.hpp"

#include <algorithm>

namespace tools {
namespace {

std::string text_of(const Json& json, std::size_t depth);

std::string object_text(const Json& object, std::size_t depth) {
    std::string text;
    for (const auto& [key, value] : object.members())
        text += (text.empty() ? "" : ", ") + Json(key).dump() + ": " + text_of(value, depth);
    return "{" + text + "}";
}

std::string array_text(const Json& array, std::size_t depth) {
    const bool lines = std::any_of(array.begin(), array.end(), [](const Json& element) { return element.is_object(); });
    const std::string between = lines ? "\n" + std::string(2 * (depth + 1), ' ') : "";
    std::string text;
    for (const Json& element : array)
        text += (text.empty() ? "" : lines ? "," : ", ") + between + text_of(element, depth + lines);
    return "[" + text + "]";
}

std::string text_of(const Json& json, std::size_t depth) {
    if (json.is_object()) return object_text(json, depth);
    if (json.is_array()) return array_text(json, depth);
    return json.dump();
}

}  // namespace

std::string json_lines(const Json& json) { return text_of(json, 0) + "\n"; }

}  // namespace tools
