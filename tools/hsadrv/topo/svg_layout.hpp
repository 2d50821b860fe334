// The positions of the drawing's boxes and rails, in pixels: each CPU above the grid of its GPUs, the CPUs side by
// side.
//
//     const Layout layout(graph);
//     rectangle(layout.gpu(0));
//
// Below each row of boxes is room for the rails of the hives that have members in it. Pure. Thread safety: values.
#pragma once

#include <utility>
#include <vector>

#include "tools/hsadrv/topo/graph.hpp"

namespace hsadrv_tool {

struct Rect {
    double x = 0, y = 0, width = 0, height = 0;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
    double middle() const { return x + width / 2; }
};

class Layout {
  public:
    explicit Layout(const Graph& graph);

    const Rect& cpu(std::size_t index) const { return cpus_[index]; }
    const Rect& gpu(std::size_t index) const { return gpus_[index]; }
    std::size_t row_of(std::size_t gpu) const { return rows_of_[gpu]; }
    std::size_t rows() const { return tops_.size(); }

    /// Of a hive below a row in which it has members; where the stub of a member starts; the way between rows.
    double rail_y(std::size_t hive, std::size_t row) const;
    double stub_x(std::size_t hive, std::size_t gpu) const;
    double riser_x(std::size_t hive) const;
    bool has_members(std::size_t hive, std::size_t row) const;

    double bottom() const { return bottom_; }  ///< of all boxes and rails
    double width() const { return width_; }

    static constexpr double margin = 28, header = 74, box_width = 212, box_height = 122, cpu_height = 68;
    static constexpr double drop = 50, rail_pitch = 30, trunk_inset = 14, box_inset = 36, gap = 26;

  private:
    /// The CPUs under which a hive's members are: first and last.
    std::pair<std::size_t, std::size_t> span(std::size_t hive) const;
    bool meet(std::size_t hive, std::size_t other) const;
    std::size_t lane(std::size_t hive, std::size_t row) const;  ///< of rails below a row, from 0
    std::size_t lanes(std::size_t row) const;

    const Graph& graph_;
    std::vector<Rect> cpus_, gpus_;
    std::vector<std::size_t> rows_of_;
    std::vector<double> tops_;  ///< of each row of boxes
    double bottom_ = 0, width_ = 0;
};

}  // namespace hsadrv_tool
