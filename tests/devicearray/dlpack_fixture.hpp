// Fixtures of the DLPack tests: the two forms of tensors, and a foreign library that makes tensors and counts
// deletions.
#pragma once

#include "devicearray/dlpack.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/devicearray/array_fixture.hpp"

#if defined(WITH_DLPACK)
#include <dlpack/dlpack.h>

namespace dlpack_test {

using namespace hsadrv;
using array_test::counting;
using test_support::Contains;
using test_support::Device;
using test_support::patience;

constexpr int cpu = 1, cuda = 2, rocm = 10, rocm_host = 11;

/// The two forms, so that tests of both are written once.
struct Plain {
    using Tensor = DLManagedTensor;
    template <class... More>
    static DlpackTensor of(const DlpackArray& array, More&&... more) {
        return to_dlpack(array, std::forward<More>(more)...);
    }
};
#if defined(DLPACK_MAJOR_VERSION)
struct Versioned {
    using Tensor = DLManagedTensorVersioned;
    template <class... More>
    static DlpackTensorVersioned of(const DlpackArray& array, More&&... more) {
        return to_dlpack_versioned(array, std::forward<More>(more)...);
    }
};
#define DLPACK_FORMS Plain, Versioned
#else
#define DLPACK_FORMS Plain
#endif

/// A tensor of another library. It counts the calls of its deleter; after the first, it must not be accessed.
template <class Managed>
struct Foreign {
    Managed managed{};
    std::vector<std::int64_t> shape, strides;
    std::atomic<int> deleted{0};

    Foreign(void* data, int device_type, int device_id, DLDataType type, std::vector<std::int64_t> extents,
            std::vector<std::int64_t> steps = {})
        : shape(std::move(extents)), strides(std::move(steps)) {
        DLTensor& tensor = managed.dl_tensor;
        tensor.data = data;
        std::memcpy(&tensor.device.device_type, &device_type, sizeof device_type);  // any value, as in foreign tensors
        tensor.device.device_id = device_id;
        tensor.ndim = static_cast<int>(shape.size());
        tensor.dtype = type;
        tensor.shape = shape.data();
        tensor.strides = strides.empty() ? nullptr : strides.data();
        managed.manager_ctx = this;
        managed.deleter = [](Managed* self) {
            auto& foreign = *static_cast<Foreign*>(self->manager_ctx);
            foreign.managed.dl_tensor.shape = nullptr;
            ++foreign.deleted;
        };
#if defined(DLPACK_MAJOR_VERSION)
        if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed.version = {1, 0};
#endif
    }
    Foreign(const Foreign&) = delete;

    DLTensor& tensor() { return managed.dl_tensor; }
    Managed* raw() { return &managed; }
};

constexpr DLDataType float32{2, 32, 1}, int32{0, 32, 1}, float64{2, 64, 1};

template <class Tensor>
std::vector<std::int64_t> shape_of(const Tensor& managed) {
    return {managed->dl_tensor.shape, managed->dl_tensor.shape + managed->dl_tensor.ndim};
}
template <class Tensor>
std::vector<std::int64_t> strides_of(const Tensor& managed) {
    return {managed->dl_tensor.strides, managed->dl_tensor.strides + managed->dl_tensor.ndim};
}

}  // namespace dlpack_test
#endif
