// Code objects of the HSA runtime: where code is, which no kernel may write.
//
//     wrap_code(table);     // OnLoad, while no other thread uses the runtime
//
// The allocations of process_checks() know the ranges after each load and unload. Thread safety: the wrapped calls, any
// thread.
#pragma once

#include "tools/kfdemu/boundary/hsa_table.hpp"

namespace kfdemu {

void wrap_code(hsa::Table& table);

}  // namespace kfdemu
