// Internal: a DLPack tensor taken with whatever access its producer allows.
//
//     const auto [array, read_only] = import_dlpack(tensor, versioned);   // the caller enforces read_only
//
// As from_dlpack(), which refuses a read-only DeviceNDArray. Thread safety: a function without state.
#pragma once

#include "devicearray/dlpack.hpp"

namespace hsadrv::detail {

struct ImportedTensor {
    DlpackArray array;
    bool read_only;
};

/// tensor: a DLManagedTensor, or a DLManagedTensorVersioned.
ImportedTensor import_dlpack(void* tensor, bool versioned);

}  // namespace hsadrv::detail
