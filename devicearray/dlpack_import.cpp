#include "devicearray/dlpack_import.hpp"

#include <cstring>

#include "devicearray/dlpack_owner.hpp"
#include "devicearray/dtype_dlpack.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/driver.hpp"

namespace hsadrv {
namespace {

using detail::hex;

[[noreturn]] void refuse_tensor(const std::string& why) { throw InvalidArgument("from_dlpack: " + why); }

/// Producers may store any number, including ones outside the enumeration.
int device_type_of(const DLDevice& device) {
    std::int32_t number = 0;
    static_assert(sizeof number == sizeof device.device_type);
    std::memcpy(&number, &device.device_type, sizeof number);
    return number;
}

/// "kDLCUDA (2) device 0"
std::string device_text(const DLDevice& device) {
    constexpr struct {
        int number;
        const char* name;
    } known[] = {
        {1, "kDLCPU"},       {2, "kDLCUDA"},     {3, "kDLCUDAHost"},     {4, "kDLOpenCL"},
        {7, "kDLVulkan"},    {8, "kDLMetal"},    {9, "kDLVPI"},          {10, "kDLROCM"},
        {11, "kDLROCMHost"}, {12, "kDLExtDev"},  {13, "kDLCUDAManaged"}, {14, "kDLOneAPI"},
        {15, "kDLWebGPU"},   {16, "kDLHexagon"}, {17, "kDLMAIA"},        {18, "kDLTrn"},
    };
    const int number = device_type_of(device);
    const char* name = "an unknown device type";
    for (const auto& row : known) {
        if (row.number == number) name = row.name;
    }
    return std::string(name) + " (" + std::to_string(number) + ") device " + std::to_string(device.device_id);
}

Dims shape_of(const DLTensor& tensor) {
    if (tensor.ndim < 0 || tensor.ndim > Dims::max_rank) {
        refuse_tensor("the tensor has " + std::to_string(tensor.ndim) + " axes; an array has 0 to " +
                      std::to_string(Dims::max_rank));
    }
    if (tensor.ndim > 0 && !tensor.shape)
        refuse_tensor("the tensor has " + std::to_string(tensor.ndim) + " axes, but its shape is null");
    return Dims(std::span<const std::int64_t>(tensor.shape, static_cast<std::size_t>(tensor.ndim)));
}

/// Throws for negative extents and for sizes beyond 63 bits.
Layout layout_of(const DLTensor& tensor, const DType& dtype) {
    const auto itemsize = static_cast<std::int64_t>(dtype.itemsize());
    const Dims shape = shape_of(tensor);
    const Layout packed = Layout::contiguous(shape, itemsize);
    if (!tensor.strides || packed.size() == 0) return packed;
    Dims strides = packed.strides_bytes();
    for (int i = 0; i < shape.rank(); ++i) {
        if (shape[i] == 1) continue;  // the stride is never used
        if (__builtin_mul_overflow(tensor.strides[i], itemsize, &strides[i])) {
            refuse_tensor("the stride of axis " + std::to_string(i) + ", " + std::to_string(tensor.strides[i]) +
                          " elements of " + std::to_string(itemsize) + " B, does not fit into 63 bits");
        }
    }
    return Layout::strided(shape, strides, itemsize);
}

/// The tensor's description, checked without its memory.
struct Described {
    DType dtype;  ///< one lane
    Layout layout;
    void* first = nullptr;  ///< null if there are no elements
    const void* lowest = nullptr;
    std::size_t size_bytes = 0;  ///< from `lowest`
};

Described describe(const DLTensor& tensor) {
    const DType whole = dtype_from_dlpack({tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes});
    const Layout items = layout_of(tensor, whole);
    Described said{whole.base(), detail::layout_of_part(items, whole)};
    if (said.layout.size() == 0) return said;

    if (!tensor.data)
        refuse_tensor("the data is null, but the tensor has " + std::to_string(said.layout.size()) + " elements");
    const auto base = reinterpret_cast<std::uintptr_t>(tensor.data);
    const ByteRange range = said.layout.extent();
    const auto before = static_cast<std::uintptr_t>(-range.begin), after = static_cast<std::uintptr_t>(range.end);
    std::uintptr_t first = 0, end = 0;
    if (__builtin_add_overflow(base, tensor.byte_offset, &first) || first < before ||
        __builtin_add_overflow(first, after, &end)) {
        refuse_tensor("data " + hex(tensor.data) + " with byte_offset " + std::to_string(tensor.byte_offset) + " and " +
                      said.layout.to_string() + " exceeds the address space");
    }
    if (first % said.dtype.alignment() != 0) {
        refuse_tensor("the first element (data plus byte_offset) is at " + hex(first) + "; " + said.dtype.name() +
                      " needs a multiple of " + std::to_string(said.dtype.alignment()));
    }
    said.first = reinterpret_cast<void*>(first);
    said.lowest = reinterpret_cast<const void*>(first - before);
    said.size_bytes = before + after;
    return said;
}

std::string owner_text(const PointerInfo& info) {
    switch (info.kind) {
        case PointerInfo::Kind::pageable:
            return "memory that the HSA runtime does not know";
        case PointerInfo::Kind::registered:
            return "registered host memory";
        default:
            return info.owner ? "memory of " + info.owner.label() : "memory of no device of this process";
    }
}

/// Refuses a tensor that contradicts what the runtime knows of its memory, before a kernel faults.
void require_memory(const DLDevice& device, const Described& said, const PointerInfo& info, bool agrees) {
    if (!agrees) {
        refuse_tensor("the tensor is on " + device_text(device) + ", but at " + hex(said.lowest) + " is " +
                      owner_text(info));
    }
    const std::size_t there = info.bytes_after(said.lowest);
    if (info.kind != PointerInfo::Kind::pageable && there < said.size_bytes) {
        refuse_tensor("the tensor's elements take " + std::to_string(said.size_bytes) + " B from " + hex(said.lowest) +
                      ", but " + owner_text(info) + " has " + std::to_string(there) + " B there");
    }
}

DeviceNDArray device_array_of(const DLTensor& tensor, const Described& said, std::shared_ptr<const void> hold) {
    const Driver driver = Driver::current("from_dlpack");
    const auto& gpus = driver.gpus();
    const int id = tensor.device.device_id;
    if (id < 0 || static_cast<std::size_t>(id) >= gpus.size()) {
        refuse_tensor("the tensor is on " + device_text(tensor.device) + "; there are " + std::to_string(gpus.size()) +
                      " GPUs, numbered from 0");
    }
    const AgentRef gpu = gpus[static_cast<std::size_t>(id)];
    if (said.first) {
        const PointerInfo info = pointer_info(said.lowest);
        require_memory(tensor.device, said, info, info.device_memory() && info.owner == gpu);
    }
    return DeviceNDArray(std::move(hold), said.first, said.dtype, said.layout, gpu);
}

HostNDArray host_array_of(const DLTensor& tensor, const Described& said, std::shared_ptr<const void> hold,
                          bool read_only) {
    const bool pinned = device_type_of(tensor.device) == kDLROCMHost;
    // Pageable memory is unknown to the runtime, which need not be initialised.
    if (said.first && (pinned || Driver::try_current())) {
        if (pinned) Driver::current("from_dlpack");
        const PointerInfo info = pointer_info(said.lowest);
        const bool known = info.kind != PointerInfo::Kind::pageable;
        // Pageable memory may be registered in part.
        if (pinned || info.kind != PointerInfo::Kind::registered)
            require_memory(tensor.device, said, info, info.host_memory() && (known || !pinned));
    }
    if (read_only) return HostNDArray(std::move(hold), static_cast<const void*>(said.first), said.dtype, said.layout);
    return HostNDArray(std::move(hold), said.first, said.dtype, said.layout);
}

template <class Managed>
DlpackArray imported(Managed* managed, bool read_only) {
    const DLTensor& tensor = managed->dl_tensor;
    const int type = device_type_of(tensor.device);
    if (type != kDLROCM && type != kDLROCMHost && type != kDLCPU) {
        refuse_tensor("the tensor is on " + device_text(tensor.device) +
                      "; supported are kDLROCM (10), kDLROCMHost (11) and kDLCPU (1)");
    }
    const Described said = describe(tensor);
    const std::shared_ptr<const void> hold = detail::DlpackOwner::unarmed(managed);
    const auto made = [&]() -> DlpackArray {
        if (type == kDLROCM) return device_array_of(tensor, said, hold);
        return host_array_of(tensor, said, hold, read_only);
    };
    DlpackArray array = made();
    DriverRef driver;
    if (const auto running = Driver::try_current()) driver = *running;
    detail::DlpackOwner::of(hold)->arm(managed, read_only, driver);  // owned by the array from here on
    return array;
}

void require_tensor(const void* tensor) {
    if (!tensor) refuse_tensor("the tensor is null");
}

}  // namespace

DlpackArray from_dlpack(DLManagedTensor* tensor, DlpackAccess access) {
    require_tensor(tensor);
    return imported(tensor, access == DlpackAccess::read_only);
}

DlpackArray from_dlpack(DlpackTensor tensor, DlpackAccess access) {
    DlpackArray array = from_dlpack(tensor.get(), access);
    tensor.release();
    return array;
}

#if HSADRV_DLPACK_VERSIONED
namespace {

/// Whether it says that it is read-only.
bool checked_flag(DLManagedTensorVersioned* tensor) {
    require_tensor(tensor);
    if (const DLPackVersion version = tensor->version; version.major != DLPACK_MAJOR_VERSION) {
        DlpackDeleter()(tensor);
        throw DlpackVersionMismatch("from_dlpack: the tensor is of DLPack " + std::to_string(version.major) + "." +
                                    std::to_string(version.minor) + ", this library supports " +
                                    std::to_string(DLPACK_MAJOR_VERSION) +
                                    ".x; request that version from the producer (Python: max_version)");
    }
    return (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
}

}  // namespace

DlpackArray from_dlpack(DLManagedTensorVersioned* tensor, DlpackAccess access) {
    const bool flagged = checked_flag(tensor);
    if (flagged && access != DlpackAccess::read_only && device_type_of(tensor->dl_tensor.device) == kDLROCM) {
        refuse_tensor("the tensor on " + device_text(tensor->dl_tensor.device) +
                      " is read-only, which a DeviceNDArray cannot enforce; pass DlpackAccess::read_only and "
                      "do not write through it, or copy it");
    }
    return imported(tensor, flagged || access == DlpackAccess::read_only);
}

DlpackArray from_dlpack(DlpackTensorVersioned tensor, DlpackAccess access) {
    try {
        DlpackArray array = from_dlpack(tensor.get(), access);
        tensor.release();
        return array;
    } catch (const DlpackVersionMismatch&) {
        tensor.release();  // already deleted
        throw;
    }
}
#endif

detail::ImportedTensor detail::import_dlpack(void* tensor, bool versioned) {
#if HSADRV_DLPACK_VERSIONED
    if (versioned) {
        auto* const managed = static_cast<DLManagedTensorVersioned*>(tensor);
        const bool read_only = checked_flag(managed);
        return {imported(managed, read_only), read_only};
    }
#endif
    if (versioned) return {from_dlpack(static_cast<DLManagedTensorVersioned*>(tensor)), false};  // throws NotOffered
    return {from_dlpack(static_cast<DLManagedTensor*>(tensor)), false};
}

}  // namespace hsadrv
