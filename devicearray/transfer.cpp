#include "devicearray/transfer.hpp"

#include "devicearray/host_view.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

[[noreturn]] void refuse(const char* call, const char* why, DType to_dtype, const Layout& to,
                         DType from_dtype, const Layout& from) {
    throw InvalidArgument(std::string(call) + ": " + why + ": source is " + from_dtype.name() + " with " +
                          from.to_string() + ", destination is " + to_dtype.name() + " with " +
                          to.to_string());
}

}  // namespace

std::size_t transfer_bytes(const char* call, DType to_dtype, const Layout& to, DType from_dtype,
                           const Layout& from) {
    const auto refuse_because = [&](const char* why) { refuse(call, why, to_dtype, to, from_dtype, from); };
    if (to_dtype != from_dtype) refuse_because("the element types differ");
    if (to.shape() != from.shape()) refuse_because("the shapes differ");
    if (!same_element_order(to, from))
        refuse_because("the elements do not both lie in C order or both in F order");
    return static_cast<std::size_t>(from.size_bytes());
}

void detail::throw_view_size(const Dims& shape, std::int64_t wanted, std::size_t given) {
    throw InvalidArgument("host_view: shape " + shape.to_string() + " has " + std::to_string(wanted) +
                          " elements, the range has " + std::to_string(given));
}

}  // namespace hsadrv
