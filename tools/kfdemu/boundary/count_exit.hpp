// The end of a counted process: its file is written.
//
//     prepare_counters(options);      // once, when there is a device
//     write_counters();               // on the way to _exit()
//
// Thread safety: prepare_counters(), one thread; write_counters(), any.
#pragma once

#include "tools/kfdemu/base/options.hpp"

namespace kfdemu {

/// Its exit handlers then run before those that are registered already.
void prepare_counters(const Options& options);
void write_counters();

}  // namespace kfdemu
