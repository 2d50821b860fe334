// Finds accesses of one byte of LDS by two waves that nothing orders, at least one of them a write.
//
//     LdsRaces races;
//     races.begin(lds_bytes);                                         // a new work-group
//     races.access(context, wave, inst, access);                      // each access of LDS
//
// Not reported: two atomics; loads that poll, which then follow the write that they see; a load that prepares an
// atomic, against atomics; one in front of a compare-and-swap, where there are such; a store to an address on which its
// wave did an atomic before (a lock is released); a store of the value that another wave has just written. Lanes of one
// wave run in step and are not compared.
//
// Thread safety: that of its work-group.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/race/race_context.hpp"

namespace kfdemu::check {

class LdsRaces {
  public:
    void begin(std::uint32_t lds_bytes);
    /// `part`: which of the instruction's accesses it is.
    void access(const RaceContext& context, const isa::Wave& wave, const isa::Inst& inst, const Access& access,
                unsigned part);

  private:
    enum class Kind : std::uint8_t { Plain, Atomic, Polls, Prepares, Compares, Releases };

    /// Who accessed a word.
    struct Mark {
        std::uint32_t epoch = 0, number = 0;  // a GroupOrder::Stamp
        std::uint16_t site = 0;
        std::uint16_t lane : 6 = 0, wave : 5 = 0;
        std::uint16_t bits : 3 = 0;

        GroupOrder::Stamp at() const { return {epoch, number, static_cast<std::uint8_t>(wave)}; }
        Kind kind() const { return static_cast<Kind>(bits); }
        void set(Kind kind) { bits = static_cast<std::uint16_t>(kind) & 7; }
    };
    struct alignas(64) Cell {
        Mark write, atomic, read[2];  ///< the reads of two different waves
        std::uint32_t knowledge = 0;  ///< of the writer at that time
        std::uint32_t swapped = 0;    ///< the epoch of the last compare-and-swap
        std::uint32_t same = 0;       ///< waves that wrote this value
        bool split = false;           ///< its bytes have cells of their own
    };
    /// The access that is judged.
    struct Now {
        const RaceContext& context;
        const isa::Wave& wave;
        const isa::Inst& inst;
        const Access& access;
        GroupOrder::Happened happened;
        Mark mark;
        std::uint32_t knowledge = 0;
        unsigned part;
        std::uint32_t offset = 0;

        bool certainly_after(const Mark& earlier) const { return earlier.number <= happened[earlier.wave]; }
    };

    /// The slot for a read. If two waves read in the same epoch, the first has read[0], the other read[1]. Epochs that
    /// differ by up to `apart` count as the same (GroupOrder::epochs_apart()).
    static Mark& slot_for(const Mark& mark, Cell& cell, unsigned apart) {
        return cell.read[cell.read[0].epoch + apart >= mark.epoch && cell.read[0].wave != mark.wave ? 1 : 0];
    }
    static Kind kind_of_load(Idiom idiom);
    void load_words(Now& now);
    void one_lane(Now& now, std::uint64_t at);
    void word(Now& now, std::uint32_t word);
    void byte(Now& now, std::uint32_t byte);
    void touch(Now& now, Cell& cell, std::uint32_t offset);
    void load(Now& now, Cell& cell);
    void store(Now& now, Cell& cell);
    void atomic(Now& now, Cell& cell);
    void after_reads(Now& now, const Cell& cell, std::uint32_t except);
    static bool surely_waits(const Now& now);
    static bool prepares_for(const Now& now, const Cell& cell, Kind load);
    void poll(Now& now, const Mark& write, std::uint32_t knowledge);
    void poll_atomics(Now& now);
    bool races(const Now& now, const Mark& earlier, GroupOrder::Is& how) const;
    bool rewrites(const Now& now) const;
    void report(const Now& now, const Mark& earlier, GroupOrder::Is how, bool earlier_wrote);
    GroupOrder::Channel& channel(std::uint32_t offset);
    bool releases(const Now& now) const;

    std::uint32_t size_ = 0;
    std::vector<Cell> words_;
    std::unordered_map<std::uint32_t, std::array<Cell, 4>> bytes_;  // of words that are accessed in part
    std::vector<GroupOrder::Channel> channels_;                     // empty: there were no atomics
};

}  // namespace kfdemu::check
