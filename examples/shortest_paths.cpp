// A small runtime for task graphs, and all shortest paths in a road map with it.
//
// A task is a kernel with the tiles that it reads and writes. The runtime finds from them which tasks must wait for
// each other, as if they ran in the order in which they were added; the others may overlap. It builds one graph, which
// is replayed for each map.
#include <hsadrv/hsadrv.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <map>
#include <vector>

#include "kernels/shortest_paths_tile.hpp"
#include "stopwatch.hpp"

using namespace hsadrv;

namespace {

class TaskGraph {
  public:
    explicit TaskGraph(AgentRef gpu) : build_(gpu) {}

    /// A kernel that reads and writes `written`, and reads `read`.
    template <class... Args>
    void add(const Kernel& kernel, const LaunchConfig& config, const void* written,
             std::initializer_list<const void*> read, const Args&... args) {
        GraphBuilder::Nodes after = uses_[written].readers;
        add_writer(after, written);
        for (const void* tile : read) add_writer(after, tile);
        const GraphNode node = build_.kernel(after, kernel, config, args...);
        for (const void* tile : read) uses_[tile].readers.push_back(node);
        uses_[written] = {.writer = {node}, .readers = {}};
        ++tasks_;
        edges_ += after.size();
    }

    std::size_t tasks() const { return tasks_; }
    std::size_t edges() const { return edges_; }
    Graph finish() { return build_.finish(); }

  private:
    /// Of a tile: the last task that wrote it, if any, and those that have read it since.
    struct Use {
        GraphBuilder::Nodes writer = {}, readers = {};
    };

    void add_writer(GraphBuilder::Nodes& to, const void* tile) {
        const GraphBuilder::Nodes& writer = uses_[tile].writer;
        to.insert(to.end(), writer.begin(), writer.end());
    }

    GraphBuilder build_;
    std::map<const void*, Use> uses_;
    std::size_t tasks_ = 0, edges_ = 0;
};

constexpr unsigned tiles = 5, places = tiles * tile_items;
constexpr std::uint32_t no_road = 1u << 30;  // twice that does not overflow

/// A square of tiles, each of them contiguous.
struct Distances {
    std::vector<std::uint32_t> data = std::vector<std::uint32_t>(places * places, no_road);

    static std::size_t offset_of_tile(unsigned row, unsigned column) {
        return (std::size_t{row} * tiles + column) * tile_items * tile_items;
    }
    std::uint32_t& at(unsigned from, unsigned to) {
        return data[offset_of_tile(from / tile_items, to / tile_items) + from % tile_items * tile_items +
                    to % tile_items];
    }
};

Distances some_map(std::uint32_t seed) {
    Distances map;
    const auto random = [&](std::uint32_t below) { return (seed = seed * 1664525u + 1013904223u) / 65536 % below; };
    for (unsigned from = 0; from < places; ++from) {
        map.at(from, from) = 0;
        for (int roads = 0; roads < 3; ++roads) map.at(from, random(places)) = 1 + random(100);
    }
    for (unsigned from = 0; from < places; ++from) map.at(from, from) = 0;
    return map;
}

Distances on_the_host(Distances map) {
    for (unsigned through = 0; through < places; ++through)
        for (unsigned from = 0; from < places; ++from)
            for (unsigned to = 0; to < places; ++to)
                map.at(from, to) = std::min(map.at(from, to), map.at(from, through) + map.at(through, to));
    return map;
}

/// First the tile on the diagonal, then the others of its row and column, then the rest.
void add_tasks(TaskGraph& graph, const Kernel& relax, std::uint32_t* distances) {
    constexpr LaunchConfig one_tile{.grid = {tile_items, tile_items}, .workgroup = {tile_items, tile_items}};
    for (unsigned through = 0; through < tiles; ++through) {
        const auto add = [&](unsigned row, unsigned column) {
            std::uint32_t* const c = distances + Distances::offset_of_tile(row, column);
            const std::uint32_t *const a = distances + Distances::offset_of_tile(row, through),
                                       *const b = distances + Distances::offset_of_tile(through, column);
            graph.add(relax, one_tile, c, {a, b}, c, a, b);
        };
        add(through, through);
        for (unsigned i = 0; i < tiles; ++i) {
            if (i == through) continue;
            add(i, through);
            add(through, i);
        }
        for (unsigned row = 0; row < tiles; ++row)
            for (unsigned column = 0; column < tiles; ++column)
                if (row != through && column != through) add(row, column);
    }
}

}  // namespace

int main() try {
    Driver driver;
    Context gpu{driver.default_gpu()};
    Stream stream = gpu.stream();
    const Kernel relax = Executable::load(gpu, "shortest_paths.hsaco").kernel("relax");
    const std::size_t bytes = places * places * sizeof(std::uint32_t);
    const Allocation distances = gpu.allocate(bytes);

    TaskGraph tasks{gpu};
    add_tasks(tasks, relax, distances.as<std::uint32_t>());
    const Graph graph = tasks.finish();

    bool right = true;
    const Stopwatch time;
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
        Distances map = some_map(seed), found;
        stream.copy_async(distances.data(), map.data.data(), bytes);
        graph.launch(stream);
        stream.copy_async(found.data.data(), distances.data(), bytes);
        stream.synchronize();
        right = right && found.data == on_the_host(map).data;
    }
    std::printf("%s: all paths between %u places, by %zu tasks with %zu edges, for 3 maps in %.2f ms: %s\n",
                gpu.agent().label().c_str(), places, tasks.tasks(), tasks.edges(), time.ms(),
                right ? "equal to the CPU's" : "WRONG");
    return right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "shortest_paths: %s\n", error.what());
    return 1;
}
