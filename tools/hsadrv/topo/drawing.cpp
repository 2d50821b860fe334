// The drawing: from each CPU's box a line runs down on the left, to which rows of its GPUs are attached. GPUs of a hive
// share a double line, which runs down on the right if the hive has more than one row.
#include <fmt/format.h>

#include <algorithm>

#include "tools/common/table.hpp"
#include "tools/hsadrv/info/units.hpp"
#include "tools/hsadrv/topo/canvas.hpp"
#include "tools/hsadrv/topo/report.hpp"

namespace hsadrv_tool {
namespace {

constexpr std::size_t trunk_column = 2, first_column = 4, gap = 2, widest_box = 48;

using Texts = std::vector<std::string>;

Texts host_texts(const Node& cpu) {
    return {cpu.product,
            fmt::format("{} CPUs, {}, NUMA node {}", cpu.compute_units, size_text(cpu.memory_bytes), cpu.node)};
}

Texts gpu_texts(const Graph& graph, std::size_t index) {
    const Node& gpu = graph.gpus[index];
    const Edge* const link = graph.host_link(index);
    return {gpu.product, gpu.target, fmt::format("{}, {} CUs", size_text(gpu.memory_bytes), gpu.compute_units), gpu.pci,
            link ? link->text() : "reaches no CPU"};
}

std::size_t width_of(const Texts& texts) {
    std::size_t width = 0;
    for (const std::string& text : texts) width = std::max(width, text.size());
    return std::min(width, widest_box - 4) + 4;
}

void draw_box(Canvas& canvas, std::size_t column, std::size_t row, std::size_t width, const std::string& title,
              const Texts& texts) {
    canvas.box(column, row, width, texts.size() + 2, title);
    for (std::size_t i = 0; i < texts.size(); ++i) canvas.write(column + 2, row + 1 + i, texts[i].substr(0, width - 4));
}

/// Where a GPU's box is.
struct Place {
    std::size_t column = 0, bottom = 0, line = 0;  ///< `line`: which row of boxes of the drawing
};

class TerminalDrawing {
  public:
    TerminalDrawing(const Graph& graph, std::size_t columns) : graph_(graph), places_(graph.gpus.size()) {
        std::size_t longest = 0;
        for (std::size_t i = 0; i < graph.gpus.size(); ++i) width_ = std::max(width_, width_of(gpu_texts(graph, i)));
        for (std::size_t i = 0; i < graph.cpus.size(); ++i) longest = std::max(longest, graph.gpus_of(i).size());
        const std::size_t taken = first_column + 2 * graph.hives.size();
        const std::size_t room = columns > taken ? (columns - taken + gap) / (width_ + gap) : 1;
        per_line_ = std::clamp<std::size_t>(room, 1, std::max<std::size_t>(longest, 1));
        // Lines of equal length: 4 and 4, not 5 and 3.
        const std::size_t lines = (longest + per_line_ - 1) / per_line_;
        if (lines > 1) per_line_ = (longest + lines - 1) / lines;
    }

    std::string text(bool utf8) {
        for (std::size_t i = 0; i < graph_.cpus.size(); ++i) draw_host(i);
        for (std::size_t i = 0; i < graph_.hives.size(); ++i) draw_hive(i);
        return canvas_.text(utf8);
    }

  private:
    void draw_host(std::size_t index) {
        const Texts texts = host_texts(graph_.cpus[index]);
        const std::size_t width = width_of(texts);
        draw_box(canvas_, 0, row_, width, graph_.cpus[index].label, texts);
        right_ = std::max(right_, width);
        const std::size_t trunk_top = row_ + texts.size() + 1;
        row_ = trunk_top + 1;
        const auto gpus = graph_.gpus_of(index);
        for (std::size_t at = 0; at < gpus.size(); at += per_line_)
            draw_line({gpus.begin() + static_cast<std::ptrdiff_t>(at),
                       gpus.begin() + static_cast<std::ptrdiff_t>(std::min(at + per_line_, gpus.size()))},
                      trunk_top);
    }

