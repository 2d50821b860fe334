#include "hsadrv/dma_copy.hpp"

#include <hsa/hsa_ext_amd.h>

#include <string>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/optional_api.hpp"

namespace hsadrv {
namespace {

// ROCR's HSA_MAX_DEP_SIGNALS. ROCR 7.x writes more into an array of five on its stack (BlitSdma::SubmitCommand).
constexpr std::size_t most_dependencies = 5;

std::string text_of(const char* call, const DmaEnd& to, const DmaEnd& from, std::size_t size_bytes,
                    const std::optional<unsigned>& engine) {
    return std::string(call) + "(to " + detail::hex(to.address) + " of " + to.agent.label() + ", from " +
           detail::hex(from.address) + " of " + from.agent.label() + ", " + std::to_string(size_bytes) + " B" +
           (engine ? ", engine " + std::to_string(*engine) : "") + ")";
}

}  // namespace

void dma_copy(DmaEnd to, DmaEnd from, std::size_t size_bytes, SignalRef done, std::span<const hsa_signal_t> after,
              std::optional<unsigned> engine) {
    const auto text = [&] { return text_of("copy", to, from, size_bytes, engine); };
    detail::call_log::logged(detail::call_log::Area::memory, "hsadrv::dma_copy", text, [&] {
        refuse_in_forked_child("hsadrv::dma_copy");
        if (after.size() > most_dependencies)
            throw InvalidArgument(text_of("hsadrv::dma_copy", to, from, size_bytes, engine) + ": " +
                                      std::to_string(after.size()) +
                                      " signals to wait for, and the runtime takes at most 5; join them with a barrier "
                                      "packet",
                                  HSA_STATUS_ERROR_INVALID_ARGUMENT);
        const auto count = static_cast<std::uint32_t>(after.size());
        const hsa_signal_t* const first = after.empty() ? nullptr : after.data();
        if (!engine) {
            check(hsa_amd_memory_async_copy(to.address, to.agent.native(), from.address, from.agent.native(),
                                            size_bytes, count, first, done.native()),
                  [&] { return text_of("hsa_amd_memory_async_copy", to, from, size_bytes, engine); });
            return;
        }
        static constexpr const char* call = "hsa_amd_memory_async_copy_on_engine";
        if (*engine >= 32)
            throw InvalidArgument(text_of(call, to, from, size_bytes, engine) + ": engines are numbered from 0 to 31",
                                  HSA_STATUS_ERROR_INVALID_ARGUMENT);
        auto* const copy = optional_api().memory_async_copy_on_engine.required();
        check(copy(to.address, to.agent.native(), from.address, from.agent.native(), size_bytes, count, first,
                   done.native(), std::uint32_t{1} << *engine, true),
              [&] { return text_of(call, to, from, size_bytes, engine); });
    });
}

std::uint32_t free_dma_engines(AgentRef to, AgentRef from) {
    auto* const status = optional_api().memory_copy_engine_status.required();
    if (to == from) return 0;
    std::uint32_t engines = 0;
    const hsa_status_t said = status(to.native(), from.native(), &engines);
    // ROCR's status if all engines are busy.
    if (said == HSA_STATUS_ERROR_OUT_OF_RESOURCES) return 0;
    check(said, [&] { return "hsa_amd_memory_copy_engine_status(" + to.label() + ", " + from.label() + ")"; });
    return engines;
}

}  // namespace hsadrv
