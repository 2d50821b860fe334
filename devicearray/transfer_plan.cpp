#include "devicearray/transfer_plan.hpp"

#include <numeric>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

using Form = StridedCopy::Form;

bool cpu_reaches(Where where) { return where == Where::host || where == Where::pinned; }
bool gpu_reaches(Where where) { return where == Where::device || where == Where::pinned; }
std::string bytes_text(std::int64_t bytes) { return std::to_string(bytes) + " B"; }

std::string side_text(const TransferSide& side) {
    return side.dtype.name() + " with " + side.layout.to_string() + " in " + name_of(side.where) + " memory";
}

[[noreturn]] void refuse(const char* call, const char* why, const TransferSide& to, const TransferSide& from) {
    throw InvalidArgument(std::string(call) + ": " + why + ": source is " + side_text(from) + ", destination is " +
                          side_text(to));
}

void require_possible(const char* call, const TransferSide& to, const TransferSide& from) {
    if (to.dtype != from.dtype) refuse(call, "the element types differ", to, from);
    if (to.layout.shape() != from.layout.shape()) refuse(call, "the shapes differ", to, from);
    for (const TransferSide* side : {&to, &from}) {
        if (static_cast<std::int64_t>(side->dtype.itemsize()) != side->layout.itemsize())
            refuse(call, "the element size differs from the layout's", to, from);
    }
    if (!elements_are_apart(to.layout))
        refuse(call,
               "assignment destination is read-only: its elements share memory, as in broadcast arrays, or may "
               "share it by their strides",
               to, from);
}

std::uint64_t address_of(const TransferSide& side) { return reinterpret_cast<std::uintptr_t>(side.data); }

/// True if the address ranges of the two sides intersect.
bool ranges_meet(const TransferSide& to, const TransferSide& from) {
    const auto first = [](const TransferSide& side) {
        return address_of(side) + static_cast<std::uint64_t>(side.layout.extent().begin);
    };
    const auto size = [](const TransferSide& side) {
        return static_cast<std::uint64_t>(side.layout.extent().size_bytes());
    };
    // As distances from each other: also correct for ranges at the end of the address space.
    return first(from) - first(to) < size(to) || first(to) - first(from) < size(from);
}

/// True if all items are at multiples of one distance and one side's are in the gaps of the other's, such as odd and
/// even elements.
bool items_interleave(const StridedCopy& copy, std::uint64_t to, std::uint64_t from) {
    std::int64_t period = 0;
    for (int i = 0; i < copy.shape.rank(); ++i)
        period = std::gcd(std::gcd(period, copy.to_strides[i]), copy.from_strides[i]);
    if (period == 0) return false;
    const auto distance = static_cast<std::int64_t>(to + static_cast<std::uint64_t>(copy.to_offset) - from -
                                                    static_cast<std::uint64_t>(copy.from_offset));
    const std::int64_t rest = (distance % period + period) % period;
    return rest >= copy.item_bytes && period - rest >= copy.item_bytes;
}

/// Rectangles in one range of bytes: the stream's copies compare them only if both have the same pitches.
bool is_rectangle_of_two_pitches(const StridedCopy& copy) {
    return copy.form() == Form::rectangle && copy.to_strides != copy.from_strides;
}

bool same_places(const StridedCopy& copy, const TransferSide& to, const TransferSide& from) {
    return copy.to_strides == copy.from_strides && address_of(to) + static_cast<std::uint64_t>(copy.to_offset) ==
                                                       address_of(from) + static_cast<std::uint64_t>(copy.from_offset);
}

/// A copy in two halves: from the source into a contiguous temporary, in the destination's order and with repeated
/// elements once; then from there to the destination.
struct Halves {
    StridedCopy pack, unpack;
};

Halves through_packed(const StridedCopy& copy) {
    Halves halves{copy, copy};
    halves.pack.to_offset = halves.unpack.from_offset = 0;
    std::int64_t stride = copy.item_bytes;
    for (int i = copy.shape.rank() - 1; i >= 0; --i) {
        const bool repeated = copy.from_strides[i] == 0;
        halves.pack.to_strides[i] = halves.unpack.from_strides[i] = repeated ? 0 : stride;
        if (repeated) {
            halves.pack.shape[i] = 1;
        } else {
            stride *= copy.shape[i];
        }
    }
    return {halves.pack.simplified(), halves.unpack.simplified()};
}

