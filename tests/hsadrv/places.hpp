// Memory of every kind that a copy may use, and a stream that copies to it and back.
#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "hsadrv/copy.hpp"
#include "tests/hsadrv/stream_fixture.hpp"

namespace device_test {

using Bytes = std::vector<std::uint8_t>;

enum class Kind { device, pinned, registered, pageable, peer, unreachable };
inline const char* name_of(Kind kind) {
    static constexpr const char* names[] = {"device", "pinned", "registered", "pageable", "peer", "unreachable"};
    return names[static_cast<int>(kind)];
}

/// Another GPU's memory that the first one can never reach.
inline std::optional<hsadrv::MemPool> unreachable_pool(const Device& device) {
    for (const hsadrv::AgentRef other : device.driver.gpus())
        for (const hsadrv::MemPool& pool : other.pools())
            if (pool.segment() == hsadrv::Segment::global && pool.alloc_allowed() &&
                pool.access(device.gpu) == hsadrv::PoolAccess::never)
                return pool;
    return std::nullopt;
}

/// Memory of a kind, with its owner.
struct Place {
    Place(const Device& device, Kind kind, std::size_t size_bytes) : size_bytes(size_bytes) {
        if (kind == Kind::pageable || kind == Kind::registered) {
            host = Bytes(size_bytes);
            data = host.data();
            if (kind == Kind::registered) registration = hsadrv::Registration(host.data(), size_bytes, {device.gpu});
            return;
        }
        allocation =
            hsadrv::Allocation::from_pool(kind == Kind::pinned        ? hsadrv::host_pool()
                                          : kind == Kind::device      ? hsadrv::device_pool(device.gpu)
                                          : kind == Kind::unreachable ? *unreachable_pool(device)
                                                                      : hsadrv::device_pool(device.driver.gpus()[1]),
                                          size_bytes);
        data = static_cast<std::uint8_t*>(allocation.data());
    }
    Bytes host;
    hsadrv::Registration registration;
    hsadrv::Allocation allocation;
    std::uint8_t* data = nullptr;
    std::size_t size_bytes;
};

struct Copying : Device {
    hsadrv::Stream stream{gpu};

    void put(const Place& place, const Bytes& bytes) {
        hsadrv::copy(stream, place.data, bytes.data(), bytes.size(), patience);
    }
    Bytes get(const Place& place) {
        Bytes bytes(place.size_bytes);
        hsadrv::copy(stream, bytes.data(), place.data, bytes.size(), patience);
        return bytes;
    }
    std::vector<Kind> kinds() const {
        std::vector<Kind> all{Kind::device, Kind::pinned, Kind::registered, Kind::pageable};
        if (driver.gpus().size() > 1) all.push_back(Kind::peer);
        if (unreachable_pool(*this)) all.push_back(Kind::unreachable);
        return all;
    }
};

inline Bytes random_bytes(std::size_t size, unsigned seed) {
    std::minstd_rand random(seed);
    Bytes bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 8);
    return bytes;
}

}  // namespace device_test
