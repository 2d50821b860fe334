// Finds the loaded code object that holds an address, as debuggers do: through the list that ROCR's loader publishes.
//
//     locate(site);       // fills in site.function and site.source, if the code object says so
//     if (auto object = loaded_object(pc)) …       // a copy: locate(site, *object) still works when it is unloaded
//
// Needs nothing of the program: ROCR keeps _amdgpu_r_debug for every code object, and its URI names the file or the
// memory that it was loaded from. Source lines need libkfdemu-lines.so, which is loaded when the first finding needs
// it. It takes the dynamic linker's lock, so a thread that executes kernels must not call it. Source: LLVM AMDGPUUsage,
// "Loaded Code Object Path Uniform Resource Identifier (URI)"; ROCR's loader_hsa_api.
//
// Thread safety: any thread. Every byte is read in a way that cannot fault; a list that changes meanwhile yields
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/kfdemu/check/report/finding.hpp"

namespace kfdemu::check {

/// A copy of a code object that is or was loaded.
struct LoadedObject {
    std::vector<std::byte> bytes;  ///< the ELF file
    std::uint64_t bias = 0;        ///< address in memory minus address in the ELF file
};

/// The one whose code is at the address.
std::optional<LoadedObject> loaded_object(std::uint64_t pc);

void locate(Site& site);
void locate(Site& site, const LoadedObject& object);

/// The code of all that is loaded, for Allocations::set_code(). Remembers what it has read: for one caller at a time.
class LoadedCode {
  public:
    using Ranges = std::map<std::uint64_t, std::uint64_t>;

    /// Reads the list again.
    Ranges ranges();

  private:
    std::map<std::uint64_t, Ranges> known_;  // by load address
};

}  // namespace kfdemu::check
