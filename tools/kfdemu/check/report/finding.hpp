// One finding of a checker: what happened, where, and which other places matter.
//
// Plain values. `source` and `function` are filled in by the Report, from the code object that holds the pc, and so are
// the frames of stacks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/kfdemu/base/checks.hpp"

namespace kfdemu::check {

/// A frame of the source that an instruction comes from; the innermost is first, its callers were inlined.
struct Frame {
    std::string function, file;
    std::uint32_t line = 0;
};

/// An instruction of a kernel.
struct Site {
    std::uint64_t pc = 0;
    std::uint64_t code = 0;     ///< its first two dwords
    std::string instruction;    ///< disassembled
    std::string function;       ///< symbol that holds the pc; empty if it is unknown
    std::vector<Frame> source;  ///< empty if there is no line information
    bool by_gcc = false;        ///< GCC compiled the code object
};

/// Another place that explains the finding: the load, the earlier access.
struct Related {
    std::string what;
    Site at;
};

/// A frame of a stack on the host.
struct HostFrame : Frame {
    std::string object;  ///< the file of the program or library, without its folder
};

/// Calls on the host, innermost first, and what they did: "allocated", "freed".
struct HostStack {
    std::string what;
    std::vector<HostFrame> frames;
    std::uint32_t id = 0;  ///< of host_stack.hpp; the Report fills in the frames
};

inline constexpr std::uint32_t kWholeWave = ~0u, kWholeKernel = ~0u;

struct Finding {
    Check check = Check::wait;
    const char* rule = "";  ///< a word for programs; findings at one pc with one rule are the same one
    std::string what;       ///< one sentence, without a full stop
    Site at;
    std::uint64_t kernel_object = 0;
    std::uint32_t gpu = 0;                        ///< from 0
    std::uint64_t queue_id = 0, dispatch_id = 0;  ///< hsa_queue_t::id; the dispatch's number in its queue, from 1
    std::array<std::uint32_t, 3> group{};
    std::uint32_t wave = 0;  ///< kWholeKernel: it is about the kernel, and `at` is where it begins
    std::uint32_t lane = kWholeWave;
    std::uint64_t address = 0;
    std::string place;  ///< the address in words; empty if the finding is not about an address
    std::vector<Related> related;
    std::vector<HostStack> stacks;
    std::uint64_t bytes = 0;     ///< of memory that is not freed
    std::uint64_t identity = 0;  ///< if it is not about an instruction: in place of the pc, what makes it the same one
    std::uint64_t count = 0;     ///< how often; filled in by the Report
    bool saves = false;          ///< if GCC compiled it, it only saves a register on its stack

    bool is_none() const { return saves && at.by_gcc; }

    /// Whether it is about an instruction of a kernel, which `at` to `lane` describe.
    bool of_kernel() const { return identity == 0; }
};

}  // namespace kfdemu::check
