#include "tools/hsadrv/topo/svg_layout.hpp"

#include <algorithm>

namespace hsadrv_tool {
namespace {

/// GPUs side by side below each CPU: four in all, and rows of equal length.
std::size_t columns_for(std::size_t cpus, std::size_t gpus) {
    const std::size_t most = cpus <= 1 ? 4 : cpus == 2 ? 2 : 1;
    const std::size_t rows = std::max<std::size_t>((gpus + most - 1) / most, 1);
    return std::max<std::size_t>((gpus + rows - 1) / rows, 1);
}

}  // namespace

Layout::Layout(const Graph& graph) : graph_(graph), gpus_(graph.gpus.size()), rows_of_(graph.gpus.size()) {
    std::size_t rows = 0;
    for (std::size_t cpu = 0; cpu < graph.cpus.size(); ++cpu) {
        const auto mine = graph.gpus_of(cpu);
        const std::size_t columns = columns_for(graph.cpus.size(), mine.size());
        for (std::size_t i = 0; i < mine.size(); ++i) rows_of_[mine[i]] = i / columns;
        rows = std::max(rows, (mine.size() + columns - 1) / columns);
    }
    // Links between CPUs that are not adjacent are bows above them.
    std::size_t farthest = 1;
    for (const Edge& edge : graph.between_cpus)
        farthest = std::max(farthest, edge.b > edge.a ? edge.b - edge.a : edge.a - edge.b);
    const double cpu_top = header + 26.0 * static_cast<double>(farthest - 1);
    bottom_ = cpu_top + cpu_height;
    for (std::size_t row = 0; row < rows; ++row) {
        tops_.push_back(bottom_ + drop);
        bottom_ = tops_.back() + box_height + rail_pitch * static_cast<double>(lanes(row));
    }
    const double apart = graph.between_cpus.empty() ? 48 : 176;
    double x = margin;
    for (std::size_t cpu = 0; cpu < graph.cpus.size(); ++cpu) {
        const auto mine = graph.gpus_of(cpu);
        const std::size_t columns = columns_for(graph.cpus.size(), mine.size());
        // The trunk to further rows needs room at the left.
        const double inset = mine.size() > columns ? box_inset : 0;
        const double width = inset + static_cast<double>(columns) * (box_width + gap) - gap;
        cpus_.push_back({x, cpu_top, std::max(width, 260.0), cpu_height});
        for (std::size_t i = 0; i < mine.size(); ++i)
            gpus_[mine[i]] = {x + inset + static_cast<double>(i % columns) * (box_width + gap), tops_[i / columns],
                              box_width, box_height};
        x = cpus_.back().right() + apart;
    }
    width_ = x - apart + margin;
    for (std::size_t hive = 0; hive < graph.hives.size(); ++hive) {
        std::size_t rows_with = 0;
        for (std::size_t row = 0; row < rows; ++row) rows_with += has_members(hive, row);
        if (rows_with > 1) width_ = std::max(width_, riser_x(hive) + margin);
    }
}

bool Layout::has_members(std::size_t hive, std::size_t row) const {
    const auto& members = graph_.hives[hive].members;
    return std::any_of(members.begin(), members.end(), [&](std::size_t gpu) { return rows_of_[gpu] == row; });
}

std::pair<std::size_t, std::size_t> Layout::span(std::size_t hive) const {
    std::pair<std::size_t, std::size_t> span{graph_.cpus.size(), 0};
    for (const std::size_t gpu : graph_.hives[hive].members)
        span = {std::min(span.first, graph_.gpus[gpu].home), std::max(span.second, graph_.gpus[gpu].home)};
    return span;
}

bool Layout::meet(std::size_t hive, std::size_t other) const {
    const auto a = span(hive), b = span(other);
    return a.first <= b.second && b.first <= a.second;
}

std::size_t Layout::lane(std::size_t hive, std::size_t row) const {
    std::size_t lane = 0;
    for (std::size_t other = 0; other < hive; ++other)
        if (has_members(other, row) && meet(hive, other)) lane = std::max(lane, this->lane(other, row) + 1);
    return lane;
}

std::size_t Layout::lanes(std::size_t row) const {
    std::size_t lanes = 0;
    for (std::size_t hive = 0; hive < graph_.hives.size(); ++hive)
        if (has_members(hive, row)) lanes = std::max(lanes, lane(hive, row) + 1);
    return lanes;
}

double Layout::rail_y(std::size_t hive, std::size_t row) const {
    return tops_[row] + box_height + 12 + rail_pitch * static_cast<double>(lane(hive, row));
}

double Layout::stub_x(std::size_t hive, std::size_t gpu) const {
    return gpus_[gpu].x + 24 + 18 * static_cast<double>(hive % 10);
}

double Layout::riser_x(std::size_t hive) const {
    std::size_t before = 0;
    for (std::size_t other = 0; other < hive; ++other) before += span(other).second == span(hive).second;
    return cpus_[span(hive).second].right() + 18 + 14 * static_cast<double>(before);
}

}  // namespace hsadrv_tool
