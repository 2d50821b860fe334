#include "tools/kfdemu/kfd/device.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/base/host_folder.hpp"
#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/count/kernel_counts.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/jit/code_memory.hpp"
#include "tools/kfdemu/kfd/runtime_models.hpp"
#include "tools/kfdemu/resources/private_vram.hpp"

namespace kfdemu {
namespace {

struct Decision {
    Options options;
    Topology topology;
    bool on = false;
};

/// Whether the kernel has a KFD that can be opened. A direct system call, to bypass the interposed open().
bool real_device_opens() {
    const long fd = syscall(SYS_openat, AT_FDCWD, "/dev/kfd", O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    syscall(SYS_close, fd);
    return true;
}

/// Files are those that the process means now, also after chdir().
void make_paths_absolute(Options& options) {
    std::error_code error;
    const auto absolute = [&](const std::string& path) { return std::filesystem::absolute(path, error).string(); };
    if (!options.check_report.empty()) options.check_report = absolute(options.check_report);
    if (!options.counters.empty()) options.counters = absolute(options.counters);
    for (std::string& path : options.suppressions) path = absolute(path);
}

void (*decided)(const Options&) = nullptr;
std::atomic<bool> is_decided{false};

Decision decide() {
    Decision decision;
    if (getauxval(AT_SECURE)) return decision;  // privileges must not depend on the caller's environment
    auto parsed = parse_options(options_of_environment());
    if (const auto* error = std::get_if<std::string>(&parsed)) {
        write_log(LogLevel::error, fmt::format("KFDEMU: {}; no device is emulated", *error));
        return decision;
    }
    decision.options = std::get<Options>(parsed);
    make_paths_absolute(decision.options);
    log_level = decision.options.log;
    decision.on =
        decision.options.mode == Mode::on || (decision.options.mode == Mode::automatic && !real_device_opens());
    if (!decision.on) return decision;
    if (const std::string problem = isa::no_level_message(); !problem.empty()) {
        write_log(LogLevel::error, fmt::format("{}; no device is emulated", problem));
        decision.on = false;
        return decision;
    }
    decision.topology = make_topology(decision.options);
    make_room(decision.topology,
              {host_names("/sys/class/drm"), host_names("/sys/class/hwmon"), host_names("/sys/bus/pci/devices")});
    decision.topology.used = [](unsigned gpu) {
        Device* device = Device::existing();
        return device ? device->memory().used(gpu) : MemoryUse{};
    };
    decision.topology.busy = [](unsigned gpu) {
        Device* device = Device::existing();
        return device && device->scheduler().busy(gpu);
    };
    for (const Failure& failure : decision.options.failures) injection().fail(failure);
    for (const Defect& defect : decision.options.defects) injection().defect(defect);
    order_seed.store(decision.options.seed, std::memory_order_relaxed);
    if (decision.options.behaviours.has(Behaviour::seeded_garbage))
        garbage.store(new Garbage{decision.options.seed}, std::memory_order_release);
    if (decision.options.checks.any()) check::process_checks().enabled.store(decision.options.checks.bits());
    if (!decision.options.counters.empty()) count::count_kernels();
    behaviours.store(decision.options.behaviours, std::memory_order_relaxed);
    if (decided) decided(decision.options);
    return decision;
}

const Decision& decision() {
    static const Decision* made = new Decision{decide()};  // outlives every exit handler
    is_decided = true;
    return *made;
}

std::mutex instance_mutex;
std::atomic<Device*> instance{nullptr};          // release when created, acquire when used
std::atomic<Device*> parents_instance{nullptr};  // after fork(): inherited descriptors may refer to it

void before_fork() {
    instance_mutex.lock();
    injection().before_fork();
    check::before_fork();
    host_fault::before_fork();
    jit::CodeMemory::process().before_fork();
}

void after_fork() {
    jit::CodeMemory::process().after_fork();
    host_fault::after_fork();
    injection().after_fork();
    instance_mutex.unlock();
}

void in_parent() {
    check::in_parent();
    after_fork();
}

void in_child() {
    if (Device* parents = instance.exchange(nullptr, std::memory_order_relaxed)) parents_instance.store(parents);
    check::in_child();
    count::in_child();
    after_fork();
}

template <class T>
std::vector<T*> pointers(const std::vector<std::unique_ptr<T>>& owners) {
    std::vector<T*> result;
    for (const auto& owner : owners) result.push_back(owner.get());
    return result;
}

std::vector<std::unique_ptr<AddressSpace>> make_spaces(std::size_t count) {
    std::vector<std::unique_ptr<AddressSpace>> spaces;
    for (std::size_t i = 0; i < count; ++i) spaces.push_back(std::make_unique<AddressSpace>());
    return spaces;
}

std::vector<std::unique_ptr<Gem>> make_gem(Memory& memory, const std::vector<std::unique_ptr<AddressSpace>>& spaces) {
    std::vector<std::unique_ptr<Gem>> gem;
    for (unsigned gpu = 0; gpu < spaces.size(); ++gpu) gem.push_back(std::make_unique<Gem>(gpu, memory, *spaces[gpu]));
    return gem;
}

/// ROCR reserves address space for the scratch of each GPU through the thunk, and asserts if it is too small
/// (GpuAgent::InitScratchPool). kBesides is an estimate for the rest of the process.
void say_if_addresses_are_few(std::size_t gpus) {
    constexpr std::uint64_t kScratch = std::uint64_t{4} << 30, kBesides = std::uint64_t{512} << 20;
    rlimit limit{};
    const std::uint64_t needed = gpus * kScratch + kBesides;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= needed) return;
    const auto gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1u << 30); };
    log(LogLevel::error,
        "this process's address space is limited to {:.1f} GiB, but the HSA runtime needs {:.1f} GiB for {} GPU{}: "
        "remove the limit "
        "with ulimit -v unlimited",
        gib(limit.rlim_cur), gib(needed), gpus, gpus == 1 ? "" : "s");
}

}  // namespace

