#include "hsadrv/stream/branch_streams.hpp"

#include <new>
#include <string>

#include "hsadrv/base/leak.hpp"
#include "hsadrv/stream/cooperative_stream.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

namespace {

// Replayed kernels have their arguments in the graph.
constexpr std::size_t kernarg_bytes = 64u << 10;

StreamOptions options_of(std::size_t number, const StreamCore& stream) {
    const QueueNeeds needs = [&] {
        const std::lock_guard held(stream.mutex());  // a poll may move it to another queue
        return stream.shared_queue()->needs();
    }();
    const std::string& label = stream.label();  // "stream 3 on gpu0 gfx90a"
    return {.name = "branch " + std::to_string(number) + " of " + label.substr(0, label.rfind(" on ")),
            .packets = needs.packets,
            .kernarg_bytes = kernarg_bytes,
            .priority = needs.priority,
            .cu_mask = needs.cu_mask};
}

}  // namespace

BranchStreams::BranchStreams() = default;
BranchStreams::~BranchStreams() = default;

StreamCore& BranchStreams::at(std::size_t number, const StreamCore& stream) {
    const std::lock_guard lock(mutex_);
    while (branches_.size() < number) {
        branches_.push_back(std::make_unique<StreamCore>(stream.agent(), options_of(branches_.size() + 1, stream)));
        if (failing_) branches_.back()->end_with_stream();
    }
    return *branches_[number - 1];
}

CooperativeStream& BranchStreams::cooperative(const StreamCore& stream) {
    const std::lock_guard lock(mutex_);
    if (!cooperative_) {
        cooperative_ = std::make_unique<CooperativeStream>(stream);
        if (failing_) cooperative_->core().end_with_stream();
    }
    return *cooperative_;
}

StreamCore* BranchStreams::cooperative_core() const noexcept { return cooperative_ ? &cooperative_->core() : nullptr; }

void BranchStreams::fail() noexcept {
    const std::lock_guard lock(mutex_);
    failing_ = true;
    for (const auto& branch : branches_) branch->end_with_stream();
    if (StreamCore* const core = cooperative_core()) core->end_with_stream();
}

void BranchStreams::end(const std::shared_ptr<const void>& kept) noexcept {
    const auto keep = [&](StreamCore& core) {
        try {
            core.attach(kept);
        } catch (const std::bad_alloc&) {
            leak(std::shared_ptr(kept));
        }
    };
    for_each(keep);
    branches_.clear();
    cooperative_.reset();
}

void BranchStreams::take_profile(Profile& profile) {
    for_each([&](StreamCore& branch) {
        Profile more = branch.take_profile();
        profile.records.insert(profile.records.end(), std::make_move_iterator(more.records.begin()),
                               std::make_move_iterator(more.records.end()));
        profile.dropped += more.dropped;
    });
}

}  // namespace hsadrv::detail
