#include "tools/hsadrv/bench/launch_ways.hpp"

#include <atomic>

namespace hsadrv_bench {
namespace {

using namespace hsadrv;

constexpr LaunchConfig config{.grid = LaunchTarget::workitems, .workgroup = LaunchTarget::workitems};
constexpr auto& rest = LaunchTarget::rest;

class RawAql final : public LaunchWay {
  public:
    explicit RawAql(const LaunchTarget& target)
        : out_(target.out),
          batch_(target.batch),
          timeout_(target.timeout),
          object_(target.kernel.kernel_object()),
          queue_(Queue::create(target.gpu, {.packets = packets})),
          kernargs_(Allocation::from_pool(host_pool(HostMemory::kernarg), std::size_t{64} * packets)) {}

    const char* word() const override { return "raw"; }
    const char* name() const override { return "raw AQL"; }
    void launch_one(std::uint64_t argument) override { launch(argument); }
    void launch_batch(std::uint64_t argument) override {
        for (unsigned i = 0; i < batch_; ++i) launch(argument);
    }

    void wait() override {
        queue_.ref().wait(done_, Condition::equal, -static_cast<std::int64_t>(launched_), timeout_);
    }

  private:
    static constexpr std::uint32_t packets = 1024;

    [[gnu::always_inline]] void launch(std::uint64_t argument) {
        const QueueRef queue = queue_;
        AqlRing& ring = queue.ring();
        std::uint64_t slot = 0;
        if (!ring.try_reserve_one(slot, ring.size())) [[unlikely]]
            slot = queue.reserve(1, timeout_);
        auto* const kernarg = kernargs_.as<std::uint64_t>() + 8 * (slot % packets);
        kernarg[0] = reinterpret_cast<std::uint64_t>(out_);
        kernarg[1] = argument;
        for (int i = 0; i < 5; ++i) kernarg[i + 2] = rest[i];
        ring.write(slot, kernel_dispatch({.kernel_object = object_,
                                          .grid = config.grid,
                                          .workgroup = config.workgroup,
                                          .kernarg = kernarg,
                                          .completion = done_.native()}));
        ring.publish_one(slot);
        ++launched_;
    }

    std::uint32_t* out_;
    unsigned batch_;
    std::chrono::nanoseconds timeout_;
    std::uint64_t object_, launched_ = 0;
    Signal done_ = Signal::create(0);
    Queue queue_;
    Allocation kernargs_;
};

StreamOptions stream_options() { return {.name = "hsadrv bench", .drain = std::chrono::seconds(1)}; }

class CheckedLaunch final : public LaunchWay {
  public:
    explicit CheckedLaunch(const LaunchTarget& target) : target_(target), stream_(target.gpu, stream_options()) {}

    const char* word() const override { return "stream"; }
    const char* name() const override { return "stream launch, checked"; }
    void launch_one(std::uint64_t argument) override {
        target_.kernel.launch(stream_, {.grid = grid_, .workgroup = LaunchTarget::workitems}, target_.out, argument,
                              rest[0], rest[1], rest[2], rest[3], rest[4]);
    }
    void launch_batch(std::uint64_t argument) override {
        for (unsigned i = 0; i < target_.batch; ++i) launch_one(argument);
    }
    void wait() override { stream_.synchronize(target_.timeout); }

  private:
    LaunchTarget target_;
    std::uint32_t grid_ = LaunchTarget::workitems;  // not a constant, so that the launch's checks are not optimized out
    Stream stream_;
};

class GraphReplay final : public LaunchWay {
  public:
    explicit GraphReplay(const LaunchTarget& target) : target_(target), stream_(target.gpu, stream_options()) {}

    const char* word() const override { return "graph"; }
    const char* name() const override { return "graph replay, a packet"; }
    void launch_one(std::uint64_t argument) override { replay(one_, 1, argument); }
    void launch_batch(std::uint64_t argument) override { replay(batch_, target_.batch, argument); }
    void wait() override { stream_.synchronize(target_.timeout); }

  private:
    struct Recorded {
        Graph graph;
        std::uint64_t argument = 0;
    };

    /// A graph launches with the arguments that were recorded.
    void replay(Recorded& recorded, unsigned count, std::uint64_t argument) {
        if (recorded.graph.kernels() == 0 || recorded.argument != argument) [[unlikely]] {
            stream_.begin_capture();
            for (unsigned i = 0; i < count; ++i)
                target_.kernel.launch(stream_, config, target_.out, argument, rest[0], rest[1], rest[2], rest[3],
                                      rest[4]);
            recorded = {stream_.end_capture(), argument};
        }
        recorded.graph.launch(stream_);
    }

    LaunchTarget target_;
    Recorded one_, batch_;
    Stream stream_;
};

}  // namespace

std::vector<std::unique_ptr<LaunchWay>> launch_ways(const LaunchTarget& target) {
    std::vector<std::unique_ptr<LaunchWay>> ways;
    ways.push_back(std::make_unique<RawAql>(target));
    ways.push_back(std::make_unique<CheckedLaunch>(target));
    ways.push_back(std::make_unique<GraphReplay>(target));
    return ways;
}

}  // namespace hsadrv_bench
