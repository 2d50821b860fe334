#include "tools/hsadrv/topo/canvas.hpp"

#include <algorithm>

namespace hsadrv_tool {
namespace {

constexpr std::uint8_t above = 1, below = 2, left = 4, right = 8;

// Indexed by the set of sides with a line; a line that ends in a cell is drawn through it.
constexpr const char* light_glyphs[16] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                          "─", "└", "┌", "├", "─", "┴", "┬", "┼"};
constexpr const char* doubled_glyphs[16] = {" ", "║", "║", "║", "═", "╝", "╗", "╣",
                                            "═", "╚", "╔", "╠", "═", "╩", "╦", "╬"};

}  // namespace

Canvas::Cell& Canvas::at(std::size_t column, std::size_t row) {
    if (rows_.size() <= row) rows_.resize(row + 1);
    if (rows_[row].size() <= column) rows_[row].resize(column + 1);
    return rows_[row][column];
}

void Canvas::across(std::size_t from, std::size_t to, std::size_t row, Stroke stroke) {
    if (from > to) std::swap(from, to);
    for (std::size_t column = from; column <= to; ++column) {
        Cell& cell = at(column, row);
        std::uint8_t& sides = stroke == Stroke::light ? cell.light : cell.doubled;
        if (column > from) sides |= left;
        if (column < to) sides |= right;
    }
}

void Canvas::down(std::size_t column, std::size_t from, std::size_t to, Stroke stroke) {
    if (from > to) std::swap(from, to);
    for (std::size_t row = from; row <= to; ++row) {
        Cell& cell = at(column, row);
        std::uint8_t& sides = stroke == Stroke::light ? cell.light : cell.doubled;
        if (row > from) sides |= above;
        if (row < to) sides |= below;
    }
}

void Canvas::write(std::size_t column, std::size_t row, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) at(column + i, row).letter = text[i];
}

void Canvas::box(std::size_t column, std::size_t row, std::size_t width, std::size_t height, std::string_view title) {
    across(column, column + width - 1, row);
    across(column, column + width - 1, row + height - 1);
    down(column, row, row + height - 1);
    down(column + width - 1, row, row + height - 1);
    write(column + 2, row, " " + std::string(title) + " ");
}

const char* Canvas::glyph(const Cell& cell, bool utf8) {
    if (!utf8) {
        if (cell.doubled != 0) return (cell.doubled & (above | below)) == 0 ? "=" : "#";
        const bool vertical = (cell.light & (above | below)) != 0, level = (cell.light & (left | right)) != 0;
        return vertical && level ? "+" : vertical ? "|" : level ? "-" : " ";
    }
    if (cell.doubled == 0) return light_glyphs[cell.light];
    // Unicode has crossings of both strokes; only those of straight lines are used.
    if (cell.light == (left | right)) {
        if (cell.doubled == below) return "╥";
        if (cell.doubled == above) return "╨";
        if (cell.doubled == (above | below)) return "╫";
    }
    if (cell.light == (above | below) && cell.doubled == (left | right)) return "╪";
    return doubled_glyphs[cell.doubled];
}

std::string Canvas::text(bool utf8) const {
    std::string text;
    for (const auto& row : rows_) {
        std::string line;
        for (const Cell& cell : row) line += cell.letter ? std::string(1, cell.letter) : glyph(cell, utf8);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace hsadrv_tool
