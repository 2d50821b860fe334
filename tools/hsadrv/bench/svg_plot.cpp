#include "tools/hsadrv/bench/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/xml.hpp"
#include "tools/hsadrv/bench/report_text.hpp"

namespace hsadrv_bench {
namespace {

constexpr double width = 920, left = 76, top = 56, plot_width = 540, plot_height = 340;
constexpr double legend_left = left + plot_width + 24;
constexpr double bar_left = 210, bar_width = 500, bar_step = 30;

// Distinguishable from one another, and from white and near-black.
constexpr const char* colours[] = {"#3b7dd8", "#d9822b", "#2a9d5c", "#c2478f", "#8a63d2",
                                   "#c4502e", "#1793a6", "#94800f", "#7a7f87"};
constexpr const char* dashes[] = {"none", "7 3", "2 3"};

const char* colour_of(std::size_t index) { return colours[index % std::size(colours)]; }
const char* dash_of(std::size_t index) { return dashes[index / std::size(colours) % std::size(dashes)]; }

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* kind = "label") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor,
                       kind, tools::xml_text(text));
}

std::string line_at(double x, double y, double to_x, double to_y, const char* kind) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x, y, to_x,
                       to_y, kind);
}

/// Curves on logarithmic axes, whose upper left corner is at (left, y0).
class CurvePlot {
  public:
    CurvePlot(const Chart& chart, double y0)
        : chart_(chart), y0_(y0), across_(size_axis(chart)), up_(value_axis(chart)) {}

    std::string drawing() const {
        std::string svg = axes();
        for (std::size_t i = 0; i < chart_.curves.size(); ++i) svg += band(i);
        for (std::size_t i = 0; i < chart_.curves.size(); ++i) svg += curve(i);
        return svg + legend();
    }

  private:
    double x(double size) const { return left + across_.place(size) * plot_width; }
    double y(double value) const { return y0_ + (1 - up_.place(value)) * plot_height; }

    std::string axes() const {
        std::string svg;
        for (const Tick& tick : up_.ticks())
            svg += line_at(left, y(tick.value), left + plot_width, y(tick.value), "grid") +
                   text_at(left - 8, y(tick.value) + 4, "end", tick.label);
        for (const Tick& tick : size_ticks(chart_, 8))
            svg += line_at(x(tick.value), y0_, x(tick.value), y0_ + plot_height, "grid") +
                   text_at(x(tick.value), y0_ + plot_height + 18, "middle", tick.label);
        svg += line_at(left, y0_, left, y0_ + plot_height, "axis") +
               line_at(left, y0_ + plot_height, left + plot_width, y0_ + plot_height, "axis");
        svg += text_at(left + plot_width / 2, y0_ + plot_height + 40, "middle", "size (bytes, powers of 1024)");
        const double middle = y0_ + plot_height / 2;
        return svg + fmt::format(
                         "<text x=\"20\" y=\"{0:.1f}\" text-anchor=\"middle\" class=\"label\" "
                         "transform=\"rotate(-90 20 {0:.1f})\">{1}</text>\n",
                         middle, tools::xml_text(chart_.y_label));
    }

    std::string band(std::size_t index) const {
        std::string upper, lower;
        for (const ChartPoint& point : chart_.curves[index].points) {
            upper += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.high));
            lower = fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.low)) + lower;
        }
        upper += lower;
        upper.pop_back();
        return fmt::format("<polygon points=\"{}\" fill=\"{}\" class=\"band\"/>\n", upper, colour_of(index));
    }

    std::string curve(std::size_t index) const {
        std::string points, marks;
        for (const ChartPoint& point : chart_.curves[index].points) {
            points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x(point.x), y(point.y));
            marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x(point.x), y(point.y),
                                 colour_of(index));
        }
        return fmt::format("<polyline points=\"{}\" stroke=\"{}\" stroke-dasharray=\"{}\" class=\"curve\"/>\n", points,
                           colour_of(index), dash_of(index)) +
               marks;
    }

    std::string legend() const {
        std::string svg;
        double at = y0_ + 8;
        for (std::size_t i = 0; i < chart_.curves.size(); ++i, at += 22) {
            svg += fmt::format(
                "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                "stroke-dasharray=\"{}\" stroke-width=\"2\"/>\n",
                legend_left, at, legend_left + 22, at, colour_of(i), dash_of(i));
            svg += text_at(legend_left + 30, at + 4, "start", chart_.curves[i].name);
        }
        return svg + text_at(legend_left, at + 10, "start", "line: median; band: p5 to p95", "faint");
    }

    const Chart& chart_;
    double y0_;
    LogAxis across_, up_;
};

