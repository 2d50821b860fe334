#include "devicearray/dtype_dlpack.hpp"

#include <string>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

// DLDataTypeCode of dlpack.h.
constexpr struct {
    std::uint8_t code;
    Kind kind;
} codes[] = {{0, Kind::signed_integer},
             {1, Kind::unsigned_integer},
             {2, Kind::floating},
             {4, Kind::brain_floating},
             {5, Kind::complex},
             {6, Kind::boolean},
             // From DLPack 1.1 on.
             {7, Kind::float8_e3m4},
             {8, Kind::float8_e4m3},
             {9, Kind::float8_e4m3b11fnuz},
             {10, Kind::float8_e4m3fn},
             {11, Kind::float8_e4m3fnuz},
             {12, Kind::float8_e5m2},
             {13, Kind::float8_e5m2fnuz},
             {14, Kind::float8_e8m0fnu}};

std::string code_name(std::uint8_t code) {
    constexpr const char* names[] = {"kDLInt",           "kDLUInt",
                                     "kDLFloat",         "kDLOpaqueHandle",
                                     "kDLBfloat",        "kDLComplex",
                                     "kDLBool",          "kDLFloat8_e3m4",
                                     "kDLFloat8_e4m3",   "kDLFloat8_e4m3b11fnuz",
                                     "kDLFloat8_e4m3fn", "kDLFloat8_e4m3fnuz",
                                     "kDLFloat8_e5m2",   "kDLFloat8_e5m2fnuz",
                                     "kDLFloat8_e8m0fnu"};
    return "code " + std::to_string(code) + (code < std::size(names) ? std::string(" (") + names[code] + ")" : "");
}

}  // namespace

DType dtype_from_dlpack(DLPackType type) {
    const auto refuse = [&](const char* why) {
        throw InvalidArgument("dtype_from_dlpack(" + code_name(type.code) + ", " + std::to_string(type.bits) +
                              " bits, " + std::to_string(type.lanes) + " lanes): " + why);
    };
    if (type.lanes == 0) refuse("the number of lanes must be positive");
    for (const auto& row : codes) {
        if (row.code != type.code) continue;
        for (const DType& scalar : dtypes::all) {
            if (scalar.kind() == row.kind && scalar.itemsize() * 8 == type.bits)
                return type.lanes == 1 ? scalar : DType::subarray(scalar, Dims{type.lanes});
        }
        refuse("no supported element type has that many bits");
    }
    refuse("no supported element type has that code");
    return dtypes::uint8;
}

DLPackType dlpack_type(const DType& type) {
    const Dims lanes = type.subarray_shape();
    const DType scalar = type.base();
    const bool fits = lanes.rank() == 0 || (lanes.rank() == 1 && lanes[0] >= 1 && lanes[0] <= 0xffff);
    for (const auto& row : codes) {
        if (row.kind == scalar.kind() && fits) {
            return {row.code, static_cast<std::uint8_t>(scalar.itemsize() * 8),
                    static_cast<std::uint16_t>(lanes.rank() ? lanes[0] : 1)};
        }
    }
    throw InvalidArgument("dlpack_type: DLPack has no code for " + type.name() +
                          "; view the elements as uint8 or as one of the fields");
}

}  // namespace hsadrv
