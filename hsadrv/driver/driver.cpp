#include "hsadrv/driver.hpp"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/device_file.hpp"
#include "hsadrv/base/gpu_choice.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/memory/registrations.hpp"
#include "hsadrv/optional_api.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/services/kernel_services.hpp"
#include "hsadrv/signal_callbacks.hpp"
#include "hsadrv/signal_pool.hpp"
#include "hsadrv/stream/engine_room.hpp"
#include "hsadrv/stream/live_streams.hpp"
#include "hsadrv/stream/queue_pool.hpp"

namespace hsadrv {

namespace {

std::atomic<int> live_runtimes{0};
std::atomic<bool> forked_child{false};

// The last owner may be a callback, so a runtime may shut down on its callback thread. The process must not exit during
// that: the guard waits for it, and is destroyed before the libraries that this one is linked to.
std::atomic<int> ending_runtimes{0};
struct ExitGuard {
    ~ExitGuard() {
        for (int i = 0; i < 2000 && ending_runtimes.load() > 0 && !in_forked_child(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
} exit_guard;

// Runs in the child of fork(), not of vfork() or posix_spawn(), whose children only exec.
void after_fork_in_child() {
    if (live_runtimes.load(std::memory_order_relaxed) == 0) return;
    forked_child.store(true, std::memory_order_relaxed);
    detail::live_streams::divert_in_child();
}

void watch_for_forks() {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork_in_child); });
}

/// Held while a Runtime is constructed, which may be slow and may fail.
std::mutex& making_mutex() {
    static std::mutex mutex;
    return mutex;
}
/// Held while runtime_slot() is accessed. Separate from making_mutex(), because error messages of a failing
/// construction access the slot, too.
std::mutex& slot_mutex() {
    static std::mutex mutex;
    return mutex;
}

// Never destroyed: owners in static storage may access it at exit.
std::weak_ptr<detail::Runtime>& runtime_slot() {
    static auto* slot = new std::weak_ptr<detail::Runtime>;
    return *slot;
}

template <class T>
T system_info(int attribute, const char* name) {
    T value{};
    check(hsa_system_get_info(static_cast<hsa_system_info_t>(attribute), &value),
          [&] { return std::string("hsa_system_get_info(") + name + ")"; });
    return value;
}

/// For attributes newer than ROCR 5.2: std::nullopt if the runtime does not know the attribute.
template <class T>
std::optional<T> optional_system_info(int attribute) {
    T value{};
    if (hsa_system_get_info(static_cast<hsa_system_info_t>(attribute), &value) != HSA_STATUS_SUCCESS) return {};
    return value;
}

// Attributes of ROCm 6's hsa.h that 5.2's lacks.
constexpr int system_info_mwaitx_enabled = 0x203;
constexpr int system_info_dmabuf_supported = 0x204;
constexpr int system_info_virtual_mem_supported = 0x205;
constexpr int system_info_xnack_enabled = 0x206;
constexpr int system_info_ext_version_major = 0x207;
constexpr int system_info_ext_version_minor = 0x208;

bool runtime_is_up() {
    std::uint16_t version = 0;
    return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version) == HSA_STATUS_SUCCESS;
}

}  // namespace

bool in_forked_child() noexcept { return forked_child.load(std::memory_order_relaxed); }

void refuse_in_forked_child(const char* call) {
    if (!in_forked_child()) return;
    throw ForkedChild(std::string(call) +
                      ": this process was forked after the HSA runtime had been initialised, and the runtime does not "
                      "survive that; call exec, or fork before the first hsadrv::Driver");
}

