// Internal: explains why a stream makes no progress. Finds its first incomplete packet, what that waits for and which
// stream owes it, and follows the chain to a stream that waits for no other, or to a cycle.
//
//   "2 of 5 packets complete; stream 1 waits for an event of stream 2; stream 2 runs kernel spin(flag = 0x7f…)"
//
// Examines one stream at a time, with its mutex, so the result is a recent state, not a snapshot. Thread safety: the
// caller holds the lock of the list of streams, and no stream's mutex.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv::detail {

class Autopsy {
  public:
    /// Borrows the list during its lifetime.
    explicit Autopsy(std::span<StreamCore* const> streams) : streams_(streams) {}

    std::string of(const Timeline& timeline);

  private:
    /// What one stream waits for, and which stream that is.
    struct Finding {
        std::string text;
        const StreamCore* next = nullptr;
        hsa_signal_t signal = {0};  ///< follow the stream that owes this signal
    };

    const StreamCore* find(const Timeline* timeline) const;
    const StreamCore* find(const std::string& label) const;
    /// A stream with a decrement of this signal in flight.
    const StreamCore* find_debtor(hsa_signal_t signal) const;
    void follow(const StreamCore* stream);
    Finding examine(const StreamCore& stream) const;
    Finding explain(const StreamCore& stream, const PacketRecord& record) const;
    static Finding explain_packet(const StreamCore& stream, std::uint64_t slot, const PacketRecord* record = nullptr);
    void say(const std::string& text) { text_ += (text_.empty() ? "" : "; ") + text; }

    std::span<StreamCore* const> streams_;
    std::string text_;
};

}  // namespace hsadrv::detail
