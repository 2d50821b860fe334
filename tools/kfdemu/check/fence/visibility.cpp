#include "tools/kfdemu/check/fence/visibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "tools/kfdemu/check/race/kernel_access.hpp"
#include "tools/kfdemu/check/race/shadow_conflicts.hpp"

namespace kfdemu::check {
namespace {

using Kernel = Visibility::Kernel;
using Copy = Visibility::Copy;

using Work = Visibility::Work;
using Fences = Visibility::Fences;

constexpr std::size_t kMostBytes = 256 << 20, kMostEnded = 512;
constexpr std::uint64_t kLineBytes = 128;  // of an L2 cache; gfx900's have 64

std::uint32_t gpu_of(const Work& work) {
    return std::visit([](const auto& it) -> std::uint32_t { return it.gpu; }, work);
}
bool is_kernel(const Work& work) { return std::holds_alternative<Kernel>(work); }

std::size_t bytes_of(const Work& work) {
    const auto* kernel = std::get_if<Kernel>(&work);
    return kernel != nullptr ? kernel->memory->shadow.bytes() : 0;
}

/// The fence that is missing between a write and a read.
struct Lack {
    bool of_release = false;
    bool of_system = false;
    std::vector<Visibility::Ended> holders{};  ///< an acquire of the system: kernels whose lines the cache may hold

    const char* rule() const { return of_release ? "no-packet-release" : "no-packet-acquire"; }
};

using Ended = Visibility::Ended;

/// What has run on the GPU since its L2 cache was invalidated, and began before the write ended.
std::vector<Ended> holders(std::span<const Ended> all, std::uint32_t gpu, Visibility::Tick invalidated,
                           Visibility::Tick write_end) {
    std::vector<Ended> result;
    std::ranges::copy_if(all, std::back_inserter(result), [&](const Ended& each) {
        return is_kernel(*each.work) && gpu_of(*each.work) == gpu && each.end > invalidated && each.begin < write_end;
    });
    return result;
}

std::optional<Lack> lack(const Ended& written, const Work& reader, const Visibility::Start& start,
                         std::span<const Ended> all) {
    const Work& writer = *written.work;
    const Visibility::Tick end = written.end;
    const bool system = !is_kernel(writer) || !is_kernel(reader) || gpu_of(writer) != gpu_of(reader);
    const auto fences_of = [&](const Work& work) {
        const auto found = start.fences.find(gpu_of(work));
        return found == start.fences.end() ? Fences{} : found->second;
    };
    const Fences of_writer = fences_of(writer), of_reader = fences_of(reader);
    if (is_kernel(writer) && (system ? of_writer.system_release : of_writer.agent_release) < end)
        return Lack{.of_release = true, .of_system = system};
    const auto* kernel = std::get_if<Kernel>(&reader);
    if (kernel == nullptr || kernel->memory->invalidated.load(std::memory_order_relaxed)) return {};
    if (!system) return of_reader.agent_acquire < end ? std::optional{Lack{}} : std::nullopt;
    if (of_reader.system_acquire >= end) return {};
    Lack missing{.of_system = true, .holders = holders(all, gpu_of(reader), of_reader.system_acquire, end)};
    return missing.holders.empty() ? std::nullopt : std::optional{std::move(missing)};
}

std::string sentence(const char* reader, const char* writer, const Lack& lack) {
    return fmt::format("{} {} wrote, and no packet's {} fence has the scope of the {} since: {}", reader, writer,
                       lack.of_release ? "release" : "acquire", lack.of_system ? "system" : "agent",
                       lack.of_release ? "it may not be in memory yet" : "a cache may hold an older value");
}

bool accesses_line(const Ended& kernel, std::uint64_t va) {
    return std::get<Kernel>(*kernel.work).memory->shadow.is_accessed(va / kLineBytes * kLineBytes, kLineBytes);
}

bool writes(const Work& work, std::uint64_t va) {
    if (const auto* kernel = std::get_if<Kernel>(&work)) return kernel->memory->shadow.is_written(va);
    return std::ranges::any_of(std::get<Copy>(work).writes, [&](const Box& box) { return box.contains(va); });
}

struct Reporter {
    Report& report;
    const Allocations* allocations;
    std::span<const Ended> later;  ///< than the writer, before the reader

    bool is_overwritten(std::uint64_t va) const {
        return std::ranges::any_of(later, [&](const auto& each) { return writes(*each.work, va); });
    }
    /// The dword may be read as it was before the write.
    auto may_be_stale(const Lack& lack) const {
        return [this, &lack](std::uint64_t va) {
            return !is_overwritten(va) &&
                   (lack.holders.empty() ||
                    std::ranges::any_of(lack.holders, [va](const Ended& each) { return accesses_line(each, va); }));
        };
    }

    Finding begin(const Lack& lack, std::uint64_t va) const {
        Finding finding;
        finding.check = Check::fence;
        finding.rule = lack.rule();
        finding.address = va;
        finding.place = allocations != nullptr ? allocations->describe(va) : "";
        return finding;
    }

