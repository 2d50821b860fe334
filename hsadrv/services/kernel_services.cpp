#include "hsadrv/services/kernel_services.hpp"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/mem_pool.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/queue/queue_ends.hpp"
#include "hsadrv/services/hostcall_buffer.hpp"
#include "hsadrv/services/kernel_assertion.hpp"
#include "hsadrv/services/kernel_memory.hpp"
#include "hsadrv/services/kernel_messages.hpp"
#include "hsadrv/services/printf_text.hpp"

namespace hsadrv::detail {
namespace {

/// Numbers of the device library, and our own.
enum class Service : std::uint32_t {
    call_function = 1,
    print = 2,
    device_memory = 3,
    fail_assertion = 0x6861,
    next_slab = 0x6862,
};

constexpr std::size_t heap_v1_bytes = std::size_t{128} << 10;
constexpr std::size_t own_heap_bytes = std::size_t{4} << 10;

/// One packet for each wave that the GPU can hold.
std::size_t packets_for(AgentRef gpu) {
    return std::bit_ceil(std::max<std::size_t>(std::size_t{gpu.compute_units()} * gpu.max_waves_per_cu(), 64));
}

}  // namespace

class KernelServices::OneGpu {
  public:
    OneGpu(KernelServices& services, AgentRef gpu) : services_(services), gpu_(gpu), memory_(gpu) {}
    OneGpu(const OneGpu&) = delete;
    OneGpu& operator=(const OneGpu&) = delete;
    // Bare handles: owners would keep the runtime alive, which owns this.
    ~OneGpu() {
        queue_ends_.reset();
        if (buffer_) hsa_amd_memory_pool_free(buffer_);
    }

    /// With the services' mutex held.
    std::uint64_t hostcall() {
        if (buffer_) return reinterpret_cast<std::uint64_t>(buffer_);
        doorbell_ = services_.thread_.bell().native();
        if (!own_heap_) own_heap_ = zeros(own_heap_bytes);
        const std::size_t packets = packets_for(gpu_);
        Allocation room = Allocation::from_pool(host_pool(), hostcall_buffer_bytes(packets));
        buffer_ = &init_hostcall_buffer(room.data(), packets, doorbell_, own_heap_);
        try {
            queue_ends_.emplace([this](const RingRange& ring, bool ended) { take_back(ring, ended); });
        } catch (...) {
            queue_ends_.reset();
            buffer_ = nullptr;
            throw;
        }
        room.release();
        return reinterpret_cast<std::uint64_t>(buffer_);
    }

    std::uint64_t heap() {
        if (!heap_) heap_ = zeros(heap_v1_bytes);
        return reinterpret_cast<std::uint64_t>(heap_);
    }

    /// On the thread.
    void answer_all() noexcept {
        const bool collects = condemned_.exchange(false, std::memory_order_acquire);
        if (collects) collect_condemned(*buffer_);
        answer_ready(*buffer_, [this](std::uint32_t service, std::uint64_t lanes, HostcallPayload& payload) {
            bool known = true;
            for_lanes(lanes, payload, [&](HostcallSlot& slot) { known = try_answer(Service{service}, slot); });
            if (!known) fail_askers(service);
        });
        if (collects) free_collected(*buffer_, ++collections_);
    }
    bool listens() const noexcept { return buffer_ != nullptr; }

  private:
    void* zeros(std::size_t size_bytes) {
        const std::lock_guard lock(memory_mutex_);
        return memory_.allocate_zeros(size_bytes);
    }

    /// What the waves of a queue have when it ends. On any thread.
    void take_back(const RingRange& ring, bool ended) noexcept {
        if (!ended) return suspect_owners(*buffer_, ring);
        if (!condemn_suspects(*buffer_, ring)) return;
        condemned_.store(true, std::memory_order_release);
        hsa_signal_add_screlease(doorbell_, 1);
    }

    void fail_askers(std::uint32_t service) noexcept {
        try {
            fail_asking_streams(gpu_, service);
        } catch (...) {
            report("a kernel asked for an unknown service of the host");
        }
    }

    /// Returns whether it is known. A service that fails answers -1.
    bool try_answer(Service service, HostcallSlot& slot) noexcept {
        try {
            return answer(service, slot);
        } catch (...) {
            slot[0] = ~std::uint64_t{0};
            return true;
        }
    }

    bool answer(Service service, HostcallSlot& slot) {
        switch (service) {
            case Service::call_function:
                call_function(slot);
                return true;
            case Service::print:
                if (const auto message = messages_.add(slot)) slot[0] = print(*message);
                return true;
            case Service::device_memory:
                slot[0] = change_memory(slot[0], slot[1]);
                return true;
            case Service::next_slab:
                slot[0] = slab_after(slot[0], slot[1]);
                return true;
            case Service::fail_assertion:
                if (const auto message = messages_.add(slot)) fail_assertion(*message);
                return true;
        }
        slot[0] = slot[1] = 0;
        return false;
    }

