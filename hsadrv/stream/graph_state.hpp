// Internal: what a Graph consists of: packets, argument blocks, and calls between them.
//
// Thread safety: recording and updating by one thread. Launching only reads, except the list of launches in flight,
// which has a lock.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "hsadrv/memory.hpp"
#include "hsadrv/packet.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/stream/event_state.hpp"

namespace hsadrv::detail {

class StreamCore;

class GraphState {
  public:
    /// A call of the stream, made without holding its mutex.
    using Call = std::function<void(StreamCore&, Deadline)>;
    /// Consecutive kernels, or a call.
    struct Step {
        std::size_t first = 0, count = 0;  ///< indices into packets()
        Call call = {};
    };

    explicit GraphState(AgentRef agent) : agent_(agent) {}

    AgentRef agent() const noexcept { return agent_; }
    const std::vector<Step>& steps() const noexcept { return steps_; }
    const std::vector<Packet>& packets() const noexcept { return packets_; }
    std::size_t nodes() const noexcept;

    // Recording.
    std::byte* begin_kernel(const DispatchSpec& spec) { return allocate(spec.kernarg_bytes); }
    void commit_kernel(const DispatchSpec& spec, std::byte* kernarg);
    void add(Call call) { steps_.push_back({.call = std::move(call)}); }
    void keep_alive(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }

    // Updating: begin returns the block for the new arguments, commit makes it the one of the next launch.
    std::byte* begin_update(std::size_t index, const DispatchSpec& spec, Deadline deadline);
    void commit_update(std::size_t index);

    // Launching: begin before the first packet is submitted, end after the last one.
    std::shared_ptr<EventState> begin_launch(const std::shared_ptr<const Timeline>& timeline);
    void end_launch(EventState& launch) noexcept;

  private:
    /// A kernel's argument blocks: one in use, one for the next update.
    struct Kernel {
        struct Block {
            std::byte* data = nullptr;
            std::size_t size_bytes = 0;
            std::vector<std::shared_ptr<const EventState>> users;  // launches that read it
        };
        std::array<Block, 2> blocks;
        unsigned current = 0;
        std::uint64_t since = 0;  // the first launch that reads the current block
        DispatchSpec next;
        std::shared_ptr<const void> code;  // keeps its executable alive; null: made elsewhere
    };

    std::byte* allocate(std::size_t size_bytes);
    void set_fences(const Step& run);

    AgentRef agent_;
    std::vector<Step> steps_;
    std::vector<Packet> packets_;
    std::vector<Kernel> kernels_;  // of the packet with the same index
    std::vector<Allocation> chunks_;
    std::size_t used_bytes_ = 0;  // of the last chunk
    std::vector<std::shared_ptr<const void>> kept_;

    struct Launch {
        std::uint64_t number;
        std::shared_ptr<const EventState> complete;
    };
    std::mutex mutex_;              // guards the members below
    std::vector<Launch> launches_;  // in flight
    std::uint64_t launched_ = 0;
};

}  // namespace hsadrv::detail
