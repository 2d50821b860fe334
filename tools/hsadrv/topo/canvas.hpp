// Canvas: draws boxes and lines in characters. Lines that meet become corners and crossings.
//
//     Canvas canvas;
//     canvas.box(0, 0, 20, 4, "cpu0");
//     canvas.down(2, 3, 6);                     // from the box's lower edge
//     canvas.across(2, 12, 6);
//     session.print(canvas.text(terminal.utf8));
//
// Columns and rows count from 0; the canvas grows as needed. Thread safety: one thread. Throws: only std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hsadrv_tool {

enum class Stroke { light, doubled };

class Canvas {
  public:
    void across(std::size_t from, std::size_t to, std::size_t row, Stroke stroke = Stroke::light);
    void down(std::size_t column, std::size_t from, std::size_t to, Stroke stroke = Stroke::light);
    void box(std::size_t column, std::size_t row, std::size_t width, std::size_t height, std::string_view title);
    /// ASCII text, over previous contents.
    void write(std::size_t column, std::size_t row, std::string_view text);

    /// Lines without trailing blanks; box drawing characters, or - | + = #.
    std::string text(bool utf8) const;

  private:
    struct Cell {
        char letter = 0;
        std::uint8_t light = 0, doubled = 0;  ///< the sides to which there is a line
    };
    Cell& at(std::size_t column, std::size_t row);
    static const char* glyph(const Cell& cell, bool utf8);

    std::vector<std::vector<Cell>> rows_;
};

}  // namespace hsadrv_tool
