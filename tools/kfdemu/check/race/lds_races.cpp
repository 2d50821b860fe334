#include "tools/kfdemu/check/race/lds_races.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "tools/kfdemu/check/race/stored_value.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace kfdemu::check {

using namespace isa;
using Is = GroupOrder::Is;

void LdsRaces::begin(std::uint32_t lds_bytes) {
    size_ = lds_bytes;
    const std::size_t words = (lds_bytes + 3) / 4;
    if (words_.size() < words) words_.resize(words);
    for (const auto& [word, cells] : bytes_) words_[word].split = false;
    bytes_.clear();
}

LdsRaces::Kind LdsRaces::kind_of_load(Idiom idiom) {
    if (idiom == Idiom::Plain) return Kind::Plain;
    if (idiom == Idiom::Prepares) return Kind::Prepares;
    return idiom == Idiom::Compares ? Kind::Compares : Kind::Polls;
}

void LdsRaces::access(const RaceContext& context, const Wave& wave, const Inst& inst, const Access& access,
                      unsigned part) {
    const unsigned index = wave.index_in_group;
    Now now{context, wave, inst, access, context.order.happened_before(index), {}, 0, part};
    const GroupOrder::Stamp stamp = context.order.now(index);
    now.mark.epoch = stamp.epoch, now.mark.number = stamp.number, now.mark.wave = stamp.wave & 31;
    now.mark.site = context.sites.number(wave, inst);
    if (access.writes) now.knowledge = context.order.knowledge(index);
    Idiom& idiom = context.sites[now.mark.site].idiom;
    const std::uint64_t first = access.at[static_cast<unsigned>(std::countr_zero(access.lanes))];
    if (idiom == Idiom::MayWait && !context.order.confirm(index, inst.pc, first))
        idiom = idiom_if_it_does_not_wait(wave, inst);
    if (rows()[inst.row].is(kAtomic))
        now.mark.set(idiom == Idiom::Plain ? Kind::Atomic : Kind::Polls);
    else if (access.reads)
        now.mark.set(kind_of_load(idiom));
    if (!access.writes && access.bytes == 4 && now.mark.kind() != Kind::Polls) return load_words(now);
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        now.mark.lane = lane & 63;
        one_lane(now, access.at[lane]);
    }
}

/// Nearly all loads: of whole words, each once.
void LdsRaces::load_words(Now& now) {
    // Copies, which stores to cells do not change.
    Mark mark = now.mark;
    const GroupOrder::Happened happened = now.happened;
    const auto certainly_after = [&](const Mark& earlier) { return earlier.number <= happened[earlier.wave]; };
    Cell* const words = words_.data();
    const std::uint64_t* const addresses = now.access.at.data();
    const std::uint32_t size = size_;
    const unsigned apart = now.context.order.epochs_apart();
    std::uint64_t last = ~std::uint64_t{0};
    for (std::uint64_t rest = now.access.lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t at = addresses[lane];
        if (at == last) continue;
        last = at;
        mark.lane = lane & 63;
        if (at % 4 != 0 || at + 4 > size) {
            now.mark = mark;
            one_lane(now, at);
            continue;
        }
        Cell& cell = words[at / 4];
        Mark& slot = slot_for(mark, cell, apart);
        if (slot.number == mark.number && slot.wave == mark.wave && slot.epoch == mark.epoch) continue;
        if (!cell.split && certainly_after(cell.write) && certainly_after(cell.atomic)) {
            slot = mark;
        } else {
            now.mark = mark;
            word(now, static_cast<std::uint32_t>(at / 4));
        }
    }
}

void LdsRaces::one_lane(Now& now, std::uint64_t at) {
    const std::uint64_t end = at + now.access.bytes;
    if (end > size_) return;
    auto here = static_cast<std::uint32_t>(at);
    while (here < end) {
        if (here % 4 == 0 && end - here >= 4) {
            word(now, here / 4);
            here += 4;
        } else {
            byte(now, here++);
        }
    }
}

void LdsRaces::word(Now& now, std::uint32_t word) {
    if (!words_[word].split) return touch(now, words_[word], word * 4);
    for (unsigned n = 0; n < 4; ++n) touch(now, bytes_[word][n], word * 4 + n);
}

void LdsRaces::byte(Now& now, std::uint32_t byte) {
    const std::uint32_t word = byte / 4;
    if (!words_[word].split) {
        bytes_[word].fill(words_[word]);
        words_[word].split = true;
    }
    touch(now, bytes_[word][byte % 4], byte);
}

void LdsRaces::touch(Now& now, Cell& cell, std::uint32_t offset) {
    now.offset = offset;
    if (now.access.reads && now.access.writes) return atomic(now, cell);
    now.access.writes ? store(now, cell) : load(now, cell);
}

bool LdsRaces::races(const Now& now, const Mark& earlier, Is& how) const {
    if (now.certainly_after(earlier)) return false;
    how = now.context.order.between(earlier.at(), now.mark.wave, GroupOrder::Waits::Needed);
    return how != Is::Ordered;
}

bool LdsRaces::surely_waits(const Now& now) { return now.context.sites[now.mark.site].idiom == Idiom::Waits; }

/// The load follows the write that it may have seen.
void LdsRaces::poll(Now& now, const Mark& write, std::uint32_t knowledge) {
    GroupOrder& order = now.context.order;
    if (surely_waits(now))
        order.follow(now.mark.wave, write.at(), knowledge);
    else
        order.assume(now.mark.wave, now.inst.pc, now.access.at[now.mark.lane], write.at(), knowledge);
}

