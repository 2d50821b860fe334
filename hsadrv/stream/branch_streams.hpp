// Internal: the streams on which a stream runs the branches of its graphs, and its cooperative launches.
//
//   StreamCore& other = branches.at(1, stream);    // made when first needed
//   branches.end(remains);                         // what they use is freed after they have ended
//
// They do nothing else, and the stream waits for them at the end of each replay: nothing of them is in flight when the
// stream is idle. Thread safety: any thread. Owns: the streams, with the priority and the mask of the stream.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "hsadrv/profile.hpp"

namespace hsadrv::detail {

class CooperativeStream;
class StreamCore;

class BranchStreams {
  public:
    BranchStreams();
    BranchStreams(const BranchStreams&) = delete;
    BranchStreams& operator=(const BranchStreams&) = delete;
    ~BranchStreams();

    /// Branch `number`, from 1 on, of that stream. Throws what making a stream throws.
    StreamCore& at(std::size_t number, const StreamCore& stream);
    /// The stream for cooperative launches of that stream.
    CooperativeStream& cooperative(const StreamCore& stream);
    /// Fails them, whether or not they have work, and those that are made later: the stream ends, and a thread may be
    /// about to submit to one.
    void fail() noexcept;
    /// Destroys them; `kept` lives until none of their packets runs any more.
    void end(const std::shared_ptr<const void>& kept) noexcept;
    /// Calls use(StreamCore&) for each.
    template <class Use>
    void for_each(Use&& use) {
        const std::lock_guard lock(mutex_);
        for (const auto& branch : branches_) use(*branch);
        if (StreamCore* const core = cooperative_core()) use(*core);
    }
    /// Adds their records.
    void take_profile(Profile& profile);

  private:
    StreamCore* cooperative_core() const noexcept;

    std::mutex mutex_;  // guards the members below; not held while a branch is used
    bool failing_ = false;
    std::vector<std::unique_ptr<StreamCore>> branches_;
    std::unique_ptr<CooperativeStream> cooperative_;
};

}  // namespace hsadrv::detail
