// math.hpp on a device: the error of every function against the host's 80-bit functions, and its special values.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "tests/shared/kernel_device.hpp"

using namespace hsadrv;

namespace {

using Exact = long double;

/// Units in the last place between a result and the exact value.
template <class T>
double error_of(T result, Exact exact) {
    using Limits = std::numeric_limits<T>;
    constexpr double wrong = 1e30;
    if (std::isnan(result) || std::isnan(exact)) return std::isnan(result) && std::isnan(exact) ? 0 : wrong;
    const T rounded = static_cast<T>(exact);
    if (std::isinf(result) || std::isinf(rounded)) return result == rounded ? 0 : wrong;
    if (exact == 0) return result == 0 ? 0 : wrong;
    int exponent = 0;
    std::frexp(exact, &exponent);
    exponent = std::max(exponent, Limits::min_exponent);
    return static_cast<double>(std::fabs(static_cast<Exact>(result) - exact) /
                               std::ldexp(Exact{1}, exponent - Limits::digits));
}

struct Function {
    const char* name;
    Exact (*exact)(Exact x, Exact y);
    double bound;               ///< in double; 0.51 in float if it is larger
    double low = 1, high = -1;  ///< exponents of arguments where the function has much to do; default: any
    bool positive = false;      ///< the bound holds for positive arguments
};

const Function functions[] = {
    {"sqrt", [](Exact x, Exact) { return std::sqrt(x); }, 0.5005},
    {"rsqrt", [](Exact x, Exact) { return 1 / std::sqrt(x); }, 1.5},
    {"floor", [](Exact x, Exact) { return std::floor(x); }, 0, -2, 20},
    {"ceil", [](Exact x, Exact) { return std::ceil(x); }, 0, -2, 20},
    {"trunc", [](Exact x, Exact) { return std::trunc(x); }, 0, -2, 20},
    {"rint", [](Exact x, Exact) { return std::rint(x); }, 0, -2, 20},
    {"fabs", [](Exact x, Exact) { return std::fabs(x); }, 0},
    {"exp", [](Exact x, Exact) { return std::exp(x); }, 0.7, -6, 8},
    {"exp2", [](Exact x, Exact) { return std::exp2(x); }, 0.7, -6, 9},
    {"exp10", [](Exact x, Exact) { return ::exp10l(x); }, 0.7, -6, 7},
    {"expm1", [](Exact x, Exact) { return std::expm1(x); }, 1.5, -6, 8},
    {"log", [](Exact x, Exact) { return std::log(x); }, 0.51, -2, 2},
    {"log2", [](Exact x, Exact) { return std::log2(x); }, 0.51, -2, 2},
    {"log10", [](Exact x, Exact) { return std::log10(x); }, 0.51, -2, 2},
    {"log1p", [](Exact x, Exact) { return std::log1p(x); }, 0.7, -54, 2},
    {"sin", [](Exact x, Exact) { return std::sin(x); }, 1, -4, 34},
    {"cos", [](Exact x, Exact) { return std::cos(x); }, 1, -4, 34},
    {"tan", [](Exact x, Exact) { return std::tan(x); }, 2.5, -4, 34},
    {"asin", [](Exact x, Exact) { return std::asin(x); }, 2, -6, 0},
    {"acos", [](Exact x, Exact) { return std::acos(x); }, 2.5, -6, 0},
    {"atan", [](Exact x, Exact) { return std::atan(x); }, 0.7, -4, 4},
    {"sinh", [](Exact x, Exact) { return std::sinh(x); }, 2.5, -6, 9},
    {"cosh", [](Exact x, Exact) { return std::cosh(x); }, 2.5, -6, 9},
    {"tanh", [](Exact x, Exact) { return std::tanh(x); }, 2.5, -6, 5},
    {"asinh", [](Exact x, Exact) { return std::asinh(x); }, 2.5, -6, 30},
    {"acosh", [](Exact x, Exact) { return std::acosh(x); }, 2.5, 0, 30},
    {"atanh", [](Exact x, Exact) { return std::atanh(x); }, 2.5, -6, 0},
    {"cbrt", [](Exact x, Exact) { return std::cbrt(x); }, 0.7},
    {"tgamma", [](Exact x, Exact) { return std::tgamma(x); }, 8, -6, 8},
    {"lgamma", [](Exact x, Exact) { return std::lgamma(x); }, 5, -6, 40, true},
    {"fmin", [](Exact x, Exact y) { return std::fmin(x, y); }, 0},
    {"fmax", [](Exact x, Exact y) { return std::fmax(x, y); }, 0},
    {"copysign", [](Exact x, Exact y) { return std::copysign(x, y); }, 0},
    {"atan2", [](Exact x, Exact y) { return std::atan2(x, y); }, 0.7, -3, 3},
    {"hypot", [](Exact x, Exact y) { return std::hypot(x, y); }, 1, -3, 3},
    {"fmod", [](Exact x, Exact y) { return std::fmod(x, y); }, 0, -3, 40},
    {"pow", [](Exact x, Exact y) { return std::pow(x, y); }, 2, -3, 8},
};

/// Arguments of every exponent and both signs, half of them between the function's own exponents, and special ones.
template <class T>
std::vector<T> arguments(const Function& function, std::uint64_t seed) {
    using Limits = std::numeric_limits<T>;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> anywhere(Limits::min_exponent - Limits::digits, Limits::max_exponent - 0.01);
    const bool narrow = function.low < function.high;
    std::uniform_real_distribution<double> inside(narrow ? function.low : anywhere.a(),
                                                  narrow ? function.high : anywhere.b());
    constexpr T inf = Limits::infinity(), nan = Limits::quiet_NaN();
    std::vector<T> values = {0,
                             -T{0},
                             1,
                             -1,
                             2,
                             -2,
                             3,
                             T(0.5),
                             -T(0.5),
                             T(2.5),
                             inf,
                             -inf,
                             nan,
                             Limits::max(),
                             Limits::lowest(),
                             Limits::min(),
                             Limits::denorm_min(),
                             1000,
                             T(1e10),
                             -T(1e10)};
    while (values.size() < 2048) {
        const T x = static_cast<T>(std::exp2((random() & 1) != 0 ? anywhere(random) : inside(random)));
        values.push_back((random() & 1) != 0 || function.positive ? x : -x);
    }
    std::shuffle(values.begin() + 13, values.end(), random);
    return values;
}

template <class T>
std::vector<T> run(Device& device, const Kernel& kernel, const std::vector<T>& x, const std::vector<T>& y,
                   std::size_t results) {
    auto d_x = to_device(x, device.stream);
    auto d_y = to_device(y, device.stream);
    auto d_result = device_array<T>({results}, device.stream);
    kernel.launch(device.stream, {.grid = static_cast<std::uint32_t>(results), .workgroup = 256}, d_result, d_x, d_y,
                  static_cast<std::uint32_t>(results));
    return d_result.template copy_to_host<T>(device.stream);
}

template <class T>
void check_errors(const Function& function, const std::string& suffix, const std::string& level) {
    Device device;
    const Kernel kernel = device.kernel("math_cpp", level, function.name + suffix);
    const auto x = arguments<T>(function, 1), y = arguments<T>(function, 2);
    const auto results = run(device, kernel, x, y, x.size());
    const double bound = sizeof(T) == 4 ? std::min(function.bound, 0.51) : function.bound;
    double worst = 0;
    std::size_t wrong_zeros = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Exact exact = function.exact(x[i], y[i]);
        const double allowance = std::fabs(exact) < std::numeric_limits<T>::min() ? 1 : 0;
        const double error = error_of(results[i], exact) - allowance;
        if (error > bound) {
            CAPTURE(x[i], y[i], results[i], exact);
            CHECK(error <= bound);
        }
        worst = std::max(worst, error);
        wrong_zeros += exact == 0 && std::signbit(exact) != std::signbit(results[i]);
    }
    CHECK(worst <= bound);
    CHECK(wrong_zeros == 0);
}

}  // namespace

