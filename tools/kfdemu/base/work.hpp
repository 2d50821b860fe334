// Work that several workers execute at once: the interface of a kernel in flight to the scheduler.
#pragma once

#include <memory>

namespace kfdemu {

class Work {
  public:
    virtual ~Work() = default;
    enum class Result {
        idle,  ///< nothing to take now: the remaining parts run on other workers
        some,  ///< ran a part; there may be more
        done,  ///< ran the last part, or the work was aborted and has ended: remove it
    };
    /// Runs one part on the calling worker. Any number of workers may call this at once; exactly one receives `done`.
    virtual Result run() = 0;
};

}  // namespace kfdemu
