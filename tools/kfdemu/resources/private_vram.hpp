// Logs host accesses to private VRAM before the program receives SIGSEGV.
//
//     PrivateVram::watch(memory);      // once, if VRAM is private
//
// Installs a SIGSEGV handler that restores the previous disposition after logging. If the program installs its own
// handler later, that handler receives the fault and nothing is logged.
#pragma once

namespace kfdemu {

class Memory;

class PrivateVram {
  public:
    /// Borrows `memory` until the process ends.
    static void watch(const Memory& memory);
};

}  // namespace kfdemu
