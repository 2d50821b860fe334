// New host arrays that GPUs can use as well: pinned, mapped, coarse-grained and fine-grained.
//
//     HostNDArray a = pinned_array({480, 640}, dtypes::float32);        // transfers need no staging and do not wait
//     MappedNDArray b = mapped_array({1000}, dtypes::int32, Order::C, {.portable = true});
//     HostNDArray c = coarsegrain_array({1000}, dtypes::int32, {8});    // strides in bytes
//     HostNDArray d = finegrain_array({1000});                          // float64, as NumPy's default
//
// Uninitialised, page-aligned and locked: the runtime's host memory, which has the same address for the host and all
// agents. Fine-grained memory is coherent while kernels run, atomics included. A GPU may cache coarse-grained memory
// during a kernel: writes of either side become visible at kernel boundaries. Strides may leave gaps and be negative.
// Owns: arrays own their memory, shared among their views. Thread safety: any thread. Throws InvalidArgument for shapes
// and strides that do not fit into memory; OutOfMemory, with the requested size; Error if no GPU is named and there is
// no current Context. Source: hsa_ext_amd.h, "Memory pools".
#pragma once

#include <source_location>

#include "devicearray/array_form.hpp"
#include "devicearray/host_ndarray.hpp"
#include "devicearray/mapped_ndarray.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/context.hpp"

namespace hsadrv {

/// Page-locked, fine-grained memory for all GPUs: the fastest host memory for transfers.
HostNDArray pinned_array(const Dims& shape, const DType& dtype = dtypes::float64, const Arrangement& arrangement = {},
                         std::source_location where = std::source_location::current());

/// Coarse-grained host memory for all GPUs.
HostNDArray coarsegrain_array(const Dims& shape, const DType& dtype = dtypes::float64,
                              const Arrangement& arrangement = {},
                              std::source_location where = std::source_location::current());

/// Fine-grained host memory for all GPUs.
HostNDArray finegrain_array(const Dims& shape, const DType& dtype = dtypes::float64,
                            const Arrangement& arrangement = {},
                            std::source_location where = std::source_location::current());

struct MappedOptions {
    bool portable = false;  ///< for all GPUs instead of one
    /// A hint: the host only writes and kernels only read. HSA has no write-combined memory; coarse-grained memory,
    /// which the GPU may cache, is used instead. Host writes and reads keep their speed.
    bool wc = false;
};

/// Host memory that kernels on `gpu` (a Context converts to one) use in place; fine-grained unless `wc`.
MappedNDArray mapped_array(const Dims& shape, const DType& dtype = dtypes::float64, const Arrangement& arrangement = {},
                           const MappedOptions& options = {}, AgentRef gpu = Context::current(),
                           std::source_location where = std::source_location::current());

}  // namespace hsadrv
