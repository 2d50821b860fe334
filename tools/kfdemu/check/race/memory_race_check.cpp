#include "tools/kfdemu/check/race/memory_race_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "tools/kfdemu/check/race/stored_value.hpp"

namespace kfdemu::check {

using namespace isa;
using Kind = MemoryShadow::Kind;

namespace {

void set(MemoryShadow::Record& record, Kind kind) { record.kind = static_cast<std::uint16_t>(kind) & 3; }

/// The later access becomes the record; bytes of one instruction are joined.
void replace(MemoryShadow::Record& old, const MemoryShadow::Record& with) {
    const bool same = old.group == with.group && old.wave == with.wave && old.number == with.number;
    const unsigned bytes = same ? old.bytes | with.bytes : with.bytes;
    old = with;
    old.bytes = bytes & 15;
}

/// Once.
void tell_of_limit(const Scene& scene) {
    static std::atomic<bool> told{false};  // relaxed: a flag alone
    if (told.exchange(true, std::memory_order_relaxed)) return;
    scene.session.report->note(
        "race and fence: what they keep about memory has reached a quarter of this machine's memory: further memory of "
        "kernels that access so much is not checked");
}

}  // namespace

void MemoryRaceCheck::begin(const Scene& scene) {
    races_ = scene.memory_races;
    if (races_serial_ != races_->serial) {
        forget_sites();
        pages_.fill({});
    }
    races_serial_ = races_->serial;
    group_ = races_->add_group(scene.group);
    races_wanted_ = scene.session.checks.has(Check::race);
    fences_wanted_ = scene.session.checks.has(Check::fence);
    last_store_ = &races_->last_store(group_);
    acquired_ = vector_cache_ = scalar_cache_ = shared_cache_ = 0;
    written_back_.fill(0);
    acquires_ = false;
}

void MemoryRaceCheck::fences(unsigned wave, const Inst& inst) {
    const CacheModel& caches = races_->caches;
    if (caches.writes_back(inst)) written_back_[wave] = races_->next_tick();
    const bool vector = caches.empties(inst), shared = caches.empties_shared(inst);
    if (!vector && !shared && !caches.empties_scalar(inst)) return;
    (vector ? vector_cache_ : shared ? shared_cache_ : scalar_cache_) = races_->next_tick();
    races_->invalidated.store(true, std::memory_order_relaxed);
}

void MemoryRaceCheck::meet() {
    races_->release(group_, {});
    acquires_ = true;
}

void MemoryRaceCheck::waited(unsigned wave) { races_->wait(group_, wave); }
void MemoryRaceCheck::written_back(unsigned wave) { races_->wrote_back(group_, written_back_[wave]); }

void MemoryRaceCheck::release(const Now& now) {
    if (now.context.waited) return races_->release(group_, {});
    races_->release(group_, {.waited = races_->last_wait(group_, now.record.wave, now.record.tick)});
}

void MemoryRaceCheck::access(const RaceContext& context, const Wave& wave, const Inst& inst, const Access& access) {
    if (acquires_) acquired_ = races_->next_tick();
    acquires_ = false;
    const std::uint16_t site = context.sites.number(wave, inst);
    const GroupOrder::Stamp stamp = context.order.now(wave.index_in_group);
    Now now{context, wave, access, {}, inst};
    now.record.group = group_;
    now.record.number = stamp.number;
    now.record.tick = races_->tick();
    now.record.site = shared_site(site, inst);
    now.record.wave = wave.index_in_group & 31;
    now.record.alone = std::has_single_bit(access.lanes) ? 1 : 0;
    const bool is_atomic = access.reads && access.writes;
    now.looks = is_atomic ||
                (access.reads && (races_->caches.looks_for_others(inst) || context.sites[site].idiom == Idiom::Waits));
    if (now.looks) {
        set(now.record, Kind::Atomic);
        races_->looks_for_others.store(true, std::memory_order_relaxed);
    } else if (access.reads && races_->caches.looks_in_group(inst)) {
        set(now.record, Kind::Group);
    }
    if (access.writes && !access.reads) {
        if (context.waited) set(now.record, Kind::Waited);
        last_store_->store(now.record.tick, std::memory_order_relaxed);
        now.record.kept = races_->caches.keeps(inst) ? 1 : 0;
    }

    conflicts_.clear();
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1)
        one_lane(now, static_cast<unsigned>(std::countr_zero(rest)));
    if (now.locked != nullptr) now.locked->unlock();

