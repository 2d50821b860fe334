#include "tools/kfdemu/check/race/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "tools/kfdemu/check/race/kernel_access.hpp"
#include "tools/kfdemu/check/race/shadow_conflicts.hpp"

namespace kfdemu::check {
namespace {

using Kernel = Operations::Kernel;
using Copy = Operations::Copy;
using Record = MemoryShadow::Record;

constexpr const char* kKernels = "kernel-race";
constexpr const char* kCopies = "copy-race";
constexpr const char* kTwoCopies = "copies-race";

struct Reporter {
    Report& report;
    const Allocations* allocations;

    /// A finding at the access of a kernel, without its sentence. Empty: it is not new.
    std::optional<Finding> begin(const char* rule, const Kernel& kernel, const Record& record, std::uint64_t va) const {
        if (!report.is_new(Check::race, rule, kernel.memory->site(record.site))) return {};
        Finding finding;
        finding.check = Check::race;
        finding.rule = rule;
        tell_access(finding, kernel, record);
        finding.address = va;
        finding.place = allocations != nullptr ? allocations->describe(va) : "";
        return finding;
    }

    void kernels(const Kernel& earlier, const Kernel& later) const {
        for (const ShadowConflict& conflict : conflicts(earlier.memory->shadow, later.memory->shadow)) {
            auto finding = begin(kKernels, later, conflict.second, conflict.va);
            if (!finding) continue;
            finding->what =
                fmt::format("memory is {} that another kernel {}, and nothing orders the two kernels",
                            conflict.second_writes ? "written" : "read", conflict.first_writes ? "writes" : "reads");
            finding->related.push_back(other_access(earlier, conflict.first, conflict.first_writes));
            report.add(*std::move(finding));
        }
    }

    void copy(const Kernel& kernel, const Copy& copy) const {
        for (const bool writes : {true, false})
            for (const Box& box : writes ? copy.writes : copy.reads)
                for (const BoxConflict& conflict : conflicts(kernel.memory->shadow, box, writes)) {
                    auto finding = begin(kCopies, kernel, conflict.access, conflict.va);
                    if (!finding) continue;
                    finding->what = fmt::format(
                        "memory is {} that a DMA engine {}, and nothing orders the kernel and the copy of {:#x} to "
                        "{:#x}",
                        conflict.access_writes ? "written" : "read", writes ? "writes" : "reads", box.address,
                        box.end());
                    report.add(*std::move(finding));
                }
    }

    struct Side {
        const Copy& copy;
        const std::vector<Box>& boxes;
        const char* does;
    };
    void boxes(const Side& earlier, const Side& later) const {
        for (const Box& before : earlier.boxes)
            for (const Box& after : later.boxes) {
                const auto va = common_byte(before, after);
                if (!va) continue;
                Finding finding;
                finding.check = Check::race;
                finding.rule = kTwoCopies;
                finding.what = fmt::format(
                    "a DMA engine of GPU {} {} {:#x} to {:#x}, where one of GPU {} {} {:#x} to {:#x}, and nothing "
                    "orders "
                    "the two copies",
                    later.copy.gpu, later.does, after.address, after.end(), earlier.copy.gpu, earlier.does,
                    before.address, before.end());
                finding.address = finding.identity = *va;
                finding.place = allocations != nullptr ? allocations->describe(*va) : "";
                if (report.is_new(finding)) report.add(std::move(finding));
                return;
            }
    }
    void copies(const Copy& earlier, const Copy& later) const {
        if (earlier.queue == later.queue) return;
        constexpr const char *kWrites = "writes", *kReads = "reads";
        boxes({earlier, earlier.writes, kWrites}, {later, later.writes, kWrites});
        boxes({earlier, earlier.writes, kWrites}, {later, later.reads, kReads});
        boxes({earlier, earlier.reads, kReads}, {later, later.writes, kWrites});
    }

    void compare(const Operations::Operation& earlier, const Operations::Operation& later) const {
        const auto* first = std::get_if<Kernel>(&earlier.what);
        const auto* second = std::get_if<Kernel>(&later.what);
        if (first != nullptr && second != nullptr) return kernels(*first, *second);
        if (first != nullptr) return copy(*first, std::get<Copy>(later.what));
        if (second != nullptr) return copy(*second, std::get<Copy>(earlier.what));
        copies(std::get<Copy>(earlier.what), std::get<Copy>(later.what));
    }
};

}  // namespace

Operations::Tick Operations::published(const void* queue) {
    const std::lock_guard lock{mutex_};
    const Tick tick = now();
    waiting_.try_emplace(queue, tick);
    return tick;
}

void Operations::waits_since(const void* queue, Tick since) {
    std::vector<Handle> old;  // freed without the lock: they may have much memory
    const std::lock_guard lock{mutex_};
    if (since == 0)
        waiting_.erase(queue);
    else
        waiting_[queue] = since;
    old = forget_old();
}

Operations::Handle Operations::begin(Tick safe, std::variant<Kernel, Copy> what) {
    auto operation = std::make_shared<Operation>(Operation{safe, 0, std::move(what)});
    const std::lock_guard lock{mutex_};
    running_.push_back(operation);
    return operation;
}

void Operations::end(const Handle& operation, Report& report, const Allocations* allocations) {
    std::vector<Handle> others, old;
    {
        const std::lock_guard lock{mutex_};
        operation->end = now();
        last_end_.store(operation->end, std::memory_order_relaxed);
        std::ranges::copy_if(ended_, std::back_inserter(others),
                             [&](const Handle& other) { return other->end > operation->safe; });
        std::erase(running_, operation);
        ended_.push_back(operation);
        old = forget_old();
    }
    for (const Handle& other : others) Reporter{report, allocations}.compare(*other, *operation);
}

void Operations::drop(const Handle& operation) {
    std::vector<Handle> old;
    const std::lock_guard lock{mutex_};
    std::erase(running_, operation);
    old = forget_old();
}

/// With the lock held. The caller frees what it returns without.
std::vector<Operations::Handle> Operations::forget_old() {
    constexpr std::size_t kMost = 512;
    Tick oldest = std::numeric_limits<Tick>::max();
    for (const auto& [queue, since] : waiting_) oldest = std::min(oldest, since);
    for (const Handle& operation : running_) oldest = std::min(oldest, operation->safe);
    // In the order of their ends.
    auto first = std::ranges::find_if(ended_, [&](const Handle& operation) { return operation->end > oldest; });
    if (ended_.end() - first > static_cast<std::ptrdiff_t>(kMost)) first = ended_.end() - kMost;
    std::vector<Handle> old(std::make_move_iterator(ended_.begin()), std::make_move_iterator(first));
    ended_.erase(ended_.begin(), first);
    return old;
}

}  // namespace kfdemu::check
