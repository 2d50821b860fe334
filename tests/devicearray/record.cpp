// Structs as record types, at compile time.
#include "devicearray/record.hpp"

#include <complex>

#include "tests/support/catch.hpp"

using namespace hsadrv;

namespace particles {
struct Charge {
    std::int8_t sign;
    float amount;
};
struct Particle {
    double position[3];
    std::array<std::array<std::int16_t, 2>, 4> cells;
    Charge charges[2];
    std::complex<float> phase;
    bool alive;
};
#pragma pack(push, 1)
struct Packed {
    std::int8_t a;
    std::int32_t b;
};
#pragma pack(pop)
struct Sparse {
    std::int32_t named;
    std::int32_t unnamed;
};
struct Many {
    char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z;
};
}  // namespace particles

HSADRV_RECORD(particles::Charge, sign, amount);
HSADRV_RECORD(particles::Particle, position, cells, charges, phase, alive);
HSADRV_RECORD(particles::Packed, a, b);
HSADRV_RECORD(particles::Sparse, named);
HSADRV_RECORD(particles::Many, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z);

using namespace particles;

static_assert(ArrayElement<Particle>);
static_assert(dtype_of<Particle>().itemsize() == sizeof(Particle));
static_assert(dtype_of<const Particle>().find_field("phase")->offset == offsetof(Particle, phase));
static_assert(dtype_of<Particle>().find_field("cells")->type.subarray_shape() == Dims{4, 2});
static_assert(dtype_of<Particle>() == dtype_of<Particle>() && dtype_of<Particle>() != dtype_of<Charge>());
static_assert(dtype_of<Charge>().is_aligned_record() && dtype_of<Charge>().alignment() == 4);
static_assert(!dtype_of<Packed>().is_aligned_record() && dtype_of<Packed>().alignment() == 1);

TEST_CASE("a struct's type equals the record made from its description at run time", "[dtype]") {
    const DType charge = DType::record({{"sign", dtypes::int8}, {"amount", dtypes::float32}}, {.aligned = true});
    CHECK(dtype_of<Charge>() == charge);
    const DType particle = DType::record({{"position", DType::subarray(dtypes::float64, {3})},
                                          {"cells", DType::subarray(dtypes::int16, {4, 2})},
                                          {"charges", DType::subarray(charge, {2})},
                                          {"phase", dtypes::complex64},
                                          {"alive", dtypes::boolean}},
                                         {.aligned = true});
    CHECK(dtype_of<Particle>() == particle);
    CHECK(dtype_of<Packed>() == DType::record({{"a", dtypes::int8}, {"b", dtypes::int32}}));
}

TEST_CASE("unnamed members are padding, and there may be many members", "[dtype]") {
    CHECK(dtype_of<Sparse>().itemsize() == 8);
    CHECK(dtype_of<Sparse>().fields().size() == 1);
    CHECK(dtype_of<Many>().fields().size() == 26);
    CHECK(dtype_of<Many>().field("z").offset == 25);
}

TEST_CASE("a struct's type prints as NumPy prints it", "[dtype]") {
    CHECK(dtype_of<Charge>().name() ==
          "{'names': ['sign', 'amount'], 'formats': ['i1', '<f4'], 'offsets': [0, 4], 'itemsize': 8, "
          "'aligned': True}");
    CHECK(dtype_of<Packed>().name() == "[('a', 'i1'), ('b', '<i4')]");
}
