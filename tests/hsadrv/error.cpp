// Errors: the type gives the kind, the message the call and the remedy.
#include "hsadrv/error.hpp"

#include "tests/support/catch.hpp"

using namespace hsadrv;
using test_support::Contains;

TEST_CASE("success throws no exception and formats no text", "[error]") {
    check(HSA_STATUS_SUCCESS, "call()");
    check(HSA_STATUS_INFO_BREAK, "call()");
    bool described = false;
    check(HSA_STATUS_SUCCESS, [&] {
        described = true;
        return std::string("call()");
    });
    CHECK_FALSE(described);
}

TEST_CASE("a status becomes the matching exception type, with its name and the call", "[error]") {
    CHECK_THROWS_AS(check(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "f()"), OutOfMemory);
    CHECK_THROWS_AS(check(HSA_STATUS_ERROR_INVALID_ARGUMENT, "f()"), InvalidArgument);
    CHECK_THROWS_AS(check(HSA_STATUS_ERROR_INVALID_AGENT, "f()"), InvalidArgument);
    CHECK_THROWS_AS(check(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "f()"), InvalidCodeObject);
    CHECK_THROWS_WITH(check(HSA_STATUS_ERROR, "f(7 B)"), Contains("f(7 B): HSA_STATUS_ERROR"));
    CHECK_THROWS_WITH(check(HSA_STATUS_ERROR_EXCEPTION, [] { return std::string("g()"); }),
                      Contains("g(): HSA_STATUS_ERROR_EXCEPTION"));
    CHECK_THROWS_WITH(throw_status(HSA_STATUS_ERROR, "f()", "try h()"), Contains("; try h()"));
}

TEST_CASE("an error keeps its status", "[error]") {
    try {
        throw_status(HSA_STATUS_ERROR_INVALID_QUEUE, "f()");
        FAIL("no exception");
    } catch (const Error& error) {
        CHECK(error.status() == HSA_STATUS_ERROR_INVALID_QUEUE);
    }
}

TEST_CASE("statuses of the AMD extension and unknown statuses have names", "[error]") {
    CHECK(status_name(static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT)) == "HSA_STATUS_ERROR_MEMORY_FAULT");
    CHECK(status_name(static_cast<hsa_status_t>(0x1bee)) == "hsa_status_t 0x1bee");
}
