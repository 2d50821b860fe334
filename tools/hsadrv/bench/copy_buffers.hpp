// The buffers of hsadrv bench copy: at each place one block that is read and one that is written.
//
//     CopyBuffers buffers(gpu, peer, largest, places);
//     std::byte* from = buffers.source(Place::pinned);
//     buffers.wipe(Place::device, size);                   // so that verify() sees what the next copy writes
//     auto wrong = buffers.verify(Place::pinned, Place::device, size);
//
// Each source holds a pattern that depends on its place. Owns: the memory. Thread safety: one thread. Throws:
// Failure(usage) for more memory than exists, OutOfMemory, Timeout.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "hsadrv/memory.hpp"
#include "hsadrv/stream.hpp"
#include "tools/hsadrv/bench/copy_direction.hpp"
#include "tools/hsadrv/bench/report.hpp"

namespace hsadrv_bench {

class CopyBuffers {
  public:
    /// `peer`: the GPU at Place::peer, if any. Memory is allocated only for the places in `directions`.
    CopyBuffers(hsadrv::AgentRef gpu, std::optional<hsadrv::AgentRef> peer, std::size_t largest_bytes,
                const std::vector<const CopyDirection*>& directions, std::chrono::nanoseconds timeout);

    std::byte* source(Place place) const { return at(place).source; }
    std::byte* sink(Place place) const { return at(place).sink; }
    hsadrv::AgentRef agent(Place place) const { return at(place).agent; }
    hsadrv::Stream& stream() { return stream_; }

    void wipe(Place place, std::size_t size_bytes);
    /// Compares `to`'s sink with `from`'s source.
    std::optional<Mismatch> verify(Place from, Place to, std::size_t size_bytes);

  private:
    struct Block {
        std::byte *source = nullptr, *sink = nullptr;
        hsadrv::AgentRef agent;
        std::array<hsadrv::Allocation, 2> allocations;
        std::array<std::vector<std::byte>, 2> pageable;
    };

    const Block& at(Place place) const { return blocks_[static_cast<std::size_t>(place)]; }
    void allocate(Place place, hsadrv::AgentRef agent, std::size_t size_bytes);
    void fill_source(Place place, std::size_t size_bytes);

    std::chrono::nanoseconds timeout_;
    std::array<Block, 4> blocks_;
    std::vector<std::byte> read_back_;
    hsadrv::Stream stream_;  // last: destroyed before the memory that it uses
};

}  // namespace hsadrv_bench
