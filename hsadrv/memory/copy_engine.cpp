#include "hsadrv/memory/copy_engine.hpp"

#include <hsa/hsa_ext_amd.h>

#include "hsadrv/optional_api.hpp"

namespace hsadrv::detail {

hsa_status_t async_copy(CopyEnd to, CopyEnd from, std::size_t size_bytes, std::span<const hsa_signal_t> dependencies,
                        hsa_signal_t done) {
    const OptionalApi& api = optional_api();
    const auto count = static_cast<std::uint32_t>(dependencies.size());
    const hsa_signal_t* const first = dependencies.empty() ? nullptr : dependencies.data();
    const bool from_gpu = from.agent.is_gpu();
    // Within a GPU a kernel copies, and between GPUs the link determines the engine.
    if (api.memory_copy_engine_status && api.memory_async_copy_on_engine && from_gpu != to.agent.is_gpu()) {
        std::uint32_t free = 0;
        if (api.memory_copy_engine_status(to.agent.native(), from.agent.native(), &free) != HSA_STATUS_SUCCESS)
            free = 0;
        const std::uint32_t engine = engine_instead(free, from_gpu);
        if (engine != 0 &&
            api.memory_async_copy_on_engine(to.address, to.agent.native(), from.address, from.agent.native(),
                                            size_bytes, count, first, done, engine, false) == HSA_STATUS_SUCCESS)
            return HSA_STATUS_SUCCESS;
    }
    return hsa_amd_memory_async_copy(to.address, to.agent.native(), from.address, from.agent.native(), size_bytes,
                                     count, first, done);
}

}  // namespace hsadrv::detail
