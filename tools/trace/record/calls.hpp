// Puts the wrapped calls into the runtime's table.
#pragma once

#include "tools/trace/record/api_table.hpp"

namespace trace {

/// While no other thread uses the runtime.
void wrap_calls(HsaApiTable& table);

}  // namespace trace
