#include "hsadrv/stream/stream_printf.hpp"

#include <algorithm>
#include <cstring>

#include "hsadrv/mem_pool.hpp"

namespace hsadrv::detail {

PrintfBuffer::PrintfBuffer(std::uint32_t unwritten)
    : memory_(Allocation::from_pool(host_pool(), sizeof(Header) + room_bytes)), unwritten_(unwritten) {
    empty(room_bytes);
}

void PrintfBuffer::empty(std::size_t used_bytes) noexcept {
    const Header header{0, room_bytes};
    std::memcpy(memory_.data(), &header, sizeof header);
    auto* const records = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(memory_.data()) + sizeof header);
    std::fill_n(records, (used_bytes + 3) / sizeof unwritten_, unwritten_);
}

std::vector<std::byte> PrintfBuffer::take() {
    Header header{};
    std::memcpy(&header, memory_.data(), sizeof header);
    const auto* const records = static_cast<const std::byte*>(memory_.data()) + sizeof header;
    std::vector<std::byte> taken(records, records + std::min(header.used_bytes, room_bytes));
    empty(taken.size());
    return taken;
}

std::shared_ptr<PrintfBuffer> StreamPrintf::buffer(const std::shared_ptr<const void>& formats,
                                                   std::uint32_t unwritten) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const Entry& entry) { return entry.formats.expired(); });
    for (const Entry& entry : entries_)
        if (entry.formats.lock() == formats) return entry.buffer;
    return entries_.emplace_back(formats, std::make_shared<PrintfBuffer>(unwritten)).buffer;
}

}  // namespace hsadrv::detail
