// Internal: a hsadrv_array as C++'s parts of an array, and back.
//
//   const GivenArray to("hsadrv_array_copy", "to", array);    // throws InvalidArgument, InvalidHandle
//   transfer(call, to.end(), from.end(), *stream, deadline);
//   write_view(call, view, to, dtype, layout, offset_bytes);
//
// Thread safety: as of values. Borrows nothing: memory is kept by the value.
#pragma once

#include <cstddef>
#include <memory>

#include "devicearray/c/array.h"
#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"
#include "devicearray/slice.hpp"
#include "devicearray/transfer.hpp"

namespace hsadrv::c {

/// The form alone: type, shape and strides. A subarray type's axes are the layout's.
struct GivenForm {
    GivenForm(const char* call, const char* name, const hsadrv_array* array);

    hsadrv_array given;  // with all fields of this version
    DType dtype;
    Layout layout;
};

struct GivenArray : GivenForm {
    /// Checks all that can be, also that the elements are in array->memory, and unless it is for a view that they are
    /// anywhere.
    GivenArray(const char* call, const char* name, const hsadrv_array* array, bool for_view = false);

    detail::TransferEnd end() const { return {data, dtype, layout, owner}; }
    bool read_only() const noexcept { return (given.flags & HSADRV_ARRAY_READ_ONLY) != 0; }
    /// Throws InvalidArgument if it is read-only.
    void require_destination(const char* call) const;

    void* data;
    std::shared_ptr<const void> owner;
};

/// Throws InvalidArgument unless there is room for a result.
void require_room(const char* call, const char* name, const hsadrv_array* array);
/// Writes a result: memory, flags and gpu of `facts`, and the rest as given.
void write_array(hsadrv_array* array, hsadrv_array facts, const DType& dtype, const Layout& layout, void* data);
/// Describes a part of `whole`. Throws InvalidArgument for a null or too small `view`.
void write_view(const char* call, hsadrv_array* view, const GivenArray& whole, const DType& dtype, const Layout& layout,
                std::int64_t offset_bytes = 0);
}  // namespace hsadrv::c
