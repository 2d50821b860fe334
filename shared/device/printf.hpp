// printf for kernels in C++.
//
//     hsadrv::printf("work-item %u: %s = %.3f\n", i, name, x);
//
// The format is C's, but for %n and wide characters; -Wformat checks it from clang 19 on. Each active work-item prints
// its own text, whole: texts of several do not mix, and those of a wave are in the order of its lanes. A pointer to
// char is a text: print its address as a void*. The host writes to its standard output, or to a function of its own
// (hsadrv/kernel_output.hpp). The call returns when the host has the text: the number of its bytes; -1 if it could not
// be written, or if the kernel was launched by a runtime without hostcalls.
#pragma once

#include "hostcall.hpp"

namespace hsadrv {

namespace detail {

template <class T>
HSADRV_DEVICE auto message_part(T value) {
    if constexpr (__is_floating_point(T))
        return MessageNumber{__builtin_bit_cast(uint64_t, static_cast<double>(value))};
    else if constexpr (__is_integral(T) || __is_enum(T))
        return MessageNumber{static_cast<uint64_t>(value)};
    else
        return MessageNumber{reinterpret_cast<uint64_t>(value)};
}
HSADRV_DEVICE MessageText message_part(const char* text) { return MessageText(text); }
HSADRV_DEVICE MessageText message_part(char* text) { return MessageText(text); }

enum class PrintTo : uint64_t { standard_output = 0, standard_error = 1 };

template <class... Args>
HSADRV_CONVERGENT int print_to(PrintTo where, const char* format, Args... args) {
    const HostcallBufferPointer buffer = hostcall_buffer();
    if (buffer == nullptr) return -1;
    return static_cast<int>(send_message(buffer, hostcall_print, MessageNumber{static_cast<uint64_t>(where)},
                                         MessageText(format), message_part(args)...));
}

}  // namespace detail

// Older clangs compare a float or a char, which C promotes, with the format.
#if __clang_major__ >= 19
#define HSADRV_PRINTF_FORMAT [[gnu::format(printf, 1, 2)]]
#else
#define HSADRV_PRINTF_FORMAT
#endif
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"  // GCC checks no templates
template <class... Args>
HSADRV_PRINTF_FORMAT HSADRV_CONVERGENT int printf(const char* format, Args... args) {
    return detail::print_to(detail::PrintTo::standard_output, format, args...);
}

/// The same to standard error.
template <class... Args>
HSADRV_PRINTF_FORMAT HSADRV_CONVERGENT int print_error(const char* format, Args... args) {
    return detail::print_to(detail::PrintTo::standard_error, format, args...);
}
#pragma clang diagnostic pop
#undef HSADRV_PRINTF_FORMAT

}  // namespace hsadrv
