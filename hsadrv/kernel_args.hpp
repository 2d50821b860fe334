// Kernel arguments from C++'s side: what a value looks like to a kernel, known at compile time.
//
//     argument_shape<float>                        // 4 bytes, floating
//     DevicePointer kernel_argument(const MyArray& array) { return {array.data(), array.owner()}; }  // beside MyArray
//
// A type is launchable if it is a pointer, an arithmetic type, an enum or a trivially copyable class, or if a
// function `kernel_argument(const T&)` found through T's namespace makes it one of these, a DevicePointer or a
// HeldValue. Thread safety: no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace hsadrv {

/// What a C++ value is, as far as metadata can tell the difference. Bits, so that an argument can accept several.
enum class ArgumentClass : std::uint8_t {
    none = 0,
    pointer = 1,
    integer = 2,
    floating = 4,
    object = 8,
    any_value = 2 | 4 | 8
};

constexpr ArgumentClass operator|(ArgumentClass a, ArgumentClass b) {
    return static_cast<ArgumentClass>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool accepts(ArgumentClass wanted, ArgumentClass given) {
    return (static_cast<unsigned>(wanted) & static_cast<unsigned>(given)) != 0;
}

struct ArgumentShape {
    std::uint32_t size_bytes = 0;
    ArgumentClass what = ArgumentClass::none;
    std::uint32_t align_bytes = 1;   ///< alignof
    std::uint32_t offset_bytes = 0;  ///< of a member of this type behind the ones before it, as C++ lays out structures
};

/// Device memory as an argument. The stream holds `keep_alive` until the kernel is complete.
struct DevicePointer {
    const void* address = nullptr;
    std::shared_ptr<const void> keep_alive = {};
    /// The hsa_agent_t::handle of the agent that the memory is for: a launch on another one asks the runtime whether
    /// that one reaches `address`, and is refused if not. 0: not known, not asked.
    std::uint64_t agent = 0;
};

/// A value with pointers to device memory in it. The stream holds `keep_alive` until the kernel is complete.
template <class T>
struct HeldValue {
    T value;
    std::shared_ptr<const void> keep_alive = {};
    std::uint64_t agent = 0;        ///< as DevicePointer's
    const void* address = nullptr;  ///< of the memory that `agent` is about
};

namespace detail {

template <class T>
inline constexpr bool is_held_value = false;
template <class T>
inline constexpr bool is_held_value<HeldValue<T>> = true;

template <class T>
concept HasKernelArgument = requires(const T& value) { kernel_argument(value); };

/// The value whose bytes go into the kernarg segment, or what holds memory for it.
template <class T>
constexpr decltype(auto) launchable(const T& value) {
    if constexpr (HasKernelArgument<T>) {
        return kernel_argument(value);
    } else {
        return (value);
    }
}

template <class T>
using Launchable = std::remove_cvref_t<decltype(launchable(std::declval<const T&>()))>;

template <class T>
constexpr ArgumentShape shape_of() {
    static_assert(!std::is_array_v<T> && !std::is_function_v<T>, "pass a device pointer, not an array or a function");
    if constexpr (std::is_same_v<T, DevicePointer> || std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
        return {sizeof(void*), ArgumentClass::pointer, alignof(void*)};
    } else if constexpr (is_held_value<T>) {
        return shape_of<decltype(T::value)>();
    } else {
        static_assert(std::is_trivially_copyable_v<T>,
                      "a kernel argument is a pointer or a trivially copyable value; give this type a "
                      "kernel_argument()");
        constexpr ArgumentClass what = std::is_floating_point_v<T>                  ? ArgumentClass::floating
                                       : std::is_integral_v<T> || std::is_enum_v<T> ? ArgumentClass::integer
                                                                                    : ArgumentClass::object;
        return {sizeof(T), what, alignof(T)};
    }
}

}  // namespace detail

/// What a T looks like to a kernel.
template <class T>
inline constexpr ArgumentShape argument_shape = detail::shape_of<detail::Launchable<T>>();

namespace detail {
/// Of all of them, one behind the other.
template <class... Args>
constexpr std::array<ArgumentShape, sizeof...(Args)> argument_shapes() {
    std::array<ArgumentShape, sizeof...(Args)> shapes{argument_shape<Args>...};
    std::uint32_t end = 0;
    for (ArgumentShape& shape : shapes) {
        shape.offset_bytes = (end + shape.align_bytes - 1) / shape.align_bytes * shape.align_bytes;
        end = shape.offset_bytes + shape.size_bytes;
    }
    return shapes;
}
}  // namespace detail

}  // namespace hsadrv
