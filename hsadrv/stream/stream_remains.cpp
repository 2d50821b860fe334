#include "hsadrv/stream/stream_remains.hpp"

#include "hsadrv/base/leak.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/signal_callbacks.hpp"

namespace hsadrv::detail {

StreamRemains::~StreamRemains() {
    timeline_->forget_upstreams();
    handle_->close();
}

void StreamRemains::stay_for(const std::shared_ptr<StreamRemains>& remains, Completion copy) noexcept {
    const auto runtime = Runtime::find();
    if (!runtime || copy.copy->ref().load() < 1) return;
    try {
        runtime->copies().on_signal(copy.copy->ref(), Condition::less, 1,
                                    [remains, signal = copy.copy]() mutable { let_go(std::move(remains)); });
    } catch (...) {  // no memory for it
        leak(remains);
        leak(std::move(copy));
    }
}

void StreamRemains::let_go(std::shared_ptr<StreamRemains> remains) noexcept {
    const auto runtime = Runtime::find();
    if (!runtime) return;
    const SignalRef any = remains->timeline_->signal();
    std::shared_ptr<std::shared_ptr<StreamRemains>> given;
    try {
        given = std::make_shared<std::shared_ptr<StreamRemains>>(std::move(remains));
        runtime->endings().on_signal(any, Condition::less, INT64_MAX, [given] { given->reset(); });  // at once
    } catch (...) {  // no memory, or no thread
        leak(std::move(given));
        leak(std::move(remains));
    }
}

}  // namespace hsadrv::detail
