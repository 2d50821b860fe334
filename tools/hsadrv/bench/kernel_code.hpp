// The kernels of the benchmarks, loaded: those that hsadrv brings along, or a file's.
//
//     hsadrv::Executable code = load_kernels(gpu, options.code_object);
//
// Throws Failure: no kernels for this GPU (which there are, and what to do); a file that cannot be read or is none.
#pragma once

#include <string>

#include "hsadrv/executable.hpp"

namespace hsadrv_bench {

hsadrv::Executable load_kernels(hsadrv::AgentRef gpu, const std::string& file);

/// One of them; Failure(files) if the file has none of that name.
hsadrv::Kernel kernel_of(const hsadrv::Executable& code, const char* name, const std::string& file);

}  // namespace hsadrv_bench
