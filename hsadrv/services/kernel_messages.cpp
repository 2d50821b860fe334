#include "hsadrv/services/kernel_messages.hpp"

#include <algorithm>
#include <utility>

namespace hsadrv::detail {
namespace {

constexpr std::uint64_t begins = 1, ends = 2;
constexpr unsigned count_shift = 5, number_shift = 8;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << (64 - number_shift)) - 1;

}  // namespace

std::optional<KernelMessage> KernelMessages::add(HostcallSlot& slot) {
    const std::uint64_t descriptor = slot[0];
    std::uint64_t number = descriptor >> number_shift;
    if (descriptor & begins) {
        number = next_++ & number_mask;
        open_[number].clear();
        slot[0] = number << number_shift;
    }
    const auto at = open_.find(number);
    if (at == open_.end()) return std::nullopt;
    KernelMessage& message = at->second;
    const std::size_t room = most_words - message.size();
    message.insert(message.end(), slot + 1, slot + 1 + std::min<std::size_t>(descriptor >> count_shift & 7, room));
    if (!(descriptor & ends)) return std::nullopt;
    KernelMessage whole = std::move(message);
    open_.erase(at);
    return whole;
}

}  // namespace hsadrv::detail
