// How to transfer one array's elements to another of equal shape and type but any layout: a plan, as a value, with its
// reasons. Pure: copies nothing and allocates no device memory.
//
//     TransferPlan plan = plan_transfer("copy_to_device", {d, dtype, d_layout, Where::device},
//                                       {h, dtype, h_layout, Where::host});
//     for (const TransferStep& step : plan.steps) …    // none, one or two, in this order
//     plan.why;                                        // "one copy of 4096 B: …"
//
// The choice: one linear copy if both sides traverse their bytes in the same order without gaps; one rectangle copy if
// they are rows or planes with gaps. Otherwise elements are moved one by one: by a kernel if the GPU reaches both
// sides, else by the CPU if it does. If neither does, the transfer goes through a temporary. Either the side that
// reaches the source packs the elements, or the whole range of bytes that the source spans is sent and the side that
// reaches the destination arranges them, whichever moves fewer bytes. Another device's memory is reached by copies
// only: as a source its whole range is sent.
// Rows that interleave with the other side's at a different pitch are moved as elements: the stream's copies cannot
// prove them disjoint. Overlapping source and destination go through a temporary, so that the result is as if the
// source had been copied first. moved_bytes is at most twice minimum_bytes, except for elements with gaps in another
// device's memory.
//
// Addresses are compared as in one address space, as in HSA. Thread safety: functions without state. Throws
// InvalidArgument, naming the call and both sides: for different types or shapes, for a destination whose elements
// share memory, and for single elements to be written to another device's memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"
#include "devicearray/strided_copy.hpp"

namespace hsadrv {

/// Which processors reach the memory without a copy.
enum class Where : std::uint8_t {
    host,    ///< pageable: only the CPU
    pinned,  ///< locked or mapped host memory, host-visible device memory: both
    device,  ///< device memory that the stream's GPU reaches: only the GPU
    peer,    ///< device memory that it does not reach: only copies
};

struct TransferSide {
    const void* data;  ///< first element
    DType dtype;
    Layout layout;
    Where where;
};

/// What moves the bytes of a step.
enum class Mover : std::uint8_t {
    copy,    ///< the stream's copies: copy_async for a line, copy_rect_async for a rectangle
    kernel,  ///< a kernel: the GPU reaches both places
    cpu,     ///< the CPU reaches both places
};

enum class Place : std::uint8_t {
    source,
    destination,
    staging,  ///< a temporary in pinned host memory
    scratch,  ///< a temporary in device memory
};

struct TransferStep {
    Mover mover;
    Place from, to;
    /// Offsets are from the source's or destination's first element, or from a temporary's start.
    StridedCopy copy;
};

struct TransferPlan {
    std::vector<TransferStep> steps = {};
    std::int64_t moved_bytes = 0;                       ///< written by all steps
    std::int64_t minimum_bytes = 0;                     ///< size of the destination's elements
    std::int64_t staging_bytes = 0, scratch_bytes = 0;  ///< size of the temporary
    bool overlapping = false;  ///< the sides share bytes: the temporary must hold all elements at once
    std::string why = {};

    /// The steps with their sizes, then the reason: for logs and messages.
    std::string to_string() const;
};

TransferPlan plan_transfer(const char* call, const TransferSide& to, const TransferSide& from);

const char* name_of(Where where);
const char* name_of(Mover mover);
const char* name_of(Place place);

}  // namespace hsadrv
