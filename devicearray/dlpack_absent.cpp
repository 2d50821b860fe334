// Stubs for what the library's dlpack.h lacks: all of DLPack, or its versioned half.
#include "devicearray/dlpack_import.hpp"
#if defined(WITH_DLPACK)
#include "devicearray/dlpack_owner.hpp"
#else
#define HSADRV_DLPACK_VERSIONED 0
#endif

namespace hsadrv {

#if !HSADRV_DLPACK_VERSIONED
namespace {

[[noreturn]] void not_offered(const char* call) {
    throw NotOffered(std::string(call) +
                     ": this library was built without that part of <dlpack/dlpack.h>; install DLPack's header "
                     "(Debian: libdlpack-dev; versioned tensors need 1.0 or later) and rebuild it");
}

/// The start of a tensor, which DLPack's ABI fixes, so that its deleter can be called.
template <class Managed>
struct VersionedBeginning {
    std::uint32_t major, minor;
    void* manager_ctx;
    void (*deleter)(Managed*);
};

}  // namespace

bool dlpack_versioned_offered() noexcept { return false; }

void DlpackDeleter::operator()(DLManagedTensorVersioned* tensor) const noexcept {
    const auto* const beginning = reinterpret_cast<VersionedBeginning<DLManagedTensorVersioned>*>(tensor);
    if (beginning->deleter) beginning->deleter(tensor);
}

DlpackTensorVersioned to_dlpack_versioned(const DlpackArray&, DlpackAccess) { not_offered("to_dlpack_versioned"); }
DlpackTensorVersioned to_dlpack_versioned(const DlpackArray&, Stream&, Stream*, DlpackAccess, Deadline) {
    not_offered("to_dlpack_versioned");
}
DlpackArray from_dlpack(DLManagedTensorVersioned*, DlpackAccess) { not_offered("from_dlpack(versioned)"); }
DlpackArray from_dlpack(DlpackTensorVersioned, DlpackAccess) { not_offered("from_dlpack(versioned)"); }
#endif

#if !defined(WITH_DLPACK)
namespace {

/// DLManagedTensor, whose layout never changed.
struct UnversionedBeginning {
    void* data;
    std::int32_t device_type, device_id, ndim;
    std::uint32_t dtype;
    void *shape, *strides;
    std::uint64_t byte_offset;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor*);
};

}  // namespace

bool dlpack_offered() noexcept { return false; }

void DlpackDeleter::operator()(DLManagedTensor* tensor) const noexcept {
    const auto* const beginning = reinterpret_cast<UnversionedBeginning*>(tensor);
    if (beginning->deleter) beginning->deleter(tensor);
}

DlpackTensor to_dlpack(const DlpackArray&) { not_offered("to_dlpack"); }
DlpackTensor to_dlpack(const DlpackArray&, Stream&, Stream*, Deadline) { not_offered("to_dlpack"); }
DlpackArray from_dlpack(DLManagedTensor*, DlpackAccess) { not_offered("from_dlpack"); }
detail::ImportedTensor detail::import_dlpack(void*, bool) { not_offered("from_dlpack"); }
DlpackArray from_dlpack(DlpackTensor, DlpackAccess) { not_offered("from_dlpack"); }
#endif

}  // namespace hsadrv
