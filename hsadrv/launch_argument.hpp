// LaunchArgument: a kernel argument whose type is known at run time.
//
//     std::vector<LaunchArgument> arguments = {
//         LaunchArgument::pointer({y, {}, 0, element_type<float>}),       // device memory, and what is there
//         LaunchArgument::value(bytes, ArgumentClass::floating),          // the bytes of a number, and its kind
//         LaunchArgument::of(n)};                                         // or a C++ value
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, arguments);
//
// For runtimes and languages that decide at run time what they launch. Arguments are checked as those of a C++ call
// are: count, sizes, pointer or value, kind of number, elements of pointers where the metadata state them, and whether
// the agent can access the memory. What is not known is not compared. Borrows: the bytes of values, until the call that
// takes the argument returns. Keeps alive: DevicePointer::keep_alive. Thread safety: plain values.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "hsadrv/kernel_args.hpp"

namespace hsadrv {

namespace detail {
/// memcpy; inlined for the sizes of most arguments.
inline void store_bytes(std::byte* to, const void* from, std::size_t size_bytes) noexcept {
    if (size_bytes == 8) {
        std::memcpy(to, from, 8);
    } else if (size_bytes == 4) {
        std::memcpy(to, from, 4);
    } else {
        std::memcpy(to, from, size_bytes);
    }
}
}  // namespace detail

class LaunchArgument {
  public:
    /// A number or an object. `what`: its kind, or several that it may have; `any_value | pointer` if nothing is known.
    /// Borrows: `bytes`.
    static LaunchArgument value(std::span<const std::byte> bytes,
                                ArgumentClass what = ArgumentClass::any_value) noexcept {
        return {{static_cast<std::uint32_t>(bytes.size()), what}, bytes.data(), {}};
    }

    /// A pointer. The kernel receives memory.address.
    static LaunchArgument pointer(DevicePointer memory) noexcept {
        const ElementType element = memory.element;
        return {{sizeof(void*), ArgumentClass::pointer, alignof(void*), 0, element}, nullptr, std::move(memory)};
    }

    /// A C++ value, as Kernel::launch takes it. Borrows: `value`, unless it is a pointer.
    template <class T>
    static LaunchArgument of(const T& value) {
        using Given = detail::Launchable<T>;
        if constexpr (std::is_same_v<Given, DevicePointer>) {
            return pointer(detail::launchable(value));
        } else if constexpr (std::is_pointer_v<Given> || std::is_null_pointer_v<Given>) {
            return pointer({detail::launchable(value), {}, 0, argument_shape<T>.element});
        } else {
            static_assert(!detail::HasKernelArgument<T>, "pass the value of kernel_argument(), and keep it");
            return {argument_shape<T>, &value, {}};
        }
    }

    const ArgumentShape& shape() const noexcept { return shape_; }
    /// The memory of a pointer().
    const DevicePointer& memory() const noexcept { return memory_; }

    /// Writes shape().size_bytes bytes.
    void store(std::byte* to) const noexcept {
        detail::store_bytes(to, bytes_ ? bytes_ : static_cast<const void*>(&memory_.address), shape_.size_bytes);
    }

  private:
    LaunchArgument(ArgumentShape shape, const void* bytes, DevicePointer memory) noexcept
        : shape_(shape), bytes_(bytes), memory_(std::move(memory)) {}

    ArgumentShape shape_;
    const void* bytes_;  // null: a pointer
    DevicePointer memory_;
};

namespace detail {
/// True for the one argument of a launch that is a span, an array or a vector of LaunchArgument.
template <class... Args>
inline constexpr bool are_launch_arguments = false;
template <class Arg>
inline constexpr bool are_launch_arguments<Arg> = std::is_convertible_v<const Arg&, std::span<const LaunchArgument>>;
}  // namespace detail

}  // namespace hsadrv