    if (!conflicts_.empty()) report(now, conflicts_.front());
    if (is_atomic) release(now);
    if (now.looks) acquires_ = true;
}

void MemoryRaceCheck::one_lane(Now& now, unsigned lane) {
    std::uint64_t va = now.access.at[lane];
    const std::uint64_t end = va + now.access.bytes;
    now.record.lane = lane & 63;
    const bool stores = now.access.writes && !now.access.reads;
    if (stores) now.stored = stored_value(now.wave, now.inst, 0, lane, now.access.bytes);
    while (va < end) {
        const std::uint64_t next = std::min(end, (va | 3) + 1);
        if (!lock(now, va)) return tell_of_limit(now.context.scene);
        const auto count = static_cast<unsigned>(next - va);
        if (stores && now.stored) {
            const std::uint64_t offset = va - now.access.at[lane];
            now.value = 0;
            std::memcpy(reinterpret_cast<std::byte*>(&now.value) + va % 4,
                        reinterpret_cast<const std::byte*>(now.stored->data()) + offset, count);
        }
        dword(now, va, ((1u << count) - 1) << va % 4, now.locked->cell(va));
        va = next;
    }
}

/// Keeps the page locked from lane to lane. False: it is not watched.
bool MemoryRaceCheck::lock(Now& now, std::uint64_t va) {
    if (now.locked != nullptr && va / Page::kBytes == now.locked_va / Page::kBytes) return true;
    if (now.locked != nullptr) now.locked->unlock();
    now.locked = page(va);
    now.locked_va = va;
    if (now.locked != nullptr) now.locked->lock();
    return now.locked != nullptr;
}

void MemoryRaceCheck::dword(Now& now, std::uint64_t va, unsigned bytes, Cell& cell) {
    now.record.bytes = bytes & 15;
    if (now.access.reads && now.access.writes) return atomic(now, cell);
    now.access.writes ? store(now, va, cell) : load(now, va, cell);
}

bool MemoryRaceCheck::ordered(const Now& now, const Record& earlier) const {
    if (earlier.group == 0) return true;
    if (earlier.group == group_) return now.context.order.follows(now.record.wave, earlier.wave, earlier.number);
    return acquired_ > earlier.tick && races_->released_since(earlier.group, earlier.tick);
}

/// What a load lacks to see the write.
MemoryRaceCheck::Missing MemoryRaceCheck::missing(const Now& now, const Record& write) const {
    if (!ordered(now, write)) return Missing::Order;
    if (!fences_wanted_ || write.group == group_ || write.group == 0) return Missing::Nothing;
    const std::uint32_t published = races_->published_after(write);
    if (published == 0) return Missing::Release;
    if (races_->caches.misses(now.inst)) return Missing::Nothing;  // nontemporal before gfx940
    return published < emptied(now.access.scalar) ? Missing::Nothing : Missing::Acquire;
}

std::uint32_t MemoryRaceCheck::emptied(bool scalar) const {
    const std::uint32_t own = scalar ? scalar_cache_ : vector_cache_;
    return races_->caches.two_levels ? std::min(own, shared_cache_) : own;
}

/// The write is a flag: its work-group releases what came before.
void MemoryRaceCheck::seen_by(const Now& now, const Record& write) {
    if (write.group == 0 || !write.overlaps(now.record)) return;
    if (write.group == group_) {
        if (write.wave != now.record.wave) now.context.order.follow_all(now.record.wave);
        return;
    }
    if (write.is(Kind::Atomic)) return;  // it released when it was done
    MemoryRaces::Release how{.when = write.tick};
    if (write.is(Kind::Plain)) how.waited = races_->last_wait(write.group, write.wave, write.tick);
    races_->release(write.group, how);
}

void MemoryRaceCheck::load(Now& now, std::uint64_t va, Cell& cell) {
    const Record& write = cell.write;
    if (now.looks || (now.record.is(Kind::Group) && write.group == group_))
        seen_by(now, write);
    else if (write.is_plain() && write.overlaps(now.record))
        if (const Missing what = missing(now, write); what != Missing::Nothing)
            conflicts_.push_back({write, va, now.record.lane, true, what});
    const auto same_wave = [&](const Record& r) { return r.group == group_ && r.wave == now.record.wave; };
    const bool first = same_wave(cell.read[0]) || cell.read[0].group == 0 ||
                       (cell.read[0].group == group_ && ordered(now, cell.read[0]));
    replace(cell.read[first ? 0 : 1], now.record);
}

