#include "tools/kfdemu/count/kernel_counts.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <system_error>
#include <thread>

#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu::count {

using Object = std::shared_ptr<const check::LoadedObject>;

namespace {

timespec now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME_COARSE, &time);
    return time;
}

std::atomic<KernelCounts*> made{nullptr};  // release when created; never destroyed: device threads outlive statics

}  // namespace

class KernelCounts::Kernel {
  public:
    explicit Kernel(const Launched& launched)
        : kernel_object{launched.kernel_object},
          entry{launched.entry},
          target{launched.target},
          lanes{launched.lanes} {}

    const std::uint64_t kernel_object, entry;
    const isa::Target target;
    const unsigned lanes;
    std::uint64_t dispatches = 0, groups = 0, waves = 0;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Counted> instructions;  // by pc and code
};

/// The code objects of kernels.
struct KernelCounts::Objects {
    /// For how long a dispatch is held up.
    static constexpr std::chrono::seconds kPatience{1};

    std::mutex mutex;
    std::condition_variable changed;
    std::map<const Kernel*, Object> found;  // null: searched, and not found
    std::vector<Object> all;
    bool stuck = false;  ///< a dispatch has waited in vain

    /// Takes the dynamic linker's lock.
    void find(const Kernel* kernel, std::uint64_t pc) {
        std::optional<check::LoadedObject> loaded = check::loaded_object(pc);
        const std::lock_guard lock{mutex};
        stuck = false;
        Object& object = found[kernel];
        changed.notify_all();
        if (!loaded) return;
        // Kernels of one code object share its copy.
        const auto same = std::ranges::find_if(
            all, [&](const Object& known) { return known->bias == loaded->bias && known->bytes == loaded->bytes; });
        object = same != all.end() ? *same
                                   : all.emplace_back(std::make_shared<const check::LoadedObject>(std::move(*loaded)));
    }
};

KernelCounts::KernelCounts() : began{now()}, objects_{std::make_shared<Objects>()} {}
KernelCounts::~KernelCounts() = default;

KernelCounts::Kernel& KernelCounts::begin(const Launched& launched) {
    const std::string_view code{reinterpret_cast<const char*>(launched.code.data()), launched.code.size()};
    Kernel* kernel = nullptr;
    {
        const std::lock_guard lock{mutex_};
        Kernel*& known = by_code_[{launched.kernel_object, std::hash<std::string_view>{}(code)}];
        if (known != nullptr) {
            known->dispatches += 1;
            return *known;
        }
        kernel = known = kernels_.emplace_back(std::make_unique<Kernel>(launched)).get();
        kernel->dispatches = 1;
    }
    find_object(*kernel);
    return *kernel;
}

Lines KernelCounts::lines_of(const Kernel& kernel) {
    return {isa::traits_of(kernel.target).vector_line_bytes, kernel.lanes};
}

void KernelCounts::find_object(Kernel& kernel) {
    // The program's handlers must not run on the emulator's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread{[objects = objects_, &kernel, pc = kernel.entry] { objects->find(&kernel, pc); }}.detach();
    } catch (const std::system_error&) {  // no further thread is allowed: it has no names
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::unique_lock lock{objects_->mutex};
    if (objects_->stuck) return;
    objects_->stuck =
        !objects_->changed.wait_for(lock, Objects::kPatience, [&] { return objects_->found.contains(&kernel); });
}

void KernelCounts::add(Kernel& kernel, std::uint64_t groups, std::uint64_t waves, std::span<const Counted> counted) {
    const std::lock_guard lock{mutex_};
    kernel.groups += groups, kernel.waves += waves;
    for (const Counted& each : counted) {
        if (each.sums.executions == 0) continue;
        const auto [at, is_new] = kernel.instructions.try_emplace({each.inst.pc, each.inst.code()}, each);
        if (!is_new) at->second.sums += each.sums;
    }
}

std::vector<KernelTotal> KernelCounts::totals() const {
    std::vector<KernelTotal> result;
    const std::scoped_lock lock{mutex_, objects_->mutex};
    for (const auto& kernel : kernels_) {
        KernelTotal& total = result.emplace_back(KernelTotal{kernel->kernel_object,
                                                             kernel->entry,
                                                             kernel->target,
                                                             kernel->lanes,
                                                             kernel->dispatches,
                                                             kernel->groups,
                                                             kernel->waves,
                                                             {},
                                                             {}});
        for (const auto& [where, counted] : kernel->instructions) total.instructions.push_back(counted);
        if (const auto found = objects_->found.find(kernel.get()); found != objects_->found.end())
            total.object = found->second;
    }
    return result;
}

KernelCounts* process_counts() { return made.load(std::memory_order_acquire); }

void count_kernels() {
    if (process_counts() == nullptr) made.store(new KernelCounts, std::memory_order_release);
}

void in_child() {
    // The parent's locks may be held by threads that the child does not have.
    if (process_counts() != nullptr) made.store(new KernelCounts, std::memory_order_release);
}

}  // namespace kfdemu::count
