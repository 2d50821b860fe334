// Tells of a program that touches VRAM which the host cannot see: it gets its SIGSEGV, and the log says why.
//
//     PrivateVram::watch(memory);      // once, where VRAM is private
//
// A signal handler that passes every fault on to whoever was there before. A program that installs a handler
// of its own afterwards hears of the fault itself, and the log stays silent.
#pragma once

namespace kfdemu {

class Memory;

class PrivateVram {
  public:
    /// Borrows `memory` until the process ends.
    static void watch(const Memory& memory);
};

}  // namespace kfdemu
