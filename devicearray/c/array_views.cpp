#include "devicearray/array_views.hpp"

#include <string>
#include <vector>

#include "devicearray/c/array.h"
#include "devicearray/c/given_array.hpp"
#include "devicearray/dtype_numpy.hpp"
#include "hsadrv/c_interop.hpp"
#include "hsadrv/error.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

Dims dims_of(const char* call, const char* name, const int64_t* numbers, std::uint32_t rank) {
    if (rank > Dims::max_rank)
        throw InvalidArgument(std::string(call) + ": " + std::to_string(rank) + " axes; there are at most 64");
    if (rank > 0) required(call, name, numbers);
    return Dims(std::span<const std::int64_t>(numbers, rank));
}

Index index_of(const char* call, const hsadrv_index& index) {
    const auto given = [&](std::uint32_t what, std::int64_t value) {
        return (index.given & what) != 0 ? std::optional(value) : std::nullopt;
    };
    switch (index.kind) {
        case HSADRV_INDEX_INTEGER:
            return index.start;
        case HSADRV_INDEX_SLICE:
            return Slice{given(HSADRV_INDEX_START, index.start), given(HSADRV_INDEX_STOP, index.stop),
                         given(HSADRV_INDEX_STEP, index.step)};
        case HSADRV_INDEX_NEW_AXIS:
            return newaxis;
        case HSADRV_INDEX_ELLIPSIS:
            return ellipsis;
        default:
            throw InvalidArgument(std::string(call) + ": there is no index kind " + std::to_string(index.kind) +
                                  "; use a hsadrv_index_kind");
    }
}

Order order_of(const char* call, char order) {
    switch (order) {
        case 'C':
            return Order::C;
        case 'F':
            return Order::F;
        case 'A':
            return Order::A;
        default:
            throw InvalidArgument(std::string(call) + ": the order is 'C', 'F' or 'A'");
    }
}

}  // namespace

hsadrv_result hsadrv_array_extent(const hsadrv_array* array, int64_t* begin_bytes, size_t* size_bytes) noexcept {
    return call("hsadrv_array_extent", [&](const char* name) {
        output(name, "begin_bytes", begin_bytes) = 0;
        output(name, "size_bytes", size_bytes) = 0;
        const ByteRange extent = GivenForm(name, "array", array).layout.extent();
        *begin_bytes = extent.begin;
        *size_bytes = static_cast<std::size_t>(extent.size_bytes());
    });
}

hsadrv_result hsadrv_array_slice(const hsadrv_array* array, const hsadrv_index* indices, size_t count,
                                 hsadrv_array* view) noexcept {
    return call("hsadrv_array_slice", [&](const char* name) {
        const GivenArray whole(name, "array", array, true);
        constexpr std::size_t most = 2 * HSADRV_ARRAY_MAX_RANK + 1;
        if (count > most)
            throw InvalidArgument(std::string(name) + ": " + std::to_string(count) + " indices; at most " +
                                  std::to_string(most));
        if (count > 0) required(name, "indices", indices);
        std::vector<Index> wanted;
        for (std::size_t i = 0; i < count; ++i) wanted.push_back(index_of(name, indices[i]));
        const SubLayout part = slice(whole.layout, wanted);
        write_view(name, view, whole, whole.dtype, part.layout, part.offset_bytes);
    });
}

hsadrv_result hsadrv_array_reshape(const hsadrv_array* array, const int64_t* shape, uint32_t rank, char order,
                                   hsadrv_array* view) noexcept {
    return call("hsadrv_array_reshape", [&](const char* name) {
        const GivenArray whole(name, "array", array, true);
        write_view(name, view, whole, whole.dtype,
                   whole.layout.reshape(dims_of(name, "shape", shape, rank), order_of(name, order)));
    });
}

hsadrv_result hsadrv_array_transpose(const hsadrv_array* array, const int32_t* axes, hsadrv_array* view) noexcept {
    return call("hsadrv_array_transpose", [&](const char* name) {
        const GivenArray whole(name, "array", array, true);
        if (axes == nullptr) return write_view(name, view, whole, whole.dtype, whole.layout.transpose());
        Dims order = Dims::filled(whole.layout.rank(), 0);
        for (int i = 0; i < order.rank(); ++i) order[i] = axes[i];
        write_view(name, view, whole, whole.dtype, whole.layout.transpose(order));
    });
}

hsadrv_result hsadrv_array_broadcast(const hsadrv_array* array, const int64_t* shape, uint32_t rank,
                                     hsadrv_array* view) noexcept {
    return call("hsadrv_array_broadcast", [&](const char* name) {
        const GivenArray whole(name, "array", array, true);
        write_view(name, view, whole, whole.dtype, whole.layout.broadcast_to(dims_of(name, "shape", shape, rank)));
    });
}

hsadrv_result hsadrv_array_field(const hsadrv_array* array, const char* field, hsadrv_array* view) noexcept {
    return call("hsadrv_array_field", [&](const char* name) {
        const GivenArray whole(name, "array", array, true);
        const Field& found = whole.dtype.field(required(name, "name", field));
        write_view(name, view, whole, found.type.base(), detail::layout_of_part(whole.layout, found.type),
                   static_cast<std::int64_t>(found.offset));
    });
}

hsadrv_result hsadrv_array_view(const hsadrv_array* array, const char* dtype, hsadrv_array* view) noexcept {
    return call("hsadrv_array_view", [&](const char* name) {
        const GivenArray whole(name, "array", array, true);
        const DType wanted = dtype_from_numpy(std::string_view(required(name, "dtype", dtype)));
        const Layout layout = whole.layout.view(static_cast<std::int64_t>(wanted.itemsize()));
        write_view(name, view, whole, wanted.base(), detail::layout_of_part(layout, wanted));
    });
}
