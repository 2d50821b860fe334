#include "devicearray/c/given_array.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <string>

#include "devicearray/array_views.hpp"
#include "devicearray/dtype_numpy.hpp"
#include "devicearray/python_literal.hpp"
#include "hsadrv/c_interop.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv::c {
namespace {

constexpr std::uint32_t known_flags = HSADRV_ARRAY_STRIDED | HSADRV_ARRAY_READ_ONLY | HSADRV_ARRAY_ON_GPU;
static_assert(HSADRV_ARRAY_MAX_RANK == Dims::max_rank);

std::string hex(std::uint64_t number) {
    std::ostringstream text;
    text << "0x" << std::hex << number;
    return text.str();
}
std::string hex(const void* address) { return hex(reinterpret_cast<std::uintptr_t>(address)); }

/// A text that stays. Types are few.
const char* interned(const std::string& text) {
    static auto* const mutex = new std::mutex;  // never destroyed: the texts are the program's
    static auto* const texts = new std::set<std::string>;
    const std::lock_guard held(*mutex);
    return texts->insert(text).first->c_str();
}

/// As descriptions are written: names tell more of small floats, lists more of records.
std::string description_of(const DType& dtype) {
    if (dtype.is_extension()) return dtype.name();
    return dtype.is_record() || dtype.is_subarray() ? numpy_text(dtype) : typestr(dtype);
}

hsadrv_array whole_of(const char* call, const char* name, const hsadrv_array* array) {
    return read_structure(call, name, required(call, name, array), sizeof(hsadrv_array));
}

Layout layout_of(const std::string& what, const hsadrv_array& array, const DType& dtype) {
    if (array.rank > HSADRV_ARRAY_MAX_RANK)
        throw InvalidArgument(what + ": " + std::to_string(array.rank) + " axes; there are at most 64");
    const Dims shape(std::span<const std::int64_t>(array.shape, array.rank));
    const auto itemsize = static_cast<std::int64_t>(dtype.itemsize());
    if ((array.flags & HSADRV_ARRAY_STRIDED) == 0) return Layout::contiguous(shape, itemsize);
    return Layout::strided(shape, Dims(std::span<const std::int64_t>(array.strides_bytes, array.rank)), itemsize);
}

DType dtype_of(const std::string& what, const char* dtype) {
    if (dtype == nullptr) throw InvalidArgument(what + ": the dtype is null");
    return dtype_from_numpy(std::string_view(dtype));
}

}  // namespace

GivenForm::GivenForm(const char* call, const char* name, const hsadrv_array* array)
    : given(whole_of(call, name, array)),
      dtype(dtype_of(std::string(call) + "(" + name + ")", given.dtype)),
      layout(layout_of(std::string(call) + "(" + name + ")", given, dtype)) {
    if ((given.flags & ~known_flags) != 0)
        throw InvalidArgument(std::string(call) + "(" + name + "): flags " + hex(given.flags) + " are not all known");
    if (!dtype.is_subarray()) return;
    layout = detail::layout_of_part(layout, dtype);
    dtype = DType(dtype.base());
}

GivenArray::GivenArray(const char* call, const char* name, const hsadrv_array* array, bool for_view)
    : GivenForm(call, name, array), data(given.data) {
    const std::string what = std::string(call) + "(" + name + ")";
    const ByteRange extent = layout.extent();
    if (extent.size_bytes() == 0) return;
    if (data == nullptr && for_view) return;
    if (data == nullptr) throw InvalidArgument(what + ": data is null, and the array has elements");
    if (given.memory == nullptr) return;
    MemoryOf memory = memory_of(call, (std::string(name) + "->memory").c_str(), given.memory);
    const auto first = reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(extent.begin);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data);
    const auto bytes = static_cast<std::size_t>(extent.size_bytes());
    if (first < begin || first - begin > memory.size_bytes || bytes > memory.size_bytes - (first - begin))
        throw InvalidArgument(what + ": " + dtype.name() + " with " + layout.to_string() + " takes " +
                              std::to_string(bytes) + " B from " + hex(first) + " on; the memory has " +
                              std::to_string(memory.size_bytes) + " B at " + hex(memory.data));
    owner = std::move(memory.owner);
}

void GivenArray::require_destination(const char* call) const {
    if (!read_only()) return;
    throw InvalidArgument(std::string(call) + ": the destination, " + dtype.name() + " with " + layout.to_string() +
                          ", is read-only");
}

void require_room(const char* call, const char* name, const hsadrv_array* array) {
    check_size(call, name, required(call, name, array)->struct_size, sizeof(hsadrv_array));
}

void write_array(hsadrv_array* array, hsadrv_array facts, const DType& dtype, const Layout& layout, void* data) {
    facts.data = data;
    facts.dtype = interned(description_of(dtype));
    facts.rank = static_cast<std::uint32_t>(layout.rank());
    facts.flags |= HSADRV_ARRAY_STRIDED;
    std::fill(std::begin(facts.shape), std::end(facts.shape), 0);
    std::fill(std::begin(facts.strides_bytes), std::end(facts.strides_bytes), 0);
    std::copy(layout.shape().begin(), layout.shape().end(), facts.shape);
    std::copy(layout.strides_bytes().begin(), layout.strides_bytes().end(), facts.strides_bytes);
    write_structure(array, facts);
}

void write_view(const char* call, hsadrv_array* view, const GivenArray& whole, const DType& dtype, const Layout& layout,
                std::int64_t offset_bytes) {
    require_room(call, "view", view);
    void* const data = whole.data == nullptr ? nullptr : static_cast<std::byte*>(whole.data) + offset_bytes;
    write_array(view, whole.given, dtype, layout, data);
}

}  // namespace hsadrv::c
