#include "hsadrv/dim3.hpp"

#include "hsadrv/error.hpp"

namespace hsadrv {

std::string Dim3::text() const { return std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z); }

void Dim3::throw_extent(bool negative, std::uint64_t bits) {
    const std::string value = negative ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
    throw InvalidArgument("Dim3: extent " + value + " does not fit 32 bits");
}

}  // namespace hsadrv
