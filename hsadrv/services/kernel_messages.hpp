// Internal: puts together the messages that kernels send in several requests.
//
//     if (auto message = messages.add(slot)) answer(*message, slot);
//
// The first word of a slot describes it: bit 0 begins a message, bit 1 ends it, bits 5 to 7 count the words that
// follow, and bits 8 to 63 are the message's number, which the answer to its first request assigns.
// Thread safety: none. Source: ROCm-Device-Libs, ockl/src/services.cl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hsadrv/services/hostcall_buffer.hpp"

namespace hsadrv::detail {

using KernelMessage = std::vector<std::uint64_t>;

class KernelMessages {
  public:
    /// Longer messages lose their end.
    static constexpr std::size_t most_words = std::size_t{1} << 20;

    /// The message, if this was its last request; the caller then writes the answer. An unknown number is ignored.
    std::optional<KernelMessage> add(HostcallSlot& slot);

  private:
    std::map<std::uint64_t, KernelMessage> open_;
    std::uint64_t next_ = 0;
};

}  // namespace hsadrv::detail