/// The same, with all bytes that the source spans in the temporary.
Halves through_span(const StridedCopy& copy, const ByteRange& span) {
    Halves halves{{}, copy};
    halves.pack.from_offset = span.begin;
    halves.pack.item_bytes = span.size_bytes();
    halves.unpack.from_offset -= span.begin;
    return halves;
}

struct Ends {
    Where to, from;
};

Where where_of(Place place, const Ends& ends) {
    switch (place) {
        case Place::source:
            return ends.from;
        case Place::destination:
            return ends.to;
        case Place::staging:
            return Where::pinned;
        case Place::scratch:
            return Where::device;
    }
    return Where::host;
}

TransferStep step_of(const StridedCopy& copy, Place to, Place from, const Ends& ends) {
    const bool kernel = gpu_reaches(where_of(to, ends)) && gpu_reaches(where_of(from, ends));
    const Mover mover = copy.form() != Form::elements ? Mover::copy : kernel ? Mover::kernel : Mover::cpu;
    return {mover, from, to, copy};
}

void add(TransferPlan& plan, const TransferStep& step) {
    plan.steps.push_back(step);
    plan.moved_bytes += step.copy.bytes();
}

void add_through(TransferPlan& plan, const Halves& halves, Place temporary, const Ends& ends) {
    add(plan, step_of(halves.pack, temporary, Place::source, ends));
    add(plan, step_of(halves.unpack, Place::destination, temporary, ends));
    (temporary == Place::staging ? plan.staging_bytes : plan.scratch_bytes) = halves.pack.bytes();
}

/// From memory that only copies reach, everything that the source spans must be sent.
void add_from_peer(TransferPlan& plan, const StridedCopy& copy, const ByteRange& span, const Ends& ends) {
    const bool to_gpu = gpu_reaches(ends.to);
    add_through(plan, through_span(copy, span), to_gpu ? Place::scratch : Place::staging, ends);
    plan.why = std::string("the source is another device's memory; ") + (to_gpu ? "a kernel" : "the CPU") +
               " arranges the elements after a copy of the whole range that it spans";
}

/// Elements between memory that only the CPU reaches and memory that only the GPU reaches.
void add_across(TransferPlan& plan, const StridedCopy& copy, const ByteRange& span, const Ends& ends) {
    if (ends.from == Where::peer) return add_from_peer(plan, copy, span, ends);
    const bool to_device = ends.to == Where::device;
    const Halves packed = through_packed(copy);
    const std::int64_t all = copy.bytes();
    const std::int64_t by_packing = packed.pack.bytes() + all, by_span = span.size_bytes() + all;
    // On a tie, the CPU arranges what it sends: it reads pageable memory anyway, and the device needs no scratch
    // memory.
    const bool kernel_unpacks = to_device && packed.unpack.form() == Form::elements;
    const bool whole_span = kernel_unpacks ? by_span <= by_packing : by_span < by_packing;
    const std::string costs = "packing would move " + bytes_text(by_packing) +
                              ", sending the whole range that the source spans " + bytes_text(by_span);
    if (whole_span) {
        add_through(plan, through_span(copy, span), to_device ? Place::scratch : Place::staging, ends);
        plan.why = std::string("neither CPU nor GPU reaches both sides; ") + (to_device ? "a kernel" : "the CPU") +
                   " arranges the elements: " + costs;
    } else {
        add_through(plan, packed, Place::staging, ends);
        plan.why = std::string("neither CPU nor GPU reaches both sides; ") + (to_device ? "the CPU" : "a kernel") +
                   " packs the elements: " + costs;
    }
}

/// Rows in the gaps of the other side. Returns false, with the plan unchanged, if neither GPU nor CPU reaches both
/// sides.
bool add_in_gaps(TransferPlan& plan, const StridedCopy& copy, const Ends& ends) {
    const bool by_gpu = gpu_reaches(ends.to) && gpu_reaches(ends.from);
    if (!by_gpu && !(cpu_reaches(ends.to) && cpu_reaches(ends.from))) return false;
    add(plan, {by_gpu ? Mover::kernel : Mover::cpu, Place::source, Place::destination, copy});
    plan.why = "rows of " + bytes_text(copy.item_bytes) + " are in the gaps of the other side, at different pitches";
    return true;
}

