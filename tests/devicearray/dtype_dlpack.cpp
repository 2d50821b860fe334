#include "devicearray/dtype_dlpack.hpp"

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;

TEST_CASE("every scalar survives conversion to its DLPack type and back", "[dtype]") {
    for (const DType& type : dtypes::all) {
        CAPTURE(type.name());
        const DLPackType described = dlpack_type(type);
        CHECK(described.bits == type.itemsize() * 8);
        CHECK(described.lanes == 1);
        CHECK(dtype_from_dlpack(described) == type);
    }
    CHECK(dlpack_type(dtypes::bfloat16) == DLPackType{4, 16, 1});
    CHECK(dlpack_type(dtypes::float8_e4m3fn) == DLPackType{10, 8, 1});
    CHECK(dlpack_type(dtypes::complex128) == DLPackType{5, 128, 1});
    CHECK(dlpack_type(dtypes::boolean) == DLPackType{6, 8, 1});
}

TEST_CASE("lanes become a subarray", "[dtype]") {
    const DType vector = DType::subarray(dtypes::float32, {4});
    CHECK(dtype_from_dlpack({2, 32, 4}) == vector);
    CHECK(dlpack_type(vector) == DLPackType{2, 32, 4});
}

TEST_CASE("types that one side lacks are refused", "[dtype]") {
    const std::pair<DLPackType, const char*> rows[] = {
        {{0, 7, 1}, "kDLInt"},           {{2, 128, 1}, "128 bits"}, {{1, 1, 1}, "kDLUInt"},
        {{3, 64, 1}, "kDLOpaqueHandle"}, {{2, 32, 0}, "lanes"},     {{10, 16, 1}, "kDLFloat8_e4m3fn"},
        {{17, 4, 1}, "code 17"},         {{255, 8, 1}, "code 255"}, {{5, 32, 1}, "kDLComplex"},
    };
    for (const auto& [type, says] : rows) {
        CAPTURE(says);
        CHECK_THROWS_AS(dtype_from_dlpack(type), InvalidArgument);
        CHECK_THROWS_WITH(dtype_from_dlpack(type), test_support::Contains(says));
    }
    const DType without[] = {DType::record({{"x", dtypes::int8}}), DType::raw(4), DType::subarray(dtypes::int8, {2, 2}),
                             DType::subarray(dtypes::int8, {70000}), DType::subarray(dtypes::int8, {0})};
    for (const DType& type : without) {
        CAPTURE(type.name());
        CHECK_THROWS_AS(dlpack_type(type), InvalidArgument);
    }
}
