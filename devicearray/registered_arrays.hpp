// Existing host arrays, page-locked for GPUs within a scope.
//
//     { auto scope = pinned(a, b);  to_device(a, stream);  … }             // a: vector, HostNDArray, view, …
//     { auto [d_a, d_b] = mapped(a, b);  kernel.launch(stream, shape, d_a, d_b);  … }
//     { auto scope = register_memory(a, b);  … }                           // numba.roc's name; the same as pinned
//     register_memory(a, b).until_deregistered();  …  deregister_memory(a, b);    // explicitly
//
// The whole range that an array's elements span is locked, gaps included; nothing for an empty array. Arrays may
// overlap and repeat, and may be registered already. Either all are locked or none: on an error, those already locked
// are unlocked before it is thrown. Keeps alive: arrays that own their memory, while they are locked. Borrows: other
// memory, which must stay mapped meanwhile. Nothing waits for streams: synchronise before the scope ends. Thread
// safety: any thread; a scope as any value. Throws as hsadrv::register_memory: InvalidArgument, also for memory that is
// always locked (pinned_array's), which needs no registration; OutOfMemory. Source: hsa_ext_amd.h,
// hsa_amd_memory_lock_to_pool.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "devicearray/host_ndarray.hpp"
#include "devicearray/mapped_ndarray.hpp"
#include "hsadrv/agent.hpp"
#include "hsadrv/context.hpp"
#include "hsadrv/registration.hpp"

namespace hsadrv {

/// Arrays that are locked for all GPUs during this object's lifetime.
class [[nodiscard]] RegisteredArrays {
  public:
    explicit RegisteredArrays(std::vector<HostNDArray> arrays);

    std::size_t size() const noexcept { return locked_.size(); }
    const HostNDArray& operator[](std::size_t i) const noexcept { return locked_[i].array; }
    /// A GPU's address for the i-th array's first element; null if the array is empty.
    void* device_address(std::size_t i) const noexcept;

    /// Leaves the memory registered until deregister_memory or the runtime's shutdown. The object becomes empty and
    /// keeps nothing alive.
    void until_deregistered();

  private:
    struct Locked {
        HostNDArray array;
        Registration registration;
    };
    std::vector<Locked> locked_;
};

/// Locks the arrays for all GPUs: transfers to and from them need no staging and do not wait.
template <HostArrayLike... A>
    requires(sizeof...(A) > 0)
[[nodiscard]] RegisteredArrays pinned(A&&... arrays) {
    return RegisteredArrays({as_host_array(std::forward<A>(arrays))...});
}

template <HostArrayLike... A>
    requires(sizeof...(A) > 0)
[[nodiscard]] RegisteredArrays register_memory(A&&... arrays) {
    return pinned(std::forward<A>(arrays)...);
}

namespace detail {
void deregister_arrays(std::initializer_list<HostNDArray> arrays);
/// One array, locked as fine-grained memory for `gpu`.
MappedNDArray mapped_view(AgentRef gpu, const HostNDArray& array);
}  // namespace detail

/// Undoes register_memory(…).until_deregistered(). Throws InvalidArgument for an array that was not registered this
/// way, after undoing the others.
template <HostArrayLike... A>
    requires(sizeof...(A) > 0)
void deregister_memory(A&&... arrays) {
    detail::deregister_arrays({as_host_array(std::forward<A>(arrays))...});
}

/// The arrays for use in place by kernels on `gpu` (a Context converts to one). Each stays locked until its last view
/// is destroyed and the last launch that uses it is complete. Views may outlive the scope; borrowed memory must outlive
/// them.
template <HostArrayLike... A>
    requires(sizeof...(A) > 0)
[[nodiscard]] std::array<MappedNDArray, sizeof...(A)> mapped(AgentRef gpu, A&&... arrays) {
    return {detail::mapped_view(gpu, as_host_array(std::forward<A>(arrays)))...};
}
/// For kernels on the current Context's GPU.
template <HostArrayLike... A>
    requires(sizeof...(A) > 0)
[[nodiscard]] std::array<MappedNDArray, sizeof...(A)> mapped(A&&... arrays) {
    return mapped(AgentRef(Context::current()), std::forward<A>(arrays)...);
}

}  // namespace hsadrv
