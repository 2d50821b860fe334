// Internal: runs another program on memory files, with a deadline.
//
//     const Ended ended = run_child({"clang-19", "-", "-o", "-"}, {.input = &source, .errors = &messages}, deadline);
//
// The child leads a process group of its own, which is killed at the deadline; it blocks and ignores no signal, and has
// the descriptors of Streams alone. If this process is killed first, a limit of processor time, of twice the deadline
// and two hours at most, ends a child that would not end; a lower one that is inherited stays. This process's signal
// mask and handlers are not changed. If it ignores SIGCHLD, or another thread of it reaped the child, there is no exit
// status. Thread safety: any thread. Source: POSIX, posix_spawn and waitpid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hsadrv/compile/memory_file.hpp"
#include "hsadrv/deadline.hpp"

namespace hsadrv::detail {

/// Descriptors below belong to the child's Streams.
inline constexpr int first_free_descriptor = 16;

/// What the child has beside its standard output. Borrows the files.
struct Streams {
    const MemoryFile* input = nullptr;         ///< null: none
    const MemoryFile* errors = nullptr;        ///< null: discarded
    std::vector<const MemoryFile*> more = {};  ///< as its /proc/self/fd/3, 4, …; at most 8
};

/// The name that the child opens Streams::more[index] by.
std::string child_file(std::size_t index);

struct Ended {
    std::optional<int> status;  ///< as in a shell; std::nullopt: something else has reaped the child
    std::string output;         ///< its standard output
};

/// Throws Timeout, after the child's group was killed; Error if the program cannot be started.
Ended run_child(const std::vector<std::string>& command, const Streams& streams, const Deadline& deadline);

}  // namespace hsadrv::detail
