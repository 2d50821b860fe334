#include "tools/hsadrv-cc/depfile.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace hsadrv_cc {
namespace {

/// The words of a rule. A backslash escapes the next character, or continues the line.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    const auto end_word = [&] {
        if (!word.empty()) words.push_back(std::move(word));
        word.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
            end_word();
            ++i;
        } else if (c == '\\' && i + 1 < text.size()) {
            word += c;
            word += text[++i];
        } else if (c == ' ' || c == '\t' || c == '\n') {
            end_word();
        } else {
            word += c;
        }
    }
    end_word();
    return words;
}

}  // namespace

std::string merge_depfiles(std::span<const std::string> texts) {
    std::string target;
    std::vector<std::string> prerequisites;
    for (const std::string& text : texts) {
        std::vector<std::string> words = words_of(text);
        if (words.empty()) continue;
        target = words.front();
        for (auto word = words.begin() + 1; word != words.end(); ++word)
            if (std::find(prerequisites.begin(), prerequisites.end(), *word) == prerequisites.end())
                prerequisites.push_back(*word);
    }
    std::string rule = target;
    for (const std::string& prerequisite : prerequisites) rule += " \\\n  " + prerequisite;
    return rule + "\n";
}

}  // namespace hsadrv_cc
