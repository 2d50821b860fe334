// The file of --counters: of the first process that ran kernels; others write FILE.PID beside it.
//
//     if (auto error = begin_counters(path); !error.empty()) …       // kfdemu run: an empty one
//     error = write_counters(options);                                // at the end of a process
//
// A process takes the file if it is empty. Under KFDEMU without `kfdemu run`, also if it is older than the process.
// Thread safety: one thread at a time.
#pragma once

#include <string>

#include "tools/kfdemu/base/options.hpp"

namespace kfdemu::count {

/// "" or an error text.
std::string begin_counters(const std::string& path);
/// "" or an error text. A process that ran no kernels writes nothing.
std::string write_counters(const Options& options);

}  // namespace kfdemu::count