void add_direct(TransferPlan& plan, const StridedCopy& copy, const ByteRange& span, const Ends& ends) {
    const bool by_gpu = gpu_reaches(ends.to) && gpu_reaches(ends.from);
    const bool by_cpu = cpu_reaches(ends.to) && cpu_reaches(ends.from);
    if (copy.form() == Form::elements && !by_gpu && !by_cpu) return add_across(plan, copy, span, ends);
    add(plan, step_of(copy, Place::destination, Place::source, ends));
    switch (copy.form()) {
        case Form::line:
            plan.why = "both sides have the elements in one order and without gaps";
            break;
        case Form::rectangle:
            plan.why = "both sides have them as rows of " + bytes_text(copy.item_bytes) + " in one order";
            break;
        case Form::elements:
            plan.why = std::string("the orders of the elements differ, and the ") + (by_gpu ? "GPU" : "CPU") +
                       " reaches both sides";
    }
}

void add_overlapping(TransferPlan& plan, const StridedCopy& copy, const Ends& ends) {
    const bool on_device = gpu_reaches(ends.to) && gpu_reaches(ends.from);
    add_through(plan, through_packed(copy), on_device ? Place::scratch : Place::staging, ends);
    plan.overlapping = true;
    plan.why = "source and destination overlap, so the elements go through a temporary";
}

}  // namespace

TransferPlan plan_transfer(const char* call, const TransferSide& to, const TransferSide& from) {
    require_possible(call, to, from);
    TransferPlan plan;
    const StridedCopy copy = StridedCopy::between(to.layout, from.layout);
    const Ends ends{to.where, from.where};
    if (to.where == Where::peer && copy.form() == Form::elements)
        refuse(call, "single elements must be written by a stream of the destination's device", to, from);
    plan.minimum_bytes = copy.bytes();
    if (plan.minimum_bytes == 0) {
        plan.why = "the arrays are empty";
    } else if (same_places(copy, to, from)) {
        plan.why = "source and destination are the same elements";
    } else if (!ranges_meet(to, from)) {
        add_direct(plan, copy, from.layout.extent(), ends);
    } else if (items_interleave(copy, address_of(to), address_of(from))) {
        if (!is_rectangle_of_two_pitches(copy)) {
            add_direct(plan, copy, from.layout.extent(), ends);
        } else if (!add_in_gaps(plan, copy, ends)) {
            add_overlapping(plan, copy, ends);
        }
    } else {
        add_overlapping(plan, copy, ends);
    }
    return plan;
}

std::string TransferPlan::to_string() const {
    std::string text;
    for (const TransferStep& step : steps) {
        const StridedCopy& copy = step.copy;
        text += std::string(name_of(step.mover)) + " " + name_of(step.from) + " to " + name_of(step.to) + ": " +
                bytes_text(copy.bytes());
        if (copy.shape.rank() > 0) {
            text += std::string(" as ") + (copy.form() == Form::rectangle ? "rows" : "items") + " of " +
                    bytes_text(copy.item_bytes) + ", " + copy.shape.to_string() + " times";
        }
        text += "; ";
    }
    if (steps.empty()) text = "nothing to copy; ";
    return text + bytes_text(moved_bytes) + " moved for " + bytes_text(minimum_bytes) + ": " + why;
}

const char* name_of(Where where) {
    switch (where) {
        case Where::host:
            return "pageable host";
        case Where::pinned:
            return "pinned host";
        case Where::device:
            return "device";
        case Where::peer:
            return "another device's";
    }
    return "unknown";
}

const char* name_of(Mover mover) {
    switch (mover) {
        case Mover::copy:
            return "copy";
        case Mover::kernel:
            return "kernel";
        case Mover::cpu:
            return "cpu";
    }
    return "unknown";
}

const char* name_of(Place place) {
    switch (place) {
        case Place::source:
            return "source";
        case Place::destination:
            return "destination";
        case Place::staging:
            return "staging";
        case Place::scratch:
            return "scratch";
    }
    return "unknown";
}

}  // namespace hsadrv
