// Where the program was on the host: the calls that led to an allocation or a free.
//
//     const StackId made = capture_stack();                    // cheap: addresses only
//     finding.stacks.push_back({"allocated", host_frames(made)});  // slow: names and lines
//
// The innermost frames, of this library and of the HSA runtime, are left out. Equal stacks have equal ids. Functions
// come from the symbols of the program's files, lines from their DWARF if libkfdemu-lines.so is there; code that was
// unloaded since has neither.
//
// Thread safety: any thread. Stacks are kept for the process's life.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/kfdemu/check/report/finding.hpp"

namespace kfdemu::check {

using StackId = std::uint32_t;
inline constexpr StackId kNoStack = 0;

/// That of set_caller(), or the native one.
StackId capture_stack();
/// "x.py:12 in main": where the thread's next stacks are; null: on the native stack again.
void set_caller(const char* place);
/// Of another thread, which is at that instruction: this frame alone.
StackId stack_at(std::uint64_t pc);
/// In a child of fork(): its parent's ids are not valid any more.
void forget_stacks();
/// Innermost first; up to main(). Empty for kNoStack.
std::vector<HostFrame> host_frames(StackId id);

}  // namespace kfdemu::check
