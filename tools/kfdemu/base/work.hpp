// Something that several workers can take part in at once: a kernel in flight.
#pragma once

#include <memory>

namespace kfdemu {

class Work {
  public:
    virtual ~Work() = default;
    enum class Result {
        idle,  ///< nothing to take now: all that is left runs on other workers
        some,  ///< did a part; there may be more
        done,  ///< this was the last part, or the work was aborted and has ended: forget it
    };
    /// Runs one part on the calling worker. Any number of workers may be in here at once; one of them gets `done`.
    virtual Result run() = 0;
};

}  // namespace kfdemu