void MemoryRaceCheck::store(Now& now, std::uint64_t va, Cell& cell) {
    Record record = now.record;
    const Record& write = cell.write;
    // A waiter that was recorded earlier may see this store without another record.
    if (write.is(Kind::Atomic)) release(now);
    if (!write.is(Kind::Atomic) && write.overlaps(record) && !ordered(now, write)) {
        if (stores_the_same(now, cell))
            set(record, Kind::Agreed);
        else
            conflicts_.push_back({write, va, record.lane, true});
    }
    for (const Record& read : cell.read) {
        if (read.group == 0 || !read.overlaps(record)) continue;
        if (read.is(Kind::Atomic)) {
            if (read.group != group_) release(now);
        } else if (read.is(Kind::Group) && read.group == group_) {
            continue;
        } else if (!record.is(Kind::Agreed) && !ordered(now, read)) {
            conflicts_.push_back({read, va, record.lane, false});
        }
    }
    cell.value = (cell.value & ~MemoryShadow::bits_of(record.bytes)) | now.value;
    replace(cell.write, record);
}

void MemoryRaceCheck::atomic(Now& now, Cell& cell) {
    if (!cell.write.is(Kind::Atomic)) seen_by(now, cell.write);
    replace(cell.write, now.record);
}

bool MemoryRaceCheck::stores_the_same(const Now& now, const Cell& cell) {
    return now.stored && ((now.value ^ cell.value) & MemoryShadow::bits_of(now.record.bytes & cell.write.bytes)) == 0;
}

MemoryRaceCheck::Page* MemoryRaceCheck::page(std::uint64_t va) {
    auto& [number, found] = pages_[va / Page::kBytes % pages_.size()];
    if (found == nullptr || number != va / Page::kBytes) {
        number = va / Page::kBytes;
        found = races_->shadow.page(va);
    }
    return found;
}

std::uint16_t MemoryRaceCheck::shared_site(std::uint16_t own, const Inst& inst) {
    if (shared_sites_.size() <= own) shared_sites_.resize(own + 64u);
    if (shared_sites_[own] == 0) shared_sites_[own] = races_->add_site(inst) + 1u;
    return static_cast<std::uint16_t>(shared_sites_[own] - 1);
}

void MemoryRaceCheck::report(const Now& now, const Conflict& conflict) const {
    if (conflict.missing != Missing::Order) return report_fence(now, conflict);
    if (races_wanted_) report_race(now, conflict);
}

void MemoryRaceCheck::report_race(const Now& now, const Conflict& conflict) const {
    constexpr const char* kRule = "memory-race";
    const Scene& scene = now.context.scene;
    if (!scene.session.report->is_new(Check::race, kRule, now.inst)) return;
    Finding finding = scene.finding(Check::race, kRule, now.wave, now.inst);
    finding.what = fmt::format(
        "memory is {} that another {} {}, and nothing orders them", now.access.writes ? "written" : "read",
        conflict.earlier.group == group_ ? "wave" : "work-group", conflict.earlier_wrote ? "writes" : "reads");
    add(now, conflict, std::move(finding));
}

void MemoryRaceCheck::report_fence(const Now& now, const Conflict& conflict) const {
    const bool acquire = conflict.missing == Missing::Acquire;
    const char* rule = acquire ? "no-acquire" : "no-release";
    const Scene& scene = now.context.scene;
    if (!scene.session.report->is_new(Check::fence, rule, now.inst)) return;
    Finding finding = scene.finding(Check::fence, rule, now.wave, now.inst);
    finding.what = acquire
                       ? fmt::format(
                             "memory is read that another work-group wrote, and the cache may hold an older value: {} "
                             "is missing after the synchronisation (acquire for the agent)",
                             now.access.scalar ? races_->caches.acquire_scalar() : races_->caches.acquire())
                       : fmt::format(
                             "memory is read that another work-group wrote, and the store may not have happened: {} "
                             "is missing before its synchronisation (release for the agent)",
                             races_->caches.release());
    add(now, conflict, std::move(finding));
}

void MemoryRaceCheck::add(const Now& now, const Conflict& conflict, Finding&& finding) const {
    const Scene& scene = now.context.scene;
    const Record& other = conflict.earlier;
    finding.lane = now.access.scalar ? kWholeWave : conflict.lane;
    finding.address = conflict.va;
    finding.place = scene.session.allocations != nullptr ? scene.session.allocations->describe(conflict.va) : "";
    finding.related.push_back(
        {races_->told(other, conflict.earlier_wrote) + " at", scene.site(races_->site(other.site))});
    scene.session.report->add(std::move(finding));
}

}  // namespace kfdemu::check
