#include "devicearray/assign.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "devicearray/array_views.hpp"
#include "devicearray/holding.hpp"
#include "devicearray/slice.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::detail {
namespace {

constexpr std::int64_t piece_bytes = 16 << 20;

/// Memory of the CPU for elements in C order.
struct Piece {
    Piece(const Dims& shape, const DType& type)
        : dtype(type),
          layout(Layout::contiguous(shape, static_cast<std::int64_t>(type.itemsize()))),
          bytes(static_cast<std::size_t>(layout.size_bytes())) {}
    TransferEnd end() const { return {bytes.data(), dtype, layout, nobody}; }
    Elements elements() { return {bytes.data(), dtype, layout}; }

    const DType& dtype;
    Layout layout;
    std::vector<std::byte> bytes;
    const std::shared_ptr<const void> nobody = {};
};

/// All of the source is read before anything is written.
void convert_on_host(const char* call, const TransferEnd& to, const TransferEnd& from, Stream& stream,
                     Deadline deadline) {
    Piece source(from.layout.shape(), from.dtype), result(to.layout.shape(), to.dtype);
    transfer(call, source.end(), from, stream, deadline);
    stream.synchronize(deadline);
    convert(result.elements(), source.elements());
    transfer(call, to, result.end(), stream, deadline);
    stream.synchronize(deadline);
}

/// Whether the two may have memory in common.
bool may_overlap(const TransferEnd& to, const TransferEnd& from) {
    const ByteRange a = to.layout.extent(), b = from.layout.extent();
    const auto first = [](const TransferEnd& end, const ByteRange& range) {
        return static_cast<const std::byte*>(end.data) + range.begin;
    };
    return first(to, a) < first(from, b) + b.size_bytes() && first(from, b) < first(to, a) + a.size_bytes();
}

std::string text_of(const TransferEnd& end) { return end.dtype.name() + " with " + end.layout.to_string(); }

}  // namespace

void fill(const char* call, const TransferEnd& to, const void* value, Stream& stream, Deadline deadline) {
    require_destination(call, to.dtype, to.layout);
    const Layout one = Layout::contiguous({}, to.layout.itemsize());
    const std::shared_ptr<const void> nobody;
    if (!to.layout.is_contiguous())
        return transfer(call, to, {value, to.dtype, one.broadcast_to(to.layout.shape()), nobody}, stream, deadline);
    if (to.layout.size() == 0) return;
    Holding holding(stream);
    holding.add(to.keep_alive);
    stream.fill_async(const_cast<void*>(to.data), static_cast<std::size_t>(to.layout.size_bytes()),
                      {static_cast<const std::byte*>(value), to.dtype.itemsize()}, deadline);
}

void assign(const char* call, const TransferEnd& to, const TransferEnd& from, Casting casting, Stream& stream,
            Deadline deadline) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidArgument(std::string(call) + ": " + why + "; the destination is " + text_of(to) + ", the source " +
                              text_of(from));
    };
    require_destination(call, to.dtype, to.layout);
    if (!can_cast(from.dtype, to.dtype, casting)) {
        static constexpr const char* names[] = {"no", "safe", "same-kind", "unsafe"};
        refuse(can_cast(from.dtype, to.dtype, Casting::unsafe)
                   ? std::string("a conversion of the type is not allowed by the casting '") +
                         names[static_cast<int>(casting)] + "'"
                   : "there is no conversion between the types");
    }
    Layout narrow = from.layout;  // NumPy ignores leading axes of one element
    while (narrow.rank() > to.layout.rank() && narrow.shape()[0] == 1) narrow = slice(narrow, {0}).layout;
    const Layout wide = narrow.broadcast_to(to.layout.shape());
    const TransferEnd source{from.data, from.dtype, wide, from.keep_alive};
    if (from.dtype == to.dtype) return transfer(call, to, source, stream, deadline);
    if (stream.capturing())
        refuse("the stream is being captured, and the CPU, which converts, takes no part in a replay");
    if (to.layout.size() == 0) return;
    int axis = 0;
    for (int i = 1; i < to.layout.rank(); ++i)
        if (to.layout.shape()[i] > to.layout.shape()[axis]) axis = i;
    const std::int64_t bytes = std::max(to.layout.size_bytes(), wide.size_bytes());
    if (to.layout.rank() == 0 || bytes <= piece_bytes || may_overlap(to, source))
        return convert_on_host(call, to, source, stream, deadline);
    const std::int64_t pieces = bytes / piece_bytes + 1, extent = to.layout.shape()[axis];
    const std::int64_t section = (extent + pieces - 1) / pieces;
    const std::vector<SubLayout> targets = split(to.layout, section, axis), sources = split(wide, section, axis);
    const auto part = [](const TransferEnd& end, const SubLayout& part) -> TransferEnd {
        return {static_cast<const std::byte*>(end.data) + part.offset_bytes, end.dtype, part.layout, end.keep_alive};
    };
    for (std::size_t i = 0; i < targets.size(); ++i)
        convert_on_host(call, part(to, targets[i]), part(source, sources[i]), stream, deadline);
}

}  // namespace hsadrv::detail
