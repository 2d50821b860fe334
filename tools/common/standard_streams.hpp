// Standard input, output and error, as a program may find them: closed, or on a device that is full.
//
//     hold_standard_streams();              // first thing in main
//     print_or_fail(report);      // throws Failure(files): "cannot write to standard output: …"
//
// Where a descriptor below 3 is closed, the next file that is opened gets its number, and what is printed goes into
// that file: /dev/kfd, say. So such a number is taken first, by something that refuses what it is not for. Thread
// safety: one thread, before others start. Source: POSIX, open(): the lowest number that is free.
#pragma once

#include <string_view>

namespace tools {

void hold_standard_streams();

/// To standard output, to its last byte.
void print_or_fail(std::string_view text);

}  // namespace tools
