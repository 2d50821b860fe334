#include "devicearray/host_arrays.hpp"

#include <memory>
#include <span>

#include "devicearray/array_device.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/memory.hpp"

namespace hsadrv {
namespace {

HostNDArray with_memory(Allocation memory, const ArrayForm& form) {
    void* const first = form.first_element(memory.data());
    return HostNDArray(std::make_shared<const Allocation>(std::move(memory)), first, form.dtype, form.layout);
}

HostNDArray pool_array(HostMemory kind, const ArrayForm& form, std::source_location where) {
    return with_memory(
        detail::given_back([&] { return Allocation::from_pool(host_pool(kind), form.memory_bytes(), where); }), form);
}

void require_gpu(AgentRef agent) {
    if (!agent || !agent.is_gpu()) {
        throw InvalidArgument("mapped_array: " + agent.label() + " is not a GPU; for the CPU use host_array");
    }
}

/// Rounded up to whole blocks of the runtime: access granted to a part of a block applies to all of it.
std::size_t whole_blocks(std::size_t bytes, const MemPool& pool) {
    const std::size_t block = pool.alloc_recommended_granule_bytes();
    const std::size_t rest = bytes % block;
    return rest == 0 ? bytes : bytes + (block - rest);
}

}  // namespace

HostNDArray pinned_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement,
                         std::source_location where) {
    return pool_array(HostMemory::fine_grained, form_of(shape, dtype, arrangement), where);
}

HostNDArray coarsegrain_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement,
                              std::source_location where) {
    return pool_array(HostMemory::coarse_grained, form_of(shape, dtype, arrangement), where);
}

HostNDArray finegrain_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement,
                            std::source_location where) {
    return pool_array(HostMemory::fine_grained, form_of(shape, dtype, arrangement), where);
}

MappedNDArray mapped_array(const Dims& shape, const DType& dtype, const Arrangement& arrangement,
                           const MappedOptions& options, AgentRef gpu, std::source_location where) {
    require_gpu(gpu);
    const ArrayForm form = form_of(shape, dtype, arrangement);
    const MemPool pool = host_pool(options.wc ? HostMemory::coarse_grained : HostMemory::fine_grained);
    Allocation memory =
        detail::given_back([&] { return Allocation::from_pool(pool, whole_blocks(form.memory_bytes(), pool), where); });
    if (memory && !options.portable) set_access(memory.data(), std::span(&gpu, 1));
    void* const first = form.first_element(memory.data());  // the GPU uses the same address
    return MappedNDArray(with_memory(std::move(memory), form), first, gpu);
}

}  // namespace hsadrv
