// A kernel in flight: one dispatch packet, whose work-groups the workers execute.
//
//     auto launched = Kernel::launch(queue, gpu, space, amd_queue, packet, index, packet_va);
//     if (launched.kernel) scheduler.add(launched.kernel, launched.kernel->groups());
//
// Thread safety: run() from any number of workers; abort() and wait_until_gone() from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "address_space.hpp"
#include "packet.hpp"
#include "topology.hpp"
#include "work.hpp"

namespace kfdemu {

class AqlQueue;

class Kernel final : public Work {
  public:
    struct Launched {
        std::shared_ptr<Kernel> kernel;
        bool needs_scratch = false;
        std::uint64_t error = 0;  ///< aql::QueueError; `why` says it in words
        std::string why;
    };
    struct Failure {
        bool memory = false;            ///< a memory fault; else `queue_error` counts
        std::uint64_t queue_error = 0;  ///< aql::QueueError
        std::uint64_t address = 0;
        std::uint32_t access = 0;
        std::string why;
    };

    /// Checks the packet and prepares the kernel. The caller has a Hold of `space`.
    static Launched launch(AqlQueue& queue, const Gpu& gpu, const AddressSpace& space, const aql::AmdQueue& amd_queue,
                           const aql::KernelDispatch& packet, std::uint64_t index, std::uint64_t packet_va);

    Result run() override;
    void abort();
    void wait_until_gone();

    std::uint64_t groups() const;
    std::uint64_t index() const { return index_; }
    std::uint64_t completion_signal() const { return completion_signal_; }
    std::uint64_t start_ticks() const { return start_ticks_; }
    const std::optional<Failure>& failure() const { return failure_; }

  private:
    std::uint64_t index_ = 0, completion_signal_ = 0, start_ticks_ = 0;
    std::optional<Failure> failure_;
};

}  // namespace kfdemu