    void add(Finding&& finding) const {
        if (report.is_new(finding)) report.add(std::move(finding));
    }

    void kernels(const Kernel& writer, const Kernel& reader, const Lack& lack) const {
        for (const ShadowConflict& read :
             reads_of_writes(writer.memory->shadow, reader.memory->shadow, may_be_stale(lack))) {
            const isa::Inst inst = reader.memory->site(read.second.site);
            if (!lack.of_release && reader.memory->caches.misses(inst)) continue;
            Finding finding = begin(lack, read.va);
            tell_access(finding, reader, read.second);
            finding.what = sentence("memory is read that", "an earlier kernel", lack);
            finding.related.push_back(other_access(writer, read.first, true));
            add(std::move(finding));
        }
    }

    void kernel_reads(const Copy& copy, const Kernel& reader, const Lack& lack) const {
        for (const Box& box : copy.writes)
            for (const BoxConflict& read : conflicts(reader.memory->shadow, box, true, may_be_stale(lack))) {
                if (read.access_writes) continue;
                Finding finding = begin(lack, read.va);
                tell_access(finding, reader, read.access);
                finding.what = sentence("memory is read that", "a DMA engine", lack);
                add(std::move(finding));
            }
    }

    void copy_reads(const Kernel& writer, const Copy& copy, const Lack& lack) const {
        for (const Box& box : copy.reads)
            for (const BoxConflict& written : conflicts(writer.memory->shadow, box, false, may_be_stale(lack))) {
                Finding finding = begin(lack, written.va);
                tell_access(finding, writer, written.access);
                finding.what = sentence("a DMA engine reads what", "a kernel", lack);
                add(std::move(finding));
            }
    }

    void compare(const Work& writer, const Work& reader, const Lack& lack) const {
        const auto *wrote = std::get_if<Kernel>(&writer), *reads = std::get_if<Kernel>(&reader);
        if (wrote != nullptr && reads != nullptr) return kernels(*wrote, *reads, lack);
        if (wrote != nullptr) return copy_reads(*wrote, std::get<Copy>(reader), lack);
        if (reads != nullptr) kernel_reads(std::get<Copy>(writer), *reads, lack);
    }
};

}  // namespace

namespace {

/// Packets of several queues end at once, and tell of it in any order.
void raise(Visibility::Tick& tick, Visibility::Tick now) { tick = std::max(tick, now); }

}  // namespace

Visibility::Start Visibility::acquired(std::uint32_t gpu, FenceScope scope, Tick safe, Tick now) {
    const std::lock_guard lock{mutex_};
    Fences& fences = fences_[gpu];
    if (scope >= FenceScope::Agent) raise(fences.agent_acquire, now);
    if (scope == FenceScope::System) raise(fences.system_acquire, now);
    forget();
    return {safe, now, fences_};
}

void Visibility::released(std::uint32_t gpu, FenceScope scope, Tick now) {
    const std::lock_guard lock{mutex_};
    Fences& fences = fences_[gpu];
    if (scope >= FenceScope::Agent) raise(fences.agent_release, now);
    if (scope == FenceScope::System) raise(fences.system_release, now);
    forget();
}

std::vector<Visibility::Ended> Visibility::all() {
    const std::lock_guard lock{mutex_};
    return {ended_.begin(), ended_.end()};
}

void Visibility::ended(const Work& work, const Start& start, Tick now, Report& report, const Allocations* allocations) {
    const std::vector<Ended> all = this->all();
    const auto ordered = static_cast<std::size_t>(
        std::ranges::find_if(all, [&](const Ended& each) { return each.end > start.safe; }) - all.begin());
    for (std::size_t n = 0; n < ordered; ++n)
        if (const auto missing = lack(all[n], work, start, all))
            Reporter{report, allocations, std::span{all}.first(ordered).subspan(n + 1)}.compare(*all[n].work, work,
                                                                                                *missing);
    const std::lock_guard lock{mutex_};
    ended_.push_back({start.begin, now, std::make_shared<const Work>(work)});
}

bool Visibility::reaches_all(const Ended& ended) const {
    const std::uint32_t writer = gpu_of(*ended.work);
    return std::ranges::all_of(fences_, [&](const auto& each) {
        const auto& [gpu, fences] = each;
        // Of its own GPU, too: until then, lines of it may be in the cache.
        const bool unreleased = is_kernel(*ended.work) && gpu == writer && fences.system_release < ended.end;
        return fences.system_acquire > ended.end && !unreleased;
    });
}

/// With the lock held: what nothing can lack any more, and the oldest of too many. Later ones stay with an earlier one:
/// what they have overwritten is not the earlier one's.
void Visibility::forget() {
    std::size_t bytes = 0;
    for (const Ended& ended : ended_) bytes += bytes_of(*ended.work);
    while (!ended_.empty() && (ended_.size() > kMostEnded || bytes > kMostBytes || reaches_all(ended_.front()))) {
        bytes -= bytes_of(*ended_.front().work);
        ended_.pop_front();
    }
}

}  // namespace kfdemu::check