namespace detail {

Runtime::Runtime() {
    // Initialised by other code of the process, not by a Runtime of ours that is shutting down.
    const bool adopted = runtime_is_up() && live_runtimes.load(std::memory_order_relaxed) == 0;
    if (const hsa_status_t status = hsa_init(); status != HSA_STATUS_SUCCESS)
        throw NoDevice("hsa_init(): " + status_name(status) + "; " + no_device_advice(detail::DeviceFile::probe()),
                       status);
    live_runtimes.fetch_add(1, std::memory_order_relaxed);
    watch_for_forks();
    try {
        enumerate();
        event_handler_ = faults::install(adopted, live_streams::lose);
        signals_ = std::make_unique<SignalPool>();
        engine_room_ = std::make_shared<EngineRoom>();
        callbacks_ = std::make_unique<SignalCallbacks>();
        copies_ = std::make_unique<SignalCallbacks>("hsadrv-copies");
        endings_ = std::make_unique<SignalCallbacks>("hsadrv-endings");
        registrations_ = std::make_unique<Registrations>();
        queues_ = std::make_unique<QueuePool>();
        services_ = std::make_unique<KernelServices>();
    } catch (...) {
        live_runtimes.fetch_sub(1, std::memory_order_relaxed);
        faults::uninstall(event_handler_);
        hsa_shut_down();
        throw;
    }
}

Runtime::~Runtime() {
    if (in_forked_child()) {
        static_cast<void>(services_.release());  // their memory is the parent's
        return;
    }
    call_log::logged(
        call_log::Area::driver, "the end of the last Driver", [] { return std::string(); }, [&] { shut_down(); });
}

void Runtime::shut_down() noexcept {
    ending_runtimes.fetch_add(1);
    services_.reset();
    callbacks_.reset();
    copies_.reset();
    endings_.reset();
    registrations_.reset();
    signals_.reset();
    live_runtimes.fetch_sub(1, std::memory_order_relaxed);
    faults::uninstall(event_handler_);
    hsa_shut_down();
    // Still initialised by other code of the process, and the runtime keeps the address of our event handler.
    if (runtime_is_up()) faults::stay_loaded();
    ending_runtimes.fetch_sub(1);
}

void Runtime::enumerate() {
    facts_.version_major = system_info<std::uint16_t>(HSA_SYSTEM_INFO_VERSION_MAJOR, "VERSION_MAJOR");
    facts_.version_minor = system_info<std::uint16_t>(HSA_SYSTEM_INFO_VERSION_MINOR, "VERSION_MINOR");
    facts_.timestamp_frequency_hz =
        system_info<std::uint64_t>(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, "TIMESTAMP_FREQUENCY");
    facts_.signal_max_wait_ticks = system_info<std::uint64_t>(HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, "SIGNAL_MAX_WAIT");
    facts_.little_endian =
        system_info<hsa_endianness_t>(HSA_SYSTEM_INFO_ENDIANNESS, "ENDIANNESS") == HSA_ENDIANNESS_LITTLE;
    facts_.large_model =
        system_info<hsa_machine_model_t>(HSA_SYSTEM_INFO_MACHINE_MODEL, "MACHINE_MODEL") == HSA_MACHINE_MODEL_LARGE;
    facts_.build_version = runtime_build_version();
    facts_.svm_supported = system_info<bool>(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, "SVM_SUPPORTED");
    facts_.svm_accessible_by_default =
        system_info<bool>(HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, "SVM_ACCESSIBLE_BY_DEFAULT");
    facts_.mwaitx_enabled = optional_system_info<bool>(system_info_mwaitx_enabled);
    facts_.dmabuf_supported = optional_system_info<bool>(system_info_dmabuf_supported);
    facts_.virtual_memory_supported = optional_system_info<bool>(system_info_virtual_mem_supported);
    facts_.xnack_enabled = optional_system_info<bool>(system_info_xnack_enabled);
    facts_.amd_version_major = optional_system_info<std::uint16_t>(system_info_ext_version_major);
    facts_.amd_version_minor = optional_system_info<std::uint16_t>(system_info_ext_version_minor);

    const auto add = [](hsa_agent_t agent, void* list) {
        static_cast<std::vector<AgentRef>*>(list)->emplace_back(agent);
        return HSA_STATUS_SUCCESS;
    };
    check(hsa_iterate_agents(add, &agents_), "hsa_iterate_agents()");
    for (const AgentRef agent : agents_) {
        if (agent.is_gpu() && agent.dispatches_kernels()) gpus_.push_back(agent);
        if (agent.is_cpu()) cpus_.push_back(agent);
    }
}

void Runtime::require_known(const std::string& call, std::span<const AgentRef> agents) const {
    for (const AgentRef agent : agents)
        if (std::find(agents_.begin(), agents_.end(), agent) == agents_.end())
            throw InvalidArgument(call + ": " + agent.label() + " is no agent of this runtime; see Driver::agents()",
                                  HSA_STATUS_ERROR_INVALID_AGENT);
}

std::shared_ptr<Runtime> Runtime::acquire() {
    refuse_in_forked_child("hsadrv::Driver()");
    const std::lock_guard making(making_mutex());
    if (auto running = find()) return running;
    auto fresh = std::make_shared<Runtime>();
    const std::lock_guard lock(slot_mutex());
    runtime_slot() = fresh;
    return fresh;
}

std::shared_ptr<Runtime> Runtime::find() noexcept {
    if (in_forked_child()) return nullptr;
    const std::lock_guard lock(slot_mutex());
    return runtime_slot().lock();
}

}  // namespace detail

