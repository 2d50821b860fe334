#include "lds_races.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "stored_value.hpp"

namespace kfdemu::check {

using namespace gfx9;
using Is = GroupOrder::Is;

void LdsRaces::begin(std::uint32_t lds_bytes) {
    size_ = lds_bytes;
    const std::size_t words = (lds_bytes + 3) / 4;
    if (words_.size() < words) words_.resize(words);
    if (!bytes_.empty() || split_.size() < words) split_.assign(words_.size(), false);
    bytes_.clear();
}

void LdsRaces::access(const RaceContext& context, const Wave& wave, const Inst& inst, const Access& access,
                      unsigned part) {
    const unsigned index = wave.index_in_group;
    Now now{context, wave, inst, access, {}, part};
    now.mark.at = context.order.now(index);
    now.mark.site = context.sites.number(wave, inst);
    now.mark.same = static_cast<std::uint16_t>(1u << index);
    if (access.writes) now.mark.knowledge = context.order.knowledge(index);
    Idiom& idiom = context.sites[now.mark.site].idiom;
    const std::uint64_t first = access.at[static_cast<unsigned>(std::countr_zero(access.lanes))];
    if (idiom == Idiom::MayWait && !context.order.confirm(index, inst.pc, first)) idiom = Idiom::Plain;
    if (rows()[inst.row].is(kAtomic))
        now.mark.kind = idiom == Idiom::Plain ? Kind::Atomic : Kind::Polls;
    else if (access.reads && idiom != Idiom::Plain)
        now.mark.kind = idiom == Idiom::Prepares ? Kind::Prepares : Kind::Polls;
    for (std::uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
        now.mark.lane = static_cast<std::uint8_t>(std::countr_zero(rest));
        one_lane(now, access.at[now.mark.lane]);
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
    if (!split_[word]) return touch(now, words_[word], word * 4);
    for (unsigned n = 0; n < 4; ++n) touch(now, bytes_[word][n], word * 4 + n);
}

void LdsRaces::byte(Now& now, std::uint32_t byte) {
    const std::uint32_t word = byte / 4;
    if (!split_[word]) {
        bytes_[word].fill(words_[word]);
        split_[word] = true;
    }
    touch(now, bytes_[word][byte % 4], byte);
}

void LdsRaces::touch(Now& now, Cell& cell, std::uint32_t offset) {
    now.offset = offset;
    if (now.access.reads && now.access.writes) return atomic(now, cell);
    now.access.writes ? store(now, cell) : load(now, cell);
}

bool LdsRaces::races(const Now& now, const Mark& earlier, Is& how) const {
    how = now.context.order.between(earlier.at, now.mark.at.wave, GroupOrder::Waits::Needed);
    return how != Is::Ordered;
}

void LdsRaces::load(Now& now, Cell& cell) {
    Is how{};
    const Mark& write = cell.write;
    if (races(now, write, how)) {
        GroupOrder& order = now.context.order;
        const unsigned wave = now.mark.at.wave;
        if (now.mark.kind == Kind::Polls) {
            if (now.context.sites[now.mark.site].idiom == Idiom::Waits)
                order.follow(wave, write.at, write.knowledge);
            else
                order.assume(wave, now.inst.pc, now.access.at[now.mark.lane], write.at, write.knowledge);
        } else if ((write.same >> wave & 1) == 0 && !(now.mark.kind == Kind::Prepares && write.kind != Kind::Plain)) {
            report(now, write, how, true);
        }
    }
    Mark& slot = cell.read[0].at.epoch == now.mark.at.epoch && cell.read[0].at.wave != now.mark.at.wave ? cell.read[1]
                                                                                                        : cell.read[0];
    slot = now.mark;
}

void LdsRaces::store(Now& now, Cell& cell) {
    Is how{};
    Mark& write = cell.write;
    std::uint16_t same = 0;
    Mark mark = now.mark;
    if (releases(now)) mark.kind = Kind::Releases;
    if (races(now, write, how)) {
        const bool atomic = write.kind == Kind::Atomic || write.kind == Kind::Polls;
        if (!atomic && rewrites(now))
            same = write.same;
        else if (write.kind != Kind::Polls && !(atomic && mark.kind == Kind::Releases))
            report(now, write, how, true);
    }
    after_reads(now, cell, same);
    mark.same |= same;
    write = mark;
}

void LdsRaces::atomic(Now& now, Cell& cell) {
    Is how{};
    const Mark& write = cell.write;
    const bool stored = write.kind != Kind::Atomic && write.kind != Kind::Polls;
    if (stored && races(now, write, how)) {
        if (write.kind == Kind::Releases || now.mark.kind == Kind::Polls)
            now.context.order.follow(now.mark.at.wave, write.at, write.knowledge);
        else
            report(now, write, how, true);
    }
    after_reads(now, cell, 0);
    now.context.order.exchange(now.mark.at.wave, channel(now.offset));
    cell.write = now.mark;
    cell.write.same = 0;
}

/// `except`: waves that may have read the value that is written.
void LdsRaces::after_reads(Now& now, const Cell& cell, std::uint16_t except) {
    Is how{};
    for (const Mark& read : cell.read) {
        if (!races(now, read, how) || read.kind == Kind::Polls || (except >> read.at.wave & 1) != 0) continue;
        const bool prepared = read.kind == Kind::Prepares && now.access.reads;
        if (!prepared) return report(now, read, how, false);
    }
}

/// Whether the wave did an atomic here since the last barrier.
bool LdsRaces::releases(const Now& now) const {
    return !channels_.empty() && now.context.order.used(now.mark.at.wave, channels_[now.offset / 4]);
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
    if (!scene.session.report->is_new(Check::race, rule, now.inst.pc)) return;
    Finding finding = scene.finding(Check::race, rule, now.wave, now.inst);
    const char* verb = now.access.writes ? now.access.reads ? "updated" : "written" : "read";
    finding.what = fmt::format("LDS is {} that another wave {}, and {}", verb, earlier_wrote ? "writes" : "reads",
                               how == Is::NoBarrier ? "no s_barrier is between"
                                                    : "the other does not wait (lgkmcnt) before the s_barrier between");
    finding.lane = now.mark.lane;
    finding.address = now.offset;
    finding.place = fmt::format("offset {} of {} bytes of LDS", now.offset, scene.lds_bytes);
    finding.related.push_back(
        {fmt::format("{} by lane {} of wave {} at", earlier_wrote ? "written" : "read", earlier.lane, earlier.at.wave),
         scene.site(now.context.sites[earlier.site].inst)});
    scene.session.report->add(std::move(finding));
}

}  // namespace kfdemu::check
