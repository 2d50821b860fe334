#include "hsadrv/stream/stream_holds.hpp"

#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/signal_callbacks.hpp"

namespace hsadrv::detail {

void destroy_elsewhere(std::vector<std::shared_ptr<const void>> objects) noexcept {
    const auto runtime = Runtime::find();
    if (!runtime) return;
    std::shared_ptr<std::vector<std::shared_ptr<const void>>> given;
    try {
        given = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(objects));
        SignalCallbacks& endings = runtime->endings();
        endings.on_signal(endings.bell(), Condition::less, INT64_MAX, [given] { given->clear(); });  // at once
    } catch (...) {  // no memory, or no thread
        leak(std::move(given));
        leak(std::move(objects));
    }
}

}  // namespace hsadrv::detail
