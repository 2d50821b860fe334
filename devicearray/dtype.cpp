#include "devicearray/dtype.hpp"

#include <array>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

struct Row {
    DType type;
    std::string_view name;
};

constexpr std::array rows{
    Row{dtypes::boolean, "bool"},          Row{dtypes::int8, "int8"},
    Row{dtypes::int16, "int16"},           Row{dtypes::int32, "int32"},
    Row{dtypes::int64, "int64"},           Row{dtypes::uint8, "uint8"},
    Row{dtypes::uint16, "uint16"},         Row{dtypes::uint32, "uint32"},
    Row{dtypes::uint64, "uint64"},         Row{dtypes::float16, "float16"},
    Row{dtypes::bfloat16, "bfloat16"},     Row{dtypes::float32, "float32"},
    Row{dtypes::float64, "float64"},       Row{dtypes::complex64, "complex64"},
    Row{dtypes::complex128, "complex128"},
};

}  // namespace

std::string DType::name() const {
    for (const Row& row : rows) {
        if (row.type == *this) return std::string(row.name);
    }
    return std::string("unknown(") + static_cast<char>(kind_) + std::to_string(itemsize_) + ")";
}

DType DType::from_name(std::string_view name) {
    std::string known;
    for (const Row& row : rows) {
        if (row.name == name) return row.type;
        known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
    throw InvalidArgument("DType::from_name(\"" + std::string(name) + "\"): no such scalar type; there are " +
                          known);
}

}  // namespace hsadrv
