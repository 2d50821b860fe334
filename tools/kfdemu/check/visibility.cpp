#include "visibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kernel_access.hpp"
#include "shadow_conflicts.hpp"

namespace kfdemu::check {
namespace {

using Kernel = Visibility::Kernel;
using Copy = Visibility::Copy;

using Work = Visibility::Work;
using Fences = Visibility::Fences;

constexpr std::size_t kMostBytes = 256 << 20, kMostEnded = 512;

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

    const char* rule() const { return of_release ? "no-packet-release" : "no-packet-acquire"; }
};

std::optional<Lack> lack(const Work& writer, Visibility::Tick end, const Work& reader, const Visibility::Start& start) {
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
    if ((system ? of_reader.system_acquire : of_reader.agent_acquire) < end)
        return Lack{.of_release = false, .of_system = system};
    return {};
}

std::string sentence(const char* reader, const char* writer, const Lack& lack) {
    return fmt::format("{} {} wrote, and no packet's {} fence has the scope of the {} since: {}", reader, writer,
                       lack.of_release ? "release" : "acquire", lack.of_system ? "system" : "agent",
                       lack.of_release ? "it may not be in memory yet" : "a cache may hold an older value");
}

bool misses_cache(const gfx9::Inst& inst) { return inst.format != gfx9::Format::Smem && inst.has(gfx9::kGlc); }

struct Reporter {
    Report& report;
    const Allocations* allocations;

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
        for (const ShadowConflict& read : reads_of_writes(writer.memory->shadow, reader.memory->shadow)) {
            const gfx9::Inst inst = reader.memory->site(read.second.site);
            if (!lack.of_release && misses_cache(inst)) continue;
            Finding finding = begin(lack, read.va);
            tell_access(finding, reader, read.second);
            finding.what = sentence("memory is read that", "an earlier kernel", lack);
            finding.related.push_back(other_access(writer, read.first, true));
            add(std::move(finding));
        }
    }

    void kernel_reads(const Copy& copy, const Kernel& reader, const Lack& lack) const {
        for (const Box& box : copy.writes)
            for (const BoxConflict& read : conflicts(reader.memory->shadow, box, true)) {
                if (read.access_writes) continue;
                Finding finding = begin(lack, read.va);
                tell_access(finding, reader, read.access);
                finding.what = sentence("memory is read that", "a DMA engine", lack);
                add(std::move(finding));
            }
    }

    void copy_reads(const Kernel& writer, const Copy& copy, const Lack& lack) const {
        for (const Box& box : copy.reads)
            for (const BoxConflict& written : conflicts(writer.memory->shadow, box, false)) {
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

Visibility::Start Visibility::acquired(std::uint32_t gpu, FenceScope scope, Tick safe, Tick now) {
    const std::lock_guard lock{mutex_};
    Fences& fences = fences_[gpu];
    if (scope >= FenceScope::Agent) fences.agent_acquire = now;
    if (scope == FenceScope::System) fences.system_acquire = now;
    forget();
    return {safe, fences_};
}

void Visibility::released(std::uint32_t gpu, FenceScope scope, Tick now) {
    const std::lock_guard lock{mutex_};
    Fences& fences = fences_[gpu];
    if (scope >= FenceScope::Agent) fences.agent_release = now;
    if (scope == FenceScope::System) fences.system_release = now;
    forget();
}

std::vector<Visibility::Ended> Visibility::before(Tick safe) {
    const std::lock_guard lock{mutex_};
    const auto end = std::ranges::find_if(ended_, [&](const Ended& ended) { return ended.end > safe; });
    return {ended_.begin(), end};
}

void Visibility::ended(const Work& work, const Start& start, Tick now, Report& report, const Allocations* allocations) {
    for (const Ended& earlier : before(start.safe))
        if (const auto missing = lack(*earlier.work, earlier.end, work, start))
            Reporter{report, allocations}.compare(*earlier.work, work, *missing);
    const std::lock_guard lock{mutex_};
    ended_.push_back({now, std::make_shared<const Work>(work)});
}

/// With the lock held: what nothing can lack any more, and the oldest of too many.
void Visibility::forget() {
    std::erase_if(ended_, [&](const Ended& ended) {
        const Fences& of = fences_[gpu_of(*ended.work)];
        return is_kernel(*ended.work) ? of.agent_acquire > ended.end && of.system_release >= ended.end
                                      : of.system_acquire > ended.end;
    });
    std::size_t bytes = 0;
    for (const Ended& ended : ended_) bytes += bytes_of(*ended.work);
    while (ended_.size() > kMostEnded || bytes > kMostBytes) {
        bytes -= bytes_of(*ended_.front().work);
        ended_.pop_front();
    }
}

}  // namespace kfdemu::check