std::string bar_plot(const Chart& chart, double y0) {
    const double limit = bar_limit(chart);
    const double bottom = y0 + bar_step * static_cast<double>(chart.bars.size());
    const auto x = [&](double value) { return bar_left + std::clamp(value / limit, 0.0, 1.0) * bar_width; };
    std::string svg;
    for (int part = 0; part <= 4; ++part) {
        const double value = limit * part / 4;
        svg += line_at(x(value), y0, x(value), bottom, "grid") +
               text_at(x(value), bottom + 18, "middle", fmt::format("{:.6g}", value));
    }
    svg += text_at(bar_left + bar_width / 2, bottom + 40, "middle", chart.y_label + "; whiskers: p5 to p95");
    double at = y0;
    for (std::size_t i = 0; i < chart.bars.size(); ++i, at += bar_step) {
        const Bar& bar = chart.bars[i];
        const double middle = at + bar_step / 2;
        svg += text_at(bar_left - 8, middle + 4, "end", bar.name);
        svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                           bar_left, at + 6, std::max(x(bar.value) - bar_left, 1.0), bar_step - 12, colour_of(i));
        svg += line_at(x(bar.low), middle, x(bar.high), middle, "axis") +
               line_at(x(bar.low), middle - 4, x(bar.low), middle + 4, "axis") +
               line_at(x(bar.high), middle - 4, x(bar.high), middle + 4, "axis");
        svg += text_at(bar_left + bar_width + 14, middle + 4, "start", figure(bar.value));
    }
    return svg + line_at(bar_left, y0, bar_left, bottom, "axis");
}

double height_of(const Chart& chart) {
    if (chart.curves.empty()) return top + bar_step * static_cast<double>(chart.bars.size()) + 60;
    return top + std::max(plot_height, 22.0 * static_cast<double>(chart.curves.size()) + 30) + 60;
}

}  // namespace

std::string svg_plot(const std::vector<Chart>& charts) {
    double height = 0;
    std::string svg;
    for (const Chart& chart : charts) {
        const double y0 = height + top;
        svg += text_at(20, height + 26, "start", chart.title, "title") +
               text_at(20, height + 44, "start", chart.y_label + ", " + chart.hint, "faint");
        svg += chart.curves.empty() ? bar_plot(chart, y0) : CurvePlot(chart, y0).drawing();
        height += height_of(chart);
    }
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
               "height=\"{1:.0f}\" font-family=\"sans-serif\" role=\"img\">\n<title>{2}</title>\n<style>\n"
               ".paper{{fill:#ffffff}} text{{fill:#1f2328;font-size:12px}} "
               ".title{{font-size:16px;font-weight:bold}}\n"
               ".faint{{fill:#656d76}} .grid{{stroke:#d0d7de;stroke-width:1}} "
               ".axis{{stroke:#424a53;stroke-width:1.2}}\n"
               ".curve{{fill:none;stroke-width:2}} .band{{opacity:0.18}}\n"
               "@media (prefers-color-scheme: dark){{.paper{{fill:#0d1117}} text{{fill:#e6edf3}} "
               ".faint{{fill:#9198a1}}\n"
               ".grid{{stroke:#30363d}} .axis{{stroke:#b1bac4}}}}\n</style>\n"
               "<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
               width, height, charts.empty() ? "" : tools::xml_text(charts.front().title)) +
           svg + "</svg>\n";
}

}  // namespace hsadrv_bench
