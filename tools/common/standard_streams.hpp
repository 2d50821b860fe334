// Protection against closed standard streams, and output to a full device as an error.
//
//     hold_standard_streams();              // first thing in main
//     print_or_fail(report);      // throws Failure(files): "cannot write to standard output: …"
//
// If a descriptor below 3 is closed, the next file opened receives its number, and output goes to that file, for
// example /dev/kfd. hold_standard_streams() occupies closed numbers with descriptors on which the stream's operation
// fails. Thread safety: one thread, before others start. Source: POSIX, open(): the lowest number that is free.
#pragma once

#include <string_view>

namespace tools {

void hold_standard_streams();

/// Writes all of the text to standard output and flushes it.
void print_or_fail(std::string_view text);

}  // namespace tools
