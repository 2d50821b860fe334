#include "hsadrv/services/kernel_assertion.hpp"

#include <hsa/hsa.h>

#include <exception>

#include "hsadrv/error.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "hsadrv/services/printf_text.hpp"
#include "hsadrv/stream/live_streams.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {
namespace {

/// Whether the packet is one of that queue's ring.
bool holds_packet(const QueueRef& queue, std::uint64_t packet) noexcept {
    const auto ring = reinterpret_cast<std::uint64_t>(queue.native()->base_address);
    return packet >= ring && packet < ring + std::uint64_t{queue.size()} * sizeof(hsa_kernel_dispatch_packet_t);
}

/// Streams that wait for one that has just failed fail with it. Before the kernel is answered: it goes on then, and its
/// completion would pass for that of work that was not lost.
void fail_dependents() {
    live_streams::visit([](StreamCore& stream) { static_cast<void>(stream.timeline()->try_lost()); });
}

std::string triple(MessageReader& message) {
    const std::uint64_t x = message.word(), y = message.word(), z = message.word();
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

}  // namespace

std::string fail_asserting_stream(AgentRef gpu, std::span<const std::uint64_t> words) {
    MessageReader message(words);
    const std::uint64_t packet = message.word(), kernel = message.word();
    const std::string group = triple(message), item = triple(message);
    const auto line = static_cast<std::uint32_t>(message.word());
    const std::string file(message.text()), condition(message.text());
    const std::string text = file + ":" + std::to_string(line) + ": assertion failed: " + condition + "; in " +
                             kernel_label(kernel) + ", work-group " + group + ", work-item " + item;
    bool found = false;
    live_streams::visit([&](StreamCore& stream) {
        if (found || stream.agent() != gpu) return;
        const std::shared_ptr<SharedQueue>& queue = stream.shared_queue();
        if (!holds_packet(queue->ref(), packet) || !queue->is_head(&stream)) return;
        found = true;
        stream.fail(std::make_exception_ptr(KernelAssertion(stream.label() + ": " + text, file, line)));
    });
    if (found) fail_dependents();
    return found ? std::string() : gpu.label() + ": " + text;
}

void fail_asking_streams(AgentRef gpu, std::uint32_t service) {
    live_streams::visit([&](StreamCore& stream) {
        if (stream.agent() != gpu || !stream.shared_queue()->is_head(&stream)) return;
        stream.fail(
            std::make_exception_ptr(Error(stream.label() + ": a kernel that was running on " + gpu.label() +
                                          " asked for service " + std::to_string(service) +
                                          " of the host, which hsadrv does not provide; docs/guide/services.md lists "
                                          "those that it does")));
    });
    fail_dependents();
}

}  // namespace hsadrv::detail
