#include "tools/hsadrv/bench/copy_direction.hpp"

namespace hsadrv_bench {

std::span<const CopyDirection> copy_directions() {
    using enum Place;
    static constexpr CopyDirection all[] = {
        {"host", memcpy_name, pageable, pageable, false, false},
        {"to-device", "pinned to device", pinned, device},
        {"from-device", "device to pinned", device, pinned},
        {"both-ways", "pinned <-> device", pinned, device, true},
        {"pageable-to-device", "pageable to device", pageable, device, false, false},
        {"device-to-pageable", "device to pageable", device, pageable, false, false},
        {"within-device", "device to itself", device, device},
        {"to-peer", "device to peer", device, peer},
        {"from-peer", "peer to device", peer, device},
        {"peer-both-ways", "device <-> peer", device, peer, true},
    };
    return all;
}

const CopyDirection* direction_of(std::string_view word) {
    for (const CopyDirection& direction : copy_directions())
        if (word == direction.word) return &direction;
    return nullptr;
}

}  // namespace hsadrv_bench