const Topology* Device::topology() { return decision().on ? &decision().topology : nullptr; }

void Device::on_decision(void (*call)(const Options&)) {
    decided = call;
    // Another library's constructor may have used a device file first.
    if (is_decided && decision().on) call(decision().options);
}

const Options& Device::options() { return decision().options; }

Device* Device::existing() { return instance.load(std::memory_order_acquire); }

bool Device::inherited(const struct stat& status) {
    const Device* parents = parents_instance.load(std::memory_order_relaxed);
    return parents && (parents->is_kfd(status) || parents->gpu_of(status));
}

bool Device::ever_made() { return existing() || parents_instance.load(std::memory_order_relaxed); }

Device* Device::get() {
    if (Device* device = existing()) return device;
    if (!topology()) return nullptr;
    std::lock_guard lock{instance_mutex};
    if (Device* device = existing()) return device;
    say_if_addresses_are_few(topology()->gpus.size());
    std::unique_ptr<Device> device{new Device{*topology(), decision().options}};
    if (!device->valid()) return nullptr;
    say_if_runtime_is_older(*topology()->gpus.front().model);
    // A child has neither the device's threads nor the parent's queues. It creates a new device and leaks the old one.
    static const int registered = pthread_atfork(before_fork, in_parent, in_child);
    (void)registered;
    if (decision().options.private_vram() && log_level >= LogLevel::error) PrivateVram::watch(device->memory());
    instance.store(device.get(), std::memory_order_release);
    return device.release();
}

Device::Device(const Topology& topology, const Options& options)
    : topology_{topology},
      kfd_file_{"kfdemu-kfd"},
      render_files_{make_render_files(topology)},
      spaces_{make_spaces(topology.gpus.size())},
      memory_{topology, pointers(render_files_), kfd_file_, pointers(spaces_)},
      gem_{make_gem(memory_, spaces_)},
      svm_{topology, pointers(spaces_), events_.smi()},
      scheduler_{topology,
                 memory_,
                 events_,
                 pointers(spaces_),
                 options.workers,
                 options.seed,
                 options.jit ? jit::When::hot : jit::When::never},
      kfd_{topology, memory_, svm_, events_, scheduler_} {}

std::vector<std::unique_ptr<DeviceFile>> Device::make_render_files(const Topology& topology) {
    std::vector<std::unique_ptr<DeviceFile>> files;
    for (const Gpu& gpu : topology.gpus)
        files.push_back(std::make_unique<DeviceFile>(fmt::format("kfdemu-renderD{}", gpu.render_minor).c_str()));
    return files;
}

bool Device::valid() const {
    for (const auto& file : render_files_)
        if (!file->valid()) return false;
    return kfd_file_.valid();
}

const Gpu* Device::gpu_of(const struct stat& status) const {
    for (std::size_t i = 0; i < render_files_.size(); ++i)
        if (render_files_[i]->is(status)) return &topology_.gpus[i];
    return nullptr;
}

}  // namespace kfdemu
