#include "hsadrv/kernel_args.hpp"

#include "tests/support/catch.hpp"

using namespace hsadrv;

namespace elsewhere {
struct Array {
    std::shared_ptr<float[]> data;
    friend DevicePointer kernel_argument(const Array& array) { return {array.data.get(), array.data}; }
};
struct Length {
    std::string unit;
    float metres;
    friend float kernel_argument(const Length& length) { return length.metres; }
};
enum class Mode : std::uint16_t { fast };
struct Complex {
    double re, im;
};
}  // namespace elsewhere

namespace {
template <class T>
constexpr bool is(std::uint32_t size_bytes, ArgumentClass what) {
    return argument_shape<T>.size_bytes == size_bytes && argument_shape<T>.what == what;
}
}  // namespace

TEST_CASE("the kernel argument of a C++ type is known at compile time", "[kernel_args]") {
    STATIC_REQUIRE(is<float*>(8, ArgumentClass::pointer));
    STATIC_REQUIRE(is<const void*>(8, ArgumentClass::pointer));
    STATIC_REQUIRE(is<std::nullptr_t>(8, ArgumentClass::pointer));
    STATIC_REQUIRE(is<bool>(1, ArgumentClass::integer));
    STATIC_REQUIRE(is<char>(1, ArgumentClass::integer));
    STATIC_REQUIRE(is<std::uint64_t>(8, ArgumentClass::integer));
    STATIC_REQUIRE(is<elsewhere::Mode>(2, ArgumentClass::integer));
    STATIC_REQUIRE(is<float>(4, ArgumentClass::floating));
    STATIC_REQUIRE(is<double>(8, ArgumentClass::floating));
    STATIC_REQUIRE(is<elsewhere::Complex>(16, ArgumentClass::object));
}

TEST_CASE("a type's own kernel_argument() defines the passed value", "[kernel_args]") {
    STATIC_REQUIRE(is<elsewhere::Array>(8, ArgumentClass::pointer));
    STATIC_REQUIRE(is<elsewhere::Length>(4, ArgumentClass::floating));
    const elsewhere::Array array{std::make_shared<float[]>(4)};
    const DevicePointer pointer = detail::launchable(array);
    CHECK(pointer.address == array.data.get());
    CHECK(array.data.use_count() == 2);
}

TEST_CASE("a value that holds memory is passed as the value", "[kernel_args]") {
    STATIC_REQUIRE(is<HeldValue<elsewhere::Complex>>(16, ArgumentClass::object));
    STATIC_REQUIRE(argument_shape<HeldValue<elsewhere::Complex>>.align_bytes == alignof(elsewhere::Complex));
    STATIC_REQUIRE(is<HeldValue<float>>(4, ArgumentClass::floating));
}

TEST_CASE("any matching bit of a mask accepts a kind", "[kernel_args]") {
    STATIC_REQUIRE(accepts(ArgumentClass::any_value, ArgumentClass::floating));
    STATIC_REQUIRE(accepts(ArgumentClass::integer | ArgumentClass::pointer, ArgumentClass::pointer));
    STATIC_REQUIRE_FALSE(accepts(ArgumentClass::any_value, ArgumentClass::pointer));
    STATIC_REQUIRE_FALSE(accepts(ArgumentClass::none, ArgumentClass::integer));
}
