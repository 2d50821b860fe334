// New arrays in host memory that GPUs use as well, of each kind that there is.
//
//     HostNDArray a = pinned_array({480, 640}, dtypes::float32);        // transfers need no staging and do not wait
//     MappedNDArray b = mapped_array({1000}, dtypes::int32, Order::C, {.portable = true});
//     HostNDArray c = coarsegrain_array({1000}, dtypes::int32, {8});    // strides in bytes
//     HostNDArray d = finegrain_array({1000});                          // float64, as NumPy's default
//
// Uninitialised, page-aligned and locked: the runtime's host memory, which is at the same address for all. Memory that
// is fine-grained is coherent while kernels run, atomics included. What is coarse-grained may be cached by the GPU from
// the beginning of a kernel to its end: either side sees the other's writes at these boundaries. Strides may leave gaps
// and be negative. Owns: the arrays their memory, shared among their views. Thread safety: any thread. Throws
// InvalidArgument for shapes and strides that no memory holds; OutOfMemory, with what was asked for; Error where
// there is no Context and no GPU is named. Source: hsa_ext_amd.h, "Memory pools".
#pragma once

#include <source_location>

#include "devicearray/array_form.hpp"
#include "devicearray/host_ndarray.hpp"
#include "devicearray/mapped_ndarray.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/context.hpp"

namespace hsadrv {

/// Page-locked, fine-grained memory for all GPUs: the best end of a transfer.
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
    bool portable = false;  ///< for all GPUs, otherwise for one
    /// A hint: the host only writes it and kernels only read it. HSA has no write-combined memory for that. What comes
    /// nearest is coarse-grained memory, which the GPU may cache; the host's writes are as quick as ever, and its reads
    /// do not suffer.
    bool wc = false;
};

/// Host memory that kernels on `gpu` (a Context converts to one) use in place; fine-grained, unless `wc`.
MappedNDArray mapped_array(const Dims& shape, const DType& dtype = dtypes::float64, const Arrangement& arrangement = {},
                           const MappedOptions& options = {}, AgentRef gpu = Context::current(),
                           std::source_location where = std::source_location::current());

}  // namespace hsadrv
