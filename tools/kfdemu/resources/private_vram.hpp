// Logs host accesses to private VRAM before the program receives SIGSEGV (base/host_fault.hpp).
//
//     PrivateVram::watch(memory);      // if VRAM is private
#pragma once

namespace kfdemu {

class Memory;

class PrivateVram {
  public:
    /// Borrows `memory` until the process ends.
    static void watch(const Memory& memory);
};

}  // namespace kfdemu
