// hsadrv_compile: what it makes is loaded, what it refuses is named.
#include <cstring>
#include <string>

#include "hsadrv/hsadrv.h"
#include "tests/hsadrv/compile_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace compile_test;
using test_support::Contains;

namespace {

/// No device: a target is given.
hsadrv_compile_options options_of_gfx90a() {
    hsadrv_compile_options options{};
    options.struct_size = sizeof options;
    options.target = "gfx90a";
    options.clang = KERNEL_CLANG;
    return options;
}

hsadrv_result compile_text(const char* source, const hsadrv_compile_options& options, hsadrv_compiled& made,
                           std::uint64_t timeout_ns = HSADRV_FOREVER) {
    return hsadrv_compile(nullptr, source, std::strlen(source), &options, timeout_ns, &made);
}

}  // namespace

TEST_CASE("C compiles for a target, with options, and keeps the code object", "[c][compile]") {
    const OwnCache cache;
    auto options = options_of_gfx90a();
    const char* const defines[] = {"FACTOR=3"};
    options.language = HSADRV_LANGUAGE_OPENCL;
    options.defines = defines;
    options.define_count = 1;
    hsadrv_compiled made = nullptr;
    REQUIRE(compile_text("#warning \"look here\"\n__kernel void f(__global int* p) { *p *= FACTOR; }", options, made) ==
            HSADRV_SUCCESS);
    const void* code = nullptr;
    std::size_t size = 0;
    CHECK(hsadrv_compiled_code(made, &code, &size) == HSADRV_SUCCESS);
    REQUIRE(size > 64);
    CHECK(std::memcmp(code, "\177ELF", 4) == 0);
    const char* text = nullptr;
    CHECK(hsadrv_compiled_messages(made, &text) == HSADRV_SUCCESS);
    CHECK_THAT(text, Contains("look here"));
    CHECK(hsadrv_compiled_destroy(made) == HSADRV_SUCCESS);
    CHECK(hsadrv_compiled_code(made, &code, &size) == HSADRV_ERROR_INVALID_HANDLE);
    CHECK_THAT(hsadrv_last_error_message(), Contains("a compilation that was destroyed"));
    CHECK(code == nullptr);
}

TEST_CASE("C is told why a source does not compile", "[c][compile][error]") {
    const OwnCache cache;
    hsadrv_compiled made = nullptr;
    auto options = options_of_gfx90a();
    options.name = "cell 7";
    CHECK(compile_text("not C++", options, made) == HSADRV_ERROR_COMPILE);
    CHECK(made == nullptr);
    CHECK_THAT(hsadrv_last_error_message(), Contains("cell 7:1:1: error"));
    options.clang = "/nowhere/clang";
    CHECK(compile_text("", options, made) == HSADRV_ERROR_NO_COMPILER);
    CHECK_THAT(hsadrv_last_error_message(), Contains("/nowhere/clang"));
    CHECK(std::string(hsadrv_result_name(HSADRV_ERROR_NO_COMPILER)) == "HSADRV_ERROR_NO_COMPILER");

    options = options_of_gfx90a();
    CHECK(compile_text("int never_seen_before_c_compile;", options, made, 0) == HSADRV_ERROR_TIMEOUT);
    options.language = 4;
    CHECK(compile_text("", options, made) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(hsadrv_last_error_message(), Contains("language 4"));
    options = options_of_gfx90a();
    options.target = "gfx1";
    CHECK(compile_text("", options, made) != HSADRV_SUCCESS);
    options.target = nullptr;
    CHECK(compile_text("", options, made) == HSADRV_ERROR_INVALID_HANDLE);
    CHECK_THAT(hsadrv_last_error_message(), Contains("'device' is null"));
    options = options_of_gfx90a();
    options.define_count = 1;
    CHECK(compile_text("", options, made) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(hsadrv_last_error_message(), Contains("'defines' is null"));
    CHECK(hsadrv_compile(nullptr, nullptr, 0, &options, 0, &made) == HSADRV_ERROR_INVALID_ARGUMENT);
}
