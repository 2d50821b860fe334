// Progress: one line on standard error that says how far a long run has come; nothing where that is no terminal.
//
//     Progress progress;
//     progress.say("copy: 64 MiB to gpu0, 12 of 40");    // in place of what it said before
//
// The line is gone when the object is, or when clear() is called before other output. Repainted ten times a second at
// most. Thread safety: one thread. Throws: nothing; what cannot be written is not.
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
