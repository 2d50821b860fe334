// Loads the kernels of the benchmarks: the built-in ones, or those of a file.
//
//     hsadrv::Executable code = load_kernels(gpu, options.code_object);
//
// Throws Failure: no kernels for this GPU, with the remedy; a file that cannot be read or is no code object.
#pragma once

#include <string>

#include "hsadrv/executable.hpp"

namespace hsadrv_bench {

hsadrv::Executable load_kernels(hsadrv::AgentRef gpu, const std::string& file);

/// One of them; Failure(files) if the file has none of that name.
hsadrv::Kernel kernel_of(const hsadrv::Executable& code, const char* name, const std::string& file);

}  // namespace hsadrv_bench
