// Progress: one line on standard error with the state of a long run; nothing if standard error is no terminal.
//
//     Progress progress;
//     progress.say("copy: 64 MiB to gpu0, 12 of 40");    // in place of what it said before
//
// The destructor erases the line, as does clear(), to be called before other output. Repainted at most ten times a
// second. Thread safety: one thread. Throws: nothing; write errors are ignored.
#pragma once

#include <chrono>
#include <string_view>

namespace hsadrv_tool {

class Progress {
  public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void say(std::string_view text) noexcept;
    void clear() noexcept;

  private:
    bool terminal_, shown_ = false;
    std::chrono::steady_clock::time_point last_{};
};

}  // namespace hsadrv_tool
