#include <algorithm>

#include "devicearray/block_reach.hpp"
#include "devicearray/dlpack.hpp"
#include "devicearray/dlpack_owner.hpp"
#include "devicearray/dtype_dlpack.hpp"
#include "devicearray/element_strides.hpp"
#include "devicearray/strided_copy.hpp"
#include "hsadrv/driver.hpp"

namespace hsadrv {
namespace {

/// The properties of either kind of array that a tensor needs.
struct Facts {
    const char* call;
    std::shared_ptr<const void> keep_alive;
    const void* data;
    DType dtype;
    Layout layout;
    std::optional<AgentRef> agent;  ///< for a DeviceNDArray
    bool read_only;

    [[noreturn]] void refuse(const std::string& why) const {
        throw InvalidArgument(std::string(call) + ": " + why + "; the array is " + dtype.name() + " with " +
                              layout.to_string());
    }
};

Facts facts_of(const char* call, const DlpackArray& array) {
    Facts facts = std::visit(
        [&](const auto& any) -> Facts {
            if constexpr (std::is_same_v<std::decay_t<decltype(any)>, HostNDArray>) {
                return {call, any.keep_alive(), any.data(), any.dtype(), any.layout(), {}, !any.writable()};
            } else {
                return {call, any.keep_alive(), any.data(), any.dtype(), any.layout(), any.agent(), false};
            }
        },
        array);
    const detail::DlpackOwner* const imported = detail::DlpackOwner::of(facts.keep_alive);
    facts.read_only |= (imported && imported->read_only()) || !elements_are_apart(facts.layout);
    return facts;
}

DLDevice gpu_device(const Facts& facts, AgentRef gpu) {
    const Driver driver = Driver::current(facts.call);
    int ordinal = 0;
    for (const AgentRef known : driver.gpus()) {
        if (known == gpu) return {kDLROCM, ordinal};
        ++ordinal;
    }
    facts.refuse("its memory is of " + gpu.label() + ", which is not one of the driver's " +
                 std::to_string(driver.gpus().size()) + " GPUs");
}

/// The memory's DLPack device, for either kind of array, and the address that the other library uses.
struct Place {
    DLDevice device;
    const void* data;
};
Place place_of(const Facts& facts) {
    if (facts.layout.size() == 0 || !facts.data)
        return {facts.agent ? gpu_device(facts, *facts.agent) : DLDevice{kDLCPU, 0}, nullptr};
    // Without a runtime all host memory is pageable.
    const PointerInfo info = Driver::try_current() ? pointer_info(facts.data) : PointerInfo{};
    if (info.kind == PointerInfo::Kind::pageable) return {{kDLCPU, 0}, facts.data};
    if (info.owner && info.owner.is_gpu()) return {gpu_device(facts, info.owner), facts.data};
    // A GPU can use it in place only if all of it is locked.
    const bool registered_in_part = info.kind == PointerInfo::Kind::registered &&
                                    !detail::BlockReach(info, facts.data).holds(facts.layout.extent());
    return {{registered_in_part ? kDLCPU : kDLROCMHost, 0}, info.host_address(facts.data)};
}

void order(Stream& producer, Stream* consumer, Deadline deadline) {
    if (!consumer) return producer.synchronize(deadline);
    consumer->wait(producer.record({}, deadline), deadline);
}

template <class Managed>
struct Exported {
    Managed managed{};
    std::shared_ptr<const void> keep_alive;
    std::int64_t shape[Dims::max_rank] = {}, strides[Dims::max_rank] = {};

    static void finish(Managed* managed) noexcept { delete static_cast<Exported*>(managed->manager_ctx); }
};

template <class Managed>
std::unique_ptr<Managed, DlpackDeleter> exported(const Facts& facts) {
    const DLPackType type = dlpack_type(facts.dtype);
    const auto strides = element_strides(facts.layout);
    if (!strides) {
        facts.refuse("DLPack counts strides in elements, and these are not multiples of " +
                     std::to_string(facts.layout.itemsize()) + " B; copy it into a contiguous array first");
    }
    const Place place = place_of(facts);

    auto made = std::make_unique<Exported<Managed>>();
    made->keep_alive = facts.keep_alive;
    std::copy(facts.layout.shape().begin(), facts.layout.shape().end(), made->shape);
    std::copy(strides->begin(), strides->end(), made->strides);
    DLTensor& tensor = made->managed.dl_tensor;
    // The exact address, not an offset from an aligned one: many consumers ignore byte_offset.
    tensor.data = const_cast<void*>(place.data);
    tensor.device = place.device;
    tensor.ndim = facts.layout.rank();
    tensor.dtype = {type.code, type.bits, type.lanes};
    tensor.shape = made->shape;
    tensor.strides = made->strides;
    made->managed.manager_ctx = made.get();
    made->managed.deleter = Exported<Managed>::finish;
    return std::unique_ptr<Managed, DlpackDeleter>(&made.release()->managed);
}

Facts writable_facts(const char* call, const DlpackArray& array) {
    Facts facts = facts_of(call, array);
    if (facts.read_only) {
        facts.refuse(
            "only a versioned tensor can be marked read-only, and the array is read-only or has "
            "elements that share memory; use to_dlpack_versioned, or copy the array first");
    }
    return facts;
}

}  // namespace

bool dlpack_offered() noexcept { return true; }

void DlpackDeleter::operator()(DLManagedTensor* tensor) const noexcept {
    detail::finish_dlpack<DLManagedTensor>(tensor);
}

DlpackTensor to_dlpack(const DlpackArray& array) {
    refuse_in_forked_child("to_dlpack");
    return exported<DLManagedTensor>(writable_facts("to_dlpack", array));
}

DlpackTensor to_dlpack(const DlpackArray& array, Stream& producer, Stream* consumer, Deadline deadline) {
    DlpackTensor tensor = to_dlpack(array);
    order(producer, consumer, deadline);
    return tensor;
}

#if HSADRV_DLPACK_VERSIONED
bool dlpack_versioned_offered() noexcept { return true; }

void DlpackDeleter::operator()(DLManagedTensorVersioned* tensor) const noexcept {
    detail::finish_dlpack<DLManagedTensorVersioned>(tensor);
}

DlpackTensorVersioned to_dlpack_versioned(const DlpackArray& array, DlpackAccess access) {
    const Facts facts = facts_of("to_dlpack_versioned", array);
    DlpackTensorVersioned tensor = exported<DLManagedTensorVersioned>(facts);
    tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    const bool read_only = facts.read_only || access == DlpackAccess::read_only;
    tensor->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    return tensor;
}

DlpackTensorVersioned to_dlpack_versioned(const DlpackArray& array, Stream& producer, Stream* consumer,
                                          DlpackAccess access, Deadline deadline) {
    DlpackTensorVersioned tensor = to_dlpack_versioned(array, access);
    order(producer, consumer, deadline);
    return tensor;
}
#endif

}  // namespace hsadrv