Driver::Driver()
    : runtime_(detail::call_log::logged(
          detail::call_log::Area::driver, "Driver::Driver", [] { return std::string(); },
          [] { return detail::Runtime::acquire(); })) {}

const std::vector<AgentRef>& Driver::agents() const noexcept { return runtime_->agents(); }
const std::vector<AgentRef>& Driver::cpus() const noexcept { return runtime_->cpus(); }
const SystemFacts& Driver::system() const noexcept { return runtime_->facts(); }
SignalCallbacks& Driver::callbacks() const noexcept { return runtime_->callbacks(); }

std::uint64_t Driver::timestamp() const { return system_info<std::uint64_t>(HSA_SYSTEM_INFO_TIMESTAMP, "TIMESTAMP"); }

std::optional<std::uint16_t> Driver::extension(hsa_extension_t extension, std::uint16_t version_major) const {
    std::uint16_t minor = 0;
    bool supported = false;
    check(
        hsa_system_major_extension_supported(static_cast<std::uint16_t>(extension), version_major, &minor, &supported),
        [&] {
            return "hsa_system_major_extension_supported(extension " + std::to_string(int(extension)) + ", version " +
                   std::to_string(version_major) + ")";
        });
    return supported ? std::optional(minor) : std::nullopt;
}

const std::vector<AgentRef>& Driver::gpus() const {
    if (runtime_->gpus().empty())
        throw NoDevice("hsadrv::Driver::gpus(): the HSA runtime lists " + std::to_string(agents().size()) +
                       " agents and no GPU that dispatches kernels; " + no_device_advice(detail::DeviceFile::probe()));
    return runtime_->gpus();
}

AgentRef Driver::default_gpu() const {
    const char* const set = ::secure_getenv("HSADRV_DEVICE");
    if (!set || !*set) return gpus().front();
    const std::string variable = "HSADRV_DEVICE=" + std::string(set) + ": ";
    try {
        return gpu(set);
    } catch (const NoDevice& error) {
        throw NoDevice(variable + error.what(), error.status());
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(variable + error.what(), error.status());
    }
}

AgentRef Driver::gpu(std::string_view text) const {
    std::vector<detail::GpuNames> names;
    for (const AgentRef gpu : gpus())
        names.push_back({gpu.name(), gpu.product_name(), gpu.uuid(), gpu.pci_address().text()});
    return gpus()[detail::choose_gpu(text, names, detail::hiding_variables())];
}

Driver Driver::current(const char* call) {
    refuse_in_forked_child(call);
    if (auto running = try_current()) return *std::move(running);
    throw Error(std::string(call) + ": the HSA runtime is not initialised; construct a hsadrv::Driver first",
                HSA_STATUS_ERROR_NOT_INITIALIZED);
}

std::optional<Driver> Driver::try_current() {
    auto running = detail::Runtime::find();
    if (!running) return std::nullopt;
    return Driver(std::move(running));
}

}  // namespace hsadrv
