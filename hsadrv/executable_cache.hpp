// ExecutableCache: loads each code object once per GPU.
//
//     hsadrv::ExecutableCache cache;                                 // of a program, or of a part of it
//     auto code = cache.load(gpu, made.code_object);                 // the second time: no loading
//
// A load takes a tenth of a millisecond of the runtime's loader, and then a copy to the GPU that the runtime waits for
// by polling: milliseconds on an emulated GPU. A code object whose kernels write to its variables is loaded again each
// time, because its variables belong to one Executable. Owns: the `capacity` executables that were used last; an older
// one lives for as long as its copies, kernels and the work in flight. Keeps alive: the runtime, while it holds one.
// Thread safety: any thread. Two threads that load the same bytes at once get the same Executable.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "hsadrv/agent.hpp"
#include "hsadrv/executable.hpp"

namespace hsadrv {

class ExecutableCache {
  public:
    explicit ExecutableCache(std::size_t capacity = 64);
    ~ExecutableCache();
    ExecutableCache(const ExecutableCache&) = delete;
    ExecutableCache& operator=(const ExecutableCache&) = delete;

    /// As Executable::load(gpu, bytes, name), which it calls for bytes that it does not know, and whose exceptions it
    /// throws. The name of the first load stays. Compares all bytes.
    Executable load(AgentRef gpu, std::span<const std::byte> bytes, const std::string& name = "code object in memory");

    /// Gives up what it owns.
    void clear();

    /// The executables that it owns.
    std::size_t size() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hsadrv
