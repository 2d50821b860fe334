// Finds accesses of one byte of LDS by two waves that no barrier orders, at least one of them a write.
//
//     LdsRaces races;
//     races.begin(waves, lds_bytes);                        // a new work-group
//     races.barrier(wave), races.waited(wave, lgkmcnt);     // s_barrier, s_waitcnt
//     races.access(scene, wave, inst, access);              // each access of LDS, and each atomic
//
// Waves are ordered by s_barrier, and by atomics on one address, of which the later one, or a plain read, follows the
// earlier: compilers make plain reads of atomic ones. For that reason, a plain read and an atomic do not race. An access that
// is not waited for before the barrier may happen after it. Lanes of a wave run in step and are not compared. Not known:
// flags that waves poll with plain loads; those are reported. Source: LLVM AMDGPUUsage, "Memory Model".
//
// Thread safety: that of its work-group.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "access.hpp"
#include "scene.hpp"

namespace kfdemu::check {

class LdsRaces {
  public:
    void begin(unsigned waves, std::uint32_t lds_bytes);
    void barrier(unsigned wave);
    void waited(unsigned wave, std::uint32_t lgkmcnt);
    void access(const Scene& scene, const gfx9::Wave& wave, const gfx9::Inst& inst, const Access& access);

  private:
    static constexpr unsigned kMaxWaves = 16;
    using Clock = std::array<std::uint32_t, kMaxWaves>;

    /// Who accessed a byte.
    struct Mark {
        std::uint32_t epoch = 0;  ///< barriers that its wave had passed; 0: nobody
        std::uint32_t time = 0;   ///< on its wave's own clock
        std::uint32_t number = 0; ///< among its wave's LDS instructions
        std::uint8_t wave = 0, lane = 0;
        bool atomic = false;
        std::uint16_t inst = 0;  ///< index into insts_
    };
    struct Byte {
        Mark write, read[2];  ///< the reads of two different waves
    };
    struct WaveState {
        std::uint32_t epoch = 0;
        std::uint32_t issued = 0, done = 0;    ///< LDS instructions; `done`: known to have happened
        std::uint32_t done_at_barrier = 0;     ///< likewise, at the last barrier
        Clock clock{};                         ///< what it knows of every wave's clock
    };
    enum class Order : std::uint8_t { Ordered, NoBarrier, NotWaited };

    Order order(const Mark& earlier, const WaveState& now, const Mark& mark) const;
    void synchronise(unsigned wave, std::uint64_t address);
    void acquire(unsigned wave, std::uint64_t address);
    void touch(const Scene& scene, const gfx9::Wave& wave, const gfx9::Inst& inst, const Access& access, Byte& byte,
               const Mark& mark);
    bool report(const Scene& scene, const gfx9::Wave& wave, const gfx9::Inst& inst, const Mark& earlier,
                const Mark& mark, bool earlier_wrote, std::uint64_t offset);
    std::uint16_t remember(const gfx9::Inst& inst);

    unsigned waves_ = 0;
    std::uint32_t first_epoch_ = 1;  // of this work-group: marks of earlier ones have smaller epochs
    std::array<WaveState, kMaxWaves> state_{};
    std::vector<Byte> bytes_;
    std::unordered_map<std::uint64_t, Clock> atomics_;
    std::vector<gfx9::Inst> insts_;
    std::unordered_map<std::uint64_t, std::uint16_t> inst_of_pc_;
};

}  // namespace kfdemu::check
