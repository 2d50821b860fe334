#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/common/xml.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/trace/report.hpp"

namespace hsadrv_tool::trace {
namespace {

using hsadrv_bench::time_text;
using tools::xml_text;
using ::trace::WorkEvent;

constexpr double width = 1100, left = 190, right = 20, top = 64, lane_height = 26, bar_height = 18;
constexpr double plot_width = width - left - right;
constexpr double least_width = 0.5;  ///< of a bar: shorter work is drawn as this, or joined with its neighbour

constexpr const char* colours[] = {"#3b7dd8", "#d9822b", "#2a9d5c", "#c2478f", "#8a63d2",
                                   "#c4502e", "#1793a6", "#94800f", "#7a7f87"};

constexpr const char* style = R"(  <style>
    svg { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px }
    text { fill: #1d2733 }
    .ground { fill: #ffffff }
    .title { font-size: 17px; font-weight: 600 }
    .lane { stroke: #d8dee5; stroke-width: 1 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6ebf0 }
      .ground { fill: #12171d }
      .lane { stroke: #303a45 }
    }
  </style>
)";

class Timeline {
  public:
    explicit Timeline(const std::vector<WorkEvent>& all) {
        for (const WorkEvent& work : all) {
            if (!work.times.empty()) continue;
            const std::string lane = fmt::format("gpu{}, {}", work.gpu, work.queue);
            lanes_[lane].push_back(&work);
            begin_ = begin_ == 0 ? work.begin_ns : std::min(begin_, work.begin_ns);
            end_ = std::max(end_, work.end_ns);
            times_[work.name] += work.end_ns - work.begin_ns;
        }
        choose_colours();
    }

    std::string text() const {
        const double lanes_bottom = top + lane_height * static_cast<double>(lanes_.size());
        const double height = lanes_bottom + 52 + 18 * static_cast<double>(colour_of_.size());
        std::string svg = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
            "height=\"{1:.0f}\" role=\"img\">\n{2}"
            "  <rect class=\"ground\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
            width, height, style);
        svg += label(20, 34, fmt::format("Work of the GPUs in {}", time_text(static_cast<double>(end_ - begin_))),
                     "title");
        double y = top;
        for (const auto& [name, works] : lanes_) {
            svg += label(20, y + 14, name) + lane(y) + bars(y, works);
            y += lane_height;
        }
        svg += axis(lanes_bottom) + legend(lanes_bottom + 48);
        return svg + "</svg>\n";
    }

  private:
    /// The names with the most time have colours of their own; the rest share the last.
    void choose_colours() {
        std::vector<std::pair<std::uint64_t, std::string>> by_time;
        for (const auto& [name, total] : times_) by_time.emplace_back(total, name);
        std::sort(by_time.rbegin(), by_time.rend());
        for (std::size_t n = 0; n < by_time.size() && n + 1 < std::size(colours); ++n)
            colour_of_.emplace_back(by_time[n].second, colours[n]);
        if (by_time.size() >= std::size(colours)) colour_of_.emplace_back("", colours[std::size(colours) - 1]);
    }
    const char* colour(const std::string& name) const {
        for (const auto& [known, colour] : colour_of_)
            if (known == name) return colour;
        return colours[std::size(colours) - 1];
    }
    double x(std::uint64_t ns) const {
        const auto span = static_cast<double>(std::max<std::uint64_t>(end_ - begin_, 1));
        return left + static_cast<double>(ns - begin_) / span * plot_width;
    }
    static std::string label(double x, double y, const std::string& text, const char* kind = "label") {
        return fmt::format("  <text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y, xml_text(text));
    }
    static std::string lane(double y) {
        return fmt::format("  <line class=\"lane\" x1=\"{0:.0f}\" y1=\"{2:.1f}\" x2=\"{1:.0f}\" y2=\"{2:.1f}\"/>\n",
                           left, width - right, y + lane_height - 4);
    }
    /// Neighbours of one colour that are narrower than can be seen are one bar.
    std::string bars(double y, std::vector<const WorkEvent*> works) const {
        std::sort(works.begin(), works.end(),
                  [](const WorkEvent* a, const WorkEvent* b) { return a->begin_ns < b->begin_ns; });
        std::string svg;
        for (std::size_t n = 0; n < works.size();) {
            const WorkEvent& first = *works[n];
            std::uint64_t end = first.end_ns;
            std::size_t count = 1;
            while (n + count < works.size() && works[n + count]->name == first.name &&
                   x(works[n + count]->begin_ns) < x(end) + least_width &&
                   x(works[n + count]->end_ns) - x(first.begin_ns) < 4)
                end = std::max(end, works[n + count++]->end_ns);
            svg += bar(y, first, end, count);
            n += count;
        }
        return svg;
    }
    std::string bar(double y, const WorkEvent& work, std::uint64_t end, std::size_t count) const {
        const double from = x(work.begin_ns), to = std::max(x(end), from + least_width);
        const std::string several = count > 1 ? fmt::format("{} of ", count) : "";
        return fmt::format(
            "  <rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}{}, {}</title>"
            "</rect>\n",
            from, y, to - from, bar_height, colour(work.name), several, xml_text(work.name),
            time_text(static_cast<double>(end - work.begin_ns)));
    }
    std::string axis(double y) const {
        std::string svg;
        for (unsigned n = 0; n <= 4; ++n) {
            const double at = left + plot_width * n / 4;
            svg += fmt::format("  <text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", at, y + 16,
                               n == 4 ? "end" : "middle", time_text(static_cast<double>(end_ - begin_) * n / 4));
        }
        return svg;
    }
    std::string legend(double y) const {
        std::string svg;
        for (const auto& [name, colour] : colour_of_) {
            svg += fmt::format("  <rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", left,
                               y - 10, colour);
            svg += label(left + 20, y, name.empty() ? "others" : name);
            y += 18;
        }
        return svg;
    }

    std::map<std::string, std::vector<const WorkEvent*>> lanes_;
    std::map<std::string, std::uint64_t> times_;
    std::vector<std::pair<std::string, const char*>> colour_of_;
    std::uint64_t begin_ = 0, end_ = 0;
};

}  // namespace

std::string as_svg(const ::trace::Events& events) { return Timeline{events.work}.text(); }

}  // namespace hsadrv_tool::trace
