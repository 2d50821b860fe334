// An SDMA queue: executes the packets of its ring, which copy, fill, poll and signal.
//
// Thread safety: as Queue.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/queues/checked_copy.hpp"
#include "tools/kfdemu/queues/eviction.hpp"
#include "tools/kfdemu/queues/queue.hpp"
#include "tools/kfdemu/queues/sdma_packet.hpp"
#include "tools/kfdemu/resources/events.hpp"

namespace kfdemu {

class SdmaQueue final : public Queue {
  public:
    /// `doorbell`: the write pointer in bytes. Borrows: doorbell, ring and pointers, until stop().
    SdmaQueue(unsigned gpu, const AddressSpace& space, Events& events, Eviction& eviction, const abi::CreateQueue& args,
              volatile std::uint64_t* doorbell, sdma::Version version = sdma::Version::v4);

    bool service() override;
    void stop() override;
    bool busy() override;
    int update(const abi::UpdateQueue& args) override;
    int set_cu_mask(std::span<const std::uint32_t>) override { return EINVAL; }  // SDMA engines have no compute units

  private:
    enum class Step { done, again, waiting, fault, entered };

    Step execute(const sdma::Command& command);
    Step run(const sdma::Nop&) { return Step::done; }
    Step run(const sdma::FlushHdp&) { return Step::done; }
    Step run(const sdma::CopyLinear& copy);
    Step run(const sdma::CopyRect& copy);
    Step run(const sdma::Write& write);
    Step run(const sdma::Fill& fill);
    Step run(const sdma::Indirect& indirect);
    Step run(const sdma::Fence& fence);
    Step run(const sdma::Trap& trap);
    Step run(const sdma::PollMemory& poll);
    Step run(const sdma::ExecuteIfEqual& condition);
    Step run(const sdma::ExecuteOnEngines& predicate);
    Step run(const sdma::Atomic& atomic);
    Step run(const sdma::SetClock& set);
    Step run(const sdma::Timestamp& stamp);

    Step after_wait(bool met);
    void spend(std::uint64_t size_bytes);
    std::byte* reach(std::uint64_t va, std::uint64_t& size_bytes, std::uint32_t access);
    Step fault(std::uint64_t va, std::uint32_t access);
    Step refuse(std::string_view why);
    template <class T>
    Step update_word(const sdma::Atomic& atomic);

    /// Where packets are read: the ring or an indirect buffer.
    std::uint64_t address_of(std::uint64_t dword) const;
    std::uint64_t available_dwords(std::uint64_t write_bytes) const;
    std::string place() const;
    std::optional<sdma::Decoded> fetch(std::uint64_t available);
    bool advance(std::uint64_t dwords);

    const unsigned gpu_;
    const sdma::Version version_;
    const std::uint32_t gpu_id_;
    const std::uint32_t engine_;  // the first, if the queue does not name one
    const AddressSpace& space_;
    Events& events_;
    Eviction& eviction_;
    std::uint64_t ring_, ring_bytes_;
    const std::uint64_t read_pointer_va_;
    volatile std::uint64_t* doorbell_;

    std::mutex mutex_;
    bool stopped_ = false, suspended_ = false, failed_ = false;
    std::uint64_t read_bytes_ = 0, written_bytes_ = 0;
    std::optional<sdma::Indirect> indirect_;  // the buffer that the ring's packet at read_bytes_ runs
    std::uint64_t indirect_done_ = 0;         // dwords of it
    std::optional<sdma::Decoded> current_;    // the next packet, once read
    std::uint64_t progress_ = 0;              // completed bytes (rows for boxes) of that packet
    std::uint64_t budget_bytes_ = 0;          // that this service() may still copy
    std::uint64_t skip_dwords_ = 0;           // the next dwords do not run
    std::uint64_t clock_offset_ = 0;          // the engine's own clock less the GPU's
    CheckedCopy checked_;
};

}  // namespace kfdemu
