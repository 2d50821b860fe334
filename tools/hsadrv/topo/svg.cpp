#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/common/xml.hpp"
#include "tools/hsadrv/info/units.hpp"
#include "tools/hsadrv/topo/report.hpp"
#include "tools/hsadrv/topo/svg_layout.hpp"

namespace hsadrv_tool {
namespace {

using hsadrv::LinkType;

/// The class of a link's lines: see the style.
const char* kind(LinkType type) {
    switch (type) {
        case LinkType::pcie:
            return "pcie";
        case LinkType::xgmi:
            return "xgmi";
        default:
            return "other";
    }
}

std::string shortened(const std::string& text, std::size_t most) {
    return text.size() <= most ? text : text.substr(0, most - 1) + "…";
}

constexpr const char* style = R"(  <style>
    svg { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px }
    text { fill: #1d2733 }
    .ground { fill: #ffffff }
    .title { font-size: 19px; font-weight: 600 }
    .faint { fill: #5b6875; font-size: 12px }
    .name { font-size: 15px; font-weight: 600 }
    .code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12px }
    .label { fill: #43505d; font-size: 11.5px; paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round }
    .cpu { fill: #e4edf6; stroke: #6d8fb0; stroke-width: 1.4 }
    .gpu { fill: #fdf3ea; stroke: #c58a4c; stroke-width: 1.4 }
    .link { fill: none; stroke-linecap: round; stroke-linejoin: round }
    .pcie { stroke: #3f7cac; stroke-width: 2 }
    .xgmi { stroke: #d1603d; stroke-width: 3.4 }
    .other { stroke: #7b6ba8; stroke-width: 2.6 }
    .oneway { stroke-dasharray: 7 5 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6ebf0 }
      .ground { fill: #12171d }
      .faint { fill: #97a4b0 }
      .label { fill: #b4c0cb; stroke: #12171d }
      .cpu { fill: #1e2c3a; stroke: #5d83a8 }
      .gpu { fill: #33271b; stroke: #b57f45 }
      .pcie { stroke: #62a3d6 }
      .xgmi { stroke: #ee7d57 }
      .other { stroke: #a596d6 }
    }
  </style>
)";

class SvgDrawing {
  public:
    explicit SvgDrawing(const Graph& graph) : graph_(graph), layout_(graph) {}

    std::string text() {
        links();
        for (std::size_t i = 0; i < graph_.cpus.size(); ++i) host_box(graph_.cpus[i], layout_.cpu(i));
        for (std::size_t i = 0; i < graph_.gpus.size(); ++i) gpu_box(graph_.gpus[i], layout_.gpu(i));
        out_ += std::exchange(labels_, {});
        const double width = std::max(layout_.width(), 480.0),
                     y = list(layout_.bottom() + (graph_.loose.empty() ? 34 : 62), width) + 4;
        legend(y);
        const std::string body = std::exchange(out_, {});
        head(width, y + Layout::margin);
        return out_ + body + "</svg>\n";
    }

  private:
    void head(double width, double height) {
        const std::string title = counted(graph_.cpus.size(), "CPU") + " and " + counted(graph_.gpus.size(), "GPU");
        out_ += fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
            "height=\"{1:.0f}\" role=\"img\">\n",
            width, height);
        out_ += fmt::format("  <title>{} and the links between them</title>\n", title);
        out_ += std::string(style);
        out_ += fmt::format("  <rect class=\"ground\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width, height);
        write(Layout::margin, 38, "title", title);
        write(Layout::margin, 58, "faint", "Bandwidth: at most, in one direction. Distance: NUMA distance.");
    }

    void write(double x, double y, const char* type, std::string_view text, const char* anchor = nullptr) {
        out_ += fmt::format("  <text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\"{}>{}</text>\n", type, x, y,
                            anchor ? fmt::format(" text-anchor=\"{}\"", anchor) : "", tools::xml_text(text));
    }

    /// On a line of a link: on top of all lines.
    void label(double x, double y, std::string_view text, const char* anchor = nullptr) {
        std::swap(out_, labels_);
        write(x, y, "label", text, anchor);
        std::swap(out_, labels_);
    }

    /// Links that have no label of their own, in columns. Returns where the next line would be.
    double list(double y, double width) {
        std::vector<std::string> lines;
        for (const Edge& edge : graph_.loose)
            lines.push_back(
                fmt::format("{} and {}: {}", graph_.gpus[edge.a].label, graph_.gpus[edge.b].label, edge.text()));
        for (const Edge& edge : graph_.between_cpus)
            if (apart(edge) > 1)
                lines.push_back(
                    fmt::format("{} and {}: {}", graph_.cpus[edge.a].label, graph_.cpus[edge.b].label, edge.text()));
        const auto columns = std::max<std::size_t>(static_cast<std::size_t>((width - 2 * Layout::margin) / 300), 1);
        const std::size_t rows = (lines.size() + columns - 1) / columns;
        for (std::size_t i = 0; i < lines.size(); ++i)
            write(Layout::margin + 300 * static_cast<double>(i / rows), y + 17 * static_cast<double>(i % rows), "label",
                  lines[i]);
        return y + 17 * static_cast<double>(rows) + (rows == 0 ? 0 : 12);
    }

    static std::size_t apart(const Edge& edge) { return edge.a < edge.b ? edge.b - edge.a : edge.a - edge.b; }

    void box(const Rect& place, const char* type, const std::string& title) {
        out_ += fmt::format(
            "  <rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
            "rx=\"9\"><title>{}</title></rect>\n",
            type, place.x, place.y, place.width, place.height, tools::xml_text(title));
    }

    void line(const Edge& link, const std::string& path, const std::string& title) {
        out_ += fmt::format("  <path class=\"link {}{}\" d=\"{}\"><title>{}</title></path>\n", kind(link.type),
                            link.one_way ? " oneway" : "", path, tools::xml_text(title));
    }

    void host_box(const Node& cpu, const Rect& place) {
        box(place, "cpu", cpu.label);
        write(place.x + 16, place.y + 26, "name", cpu.label);
        write(place.x + 64, place.y + 26, "",
              shortened(cpu.product, static_cast<std::size_t>((place.width - 74) / 7.8)));
        write(place.x + 16, place.y + 50, "faint",
              fmt::format("{} CPUs, {}, NUMA node {}", cpu.compute_units, size_text(cpu.memory_bytes), cpu.node));
    }

    void gpu_box(const Node& gpu, const Rect& place) {
        box(place, "gpu", gpu.label);
        const double x = place.x + 16;
        write(x, place.y + 25, "name", gpu.label);
        write(x, place.y + 47, "", shortened(gpu.product, 27));
        write(x, place.y + 67, "code", shortened(gpu.target, 25));
        write(x, place.y + 87, "faint", fmt::format("{}, {} CUs", size_text(gpu.memory_bytes), gpu.compute_units));
        write(x, place.y + 107, "code", gpu.pci);
    }

    /// Below the boxes, so drawn before them.
    void links() {
        for (const Edge& edge : graph_.between_cpus) between_cpus(edge);
        for (const Edge& edge : graph_.loose) between_gpus(edge);
        for (std::size_t i = 0; i < graph_.hives.size(); ++i) hive(i);
        for (const Edge& edge : graph_.to_cpu) to_cpu(edge);
    }

    /// From the CPU straight down, or through a trunk at the left and along the row.
    void to_cpu(const Edge& edge) {
        const Rect &gpu = layout_.gpu(edge.a), &cpu = layout_.cpu(edge.b);
        const double top = gpu.y - Layout::drop + 14, x = gpu.x + 24;
        const std::string path = layout_.row_of(edge.a) == 0
                                     ? fmt::format("M{:.0f} {:.0f}V{:.0f}", x, cpu.bottom(), gpu.y)
                                     : fmt::format("M{0:.0f} {1:.0f}V{2:.0f}H{3:.0f}V{4:.0f}",
                                                   cpu.x + Layout::trunk_inset, cpu.bottom(), top, x, gpu.y);
        line(edge, path,
             fmt::format("{} to {}: {}", graph_.gpus[edge.a].label, graph_.cpus[edge.b].label, edge.text()));
        label(x + 9, gpu.y - 11, edge.text());
    }

    void between_cpus(const Edge& edge) {
        const Rect &a = layout_.cpu(std::min(edge.a, edge.b)), &b = layout_.cpu(std::max(edge.a, edge.b));
        const std::string title =
            fmt::format("{} and {}: {}", graph_.cpus[edge.a].label, graph_.cpus[edge.b].label, edge.text());
        const double middle = (a.right() + b.x) / 2, y = a.y + a.height / 2;
        if (apart(edge) == 1) {
            line(edge, fmt::format("M{:.0f} {:.0f}H{:.0f}", a.right(), y, b.x), title);
            const std::string speed = bandwidth_text(edge);
            label(middle, y - 9, hsadrv::link_type_name(edge.type) + (speed.empty() ? "" : ", " + speed), "middle");
            if (edge.distance != 0) label(middle, y + 18, fmt::format("distance {}", edge.distance), "middle");
            return;
        }
        const double peak = a.y - 36.0 * static_cast<double>(apart(edge) - 1);
        line(edge,
             fmt::format("M{:.0f} {:.0f}Q{:.0f} {:.0f} {:.0f} {:.0f}", a.middle(), a.y, (a.middle() + b.middle()) / 2,
                         peak, b.middle(), b.y),
             title);
    }

    /// Side to side if they are adjacent, otherwise a bow below the boxes between them.
    void between_gpus(const Edge& edge) {
        const Rect &a = layout_.gpu(edge.a), &b = layout_.gpu(edge.b);
        const std::string title =
            fmt::format("{} and {}: {}", graph_.gpus[edge.a].label, graph_.gpus[edge.b].label, edge.text());
        const double ay = a.y + a.height / 2, by = b.y + b.height / 2;
        const double sag =
            layout_.row_of(edge.a) == layout_.row_of(edge.b) && b.x - a.right() > Layout::gap ? a.height * 1.5 : 0;
        line(edge,
             fmt::format("M{:.0f} {:.0f}Q{:.0f} {:.0f} {:.0f} {:.0f}", a.middle(), ay, (a.middle() + b.middle()) / 2,
                         (ay + by) / 2 + sag, b.middle(), by),
             title);
    }

    /// A rail below each row with members, joined at the right.
    void hive(std::size_t index) {
        const Hive& hive = graph_.hives[index];
        std::string path, who;
        for (const std::size_t gpu : hive.members) who += (who.empty() ? "" : ", ") + graph_.gpus[gpu].label;
        std::vector<double> rails;
        std::vector<std::pair<double, double>> reaches;
        for (std::size_t row = 0; row < layout_.rows(); ++row) {
            if (!layout_.has_members(index, row)) continue;
            rails.push_back(layout_.rail_y(index, row));
            reaches.emplace_back(1e9, 0);
            for (const std::size_t gpu : hive.members) {
                if (layout_.row_of(gpu) != row) continue;
                const double x = layout_.stub_x(index, gpu);
                path += fmt::format("M{:.0f} {:.0f}V{:.0f}", x, layout_.gpu(gpu).bottom(), rails.back());
                reaches.back() = {std::min(reaches.back().first, x), std::max(reaches.back().second, x)};
            }
        }
        const bool tall = rails.size() > 1;
        for (std::size_t i = 0; i < rails.size(); ++i)
            path += fmt::format("M{:.0f} {:.0f}H{:.0f}", reaches[i].first, rails[i],
                                tall ? layout_.riser_x(index) : reaches[i].second);
        if (tall) path += fmt::format("M{:.0f} {:.0f}V{:.0f}", layout_.riser_x(index), rails.front(), rails.back());
        line(hive.link, path, who + ": " + hive.text());
        label(reaches.front().first + 9, rails.front() + 15, hive.text());
    }

    /// The legend of the colours in use.
    void legend(double y) {
        std::set<LinkType> types;
        for (const auto* edges : {&graph_.between_cpus, &graph_.to_cpu, &graph_.between_gpus})
            for (const Edge& edge : *edges) types.insert(edge.type);
        double x = Layout::margin;
        for (const LinkType type : types) {
            out_ += fmt::format("  <path class=\"link {}\" d=\"M{:.0f} {:.0f}h26\"/>\n", kind(type), x, y - 4);
            write(x + 34, y, "faint", hsadrv::link_type_name(type));
            x += 120;
        }
    }

    const Graph& graph_;
    const Layout layout_;
    std::string out_, labels_;
};

}  // namespace

std::string as_svg(const Graph& graph) { return SvgDrawing(graph).text(); }

}  // namespace hsadrv_tool
