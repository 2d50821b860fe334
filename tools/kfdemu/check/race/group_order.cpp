#include "tools/kfdemu/check/race/group_order.hpp"

#include <algorithm>
#include <utility>

namespace kfdemu::check {

void GroupOrder::begin(unsigned waves) {
    for (const WaveState& state : state_) first_epoch_ = std::max(first_epoch_, state.epoch);
    first_epoch_ += 2;  // an access that was not waited for reaches into the next epoch
    waves_ = waves;
    latest_ = 0;
    versions_.assign(1, Clock{});
    first_version_ = versions_at_opening_ = 1;
    for (WaveState& state : state_) {
        state.epoch = first_epoch_;
        state.issued = state.lds_issued = state.lds_done = state.version = 0;
        state.done_at_end = state.entered = {};
        state.ended = state.knows = false;
        state.clock = {};
        state.guesses.clear();
        state.waited = false;
        state.signals = 0;
        if (split_) state.by_barriers = {};
    }
    if (split_) signalled_ = opened_ = {};
    split_ = false;
    signals_ = 0;
}

void GroupOrder::barrier(unsigned wave) {
    WaveState& state = state_[wave];
    state.done_at_end[state.epoch & 1] = state.lds_done;
    state.epoch += 1;
    state.entered[state.epoch & 1] = state.issued;
    state.clock = {};
    state.version = 0;
    state.knows = false;
    state.guesses.clear();
}

void GroupOrder::Known::join(const Known& other) {
    GroupOrder::join(issued, other.issued);
    GroupOrder::join(done, other.done);
}

void GroupOrder::signal(unsigned wave) {
    split_ = true;
    WaveState& state = state_[wave];
    learn_of_barrier(state);
    Known told = state.by_barriers;
    const auto tell = [&](const Clock& clock) {
        join(told.issued, clock);
        join(told.done, clock);
    };
    tell(state.clock);
    for (const Guess& guess : state.guesses) tell(guess.clock);
    told.issued[wave] = state.issued;
    told.done[wave] = state.lds_done;
    signalled_.join(told);
    state.epoch += 1;
    state.signals += 1;
    signals_ += 1;
    open_if_all_signalled();
}

void GroupOrder::ended(unsigned wave) {
    WaveState& state = state_[wave];
    state.ended = true;
    if (!split_) return;
    signals_ -= std::exchange(state.signals, 0);
    open_if_all_signalled();
}

/// What waves that have ended did comes before all that follows.
void GroupOrder::open_if_all_signalled() {
    unsigned live = 0;
    for (unsigned n = 0; n < waves_; ++n) live += !state_[n].ended;
    if (signals_ == 0 || signals_ < live) return;
    opened_.join(signalled_);
    for (unsigned n = 0; n < waves_; ++n) {
        state_[n].signals = 0;
        if (state_[n].ended) opened_.issued[n] = opened_.done[n] = state_[n].issued;
    }
    signals_ = 0;
    forget_versions(versions_at_opening_);
    versions_at_opening_ = next_version();
}

/// When it does something after its wait, the barrier has opened.
void GroupOrder::learn_of_barrier(WaveState& state) {
    if (!std::exchange(state.waited, false)) return;
    state.by_barriers.join(opened_);
    state.version = 0;
    state.knows = true;
}

/// With at most lgkmcnt outstanding, all LDS instructions but the last lgkmcnt have happened.
void GroupOrder::waited(unsigned wave, std::uint32_t lgkmcnt) {
    WaveState& state = state_[wave];
    if (state.lds_issued > lgkmcnt)
        state.lds_done =
            std::max(state.lds_done, state.lds_numbers[(state.lds_issued - lgkmcnt - 1) % state.lds_numbers.size()]);
}

void GroupOrder::issue(unsigned wave, bool lds) {
    WaveState& state = state_[wave];
    learn_of_barrier(state);
    if (!split_ && state.epoch != latest_) {  // s_barrier has opened: nothing of the former epoch is asked for again
        latest_ = state.epoch;
        forget_versions(next_version());
    }
    state.issued += 1;
    if (lds) state.lds_numbers[state.lds_issued++ % state.lds_numbers.size()] = state.issued;
}

GroupOrder::Stamp GroupOrder::now(unsigned wave) const {
    return {state_[wave].epoch, state_[wave].issued, static_cast<std::uint8_t>(wave)};
}

std::uint32_t GroupOrder::known(const WaveState& state, unsigned wave) const {
    std::uint32_t number = state.clock[wave];
    for (const Guess& guess : state.guesses) number = std::max(number, guess.clock[wave]);
    return number;
}

GroupOrder::Is GroupOrder::between(const Stamp& earlier, unsigned wave, Waits waits) const {
    if (earlier.wave == wave || !is_current(earlier)) return Is::Ordered;
    if (split_) return between_steps(earlier, wave, waits);
    const WaveState &now = state_[wave], &other = state_[earlier.wave];
    if (earlier.epoch >= now.epoch) {
        if (!now.knows && now.guesses.empty()) return Is::NoBarrier;
        return known(now, earlier.wave) >= earlier.number ? Is::Ordered : Is::NoBarrier;
    }
    // What is in flight when a wave ends is taken to be done.
    if (waits == Waits::Ignored || other.ended) return Is::Ordered;
    return earlier.number > other.done_at_end[(now.epoch - 1) & 1] ? Is::NotWaited : Is::Ordered;
}

GroupOrder::Is GroupOrder::between_steps(const Stamp& earlier, unsigned wave, Waits waits) const {
    const WaveState& now = state_[wave];
    if (known(now, earlier.wave) >= earlier.number) return Is::Ordered;
    if (now.by_barriers.issued[earlier.wave] < earlier.number) return Is::NoBarrier;
    const bool needs = waits == Waits::Needed && !state_[earlier.wave].ended;
    return needs && now.by_barriers.done[earlier.wave] < earlier.number ? Is::NotWaited : Is::Ordered;
}

GroupOrder::Happened GroupOrder::happened_before(unsigned wave) const {
    Happened result = split_ ? state_[wave].by_barriers.done : Happened{};
    const unsigned parity = (state_[wave].epoch - 1) & 1;
    for (unsigned n = 0; n < waves_ && !split_; ++n)
        if (state_[n].epoch >= state_[wave].epoch) result[n] = state_[n].done_at_end[parity];
    result[wave] = ~0u;
    return result;
}

bool GroupOrder::follows(unsigned wave, unsigned earlier_wave, std::uint32_t number) const {
    const WaveState &now = state_[wave], &other = state_[earlier_wave];
    if (wave == earlier_wave) return true;
    if (split_) return number <= now.by_barriers.issued[earlier_wave] || number <= known(now, earlier_wave);
    if (other.epoch < now.epoch) return true;
    return number <= other.entered[now.epoch & 1] || number <= known(now, earlier_wave);
}

bool GroupOrder::join(Clock& to, const Clock& from) {
    std::uint32_t changed = 0;
    for (unsigned n = 0; n < kMaxWaves; ++n) {
        const std::uint32_t later = std::max(to[n], from[n]);
        changed |= later ^ to[n];
        to[n] = later;
    }
    return changed != 0;
}

void GroupOrder::learn(WaveState& state, const Clock& clock) {
    if (join(state.clock, clock)) state.version = 0, state.knows = true;
}

void GroupOrder::exchange(unsigned wave, Channel& channel) {
    WaveState& state = state_[wave];
    if (!is_of_this_epoch(state, channel.epoch)) channel = {{}, state.epoch, 0};
    if (channel.epoch < state.epoch) channel.epoch = state.epoch, channel.waves = 0;
    learn(state, channel.clock);
    join(channel.clock, state.clock);
    if (split_) join(channel.clock, state.by_barriers.issued);
    channel.clock[wave] = state.issued;
    channel.waves |= 1u << wave;
}

/// What was seen in that epoch still orders accesses: after an s_barrier, the barrier alone does.
bool GroupOrder::is_of_this_epoch(const WaveState& state, std::uint32_t epoch) const {
    return split_ ? epoch >= first_epoch_ : epoch == state.epoch;
}

bool GroupOrder::used(unsigned wave, const Channel& channel) const {
    return channel.epoch >= state_[wave].epoch && (channel.waves >> wave & 1) != 0;
}

void GroupOrder::observe(unsigned wave, const Channel& channel) {
    if (is_of_this_epoch(state_[wave], channel.epoch)) learn(state_[wave], channel.clock);
}

const GroupOrder::Clock& GroupOrder::version(std::uint32_t number) const {
    return versions_[number < first_version_ ? 0 : number - first_version_ + 1];
}

void GroupOrder::forget_versions(std::uint32_t before) {
    if (before <= first_version_) return;
    versions_.erase(versions_.begin() + 1, versions_.begin() + 1 + (before - first_version_));
    first_version_ = before;
    for (WaveState& state : state_)
        if (state.version < before) state.version = 0;
}

std::uint32_t GroupOrder::knowledge(unsigned wave) {
    WaveState& state = state_[wave];
    if (state.guesses.empty() && (!state.knows || state.version != 0)) return state.version;
    const std::uint32_t version = next_version();
    versions_.push_back(state.clock);
    if (split_) join(versions_.back(), state.by_barriers.issued);
    for (const Guess& guess : state.guesses) join(versions_.back(), guess.clock);
    if (state.guesses.empty()) state.version = version;
    return version;
}

void GroupOrder::follow(unsigned wave, const Stamp& earlier, std::uint32_t knowledge) {
    if (!is_of_this_epoch(state_[wave], earlier.epoch)) return;
    Clock clock = version(knowledge);
    clock[earlier.wave] = std::max(clock[earlier.wave], earlier.number);
    learn(state_[wave], clock);
}

void GroupOrder::follow_all(unsigned wave) {
    Clock clock{};
    for (unsigned n = 0; n < waves_; ++n)
        if (n != wave) clock[n] = state_[n].issued;
    learn(state_[wave], clock);
}

GroupOrder::Clock& GroupOrder::guess(WaveState& state, std::uint64_t pc, std::uint64_t address) {
    auto found = std::find_if(state.guesses.begin(), state.guesses.end(), [&](const Guess& g) { return g.pc == pc; });
    if (found == state.guesses.end()) found = state.guesses.insert(found, Guess{pc, address, {}});
    return found->clock;
}

void GroupOrder::assume(unsigned wave, std::uint64_t pc, std::uint64_t address, const Stamp& earlier,
                        std::uint32_t knowledge) {
    WaveState& state = state_[wave];
    if (!is_of_this_epoch(state, earlier.epoch)) return;
    Clock& clock = guess(state, pc, address);
    join(clock, version(knowledge));
    clock[earlier.wave] = std::max(clock[earlier.wave], earlier.number);
}

void GroupOrder::assume(unsigned wave, std::uint64_t pc, std::uint64_t address, const Channel& channel) {
    WaveState& state = state_[wave];
    if (is_of_this_epoch(state, channel.epoch) && (split_ || channel.waves != 0))
        join(guess(state, pc, address), channel.clock);
}

bool GroupOrder::confirm(unsigned wave, std::uint64_t pc, std::uint64_t address) {
    WaveState& state = state_[wave];
    const auto found =
        std::find_if(state.guesses.begin(), state.guesses.end(), [&](const Guess& g) { return g.pc == pc; });
    if (found == state.guesses.end()) return true;
    const bool same = found->address == address;
    if (same) learn(state, found->clock);
    state.guesses.erase(found);
    return same;
}

}  // namespace kfdemu::check
