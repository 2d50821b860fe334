// StopRequest: Ctrl-C is noted, so that a run can end where nothing is lost; the second one ends the process at once.
//
//     const StopRequest stop;
//     for (Sample& sample : samples) {
//         stop.check();                     // throws tools::Interrupted
//         measure(sample);
//     }
//
// SIGINT, SIGTERM and SIGHUP while the object lives; those that were ignored stay so. For runs in this process;
// where children run, tools::Interruptions hands signals on to them. Thread safety: one object at a time.
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

    /// The signal that came; 0 if none has.
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
