// The types of a kernel's arguments, stated in the code object. clang states them for OpenCL C alone; with this line a
// launch also refuses an array of doubles for a C++ kernel's `uint32_t*`.
//
//     HSADRV_KERNEL void saxpy(float* y, const float* x, float a, uint32_t n) { … }
//     HSADRV_ARGUMENT_TYPES(saxpy);
//
// Costs some bytes of the file, nothing at run time. The types are in the section .hsadrv.types, as texts that end in
// zero: the kernel's name, then its arguments' types as OpenCL C spells them, with commas between them, empty where it
// has no name for one. Zeros between such pairs are padding.
#pragma once

#include "kernel.hpp"

namespace hsadrv::detail {

template <class T>
struct Unqualified {
    using Type = T;
};
template <class T>
struct Unqualified<const T> : Unqualified<T> {};
template <class T>
struct Unqualified<volatile T> : Unqualified<T> {};
template <class T>
struct Unqualified<const volatile T> : Unqualified<T> {};

/// OpenCL C's name of a scalar; empty for other types.
template <class T>
constexpr const char* scalar_name() {
    if constexpr (__is_same(T, bool)) {
        return "bool";
    } else if constexpr (__is_integral(T)) {
        constexpr bool is_signed = T(-1) < T(0);
        switch (sizeof(T)) {
            case 1:
                return is_signed ? "char" : "uchar";
            case 2:
                return is_signed ? "short" : "ushort";
            case 4:
                return is_signed ? "int" : "uint";
            case 8:
                return is_signed ? "long" : "ulong";
            default:
                return "";
        }
    } else if constexpr (__is_same(T, _Float16)) {
        return "half";
    } else {
        return __is_same(T, float) ? "float" : __is_same(T, double) ? "double" : "";
    }
}

template <class T>
struct ArgumentName {
    static constexpr const char* text = scalar_name<T>();
    static constexpr bool pointer = false;
};
template <class T>
struct ArgumentName<T*> {
    static constexpr const char* text = scalar_name<typename Unqualified<T>::Type>();
    static constexpr bool pointer = *text != 0;
};
template <class T, unsigned space>
struct ArgumentName<T __attribute__((address_space(space)))*> : ArgumentName<T*> {};

constexpr unsigned longest_name = 8;  // "double*", and a comma

template <unsigned size>
struct TypesRecord {
    char text[size];
};

template <class Kernel>
struct ArgumentTypes;
template <class... Args>
struct ArgumentTypes<__attribute__((amdgpu_kernel)) void(Args...)> {
    template <unsigned size>
    static constexpr auto record(const char (&name)[size]) {
        TypesRecord<size + sizeof...(Args) * longest_name + 1> made{};
        char* to = made.text;
        for (const char letter : name) *to++ = letter;
        [[maybe_unused]] const auto add = [&](const char* text, bool pointer, bool first) {
            if (!first) *to++ = ',';
            while (*text) *to++ = *text++;
            if (pointer) *to++ = '*';
        };
        [[maybe_unused]] unsigned index = 0;
        (add(ArgumentName<Args>::text, ArgumentName<Args>::pointer, index++ == 0), ...);
        return made;
    }
};

}  // namespace hsadrv::detail

/// After the kernel's definition, in its namespace scope.
#define HSADRV_ARGUMENT_TYPES(kernel)                                                       \
    __attribute__((used, section(".hsadrv.types"))) static constexpr auto kernel##_types_ = \
        hsadrv::detail::ArgumentTypes<decltype(kernel)>::record(#kernel)
