// How C++ values become kernel arguments: their size, alignment and kind, known at compile time.
//
//     argument_shape<float>                        // 4 bytes, floating
//     DevicePointer kernel_argument(const MyArray& array) { return {array.data(), array.owner()}; }  // found by ADL
//
// A type is launchable if it is a pointer, an arithmetic type, an enum or a trivially copyable class, or if a function
// `kernel_argument(const T&)`, found by argument-dependent lookup, converts it to one of these, a DevicePointer or a
// HeldValue. Thread safety: no state.
#pragma once

#include "shared/cpp20.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace hsadrv {

/// The kind of a C++ value, as far as metadata distinguishes it. Bits, so that an argument can accept several.
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

/// What a pointer points to, as far as launches compare it: signed and unsigned integers are one kind, and a vector or
/// a complex number counts as its elements.
struct ElementType {
    ArgumentClass what = ArgumentClass::none;  ///< none: unknown (void*, std::byte*, a class); matches every type
    std::uint32_t size_bytes = 0;

    constexpr bool known() const { return what != ArgumentClass::none; }
};

constexpr bool accepts(ElementType wanted, ElementType given) {
    return !wanted.known() || !given.known() ||
           (wanted.size_bytes == given.size_bytes && accepts(wanted.what, given.what));
}

struct ArgumentShape {
    std::uint32_t size_bytes = 0;
    ArgumentClass what = ArgumentClass::none;
    std::uint32_t align_bytes = 1;   ///< alignof
    std::uint32_t offset_bytes = 0;  ///< as a member of a C++ structure of the arguments
    ElementType element = {};        ///< of a pointer
};

/// Device memory as an argument. The stream holds `keep_alive` until the kernel is complete.
struct DevicePointer {
    const void* address = nullptr;
    std::shared_ptr<const void> keep_alive = {};
    /// The hsa_agent_t::handle of the memory's agent. A launch on another agent queries the runtime and fails if that
    /// agent cannot access `address`. 0: unknown, not checked.
    std::uint64_t agent = 0;
    /// What is there. A launch compares it with the kernel's metadata, if they state the type.
    ElementType element = {};
};

/// A value that contains pointers to device memory. The stream holds `keep_alive` until the kernel is complete.
template <class T>
struct HeldValue {
    T value;
    std::shared_ptr<const void> keep_alive = {};
    std::uint64_t agent = 0;        ///< see DevicePointer
    const void* address = nullptr;  ///< of the memory that `agent` refers to
};

namespace detail {

template <class T>
inline constexpr bool is_held_value = false;
template <class T>
inline constexpr bool is_held_value<HeldValue<T>> = true;

template <class T>
concept HasKernelArgument = requires(const T& value) { kernel_argument(value); };

/// The value whose bytes are written to the kernarg segment, or the object that holds memory for it.
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
constexpr ElementType element_of() {
    if constexpr (std::is_floating_point_v<T>) {
        return {ArgumentClass::floating, sizeof(T)};
    } else if constexpr (std::is_integral_v<T>) {
        return {ArgumentClass::integer, sizeof(T)};
    } else {
        return {};
    }
}

template <class T>
constexpr ArgumentShape shape_of() {
    static_assert(!std::is_array_v<T> && !std::is_function_v<T>, "pass a device pointer, not an array or a function");
    if constexpr (std::is_same_v<T, DevicePointer> || std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
        return {sizeof(void*), ArgumentClass::pointer, alignof(void*), 0,
                element_of<std::remove_cv_t<std::remove_pointer_t<T>>>()};
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

/// What a T* points to.
template <class T>
inline constexpr ElementType element_type = detail::element_of<std::remove_cv_t<T>>();

/// The shape of a T as a kernel argument.
template <class T>
inline constexpr ArgumentShape argument_shape = detail::shape_of<detail::Launchable<T>>();

namespace detail {
/// The shapes of all arguments, in a row.
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
