// For tests in which processes share memory: contents to recognise, copies to and from memory that only a GPU
// may reach, and taking turns.
//
//     fill(machine, address, pattern(bytes, 1));
//     CHECK(difference(read_back(machine, address, bytes), pattern(bytes, 1)) == "");
//
// Thread safety: as Machine. A failure is an exception that names the call.
#pragma once

#include <vector>

#include "tests/kfdemu/hsa/machine.hpp"

namespace hsa_test {

/// An allocation of the kernel's own, and more than one packet of the older copy engines holds.
inline constexpr std::size_t kOwnAllocationBytes = 6 << 20;

using Words = std::vector<std::uint32_t>;

/// Words that encode their index, and a second pattern from a first.
Words pattern(std::size_t bytes, std::uint32_t seed);
/// Copies by the first GPU's engines, both ends named by agent.
void fill(const Machine& machine, void* destination, const Words& words);
Words read_back(const Machine& machine, const void* source, std::size_t bytes);

/// The word index of the first difference; std::nullopt if there is none.
std::string difference(const Words& seen, const Words& expected);

/// A pipe that a child process inherits; its ends are named to the child by number.
struct Pipe {
    Pipe();
    ~Pipe();
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int read_end = -1, write_end = -1;
};

/// Wakes the reader of a pipe; waits for the other end, with the suite's deadline.
void tell(int write_end);
void await(int read_end);

}  // namespace hsa_test
