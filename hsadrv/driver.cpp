#include "hsadrv/driver.hpp"

#include <fcntl.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "hsadrv/error.hpp"
#include "hsadrv/fault.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/registrations.hpp"
#include "hsadrv/runtime.hpp"

namespace hsadrv {

namespace {

std::atomic<int> live_runtimes{0};
std::atomic<bool> forked_child{false};

// Runs in the child of fork(), not of vfork() or posix_spawn(), which only exec.
void after_fork_in_child() {
    if (live_runtimes.load(std::memory_order_relaxed) > 0)
        forked_child.store(true, std::memory_order_relaxed);
}

void watch_for_forks() {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork_in_child); });
}

std::string device_file_state() {
    const int fd = ::open("/dev/kfd", O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        ::close(fd);
        return "/dev/kfd opens";
    }
    const int error = errno;
    std::string text = std::string("/dev/kfd: ") + std::strerror(error);
    if (error == EACCES || error == EPERM) text += " (add this user to the groups render and video)";
    if (error == ENOENT) text += " (is the amdgpu kernel driver loaded?)";
    return text;
}

std::string no_device_advice() {
    std::string text = "tried: " + device_file_state();
    for (const char* name : {"ROCR_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION"})
        if (const char* value = std::getenv(name)) text += ", " + std::string(name) + "=" + value;
    return text +
           ". On a machine without an AMD GPU, run the program on an emulated one: kfdemu run -- PROGRAM";
}

std::mutex& runtime_mutex() {
    static std::mutex mutex;
    return mutex;
}

// Never destroyed: owners in static storage may ask for it at exit.
std::weak_ptr<detail::Runtime>& runtime_slot() {
    static auto* slot = new std::weak_ptr<detail::Runtime>;
    return *slot;
}

template <class T>
T system_info(hsa_system_info_t attribute, const char* name) {
    T value{};
    check(hsa_system_get_info(attribute, &value),
          [&] { return std::string("hsa_system_get_info(") + name + ")"; });
    return value;
}

}  // namespace

bool in_forked_child() noexcept { return forked_child.load(std::memory_order_relaxed); }

void refuse_in_forked_child(const char* call) {
    if (!in_forked_child()) return;
    throw ForkedChild(
        std::string(call) +
        ": this process was forked after the HSA runtime had been initialised, and the runtime does not "
        "survive that; call exec, or fork before the first hsadrv::Driver");
}

namespace detail {

Runtime::Runtime() {
    if (const hsa_status_t status = hsa_init(); status != HSA_STATUS_SUCCESS)
        throw NoDevice("hsa_init(): " + status_name(status) + "; " + no_device_advice(), status);
    live_runtimes.fetch_add(1, std::memory_order_relaxed);
    watch_for_forks();
    try {
        enumerate();
        faults::install();
        signals_ = std::make_unique<SignalPool>();
        callbacks_ = std::make_unique<SignalCallbacks>();
        registrations_ = std::make_unique<Registrations>();
    } catch (...) {
        live_runtimes.fetch_sub(1, std::memory_order_relaxed);
        hsa_shut_down();
        throw;
    }
}

Runtime::~Runtime() {
    if (in_forked_child()) return;
    callbacks_.reset();
    registrations_.reset();
    signals_.reset();
    live_runtimes.fetch_sub(1, std::memory_order_relaxed);
    hsa_shut_down();
}

void Runtime::enumerate() {
    facts_.version_major = system_info<std::uint16_t>(HSA_SYSTEM_INFO_VERSION_MAJOR, "VERSION_MAJOR");
    facts_.version_minor = system_info<std::uint16_t>(HSA_SYSTEM_INFO_VERSION_MINOR, "VERSION_MINOR");
    facts_.timestamp_frequency_hz =
        system_info<std::uint64_t>(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, "TIMESTAMP_FREQUENCY");
    facts_.signal_max_wait_ticks =
        system_info<std::uint64_t>(HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, "SIGNAL_MAX_WAIT");
    facts_.little_endian =
        system_info<hsa_endianness_t>(HSA_SYSTEM_INFO_ENDIANNESS, "ENDIANNESS") == HSA_ENDIANNESS_LITTLE;
    facts_.large_model = system_info<hsa_machine_model_t>(HSA_SYSTEM_INFO_MACHINE_MODEL, "MACHINE_MODEL") ==
                         HSA_MACHINE_MODEL_LARGE;

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
    const std::lock_guard lock(runtime_mutex());
    if (auto running = runtime_slot().lock()) return running;
    auto fresh = std::make_shared<Runtime>();
    runtime_slot() = fresh;
    return fresh;
}

std::shared_ptr<Runtime> Runtime::find() noexcept {
    if (in_forked_child()) return nullptr;
    const std::lock_guard lock(runtime_mutex());
    return runtime_slot().lock();
}

namespace {
struct KernelNames {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::string> names;
};
KernelNames& kernel_names() {
    static auto* names = new KernelNames;
    return *names;
}
}  // namespace

void note_kernel(std::uint64_t kernel_object, std::string name) {
    KernelNames& known = kernel_names();
    const std::lock_guard lock(known.mutex);
    known.names.insert_or_assign(kernel_object, std::move(name));
}

void forget_kernel(std::uint64_t kernel_object) noexcept {
    KernelNames& known = kernel_names();
    const std::lock_guard lock(known.mutex);
    known.names.erase(kernel_object);
}

std::string kernel_label(std::uint64_t kernel_object) {
    KernelNames& known = kernel_names();
    const std::lock_guard lock(known.mutex);
    if (const auto found = known.names.find(kernel_object); found != known.names.end())
        return "kernel " + found->second;
    char text[48];
    std::snprintf(text, sizeof text, "kernel object 0x%llx", static_cast<unsigned long long>(kernel_object));
    return text;
}

}  // namespace detail

Driver::Driver() : runtime_(detail::Runtime::acquire()) {}

const std::vector<AgentRef>& Driver::agents() const noexcept { return runtime_->agents(); }
const std::vector<AgentRef>& Driver::cpus() const noexcept { return runtime_->cpus(); }
const SystemFacts& Driver::system() const noexcept { return runtime_->facts(); }
SignalCallbacks& Driver::callbacks() const noexcept { return runtime_->callbacks(); }

const std::vector<AgentRef>& Driver::gpus() const {
    if (runtime_->gpus().empty())
        throw NoDevice("hsadrv::Driver::gpus(): the HSA runtime lists " + std::to_string(agents().size()) +
                       " agents and no GPU that dispatches kernels; " + no_device_advice());
    return runtime_->gpus();
}

Driver Driver::current() {
    refuse_in_forked_child("hsadrv::Driver::current()");
    auto running = detail::Runtime::find();
    if (!running)
        throw Error(
            "hsadrv::Driver::current(): the HSA runtime is not initialised; construct a hsadrv::Driver first",
            HSA_STATUS_ERROR_NOT_INITIALIZED);
    return Driver(std::move(running));
}

}  // namespace hsadrv
