#include "tools/kfdemu/check/race/group_order.hpp"

#include <algorithm>

namespace kfdemu::check {

void GroupOrder::begin(unsigned waves) {
    for (const WaveState& state : state_) first_epoch_ = std::max(first_epoch_, state.arrived);
    first_epoch_ += 2;  // an access that was not waited for reaches into the next epoch
    waves_ = waves;
    latest_ = 0;
    first_version_ = 0;
    versions_.assign(1, Clock{});
    for (WaveState& state : state_) {
        state.arrived = state.passed = first_epoch_;
        state.issued = state.lds_issued = state.lds_done = state.version = 0;
        state.done_at_end = state.entered = {};
        state.ended = state.knows = false;
        state.clock = {};
        state.guesses.clear();
    }
}

void GroupOrder::barrier(unsigned wave) {
    arrive(wave);
    pass(wave);
}

void GroupOrder::arrive(unsigned wave) {
    WaveState& state = state_[wave];
    state.done_at_end[state.arrived & 1] = state.lds_done;
    state.arrived += 1;
    state.entered[state.arrived & 1] = state.issued;
}

void GroupOrder::pass(unsigned wave) {
    WaveState& state = state_[wave];
    if (state.passed == state.arrived) return;  // a wait for signals of others
    state.passed = state.arrived;
    state.clock = {};
    state.version = 0;
    state.knows = false;
    state.guesses.clear();
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
    if (state.passed > latest_) {  // the barrier has opened: hardly anything of the former epoch is asked for again
        latest_ = state.passed;
        forget_versions();
    }
    state.issued += 1;
    if (lds) state.lds_numbers[state.lds_issued++ % state.lds_numbers.size()] = state.issued;
}

GroupOrder::Stamp GroupOrder::now(unsigned wave) const {
    return {state_[wave].arrived, state_[wave].issued, static_cast<std::uint8_t>(wave)};
}

std::uint32_t GroupOrder::known(const WaveState& state, unsigned wave) const {
    std::uint32_t number = state.clock[wave];
    for (const Guess& guess : state.guesses) number = std::max(number, guess.clock[wave]);
    return number;
}

GroupOrder::Is GroupOrder::between(const Stamp& earlier, unsigned wave, Waits waits) const {
    if (earlier.wave == wave || !is_current(earlier)) return Is::Ordered;
    const WaveState &now = state_[wave], &other = state_[earlier.wave];
    if (earlier.epoch >= now.passed) {
        if (!now.knows && now.guesses.empty()) return Is::NoBarrier;
        return known(now, earlier.wave) >= earlier.number ? Is::Ordered : Is::NoBarrier;
    }
    // What is in flight when a wave ends is taken to be done.
    if (waits == Waits::Ignored || other.ended) return Is::Ordered;
    return earlier.number > other.done_at_end[(now.passed - 1) & 1] ? Is::NotWaited : Is::Ordered;
}

GroupOrder::Happened GroupOrder::happened_before(unsigned wave) const {
    Happened result{};
    const unsigned parity = (state_[wave].passed - 1) & 1;
    for (unsigned n = 0; n < waves_; ++n)
        if (state_[n].arrived >= state_[wave].passed) result[n] = state_[n].done_at_end[parity];
    result[wave] = ~0u;
    return result;
}

bool GroupOrder::follows(unsigned wave, unsigned earlier_wave, std::uint32_t number) const {
    const WaveState &now = state_[wave], &other = state_[earlier_wave];
    if (wave == earlier_wave || other.arrived < now.passed) return true;
    return number <= other.entered[now.passed & 1] || number <= known(now, earlier_wave);
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
    if (!is_of_this_epoch(state, channel)) channel = {};
    channel.epoch = std::max(channel.epoch, state.arrived);
    learn(state, channel.clock);
    join(channel.clock, state.clock);
    channel.clock[wave] = state.issued;
    channel.waves |= 1u << wave;
}

/// A wave that has arrived and not passed is in two epochs.
bool GroupOrder::is_of_this_epoch(const WaveState& state, const Channel& channel) const {
    return channel.epoch >= state.passed;
}

bool GroupOrder::used(unsigned wave, const Channel& channel) const {
    return is_of_this_epoch(state_[wave], channel) && (channel.waves >> wave & 1) != 0;
}

void GroupOrder::observe(unsigned wave, const Channel& channel) {
    if (is_of_this_epoch(state_[wave], channel)) learn(state_[wave], channel.clock);
}

const GroupOrder::Clock& GroupOrder::version(std::uint32_t number) const {
    return versions_[number < first_version_ ? 0 : number - first_version_];
}

void GroupOrder::forget_versions() {
    if (versions_.size() == 1) return;
    first_version_ += static_cast<std::uint32_t>(versions_.size());
    versions_.resize(1);
    for (WaveState& state : state_) state.version = 0;
}

std::uint32_t GroupOrder::knowledge(unsigned wave) {
    WaveState& state = state_[wave];
    if (state.guesses.empty() && (!state.knows || state.version != 0)) return state.version;
    const auto version = first_version_ + static_cast<std::uint32_t>(versions_.size());
    versions_.push_back(state.clock);
    for (const Guess& guess : state.guesses) join(versions_.back(), guess.clock);
    if (state.guesses.empty()) state.version = version;
    return version;
}

void GroupOrder::follow(unsigned wave, const Stamp& earlier, std::uint32_t knowledge) {
    if (earlier.epoch < state_[wave].passed) return;
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
    if (earlier.epoch < state.passed) return;
    Clock& clock = guess(state, pc, address);
    join(clock, version(knowledge));
    clock[earlier.wave] = std::max(clock[earlier.wave], earlier.number);
}

void GroupOrder::assume(unsigned wave, std::uint64_t pc, std::uint64_t address, const Channel& channel) {
    WaveState& state = state_[wave];
    if (is_of_this_epoch(state, channel) && channel.waves != 0) join(guess(state, pc, address), channel.clock);
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
