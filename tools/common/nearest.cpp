#include "tools/common/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tools {
namespace {

/// The Levenshtein distance: the number of letters to insert, delete or change.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

constexpr std::size_t longest = 256;  // distances cost the product of the lengths

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> words) {
    const std::size_t few = std::max<std::size_t>(2, word.size() / 4);
    std::string_view best;
    std::size_t best_distance = few + 1;
    if (word.size() > longest) return "";
    for (const std::string& candidate : words) {
        if (candidate.size() > word.size() + few || candidate.size() + few < word.size()) continue;
        const std::size_t far = distance(word, candidate);
        if (far >= best_distance) continue;
        best = candidate;
        best_distance = far;
    }
    return std::string(best);
}

}  // namespace tools
