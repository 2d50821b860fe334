// Defects of the device, as a user asks for them: what hardware does wrong while the driver's calls succeed.
//
//     "interrupts:1-"   no interrupt arrives          "copies:2"   the DMA engines' second copy has a bit wrong
//     "dispatches:1"    the first kernel never ends   "queues", "engines"   AQL or SDMA queues take no packet
//
// Pure: text in, value or error text out.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/failure.hpp"

namespace kfdemu {

enum class DefectKind : std::uint8_t { interrupts, copies, dispatches, queues, engines };

struct Defect {
    DefectKind kind;
    Turns turns;  ///< of queues and engines: all
};

/// The second alternative says what is wrong and what is possible.
std::variant<Defect, std::string> parse_defect(std::string_view text);
/// What parse_defect() reads back as `defect`.
std::string to_string(const Defect& defect);

}  // namespace kfdemu
