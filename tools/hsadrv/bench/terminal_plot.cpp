#include "tools/hsadrv/bench/terminal_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/hsadrv/bench/report_text.hpp"

namespace hsadrv_bench {
namespace {

using hsadrv_tool::Ink;
using hsadrv_tool::Terminal;

constexpr int rows = 18;
constexpr int dots_across = 2, dots_down = 4;  // of a braille pattern

std::string utf8(char32_t code) {
    return {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
            static_cast<char>(0x80 | (code & 0x3f))};
}

/// Unicode, "Braille Patterns": dots 1 2 3 7 down the left column, 4 5 6 8 down the right one.
constexpr unsigned char braille_dot[dots_down][dots_across] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

/// Characters, each with eight dots or a letter in it.
class Canvas {
  public:
    explicit Canvas(int columns) : columns_(columns), cells_(static_cast<std::size_t>(columns * rows)) {}

    int dots_wide() const { return columns_ * dots_across; }
    static int dots_high() { return rows * dots_down; }

    void dot(int x, int y) { cell(x, y).dots |= braille_dot[y % dots_down][x % dots_across]; }
    void letter(int x, int y, char letter) {
        Cell& there = cell(x, y);
        there.letter = there.letter && there.letter != letter ? '*' : letter;
    }
    void line(int x, int y, int to_x, int to_y) {
        const int steps = std::max({std::abs(to_x - x), std::abs(to_y - y), 1});
        for (int i = 0; i <= steps; ++i)
            dot(x + static_cast<int>(std::lround(double(to_x - x) * i / steps)),
                y + static_cast<int>(std::lround(double(to_y - y) * i / steps)));
    }

    std::string row(int number, bool utf8_too) const {
        std::string text;
        for (int column = 0; column < columns_; ++column) {
            const Cell& c = cells_[static_cast<std::size_t>(number * columns_ + column)];
            if (c.letter)
                text += c.letter;
            else if (c.dots == 0)
                text += ' ';
            else
                text += utf8_too ? utf8(0x2800 + c.dots) : ".";
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    }

  private:
    struct Cell {
        unsigned char dots = 0;
        char letter = 0;
    };
    Cell& cell(int x, int y) { return cells_[static_cast<std::size_t>((y / dots_down) * columns_ + x / dots_across)]; }

    int columns_;
    std::vector<Cell> cells_;
};

struct Place {
    int x, y;
};

void draw(Canvas& canvas, const Curve& curve, char letter, const LogAxis& across, const LogAxis& up) {
    std::vector<Place> places;
    for (const ChartPoint& point : curve.points)
        places.push_back({static_cast<int>(across.place(point.x) * (canvas.dots_wide() - 1)),
                          static_cast<int>((1 - up.place(point.y)) * (Canvas::dots_high() - 1))});
    for (std::size_t i = 1; i < places.size(); ++i)
        canvas.line(places[i - 1].x, places[i - 1].y, places[i].x, places[i].y);
    for (const Place& place : places) canvas.letter(place.x, place.y, letter);
}

char letter_of(std::size_t curve) {
    return static_cast<char>((curve < 26 ? 'a' : 'A') + static_cast<char>(curve % 26));
}

/// Labels below the axis, each where its value is, without running into one another.
std::string size_labels(const Chart& chart, int columns) {
    std::string text(static_cast<std::size_t>(columns) + 8, ' ');
    std::size_t end = 0;
    for (const Tick& tick : size_ticks(chart, static_cast<std::size_t>(std::max(columns / 10, 2)))) {
        const auto at = static_cast<std::size_t>(tick.place * (columns - 1));
        const std::size_t begin = std::max(at > tick.label.size() / 2 ? at - tick.label.size() / 2 : 0, end);
        if (begin + tick.label.size() > text.size()) continue;
        text.replace(begin, tick.label.size(), tick.label);
        end = begin + tick.label.size() + 1;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

std::string curves(const Chart& chart, const Terminal& terminal) {
    const LogAxis across = size_axis(chart), up = value_axis(chart);
    std::vector<std::string> labels(rows);
    std::size_t margin = 0;
    for (const Tick& tick : up.ticks()) {
        const int at = static_cast<int>((1 - tick.place) * (Canvas::dots_high() - 1)) / dots_down;
        labels[static_cast<std::size_t>(at)] = tick.label;
        margin = std::max(margin, tick.label.size());
    }
    const int columns = std::max(static_cast<int>(std::min(terminal.columns, 100u)) - static_cast<int>(margin) - 6, 20);
    Canvas canvas(columns);
    for (std::size_t i = 0; i < chart.curves.size(); ++i) draw(canvas, chart.curves[i], letter_of(i), across, up);

    const char* const side = terminal.utf8 ? "│" : "|";
    const char* const tick_side = terminal.utf8 ? "┤" : "+";
    std::string text;
    for (int row = 0; row < rows; ++row) {
        const std::string& label = labels[static_cast<std::size_t>(row)];
        const std::string dots = canvas.row(row, terminal.utf8);
        text += fmt::format("{:>{}} {}{}\n", label, margin, label.empty() ? side : tick_side, dots);
    }
    const std::string indent(margin + 1, ' ');
    text += indent + (terminal.utf8 ? "└" : "+");
    for (int column = 0; column < columns; ++column) text += terminal.utf8 ? "─" : "-";
    text += "\n" + indent + " " + size_labels(chart, columns) + "\n";
    for (std::size_t i = 0; i < chart.curves.size(); ++i)
        text += fmt::format("{} {} {}\n", indent, letter_of(i), chart.curves[i].name);
    return text;
}

std::string bar(double length, bool utf8_too) {
    const auto whole = static_cast<std::size_t>(length);
    std::string text;
    for (std::size_t i = 0; i < whole; ++i) text += utf8_too ? "█" : "#";
    const auto eighths = static_cast<char32_t>((length - static_cast<double>(whole)) * 8);
    if (utf8_too && eighths > 0) text += utf8(0x2590 - eighths);  // U+2589 is seven eighths, U+258F one
    if (text.empty()) text = utf8_too ? "▏" : "|";
    return text;
}

std::string bars(const Chart& chart, const Terminal& terminal) {
    std::size_t margin = 0;
    for (const Bar& one : chart.bars) margin = std::max(margin, one.name.size());
    const double columns =
        std::max(static_cast<double>(std::min(terminal.columns, 100u)) - static_cast<double>(margin) - 16, 10.0);
    const double limit = bar_limit(chart);
    std::string text;
    for (const Bar& one : chart.bars)
        text += fmt::format("{:<{}} {} {}\n", one.name, margin, bar(one.value / limit * columns, terminal.utf8),
                            figure(one.value));
    return text;
}

}  // namespace

std::string terminal_plot(const Chart& chart, const Terminal& terminal) {
    const std::string over = chart.curves.empty() ? "" : ", over the size";
    return terminal.paint(Ink::heading, fmt::format("{}: {}{}; {}", chart.title, chart.y_label, over, chart.hint)) +
           "\n" + (chart.curves.empty() ? bars(chart, terminal) : curves(chart, terminal));
}

}  // namespace hsadrv_bench
