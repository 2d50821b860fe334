// User-requested device defects: malfunctions of the hardware while driver calls succeed.
//
//     "interrupts:1-"   no interrupt arrives          "copies:2"   the DMA engines' second copy has one wrong bit
//     "dispatches:1"    the first kernel never ends   "queues", "engines"   AQL or SDMA queues take no packets
//
// Pure: text in, value or error text out.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "tools/kfdemu/base/failure.hpp"

namespace kfdemu {

enum class DefectKind : std::uint8_t { interrupts, copies, dispatches, queues, engines };

struct Defect {
    DefectKind kind;
    Turns turns;  ///< always all for queues and engines
};

/// The second alternative is an error text with the accepted forms.
std::variant<Defect, std::string> parse_defect(std::string_view text);
/// The text that parse_defect() parses to `defect`.
std::string to_string(const Defect& defect);

}  // namespace kfdemu
