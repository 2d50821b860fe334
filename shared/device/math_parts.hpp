// Parts of math.hpp: sums and products with their rounding errors, and polynomials.
//
// Every step rounds as IEEE 754 requires, whatever the caller's options for contraction are. Source: T. J. Dekker, "A
// floating-point technique for extending the available precision" (1971); D. E. Knuth, "The Art of Computer
// Programming", volume 2, 4.2.2.
#pragma once

#include "kernel.hpp"

/// At the start of a function whose additions and products must not be reordered or fused.
#define HSADRV_AS_WRITTEN _Pragma("clang fp contract(off) reassociate(off)")

namespace hsadrv::detail {

inline constexpr double infinity = __builtin_huge_val();
inline constexpr double not_a_number = __builtin_nan("");

/// An unevaluated sum: about 106 bits.
struct TwoDoubles {
    double high, low;
};

HSADRV_DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
HSADRV_DEVICE double magnitude(double x) { return __builtin_fabs(x); }

/// a + b, exactly. |a| >= |b|, or a is 0.
HSADRV_DEVICE TwoDoubles sum_of_ordered(double a, double b) {
    HSADRV_AS_WRITTEN
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

/// a + b, exactly.
HSADRV_DEVICE TwoDoubles sum_of(double a, double b) {
    HSADRV_AS_WRITTEN
    const double sum = a + b;
    const double b_part = sum - a;
    const double a_part = sum - b_part;
    return {sum, (a - a_part) + (b - b_part)};
}

/// a * b, exactly, unless it underflows.
HSADRV_DEVICE TwoDoubles product_of(double a, double b) {
    HSADRV_AS_WRITTEN
    const double product = a * b;
    return {product, fused(a, b, -product)};
}

/// a * b with an error of about 2^-104.
HSADRV_DEVICE TwoDoubles product_of(TwoDoubles a, TwoDoubles b) {
    const TwoDoubles product = product_of(a.high, b.high);
    return sum_of_ordered(product.high, fused(a.low, b.high, fused(a.high, b.low, product.low)));
}

/// The coefficients follow from the constant term up.
HSADRV_DEVICE double polynomial(double, double constant) { return constant; }
template <class... Rest>
HSADRV_DEVICE double polynomial(double x, double constant, Rest... rest) {
    return fused(x, polynomial(x, rest...), constant);
}

/// 1 / n!
consteval double inverse_factorial(int n) {
    double product = 1;  // exact up to 22!
    for (int i = 2; i <= n; ++i) product *= i;
    return 1 / product;
}

}  // namespace hsadrv::detail
