// How the elements of one array get into another of equal shape and type, whatever their layouts: a plan, as a
// value, and the reasons for it. Pure: nothing is copied or allocated on a device here.
//
//     TransferPlan plan = plan_transfer("copy_to_device", {d, dtype, d_layout, Where::device},
//                                       {h, dtype, h_layout, Where::host});
//     for (const TransferStep& step : plan.steps) …    // none, one or two, in this order
//     plan.why;                                        // "one copy of 4096 B: …"
//
// What is chosen: one copy where both sides step through their bytes as one line; one rectangle copy where they
// are rows or planes with gaps. Otherwise elements are moved one by one: by a kernel where the GPU reaches both
// sides, by the CPU where it does. Where neither does, through a temporary: either packed by who reaches the
// source, or as the whole range of bytes that the source spans, arranged by who reaches the destination,
// whichever moves fewer bytes. Out of another device's memory, of which copies alone come, it is always the whole
// range. Rows that interleave with the other side's at different pitches are elements, too: the stream's copies cannot
// tell that they are disjoint. Source and destination that overlap go through a temporary, so that the result is as if
// the source had been copied first. moved_bytes is never above twice minimum_bytes but for elements with gaps out of
// another device's memory.
//
// Addresses are compared as in one address space, as HSA's are. Thread safety: functions without state. Throws
// InvalidArgument, naming call and both sides: other types or shapes, a destination several of whose
// elements share memory, or elements for another device's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"
#include "devicearray/strided_copy.hpp"

namespace hsadrv {

/// Who reaches memory without a copy.
enum class Where : std::uint8_t {
    host,    ///< pageable: the CPU alone
    pinned,  ///< locked or mapped host memory, host-visible device memory: both
    device,  ///< device memory that the stream's GPU reaches: the GPU alone
    peer,    ///< device memory that it does not: copies alone. As a source
};

struct TransferSide {
    const void* data;  ///< of the first element
    DType dtype;
    Layout layout;
    Where where;
};

/// Who moves the bytes of a step.
enum class Mover : std::uint8_t {
    copy,    ///< the stream's copies: copy_async for a line, copy_rect_async for a rectangle
    kernel,  ///< a kernel: both places are within reach of the GPU
    cpu,     ///< the CPU: both places are within its reach
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
    /// Offsets are from the first element of source or destination, and from the beginning of a temporary.
    StridedCopy copy;
};

struct TransferPlan {
    std::vector<TransferStep> steps = {};
    std::int64_t moved_bytes = 0;                       ///< written by all steps together
    std::int64_t minimum_bytes = 0;                     ///< what the destination's elements have
    std::int64_t staging_bytes = 0, scratch_bytes = 0;  ///< of the temporary that is needed
    bool overlapping = false;  ///< the sides share bytes: the temporary has to hold all elements at once
    std::string why = {};

    /// Every step with its numbers, then the reason: for logs and messages.
    std::string to_string() const;
};

TransferPlan plan_transfer(const char* call, const TransferSide& to, const TransferSide& from);

const char* name_of(Where where);
const char* name_of(Mover mover);
const char* name_of(Place place);

}  // namespace hsadrv