/// Likewise, the atomics.
void LdsRaces::poll_atomics(Now& now) {
    const std::size_t word = now.offset / 4;
    if (word >= channels_.size()) return;
    GroupOrder& order = now.context.order;
    if (surely_waits(now))
        order.observe(now.mark.wave, channels_[word]);
    else
        order.assume(now.mark.wave, now.inst.pc, now.access.at[now.mark.lane], channels_[word]);
}

/// Whether a load of that kind comes before an atomic like those on the cell since the last barrier, or since the one
/// before, as what is not waited for reaches across one.
bool LdsRaces::prepares_for(const Now& now, const Cell& cell, Kind load) {
    const bool swapped = cell.swapped + 1 >= now.mark.epoch;
    return load == Kind::Prepares || (load == Kind::Compares && swapped);
}

void LdsRaces::load(Now& now, Cell& cell) {
    Is how{};
    const Kind kind = now.mark.kind();
    const bool stored = races(now, cell.write, how) && (cell.same >> now.mark.wave & 1) == 0;
    if (stored && kind == Kind::Polls)
        poll(now, cell.write, cell.knowledge);
    else if (stored && !(cell.write.kind() == Kind::Releases && prepares_for(now, cell, kind)))
        report(now, cell.write, how, true);
    else if (kind != Kind::Polls && !prepares_for(now, cell, kind) && races(now, cell.atomic, how))
        report(now, cell.atomic, how, true);
    if (kind == Kind::Polls) poll_atomics(now);
    slot_for(now.mark, cell, now.context.order.epochs_apart()) = now.mark;
}

void LdsRaces::store(Now& now, Cell& cell) {
    Is how{};
    std::uint32_t same = 0;
    Mark mark = now.mark;
    if (releases(now)) mark.set(Kind::Releases);
    const bool stored = races(now, cell.write, how);
    if (stored && rewrites(now))
        same = cell.same;
    else if (stored)
        report(now, cell.write, how, true);
    else if (mark.kind() == Kind::Plain && cell.atomic.kind() == Kind::Atomic && races(now, cell.atomic, how))
        report(now, cell.atomic, how, true);
    after_reads(now, cell, same);
    cell.write = mark;
    cell.knowledge = now.knowledge;
    cell.same = same | 1u << mark.wave;
}

void LdsRaces::atomic(Now& now, Cell& cell) {
    Is how{};
    if (now.context.sites[now.mark.site].swaps) cell.swapped = now.mark.epoch;
    if (races(now, cell.write, how)) {
        if (cell.write.kind() == Kind::Releases || now.mark.kind() == Kind::Polls)
            now.context.order.follow(now.mark.wave, cell.write.at(), cell.knowledge);
        else
            report(now, cell.write, how, true);
    }
    after_reads(now, cell, 0);
    now.context.order.exchange(now.mark.wave, channel(now.offset));
    cell.atomic = now.mark;
    cell.same = 0;
}

/// `except`: waves that may have read the value that is written.
void LdsRaces::after_reads(Now& now, const Cell& cell, std::uint32_t except) {
    Is how{};
    for (const Mark& read : cell.read) {
        if (!races(now, read, how) || read.kind() == Kind::Polls || (except >> read.wave & 1) != 0) continue;
        const bool prepared = now.access.reads && prepares_for(now, cell, read.kind());
        if (!prepared) return report(now, read, how, false);
    }
}

/// Whether the wave did an atomic here since the last barrier.
bool LdsRaces::releases(const Now& now) const {
    // Atomics of earlier work-groups, which may have had less LDS, made them.
    const std::size_t word = now.offset / 4;
    return word < channels_.size() && now.context.order.used(now.mark.wave, channels_[word]);
}

GroupOrder::Channel& LdsRaces::channel(std::uint32_t offset) {
    if (channels_.size() < words_.size()) channels_.resize(words_.size());
    return channels_[offset / 4];
}

/// Whether the store leaves the lane's bytes as they are.
bool LdsRaces::rewrites(const Now& now) const {
    const auto value = stored_value(now.wave, now.inst, now.part, now.mark.lane, now.access.bytes);
    return value && std::memcmp(value->data(), now.wave.lds + now.access.at[now.mark.lane], now.access.bytes) == 0;
}

void LdsRaces::report(const Now& now, const Mark& earlier, Is how, bool earlier_wrote) {
    const Scene& scene = now.context.scene;
    const char* rule = how == Is::NoBarrier ? "lds-race" : "lds-race-before-wait";
    if (!scene.session.report->is_new(Check::race, rule, now.inst)) return;
    Finding finding = scene.finding(Check::race, rule, now.wave, now.inst);
    const char* verb = now.access.writes ? now.access.reads ? "updated" : "written" : "read";
    const bool split = isa::traits_of(scene.target).split_barriers;
    const char* no_barrier = split ? "no barrier is between" : "no s_barrier is between";
    const char* no_wait = split ? "the other does not wait (s_wait_dscnt) before it signals the barrier between"
                                : "the other does not wait (lgkmcnt) before the s_barrier between";
    finding.what = fmt::format("LDS is {} that another wave {}, and {}", verb, earlier_wrote ? "writes" : "reads",
                               how == Is::NoBarrier ? no_barrier : no_wait);
    finding.lane = now.mark.lane;
    finding.address = now.offset;
    finding.place = fmt::format("offset {} of {} bytes of LDS", now.offset, scene.lds_bytes);
    finding.related.push_back(
        {fmt::format("{} by lane {} of wave {} at", earlier_wrote ? "written" : "read", +earlier.lane, +earlier.wave),
         scene.site(now.context.sites[earlier.site].inst)});
    scene.session.report->add(std::move(finding));
}

}  // namespace kfdemu::check
