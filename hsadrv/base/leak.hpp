// Internal: gives up an object without destroying it, where destroying it would free what a device may still use.
//
//   leak(std::move(memory));
//
// Allocates nothing, so it works when memory has run out.
#pragma once

#include <type_traits>
#include <utility>

namespace hsadrv::detail {

template <class T>
    requires std::is_nothrow_move_constructible_v<T>
void leak(T object) noexcept {
    [[maybe_unused]] union Forever {
        T object;
        ~Forever() {}  // NOLINT: intended
    } forever{std::move(object)};
}

}  // namespace hsadrv::detail
