// Internal: the owner of an imported tensor's memory, and the parts of dlpack.h that both directions use.
//
//     std::shared_ptr<const void> hold = DlpackOwner::unarmed(tensor);   // may throw; owns nothing yet
//     DlpackOwner::of(hold)->arm(tensor, read_only);                     // owns the tensor from here on
//
// The owner is the shared_ptr's deleter, so that it can be found from every view of an array. Thread safety:
// shared_ptr's.
#pragma once

#include <dlpack/dlpack.h>

#include <memory>

#include "hsadrv/driver.hpp"

// The layout of the versioned struct that is supported.
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1
#define HSADRV_DLPACK_VERSIONED 1
#else
#define HSADRV_DLPACK_VERSIONED 0
#endif

namespace hsadrv::detail {

template <class Managed>
void finish_dlpack(void* tensor) noexcept {
    auto* const managed = static_cast<Managed*>(tensor);
    if (managed->deleter) managed->deleter(managed);
}

class DlpackOwner {
  public:
    static std::shared_ptr<const void> unarmed(const void* tensor) { return {tensor, DlpackOwner()}; }
    /// Null if the memory was not imported.
    static DlpackOwner* of(const std::shared_ptr<const void>& hold) noexcept {
        return std::get_deleter<DlpackOwner>(hold);
    }

    template <class Managed>
    void arm(Managed* tensor, bool read_only, const DriverRef& driver) noexcept {
        driver_ = driver;  // owns the arrays' agents
        finish_ = finish_dlpack<Managed>;
        tensor_ = tensor;
        read_only_ = read_only;
    }
    bool read_only() const noexcept { return read_only_; }

    void operator()(const void*) const noexcept {
        if (finish_) finish_(tensor_);
    }

  private:
    DlpackOwner() = default;

    DriverRef driver_;
    void (*finish_)(void*) noexcept = nullptr;
    void* tensor_ = nullptr;
    bool read_only_ = false;
};

}  // namespace hsadrv::detail
