// StopRequest: records Ctrl-C, so that a run can stop where nothing is lost. A second Ctrl-C ends the process at once.
//
//     const StopRequest stop;
//     for (Sample& sample : samples) {
//         stop.check();                     // throws tools::Interrupted
//         measure(sample);
//     }
//
// Handles SIGINT, SIGTERM and SIGHUP while the object lives; ignored signals stay ignored. For runs in this process;
// with children, use tools::Interruptions, which forwards signals to them. Thread safety: one object at a time.
#pragma once

#include <signal.h>

#include <vector>

#include "tools/common/process.hpp"

namespace hsadrv_tool {

class StopRequest {
  public:
    StopRequest();
    ~StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;

    /// The signal that was received; 0 if none.
    int signal() const noexcept;
    void check() const {
        if (const int number = signal()) throw tools::Interrupted{number};
    }

  private:
    struct Before {
        int number;
        struct sigaction action;
    };
    std::vector<Before> before_;
};

}  // namespace hsadrv_tool
