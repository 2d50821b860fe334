// For tests in which processes share memory: contents to recognise, copies to and from memory that only a GPU
// may reach, and taking turns.
//
//     fill(machine, address, pattern(bytes, 1));
//     CHECK(difference(read_back(machine, address, bytes), pattern(bytes, 1)) == "");
//
// Thread safety: as Machine. A failure is an exception that names the call.
#pragma once

#include <vector>

#include "machine.hpp"

namespace hsa_test {

using Words = std::vector<std::uint32_t>;

/// Words that tell where they belong, and a second pattern from a first.
Words pattern(std::size_t bytes, std::uint32_t seed);
/// Copies by the first GPU's engines, both ends named by agent.
void fill(const Machine& machine, void* destination, const Words& words);
Words read_back(const Machine& machine, const void* source, std::size_t bytes);

/// Where the first difference is, in words; nothing if there is none.
std::string difference(const Words& seen, const Words& expected);

/// A pipe that a child process inherits; its ends are named to the child by number.
struct Pipe {
    Pipe();
    ~Pipe();
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int read_end = -1, write_end = -1;
};

/// Lets whoever awaits the other end of a pipe go on; waits for that, with the suite's deadline.
void tell(int write_end);
void await(int read_end);

}  // namespace hsa_test
