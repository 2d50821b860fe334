// Internal: the kernels that copy strided elements, on one GPU.
//
//     CopyKernels kernels(gpu);                                  // from the bundle inside this library
//     kernels.copy(stream, strided, to, from, deadline);         // addresses as the GPU sees them
//
// Owns: the loaded code; keep it until the stream has completed the copies. Thread safety: copy() from any thread.
// Throws Error if the library was built without kernels, InvalidCodeObject if it has none for this GPU, and what
// Kernel::launch throws.
#pragma once

#include <array>

#include "devicearray/kernels/strided_copy.hpp"
#include "devicearray/strided_copy.hpp"
#include "hsadrv/executable.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

/// The kernel to launch and its arguments. Pure.
struct CopyLaunch {
    StridedCopyArguments arguments;
    Dim3 grid, workgroup;
    std::size_t kernel;  ///< index: copies elements of 1 << kernel bytes
};
CopyLaunch plan_copy_launch(const StridedCopy& copy, void* to, const void* from);

class CopyKernels {
  public:
    explicit CopyKernels(AgentRef gpu);
    void copy(Stream& stream, const StridedCopy& copy, void* to, const void* from, Deadline deadline) const;

  private:
    Executable code_;
    std::array<Kernel, 5> kernels_;
};

}  // namespace hsadrv::detail
