#include "tools/kfdemu/isa/execution/dpp.hpp"

namespace kfdemu::isa {
namespace {

consteval std::array<DppRow, kDppControls> all_rows() {
    constexpr unsigned last_row = 3 * kRowLanes;  // every control reads from some row there
    std::array<DppRow, kDppControls> rows{};
    for (unsigned control = 0; control < kDppControls; ++control)
        for (unsigned column = 0; column < kRowLanes; ++column) {
            const DppLane source = dpp_source(control, last_row + column, kMostLanes);
            rows[control].from[column] = source.from % kRowLanes;
            if (source.valid) rows[control].valid |= static_cast<std::uint16_t>(1u << column);
        }
    return rows;
}

}  // namespace

constexpr std::array<DppRow, kDppControls> dpp_rows = all_rows();

}  // namespace kfdemu::isa
