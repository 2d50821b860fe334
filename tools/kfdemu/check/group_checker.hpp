// The checkers of one work-group: watches its waves.
//
//     GroupChecker checker;
//     checker.begin(scene, waves);                  // a new work-group
//     wave.watcher = checker.watcher(n);            // for each of its waves
//
// Thread safety: that of its work-group. Reused for many work-groups.
#pragma once

#include <memory>
#include <vector>

#include "tools/kfdemu/check/flow/inst_cache.hpp"
#include "tools/kfdemu/check/flow/scene.hpp"
#include "tools/kfdemu/check/init/init_check.hpp"
#include "tools/kfdemu/check/memory/memory_check.hpp"
#include "tools/kfdemu/check/race/race_check.hpp"
#include "tools/kfdemu/check/wait/wait_check.hpp"

namespace kfdemu::check {

class GroupChecker {
  public:
    void begin(const Scene& scene, unsigned waves);
    isa::Watcher* watcher(unsigned wave) { return waves_[wave].get(); }
    /// The wave's memory access faulted at `inst`.
    void faulted(const isa::Wave& wave, const isa::Inst& inst);

  private:
    class WaveChecker final : public isa::Watcher {
      public:
        explicit WaveChecker(GroupChecker& group) : group_{group} {}
        void begin();
        void before(const isa::Wave& wave, const isa::Inst& inst) noexcept override;

      private:
        GroupChecker& group_;
        WaitCheck wait_;
        InitCheck init_;
    };

    void accesses(const isa::Wave& wave, const isa::Inst& inst);

    Scene scene_;
    bool waits_ = false, memory_ = false, races_ = false, init_ = false;
    InstCache cache_;
    MemoryCheck memory_check_;
    RaceCheck race_check_;
    GroupShadow shadow_;
    InitPlans plans_;
    std::vector<std::unique_ptr<WaveChecker>> waves_;
};

}  // namespace kfdemu::check
