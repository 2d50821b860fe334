#include "hsadrv/compile/depfile.hpp"

#include <algorithm>

namespace hsadrv::detail {

std::vector<std::string> prerequisites_of(std::string_view rule) {
    std::vector<std::string> names;
    std::string name;
    const auto end_name = [&] {
        if (!name.empty()) names.push_back(std::move(name));
        name.clear();
    };
    rule.remove_prefix(std::min(rule.size(), rule.find(':')));
    rule.remove_prefix(rule.empty() ? 0 : 1);
    for (std::size_t i = 0; i < rule.size(); ++i) {
        const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
        if (rule[i] == '\\' && next == '\n') {
            end_name();
            ++i;
        } else if ((rule[i] == '\\' && (next == ' ' || next == '#')) || (rule[i] == '$' && next == '$')) {
            name += next;
            ++i;
        } else if (rule[i] == ' ' || rule[i] == '\n') {
            end_name();
        } else {
            name += rule[i];
        }
    }
    end_name();
    return names;
}

}  // namespace hsadrv::detail
