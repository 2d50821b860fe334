#include "devicearray/host_view.hpp"

#include "hsadrv/error.hpp"

namespace hsadrv {

void detail::throw_view_size(const Dims& shape, std::int64_t wanted, std::size_t given) {
    throw InvalidArgument("host_view: shape " + shape.to_string() + " has " + std::to_string(wanted) +
                          " elements, the range has " + std::to_string(given));
}

}  // namespace hsadrv
