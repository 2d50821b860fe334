// The facts as JSON, as docs/schema/objdump.v1.json describes it.
//
//     session.print(json_text(as_json(facts)));
//
// Pure. Thread safety: no state.
#pragma once

#include "tools/hsadrv/json.hpp"
#include "tools/hsadrv/objdump/facts.hpp"

namespace hsadrv_tool::objdump {

Json as_json(const Facts& facts);

}  // namespace hsadrv_tool::objdump
