// From where to where hsadrv bench copies: the words of --direction and the names of rows.
//
//     for (const CopyDirection& direction : copy_directions()) …
//     direction_of("to-device")->name          // "pinned to device"
//
// A table. Thread safety: no state.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hsadrv_bench {

/// Where one end of a copy is.
enum class Place { pinned, pageable, device, peer };

struct CopyDirection {
    const char* word;
    const char* name;
    Place from, to;
    bool both_ways = false;  ///< and back at the same time
    bool by_engine = true;   ///< a single copy of the runtime: a DMA engine can be selected

    bool touches(Place place) const { return from == place || to == place; }
};

std::span<const CopyDirection> copy_directions();
/// Null if no direction has that word.
const CopyDirection* direction_of(std::string_view word);

/// The row with which the others of its size are compared.
inline constexpr const char* memcpy_name = "host to host (memcpy)";

}  // namespace hsadrv_bench
