#include "hsadrv/launch/type_name.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace hsadrv;
using detail::element_of_pointer;
using detail::value_class;

TEST_CASE("the name of a scalar says its kind; another name accepts every value", "[type_name]") {
    CHECK(value_class("int") == ArgumentClass::integer);
    CHECK(value_class("ulong") == ArgumentClass::integer);
    CHECK(value_class("unsigned long long") == ArgumentClass::integer);
    CHECK(value_class("bool") == ArgumentClass::integer);
    CHECK(value_class("double") == ArgumentClass::floating);
    CHECK(value_class("half") == (ArgumentClass::integer | ArgumentClass::floating));
    for (const char* other : {"", "float4", "Pair", "float*", "int ", "int32"}) {
        CAPTURE(other);
        CHECK(value_class(other) == ArgumentClass::any_value);
    }
}

TEST_CASE("the name of a pointer says what it points to", "[type_name]") {
    struct Row {
        const char* name;
        ArgumentClass what;
        std::uint32_t size_bytes;
    };
    const Row rows[] = {
        {"float*", ArgumentClass::floating, 4},        {"const double *", ArgumentClass::floating, 8},
        {"uint*", ArgumentClass::integer, 4},          {"unsigned int*", ArgumentClass::integer, 4},
        {"float4*", ArgumentClass::floating, 4},       {"uchar16*", ArgumentClass::integer, 1},
        {"ulong2*", ArgumentClass::integer, 8},        {"uint16_t*", ArgumentClass::integer, 2},
        {"volatile long*", ArgumentClass::integer, 8},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        const ElementType element = element_of_pointer(row.name);
        CHECK(element.what == row.what);
        CHECK(element.size_bytes == row.size_bytes);
    }
    for (const char* unknown : {"", "*", "float", "float**", "void*", "Pair*", "image2d_t", "16*", "4*"}) {
        CAPTURE(unknown);
        CHECK_FALSE(element_of_pointer(unknown).known());
    }
}
