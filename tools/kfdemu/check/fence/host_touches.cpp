#include "tools/kfdemu/check/fence/host_touches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/kfdemu/check/race/kernel_access.hpp"

namespace kfdemu::check {
namespace {

using Kernel = Visibility::Kernel;
using Copy = Visibility::Copy;
using Cell = MemoryShadow::Cell;
using Record = MemoryShadow::Record;
using Touch = HostTouches::Touch;

constexpr std::size_t kMostTouches = 1 << 16, kMostBells = 256;
constexpr std::uint64_t kPageBytes = 4096;

const Cell* cell_at(const Kernel& kernel, std::uint64_t va) {
    const MemoryShadow::Page* page = kernel.memory->shadow.find(va);
    return page != nullptr ? &page->cell(va) : nullptr;
}

/// Whether the kernel may tell the host something in the page.
bool talks_in(const Kernel& kernel, std::uint64_t va) {
    const std::uint64_t begin = va & ~(kPageBytes - 1), end = begin + kPageBytes;
    for (std::uint64_t at = begin; at < end; at += MemoryShadow::Page::kBytes) {
        const MemoryShadow::Page* page = kernel.memory->shadow.find(at);
        if (page == nullptr) continue;
        for (std::uint64_t dword = at; dword < at + MemoryShadow::Page::kBytes; dword += 4)
            if (const Record& write = page->cell(dword).write; write.is_set() && write.alone) return true;
    }
    return false;
}

/// The kernel's access of the byte that conflicts with the host's. Null: none.
const Record* conflict(const Cell& cell, const Touch& touch) {
    const auto has_byte = [&](const Record& record) {
        return record.is_set() && (record.bytes >> touch.va % 4 & 1) != 0;
    };
    if (has_byte(cell.write)) return &cell.write;
    if (!touch.writes) return nullptr;
    const auto read = std::ranges::find_if(cell.read, has_byte);
    return read != std::end(cell.read) ? read : nullptr;
}

Finding finding(const Touch& touch, const char* does, const char* what, const Allocations* allocations) {
    Finding finding;
    finding.check = Check::fence;
    finding.rule = touch.writes ? "host-write" : "host-read";
    finding.what = fmt::format("the host {} memory that {} {}, before it has completed",
                               touch.writes ? "writes" : "reads", what, does);
    finding.address = touch.va;
    finding.place = allocations != nullptr ? allocations->describe(touch.va) : "";
    if (touch.stack != kNoStack) finding.stacks.push_back({touch.writes ? "written" : "read", {}, touch.stack});
    return finding;
}

void report_kernel(const Kernel& kernel, const Touch& touch, Report& report, const Allocations* allocations) {
    const Cell* cell = cell_at(kernel, touch.va);
    const Record* record = cell != nullptr ? conflict(*cell, touch) : nullptr;
    if (record == nullptr) return;
    Finding found = finding(touch, record == &cell->write ? "writes" : "reads", "a kernel", allocations);
    tell_access(found, kernel, *record);
    if (report.is_new(found)) report.add(std::move(found));
}

void report_copy(const Copy& copy, const Touch& touch, Report& report, const Allocations* allocations) {
    const auto has = [&](const std::vector<Box>& boxes) {
        return std::ranges::any_of(boxes, [&](const Box& box) { return box.contains(touch.va); });
    };
    const bool written = has(copy.writes);
    if (!written && !(touch.writes && has(copy.reads))) return;
    Finding found = finding(touch, written ? "writes" : "reads", "a DMA engine", allocations);
    found.identity = touch.stack != kNoStack ? touch.stack : touch.va;
    if (report.is_new(found)) report.add(std::move(found));
}

}  // namespace

void HostTouches::rang(Doorbell doorbell, std::uint64_t value, Tick tick) {
    const std::lock_guard lock{mutex_};
    auto& [bells, noticed] = rings_[doorbell];
    bells.push_back({value, tick, value < noticed});
    if (bells.size() > kMostBells) bells.pop_front();
}

void HostTouches::noticed(Doorbell doorbell, std::uint64_t value) {
    const std::lock_guard lock{mutex_};
    auto& [bells, noticed] = rings_[doorbell];
    noticed = std::max(noticed, value + 1);
    for (Bell& bell : bells) bell.noticed |= bell.value < noticed;
}

std::optional<HostTouches::Tick> HostTouches::rung(Doorbell doorbell, std::uint64_t value, bool exactly) {
    const std::lock_guard lock{mutex_};
    const auto found = rings_.find(doorbell);
    if (found == rings_.end()) return {};
    auto& bells = found->second.bells;
    while (!bells.empty() && bells.front().value < value && bells.front().noticed) bells.pop_front();
    const auto bell = std::ranges::find_if(
        bells, [&](const Bell& each) { return exactly ? each.value == value : each.value >= value; });
    return bell == bells.end() ? std::nullopt : std::optional{bell->tick};
}

void HostTouches::forget(Doorbell doorbell) {
    const std::lock_guard lock{mutex_};
    rings_.erase(doorbell);
}

bool HostTouches::quiet() {
    const std::lock_guard lock{mutex_};
    const bool all_noticed = std::ranges::all_of(rings_, [](const auto& each) {
        return std::ranges::all_of(each.second.bells, [](const Bell& bell) { return bell.noticed; });
    });
    if (!all_noticed || in_flight_.load(std::memory_order_relaxed) != 0) return false;
    touches_.clear();
    return true;
}

void HostTouches::add(const Touch& touch) {
    const std::lock_guard lock{mutex_};
    touches_.push_back(touch);
    if (touches_.size() > kMostTouches) touches_.pop_front();
}

std::vector<Touch> HostTouches::between(Tick since, Tick until) {
    const std::lock_guard lock{mutex_};
    std::vector<Touch> found;
    std::ranges::copy_if(touches_, std::back_inserter(found),
                         [&](const Touch& touch) { return touch.tick > since && touch.tick < until; });
    return found;
}

void HostTouches::compare(const Visibility::Work& work, Tick since, Tick until, Report& report,
                          const Allocations* allocations) {
    const std::vector<Touch> touches = between(since, until);
    const auto* kernel = std::get_if<Kernel>(&work);
    if (kernel == nullptr) {
        for (const Touch& touch : touches) report_copy(std::get<Copy>(work), touch, report, allocations);
        return;
    }
    if (kernel->memory->looks_for_others.load(std::memory_order_relaxed)) return;
    if (std::ranges::any_of(touches, [&](const Touch& touch) { return talks_in(*kernel, touch.va); })) return;
    for (const Touch& touch : touches) report_kernel(*kernel, touch, report, allocations);
}

}  // namespace kfdemu::check
