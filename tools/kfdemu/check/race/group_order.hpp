// Which memory accesses of a work-group's waves are ordered: by s_barrier, by atomics on one address, and by what a
// wave that polls has seen.
//
//     GroupOrder order;
//     order.begin(waves);                                        // a new work-group
//     order.issue(wave, lds), order.waited(wave, lgkmcnt);       // each memory instruction, each s_waitcnt
//     order.barrier(wave), order.ended(wave);                    // or signal(wave) and later wait(wave)
//     if (order.between(stamp, wave, Waits::Needed) != Is::Ordered) …  // a race
//
// LDS performs the instructions of one wave in order, and those of several in any; an access has happened before a
// barrier only if lgkmcnt proves it. Source: LLVM AMDGPUUsage, "Memory Model". Between barriers, each wave has a vector
// clock. With barriers in two steps, where a wave may have signalled and not yet waited, clocks say all: what a wave
// knows when it signals, those that wait know. Thread safety: that of its work-group.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kfdemu::check {

class GroupOrder {
  public:
    static constexpr unsigned kMaxWaves = 32;  ///< of 32 lanes
    using Clock = std::array<std::uint32_t, kMaxWaves>;

    /// When a wave accessed memory.
    struct Stamp {
        std::uint32_t epoch = 0;   ///< barriers that its wave had arrived at, or signals that it had sent; 0: never
        std::uint32_t number = 0;  ///< among its wave's memory instructions
        std::uint8_t wave = 0;
    };
    /// What atomics on one address pass from wave to wave, until the next s_barrier.
    struct Channel {
        Clock clock{};
        std::uint32_t epoch = 0;
        std::uint32_t waves = 0;  ///< that used it
    };
    enum class Is : std::uint8_t { Ordered, NoBarrier, NotWaited };
    enum class Waits : bool { Ignored, Needed };
    /// By wave: accesses up to these numbers, in this work-group, have happened.
    using Happened = std::array<std::uint32_t, kMaxWaves>;

    void begin(unsigned waves);
    unsigned waves() const { return waves_; }
    /// s_barrier.
    void barrier(unsigned wave);
    /// s_barrier_signal and s_barrier_wait of the work-group's barrier, as WorkGroup counts signals.
    void signal(unsigned wave);
    void wait(unsigned wave) { state_[wave].waited = true; }
    /// By how much the epochs of two waves may differ at a time.
    unsigned epochs_apart() const { return split_ ? 1 : 0; }
    void ended(unsigned wave);
    void waited(unsigned wave, std::uint32_t lgkmcnt);
    /// A memory instruction of the wave begins; `lds`: lgkmcnt counts it, in order.
    void issue(unsigned wave, bool lds);

    Stamp now(unsigned wave) const;
    /// Whether the stamp is of this work-group.
    bool is_current(const Stamp& stamp) const { return stamp.epoch >= first_epoch_; }
    /// How a former access is ordered relative to one that `wave` makes now.
    Is between(const Stamp& earlier, unsigned wave, Waits waits) const;
    /// Enough to find most accesses ordered without between(); `wave` sees all of its own.
    Happened happened_before(unsigned wave) const;
    /// The same for a wave's access of that number, in memory.
    bool follows(unsigned wave, unsigned earlier_wave, std::uint32_t number) const;

    /// The wave's atomic follows those that used the channel before it, and precedes those that use it later.
    void exchange(unsigned wave, Channel& channel);
    bool used(unsigned wave, const Channel& channel) const;
    /// The wave has seen what atomics on the channel wrote.
    void observe(unsigned wave, const Channel& channel);
    /// A handle of what the wave knows of the others, for a later follow(); good until the next barrier but one.
    std::uint32_t knowledge(unsigned wave);
    /// The wave has seen what `earlier`, with that knowledge, wrote.
    void follow(unsigned wave, const Stamp& earlier, std::uint32_t knowledge);
    /// The wave has seen something of any other wave.
    void follow_all(unsigned wave);

    /// As follow(), by a load at `pc` that may wait for a flag: held until confirm(), which makes it final.
    void assume(unsigned wave, std::uint64_t pc, std::uint64_t address, const Stamp& earlier, std::uint32_t knowledge);
    /// As observe(), likewise.
    void assume(unsigned wave, std::uint64_t pc, std::uint64_t address, const Channel& channel);
    /// The load executes again; returns false, and forgets what was assumed, if its address is another one.
    bool confirm(unsigned wave, std::uint64_t pc, std::uint64_t address);

  private:
    struct Guess {
        std::uint64_t pc = 0, address = 0;
        Clock clock{};
    };
    /// Numbers of others' instructions: of those that came before, and of those of LDS that had happened.
    struct Known {
        Clock issued{}, done{};
        void join(const Known& other);
    };
    struct WaveState {
        std::uint32_t epoch = 0, issued = 0;
        std::uint32_t lds_issued = 0, lds_done = 0;   // numbers of `issued`; lds_done is proven by lgkmcnt
        std::array<std::uint32_t, 64> lds_numbers{};  // of the last LDS instructions
        std::array<std::uint32_t, 2> done_at_end{};   // lds_done when the epoch, by parity, ended
        std::array<std::uint32_t, 2> entered{};       // `issued` when the epoch, by parity, began
        bool ended = false;
        bool waited = false;        // at a barrier in two steps, and has done nothing since
        unsigned signals = 0;       // to the one that has not opened
        Known by_barriers;          // what barriers in two steps have told it
        Clock clock{};              // what it knows of the others in this epoch
        std::uint32_t version = 0;  // the number of what it knows; 0: changed since
        bool knows = false;         // `clock` is not zero
        std::vector<Guess> guesses;
    };

    std::uint32_t known(const WaveState& state, unsigned wave) const;
    Is between_steps(const Stamp& earlier, unsigned wave, Waits waits) const;
    bool is_of_this_epoch(const WaveState& state, std::uint32_t epoch) const;
    void learn_of_barrier(WaveState& state);
    void open_if_all_signalled();
    const Clock& version(std::uint32_t number) const;
    std::uint32_t next_version() const { return first_version_ + static_cast<std::uint32_t>(versions_.size()) - 1; }
    void forget_versions(std::uint32_t before);
    static bool join(Clock& to, const Clock& from);
    void learn(WaveState& state, const Clock& clock);
    static Clock& guess(WaveState& state, std::uint64_t pc, std::uint64_t address);

    unsigned waves_ = 0;
    std::uint32_t first_epoch_ = 1, latest_ = 0;
    std::array<WaveState, kMaxWaves> state_{};
    /// What waves knew: the first is zero and has the number 0, those that follow have numbers from first_version_ on.
    std::vector<Clock> versions_;
    std::uint32_t first_version_ = 1;

    bool split_ = false;                     // the work-group has barriers in two steps
    unsigned signals_ = 0;                   // to the one that has not opened
    Known signalled_;                        // what waves knew when they signalled
    Known opened_;                           // the same, when the last barrier opened
    std::uint32_t versions_at_opening_ = 1;  // next_version(), then
};

}  // namespace kfdemu::check
