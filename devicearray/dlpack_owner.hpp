// Internal: what an imported tensor's memory is kept alive by, and what of dlpack.h both directions use.
//
//     std::shared_ptr<const void> hold = DlpackOwner::unarmed(tensor);   // may throw, and then owns nothing
//     DlpackOwner::of(hold)->arm(tensor, read_only);                     // from here on it does
//
// The owner is the shared_ptr's deleter, so that every view of an array leads back to it. Thread safety: shared_ptr's.
#pragma once

#include <dlpack/dlpack.h>

#include <memory>

#include "hsadrv/driver.hpp"

// The versioned struct of this layout.
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
    /// Null where the memory came from elsewhere.
    static DlpackOwner* of(const std::shared_ptr<const void>& hold) noexcept {
        return std::get_deleter<DlpackOwner>(hold);
    }

    template <class Managed>
    void arm(Managed* tensor, bool read_only, const DriverRef& driver) noexcept {
        driver_ = driver;  // the arrays' agents are its
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