TEST_CASE("mathematical functions are within their error bounds", "[math]") {
    NEEDS_DEVICE();
    const auto& function = GENERATE(from_range(std::begin(functions), std::end(functions)));
    const auto level = GENERATE(as<std::string>(), "O0", "O2");
    CAPTURE(function.name, level);
    check_errors<double>(function, "_f64", level);
    check_errors<float>(function, "_f32", level);
}

TEST_CASE("arguments with the largest known errors are within the bounds", "[math]") {
    NEEDS_DEVICE();
    Device device;
    const struct {
        const char* name;
        double x, y;
    } rows[] = {{"tan", -0x1.2eb0fa38443cp+1, 0},
                {"acos", 0x1.fc323d89098dfp-1, 0},
                {"pow", 0x1.68fe1c68e5055p+0, 0x1.f72c756b75b42p+10},
                {"rsqrt", 0x1.02cb55a9bbd82p+580, 0},
                {"tanh", -0x1.e430607c55fd7p-5, 0}};
    for (const auto& row : rows) {
        const Function& function = *std::find_if(std::begin(functions), std::end(functions),
                                                 [&](const Function& f) { return f.name == std::string(row.name); });
        const auto results = run<double>(device, device.kernel("math_cpp", "O2", function.name + std::string("_f64")),
                                         {row.x}, {row.y}, 1);
        CAPTURE(row.name, row.x, row.y, results[0]);
        CHECK(error_of(results[0], function.exact(row.x, row.y)) <= function.bound);
    }
}

TEST_CASE("sincos returns what sin and cos return", "[math]") {
    NEEDS_DEVICE();
    Device device;
    const auto x = arguments<double>(functions[15], 3);
    const auto both = run(device, device.kernel("math_cpp", "O2", "sincos_f64"), x, x, 2 * x.size());
    const auto sines = run(device, device.kernel("math_cpp", "O2", "sin_f64"), x, x, x.size());
    const auto cosines = run(device, device.kernel("math_cpp", "O2", "cos_f64"), x, x, x.size());
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    std::size_t different = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        different += !same(both[2 * i], sines[i]) + !same(both[2 * i + 1], cosines[i]);
    CHECK(different == 0);
}

TEST_CASE("pow has the special values of ISO C", "[math]") {
    NEEDS_DEVICE();
    Device device;
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> some = {0,  -0.0, 1,    -1,  0.5,  -0.5, 2,     -2,    3,
                                      -3, 2.5,  -2.5, inf, -inf, nan,  1e300, -1e300};
    std::vector<double> x, y;
    for (const double base : some)
        for (const double exponent : some) {
            x.push_back(base);
            y.push_back(exponent);
        }
    const auto results = run(device, device.kernel("math_cpp", "O2", "pow_f64"), x, y, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double wanted = std::pow(x[i], y[i]);
        CAPTURE(x[i], y[i], results[i], wanted);
        if (std::isnan(wanted)) {
            CHECK(std::isnan(results[i]));
            continue;
        }
        CHECK(std::signbit(results[i]) == std::signbit(wanted));
        CHECK((results[i] == wanted || std::fabs(results[i] / wanted - 1) < 1e-15));
    }
}