    static void call_function(HostcallSlot& slot) {
        using Function = void (*)(std::uint64_t* results, const std::uint64_t* arguments);
        std::uint64_t results[2] = {};
        reinterpret_cast<Function>(slot[0])(results, slot + 1);
        slot[0] = results[0];
        slot[1] = results[1];
    }

    /// What printf returns.
    std::uint64_t print(const KernelMessage& message) {
        constexpr std::uint64_t to_error = 1;
        if (message.empty() || message.front() > to_error) return ~std::uint64_t{0};
        const std::string text = printf_text(std::span(message).subspan(1));
        services_.print(gpu_, message.front() == to_error ? KernelOutput::error : KernelOutput::standard, text);
        return text.size();
    }

    std::uint64_t change_memory(std::uint64_t address, std::uint64_t size_bytes) {
        const std::lock_guard lock(memory_mutex_);
        if (address == 0) return reinterpret_cast<std::uint64_t>(memory_.allocate(size_bytes));
        if (!memory_.free(reinterpret_cast<const void*>(address)))
            report("a kernel freed " + hex(address) + ", which is no block of its heap");
        return 0;
    }

    std::uint64_t slab_after(std::uint64_t block_class, std::uint64_t used) {
        const std::lock_guard lock(memory_mutex_);
        return reinterpret_cast<std::uint64_t>(memory_.slab_after(block_class, used));
    }

    void fail_assertion(const KernelMessage& message) {
        const std::string unheard = fail_asserting_stream(gpu_, message);
        if (!unheard.empty()) report(unheard);
    }

    void report(const std::string& text) noexcept {
        try {
            services_.print(gpu_, KernelOutput::error, "hsadrv: " + gpu_.label() + ": " + text + "\n");
        } catch (...) {  // the function's own failure
        }
    }

    KernelServices& services_;
    AgentRef gpu_;
    std::mutex memory_mutex_;  // guards memory_
    KernelMemory memory_;
    KernelMessages messages_;   // the thread's
    hsa_signal_t doorbell_{0};  // the thread's bell
    HostcallBuffer* buffer_ = nullptr;
    std::optional<QueueEnds> queue_ends_;
    std::atomic<bool> condemned_{false};  // released after the marks
    std::uint64_t collections_ = 0;       // the thread's
    void* own_heap_ = nullptr;
    void* heap_ = nullptr;
};

KernelServices::KernelServices() : thread_("hsadrv-services", [this] { answer_all(); }) {}

KernelServices::~KernelServices() = default;

// One doorbell for all GPUs, so that the thread waits for one signal. A function that answers may use of().
void KernelServices::answer_all() noexcept {
    std::uint64_t agent = 0;
    for (OneGpu* one = nullptr;; one->answer_all()) {
        const std::lock_guard lock(mutex_);
        auto at = gpus_.upper_bound(agent);
        while (at != gpus_.end() && !at->second->listens()) ++at;
        if (at == gpus_.end()) return;
        agent = at->first;
        one = at->second.get();
    }
}

ServiceAddresses KernelServices::of(AgentRef gpu, const ServiceNeeds& needs) {
    if (!needs.hostcall && !needs.heap) return {};
    faults::refuse_lost(gpu, "the services of a kernel");
    const std::lock_guard lock(mutex_);
    auto& one = gpus_[gpu.native().handle];
    if (!one) one = std::make_unique<OneGpu>(*this, gpu);
    return {.hostcall_buffer = needs.hostcall ? one->hostcall() : 0, .heap = needs.heap ? one->heap() : 0};
}

void KernelServices::set_output(KernelOutputFunction function) {
    auto shared = function ? std::make_shared<const KernelOutputFunction>(std::move(function)) : nullptr;
    const std::lock_guard lock(output_mutex_);
    output_.swap(shared);
}

void KernelServices::print(AgentRef gpu, KernelOutput where, std::string_view text) {
    const std::lock_guard lock(output_mutex_);
    if (const auto function = output_) return (*function)(gpu, where, text);
    std::FILE* const file = where == KernelOutput::error ? stderr : stdout;
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
        throw Error("cannot write what a kernel printed");
}

}  // namespace hsadrv::detail

namespace hsadrv {

void on_kernel_output(KernelOutputFunction function) {
    Driver::current("hsadrv::on_kernel_output").runtime().services().set_output(std::move(function));
}

}  // namespace hsadrv