    /// A row of boxes below a line that comes from the trunk.
    void draw_line(const std::vector<std::size_t>& gpus, std::size_t trunk_top) {
        const std::size_t bus = row_;
        std::size_t height = 0, reach = 0;
        for (std::size_t i = 0; i < gpus.size(); ++i) {
            const Texts texts = gpu_texts(graph_, gpus[i]);
            const std::size_t column = first_column + i * (width_ + gap);
            draw_box(canvas_, column, bus + 1, width_, graph_.gpus[gpus[i]].label, texts);
            height = texts.size() + 2;
            places_[gpus[i]] = {column, bus + height, line_};
            right_ = std::max(right_, column + width_);
            if (!graph_.host_link(gpus[i])) continue;
            canvas_.down(column + width_ / 2, bus, bus + 1);
            reach = column + width_ / 2;
        }
        if (reach != 0) {
            canvas_.down(trunk_column, trunk_top, bus);
            canvas_.across(trunk_column, reach, bus);
        }
        row_ = bus + 1 + height + rails_of(gpus);
        ++line_;
    }

    /// One row for each hive with members among them.
    std::size_t rails_of(const std::vector<std::size_t>& gpus) const {
        std::size_t rails = 0;
        for (const Hive& hive : graph_.hives)
            rails += std::any_of(gpus.begin(), gpus.end(), [&](std::size_t gpu) { return is_member(hive, gpu); });
        return rails;
    }

    static bool is_member(const Hive& hive, std::size_t gpu) {
        return std::find(hive.members.begin(), hive.members.end(), gpu) != hive.members.end();
    }

    /// How many hives before this one have a rail below that row of boxes.
    std::size_t rails_before(std::size_t index, std::size_t line) const {
        std::size_t rails = 0;
        for (std::size_t i = 0; i < index; ++i)
            rails += std::any_of(graph_.hives[i].members.begin(), graph_.hives[i].members.end(),
                                 [&](std::size_t gpu) { return places_[gpu].line == line; });
        return rails;
    }

    void draw_hive(std::size_t index) {
        const Hive& hive = graph_.hives[index];
        const std::size_t first_line = places_[hive.members.front()].line,
                          last_line = places_[hive.members.back()].line;
        const bool tall = std::any_of(hive.members.begin(), hive.members.end(),
                                      [&](std::size_t gpu) { return places_[gpu].line != first_line; });
        const std::size_t trunk = right_ + 1 + 2 * index;
        std::size_t top = ~std::size_t{0}, bottom = 0;
        for (std::size_t line = std::min(first_line, last_line); line < line_; ++line) {
            std::size_t from = ~std::size_t{0}, to = 0, rail = 0;
            for (const std::size_t gpu : hive.members) {
                if (places_[gpu].line != line) continue;
                const std::size_t column = places_[gpu].column + std::min<std::size_t>(4 + 3 * index, width_ - 2);
                rail = places_[gpu].bottom + 1 + rails_before(index, line);
                canvas_.down(column, places_[gpu].bottom, rail, Stroke::doubled);
                from = std::min(from, column);
                to = std::max(to, column);
            }
            if (rail == 0) continue;
            canvas_.across(from, tall ? trunk : to, rail, Stroke::doubled);
            top = std::min(top, rail);
            bottom = std::max(bottom, rail);
        }
        if (tall) canvas_.down(trunk, top, bottom, Stroke::doubled);
    }

    const Graph& graph_;
    Canvas canvas_;
    std::vector<Place> places_;
    std::size_t width_ = 0, per_line_ = 1, row_ = 0, right_ = 0, line_ = 0;
};

/// "gpu0, gpu1", "gpu0 to gpu7"; the indices ascend.
std::string labels(const std::vector<Node>& nodes, const std::vector<std::size_t>& indices) {
    if (indices.size() > 2 && indices.back() - indices.front() + 1 == indices.size())
        return nodes[indices.front()].label + " to " + nodes[indices.back()].label;
    std::string text;
    for (const std::size_t index : indices) text += (text.empty() ? "" : ", ") + nodes[index].label;
    return text;
}

}  // namespace

std::string drawing_text(const Graph& graph, const Terminal& terminal) {
    return TerminalDrawing(graph, std::max(terminal.columns, 40u)).text(terminal.utf8);
}

std::string links_text(const Graph& graph) {
    std::vector<std::vector<std::string>> rows;
    for (const Hive& hive : graph.hives) rows.push_back({labels(graph.gpus, hive.members), hive.text()});
    for (const Edge& edge : graph.loose)
        rows.push_back({graph.gpus[edge.a].label + " and " + graph.gpus[edge.b].label, edge.text()});
    for (const Edge& edge : graph.between_cpus)
        rows.push_back({graph.cpus[edge.a].label + " and " + graph.cpus[edge.b].label, edge.text()});
    return tools::aligned(rows, 0);
}

}  // namespace hsadrv_tool
