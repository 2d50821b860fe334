#include "tools/common/table.hpp"

#include <algorithm>

namespace tools {
namespace {

constexpr std::size_t gap = 2;

std::string padded(const std::string& cell, std::size_t width, Align align) {
    const std::string blanks(width - std::min(width, width_of(cell)), ' ');
    return align == Align::right ? blanks + cell : cell + blanks;
}

/// Removes blanks at the end, before the line end.
std::string without_blanks(std::string text) {
    text.erase(text.find_last_not_of(" \n") + 1);
    return text + '\n';
}

}  // namespace

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string wrapped(const std::string& first, std::string_view text, std::size_t most_columns) {
    const std::size_t indent = width_of(first);
    std::string all, line = first;
    bool fresh = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!fresh && width_of(line) + 1 + width_of(word) > most_columns) {
            all += line + '\n';
            line = std::string(indent, ' ');
            fresh = true;
        }
        if (!fresh) line += ' ';
        line += word;
        fresh = false;
    }
    return all + line + '\n';
}

std::vector<std::size_t> Table::widths(const std::vector<Row>& rows) const {
    std::vector<std::size_t> widths(columns_.size());
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    return widths;
}

std::string Table::line(const Row& row, const std::vector<std::size_t>& widths, std::size_t indent,
                        std::size_t most_columns) const {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
        text += padded(row[i], widths[i], columns_[i].align) + std::string(gap, ' ');
    const bool left = columns_.back().align == Align::left;
    if (left && most_columns != 0) return without_blanks(wrapped(text, row.back(), most_columns));
    return without_blanks(text + (left ? row.back() : padded(row.back(), widths.back(), Align::right)) + '\n');
}

std::string Table::text(std::size_t indent, std::size_t most_columns) const {
    Row heads;
    for (const Column& column : columns_) heads.push_back(column.head);
    std::vector<Row> rows{heads};
    rows.insert(rows.end(), rows_.begin(), rows_.end());
    std::vector<std::size_t> wide = widths(rows);
    std::size_t total = indent;
    for (std::size_t width : wide) total += width + gap;
    const bool too_wide = most_columns != 0 && total - gap > most_columns;
    // Too wide: cells of the first column are on their own line, and the other columns start below its head.
    if (too_wide) wide[0] = width_of(heads[0]);
    const bool headless = std::all_of(heads.begin(), heads.end(), [](const std::string& head) { return head.empty(); });
    std::string text = headless ? "" : line(heads, wide, indent, most_columns);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (too_wide && width_of(rows[i][0]) > wide[0]) {
            text += std::string(indent, ' ') + rows[i][0] + '\n';
            rows[i][0].clear();
        }
        text += line(rows[i], wide, indent, most_columns);
    }
    return text;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t indent,
                    const std::vector<std::size_t>& right) {
    if (rows.empty()) return "";
    std::vector<Column> columns(rows.front().size());
    for (const std::size_t column : right) columns[column].align = Align::right;
    Table table(std::move(columns));
    for (const auto& row : rows) table.add(row);
    return table.text(indent);
}

}  // namespace tools
