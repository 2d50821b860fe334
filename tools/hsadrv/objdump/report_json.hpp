// The facts as JSON: docs/schema/objdump.v1.json tells how it is laid out.
//
//     session.print(json_text(as_json(facts)));
//
// Pure. Thread safety: no state.
#pragma once

#include "../json.hpp"
#include "facts.hpp"

namespace hsadrv_tool::objdump {

Json as_json(const Facts& facts);

}  // namespace hsadrv_tool::objdump
