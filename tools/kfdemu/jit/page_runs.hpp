// The translated code of a code page: its stretches of vector instructions, each translated when it has run often.
//
//     page.runs = PageRuns(page.slots, level, lanes, When::hot);
//
// The first instruction of a stretch then counts its visits, and later runs the code for all of it.
// A wave that is watched, that a seed orders, or whose operands are indexed is interpreted, and so are the lanes that
// translated code leaves because of a NaN.
// Thread safety: any thread may execute the instructions. Memory ordering: a release store publishes translated code.
// Lifetime: the instructions refer to this, which the page keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tools/kfdemu/isa/encodings/decode.hpp"

namespace kfdemu::jit {

struct Run;

/// When code is translated.
enum class When : std::uint8_t {
    never,
    hot,     ///< after it has run often enough
    always,  ///< before it runs, for tests
};

class PageRuns {
  public:
    PageRuns();
    /// For waves of `lanes` lanes. No run if the level has no vectors to translate to. Changes the handlers of `slots`.
    PageRuns(std::span<isa::Inst> slots, isa::Level level, unsigned lanes, When when);
    PageRuns(PageRuns&&) noexcept;
    PageRuns& operator=(PageRuns&&) noexcept;
    ~PageRuns();

  private:
    std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace kfdemu::jit
