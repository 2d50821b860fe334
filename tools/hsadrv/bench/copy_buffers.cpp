#include "tools/hsadrv/bench/copy_buffers.hpp"

#include <algorithm>
#include <cstring>

#include "hsadrv/copy.hpp"
#include "tools/hsadrv/bench/run.hpp"
#include "tools/hsadrv/bench/sizes.hpp"

namespace hsadrv_bench {
namespace {

constexpr std::byte wiped{0xa5};

const char* sink_of(Place place) {
    switch (place) {
        case Place::pinned:
            return "the pinned host memory";
        case Place::pageable:
            return "the pageable host memory";
        case Place::device:
            return "the device's memory";
        case Place::peer:
            return "the peer's memory";
    }
    return "";
}

bool used(const std::vector<const CopyDirection*>& directions, Place place) {
    return std::any_of(directions.begin(), directions.end(), [&](const CopyDirection* d) { return d->touches(place); });
}

}  // namespace

CopyBuffers::CopyBuffers(hsadrv::AgentRef gpu, std::optional<hsadrv::AgentRef> peer, std::size_t largest_bytes,
                         const std::vector<const CopyDirection*>& directions, std::chrono::nanoseconds timeout)
    : timeout_(timeout), stream_(gpu, {.name = "hsadrv bench", .drain = std::chrono::seconds(1)}) {
    const std::string what = "a copy of " + size_text(largest_bytes);
    if (largest_bytes > SIZE_MAX / 8) throw tools::Failure(tools::ExitStatus::usage, what + ": larger than any memory");
    const bool pinned = used(directions, Place::pinned);
    // One more for reading back.
    require_host(largest_bytes * (pinned ? 5 : 3), what + ", with a source and a target of each kind,");
    const hsadrv::AgentRef host = hsadrv::Driver::current().cpus().front();
    read_back_.resize(largest_bytes);
    for (const auto& [place, agent] : {std::pair{Place::pageable, host}, std::pair{Place::pinned, host},
                                       std::pair{Place::device, gpu}, std::pair{Place::peer, peer.value_or(gpu)}})
        if (used(directions, place)) allocate(place, agent, largest_bytes);
}

void CopyBuffers::allocate(Place place, hsadrv::AgentRef agent, std::size_t size_bytes) {
    Block& block = blocks_[static_cast<std::size_t>(place)];
    block.agent = agent;
    for (const std::size_t side : {0u, 1u}) {
        std::byte*& address = side == 0 ? block.source : block.sink;
        if (place == Place::pageable) {
            block.pageable[side].resize(size_bytes);
            address = block.pageable[side].data();
            continue;
        }
        const hsadrv::MemPool pool = place == Place::pinned ? hsadrv::host_pool() : hsadrv::device_pool(agent);
        if (side == 0)
            require_pool(pool, 2 * size_bytes, "a copy of " + size_text(size_bytes) + ", with a source and a target,");
        block.allocations[side] = hsadrv::Allocation::from_pool(pool, size_bytes);
        address = block.allocations[side].as<std::byte>();
    }
    fill_source(place, size_bytes);
}

void CopyBuffers::fill_source(Place place, std::size_t size_bytes) {
    fill_pattern(read_back_.data(), size_bytes, static_cast<std::uint32_t>(place) + 1);
    hsadrv::copy(stream_, source(place), read_back_.data(), size_bytes, timeout_);
}

void CopyBuffers::wipe(Place place, std::size_t size_bytes) {
    hsadrv::fill(stream_, sink(place), size_bytes, std::span(&wiped, 1), timeout_);
}

std::optional<Mismatch> CopyBuffers::verify(Place from, Place to, std::size_t size_bytes) {
    hsadrv::copy(stream_, read_back_.data(), sink(to), size_bytes, timeout_);
    std::vector<std::byte> wanted(size_bytes);
    fill_pattern(wanted.data(), size_bytes, static_cast<std::uint32_t>(from) + 1);
    return compare(sink_of(to), read_back_.data(), wanted.data(), size_bytes);
}

}  // namespace hsadrv_bench
