// For fuzzing the C interface: launches, and graphs that are built of them.
#pragma once

#include "tests/fuzz/c_memory_steps.hpp"

namespace c_fuzz {

class LaunchSteps : protected MemorySteps {
  protected:
    using MemorySteps::MemorySteps;

    /// Of scale_add(data, factor, summand, n), with fields changed. n is zero unless `data` is large enough for it.
    struct Launch {
        WithRoom<hsadrv_launch_config> room;
        hsadrv_launch_config& config = room.known;
        hsadrv_argument arguments[6]{};
        std::size_t count = 4;
        std::uint64_t words[6][4]{};
        std::uint32_t offsets[2]{};
    };
    void describe(Launch& launch) {
        launch.config.struct_size = in_.below(12) ? sizeof launch.config : size();
        launch.config.grid[0] = in_.below(8) ? 64 : in_.take<std::uint16_t>();
        launch.config.workgroup[0] = in_.below(8) ? 64 : in_.take<std::uint16_t>();
        launch.config.workgroup[1] = in_.below(12) ? 0 : in_.below(4);
        launch.config.lds_bytes = in_.below(8) ? 0 : in_.take<std::uint32_t>();
        launch.config.lds_count = in_.below(12) ? 0 : in_.below(20);
        if (launch.config.lds_count <= 2) launch.config.lds_offsets_bytes = launch.offsets;
        if (in_.below(12) == 0) launch.count = in_.below(7);
        launch.arguments[0] = hsadrv_argument_memory(memory(), HSADRV_ARGUMENT_INTEGER, 4);
        for (std::size_t i = 1; i < 6; ++i)
            launch.arguments[i] = hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, launch.words[i], 4);
        while (in_.below(3) == 0 && !in_.empty()) change(launch.arguments[in_.below(6)]);
        std::size_t bytes = 0;
        const hsadrv_argument& data = launch.arguments[0];
        if (hsadrv_memory_size(data.memory, &bytes) == HSADRV_SUCCESS && bytes >= 256 && data.offset_bytes == 0)
            launch.words[3][0] = 64;
    }
    void change(hsadrv_argument& argument) {
        switch (in_.below(6)) {
            case 0:
                argument.kind = in_.below(8);
                break;
            case 1:
                argument.element_kind = in_.below(8);
                break;
            case 2:
                argument.size_bytes = in_.below(33);
                break;
            case 3:
                argument.memory = in_.below(2) ? nullptr : memory();
                break;
            case 4:
                argument.offset_bytes = size();
                break;
            default:
                argument.value = nullptr;
        }
    }
    void launch() {
        Launch described;
        describe(described);
        saw(hsadrv_kernel_launch(kernel(), stream(), &described.config, described.arguments, described.count,
                                 timeout()));
    }
    void update() {
        Launch described;
        describe(described);
        saw(hsadrv_graph_update(graph(), in_.below(4), kernel(), &described.config, described.arguments,
                                described.count, timeout()));
    }
    void make_builder() {
        hsadrv_graph_builder made_builder = nullptr;
        const auto result = hsadrv_graph_builder_create(device(), &made_builder);
        made(result, made_builder);
    }
    void build() {
        const hsadrv_graph_builder to = builder();
        hsadrv_graph_node after[2] = {node_, in_.below(4) ? node_ : hsadrv_graph_node{}}, added{};
        if (in_.below(8) == 0) after[0].number = in_.take<std::uint32_t>();
        const std::size_t count = in_.below(12) ? in_.below(node_.graph ? 3 : 1) : size();
        std::size_t bytes = size();
        saw(add_node(to, in_.below(16) && count <= 2 ? after : nullptr, count, bytes, added));
        if (added.graph) node_ = added;
        if (in_.below(4) == 0) {
            hsadrv_graph built = nullptr;
            std::size_t index = 0;
            made_by([&] { return hsadrv_graph_builder_finish(to, &built); }, built);
            saw(hsadrv_graph_kernel_index(built ? built : graph(), &added, &index));
            if (in_.below(4)) node_ = {};
        }
    }
    hsadrv_result add_node(hsadrv_graph_builder to, const hsadrv_graph_node* after, std::size_t count,
                           std::size_t bytes, hsadrv_graph_node& added) {
        static std::atomic<int> calls = 0;
        switch (in_.below(6)) {
            case 0: {
                const Place from = place(world().from, bytes), into = place(world().to, bytes);
                if (from.memory) saw(hsadrv_graph_builder_hold(to, from.memory));
                if (into.memory) saw(hsadrv_graph_builder_hold(to, into.memory));
                return hsadrv_graph_builder_add_copy(to, after, count, into.address, from.address, bytes, &added);
            }
            case 1: {
                const Place into = place(world().to, bytes);
                if (into.memory) saw(hsadrv_graph_builder_hold(to, into.memory));
                return hsadrv_graph_builder_add_fill(to, after, count, into.address, bytes, world().from.data(),
                                                     in_.below(64), &added);
            }
            case 2:
                return hsadrv_graph_builder_add_call(to, after, count, in_.below(8) ? host_function : nullptr, &calls,
                                                     release, &added);
            case 3:
                return hsadrv_graph_builder_add_graph(to, after, count, graph(), &added);
            case 4:
                return hsadrv_graph_builder_add_empty(to, after, count, in_.below(2) ? &added : nullptr);
            default: {
                Launch described;
                describe(described);
                return hsadrv_graph_builder_add_kernel(to, after, count, kernel(), &described.config,
                                                       described.arguments, described.count, &added);
            }
        }
    }

  private:
    hsadrv_graph_node node_{};  // the latest
};

}  // namespace c_fuzz
