#include "hsadrv/compile/advice.hpp"

#include <regex>

namespace hsadrv::detail {

std::string advice_on(const std::string& said) {
    // Messages of the back end (clang 16: "unsupported libcall legalization"), the linker, and the C++ and OpenCL C
    // front ends.
    static const std::regex mathematics(
        "no libcall available for f|unsupported libcall legalization|"
        "(undefined (hidden )?symbol: |undeclared identifier '|undeclared function '|implicit declaration of "
        "function ')"
        "(a?(sin|cos|tan)h?|atan2|exp(2|10|m1)?|log(2|10|1p)?|pow|cbrt|hypot|erfc?|[lt]gamma|fmod|remainder|"
        "sincos)f?\\b");
    if (!std::regex_search(said, mathematics)) return "";
    return "no math library is linked. For float, use the GPU's instructions, such "
           "as "
           "__builtin_amdgcn_exp2f, __builtin_amdgcn_logf (base 2) and __builtin_amdgcn_sinf (of x / 2 pi); "
           "for double and "
           "for exact results, link ROCm's device libraries: docs/guide/compile.md, \"Use mathematical "
           "functions\"";
}

std::string warning_on(unsigned clang_major, std::string_view level) {
    if (clang_major > 16 || level != "0") return "";
    return "clang 16 at -O0 generates wrong code where lanes diverge and reconverge; use -O1 or higher, or clang 17 or "
           "newer (docs/guide/compile.md)";
}

}  // namespace hsadrv::detail
