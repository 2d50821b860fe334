#include "tools/kfdemu/dispatch/garbage.hpp"

#include <algorithm>
#include <cstring>

#include "tools/kfdemu/base/order.hpp"

namespace kfdemu {

Garbage::Garbage(std::uint64_t seed) {
    Random random{seed};
    for (std::uint64_t& word : words_) word = random.next();
}

void Garbage::fill(void* to, std::size_t size_bytes, std::uint64_t place) const {
    auto* bytes = static_cast<std::byte*>(to);
    std::size_t at = Random{place}.below(kWords);
    while (size_bytes != 0) {
        const std::size_t size = std::min(size_bytes, (kWords - at) * sizeof words_[0]);
        std::memcpy(bytes, &words_[at], size);
        bytes += size;
        size_bytes -= size;
        at = 0;
    }
}

std::uint32_t Garbage::word(std::uint64_t place) const {
    return static_cast<std::uint32_t>(words_[Random{place}.below(kWords)]);
}

}  // namespace kfdemu
