#include "devicearray/transfer.hpp"

#include <array>
#include <cstdlib>
#include <vector>

#include "devicearray/array_device.hpp"
#include "devicearray/block_reach.hpp"
#include "devicearray/copy_strided.hpp"
#include "devicearray/holding.hpp"
#include "devicearray/slice.hpp"
#include "devicearray/transfer_plan.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/memory.hpp"

namespace hsadrv::detail {
namespace {

std::byte* bytes_at(const void* base, std::int64_t offset) {
    return static_cast<std::byte*>(const_cast<void*>(base)) + offset;
}

/// One side's memory, or a temporary: its first element's address for each mover.
struct Location {
    const void* any = nullptr;  ///< for copies, which accept either address
    const void* host = nullptr;
    const void* device = nullptr;
    Where where = Where::host;

    const void* identity() const { return device ? device : any; }
};

/// True if the GPU can use that memory in place. Enables access to another GPU's memory if possible.
bool reaches(AgentRef gpu, const PointerInfo& info) {
    if (info.accessible_by(gpu)) return true;
    if (!info.device_memory()) return false;
    const auto pool = info.pool();
    if (!pool || pool->access(gpu) == PoolAccess::never) return false;
    allow_access(info.agent_base, std::span(&gpu, 1));
    return true;
}

void require_within(const char* call, const TransferEnd& end, const PointerInfo& info) {
    if (info.kind == PointerInfo::Kind::pageable) return;
    const ByteRange range = end.layout.extent();
    const BlockReach reach(info, end.data);
    if (reach.holds(range)) return;
    throw InvalidArgument(
        std::string(call) + ": an array of " + end.layout.to_string() + " needs " + std::to_string(-range.begin) +
        " B before its first element and " + std::to_string(range.end) + " B from there on; its memory has " +
        std::to_string(reach.before_bytes) + " B and " + std::to_string(reach.after_bytes) + " B" +
        (info.kind == PointerInfo::Kind::registered ? " registered; register all of the array or none of it" : ""));
}

Location locate(const char* call, const TransferEnd& end, AgentRef gpu) {
    const void* const data = end.data;
    if (end.layout.size() == 0) return {};
    if (data == nullptr)
        throw InvalidArgument(std::string(call) + ": an array of " + end.layout.to_string() +
                              " has no memory: its address is null");
    const PointerInfo info = pointer_info(data);
    require_within(call, end, info);
    const bool reached = reaches(gpu, info);
    Location location{.any = data};
    if (info.host_memory()) {
        location.where = reached && info.kind != PointerInfo::Kind::pageable ? Where::pinned : Where::host;
        location.host = info.kind == PointerInfo::Kind::pageable ? data : info.host_address(data);
    } else {
        location.where = reached ? Where::device : Where::peer;
    }
    if (reached) location.device = info.agent_address(data);
    return location;
}

/// A captured transfer runs later, possibly several times, with the memory's contents at that time.
void require_replayable(const char* call, const TransferPlan& plan, const Location& to, const Location& from) {
    const char* why = to.where == Where::host || from.where == Where::host
                          ? "pageable memory, which would have to stay unchanged until the last replay"
                          : nullptr;
    for (const TransferStep& step : plan.steps) {
        if (step.mover == Mover::cpu) why = "the CPU, which takes no part in a replay";
    }
    if (!why) return;
    throw InvalidArgument(std::string(call) + ": the stream is being captured, and this transfer needs " + why +
                          "; capture transfers between device and pinned memory");
}

/// Executes a plan.
class Execution {
  public:
    Execution(Stream& stream, Deadline deadline, Holding& holding, const Location& to, const Location& from,
              bool captured)
        : stream_(stream), deadline_(deadline), holding_(holding), to_(to), from_(from), captured_(captured) {}

    void run(const TransferPlan& plan) {
        if (plan.staging_bytes + plan.scratch_bytes > 0) make_temporary(plan);
        for (const TransferStep& step : plan.steps) run(step);
    }

  private:
    void make_temporary(const TransferPlan& plan) {
        const std::shared_ptr<ArrayDevice> device = ArrayDevice::of(stream_);
        const bool staging = plan.staging_bytes > 0;
        const auto bytes = static_cast<std::size_t>(plan.staging_bytes + plan.scratch_bytes);
        auto block = std::make_shared<const Block>(staging ? device->host_block(bytes, stream_)
                                                           : device->scratch_block(bytes, stream_));
        temporary_ = {block->data(), staging ? block->data() : nullptr, block->data(),
                      staging ? Where::pinned : Where::device};
        // Memory that the CPU touches is kept until the stream has used it; captured memory, until the graph is
        // destroyed. Memory of the stream alone is freed in its order: the next piece reuses it, and no array can.
        if (staging || captured_)
            holding_.add(std::move(block));
        else
            scratch_ = std::move(block);
    }

    void run(const TransferStep& step) {
        const Location &to = at(step.to), &from = at(step.from);
        switch (step.mover) {
            case Mover::copy:
                return copy(step.copy, to.any, from.any);
            case Mover::kernel:
                return by_kernel(step.copy, to.device, from.device);
            case Mover::cpu:
                // Nothing else uses a temporary yet, and pageable memory can be read at once.
                if (step.to != Place::staging || from.where != Where::host) stream_.synchronize(deadline_);
                return copy_strided(step.copy, const_cast<void*>(to.host), from.host);
        }
    }

    void copy(const StridedCopy& copy, const void* to_base, const void* from_base) {
        void* const to = bytes_at(to_base, copy.to_offset);
        const void* const from = bytes_at(from_base, copy.from_offset);
        if (copy.form() == StridedCopy::Form::line)
            return stream_.copy_async(to, from, static_cast<std::size_t>(copy.item_bytes), deadline_);
        Rect rect{.destination = {to}, .source = {from}, .width_bytes = static_cast<std::size_t>(copy.item_bytes)};
        const int rows = copy.shape.rank() - 1;
        rect.height = static_cast<std::size_t>(copy.shape[rows]);
        rect.destination.pitch_bytes = static_cast<std::size_t>(copy.to_strides[rows]);
        rect.source.pitch_bytes = static_cast<std::size_t>(copy.from_strides[rows]);
        if (rows > 0) {
            rect.depth = static_cast<std::size_t>(copy.shape[0]);
            rect.destination.slice_bytes = static_cast<std::size_t>(copy.to_strides[0]);
            rect.source.slice_bytes = static_cast<std::size_t>(copy.from_strides[0]);
        }
        stream_.copy_rect_async(rect, deadline_);
    }

    void by_kernel(const StridedCopy& copy, const void* to, const void* from) {
        std::shared_ptr<ArrayDevice> device = ArrayDevice::of(stream_);
        device->kernels().copy(stream_, copy, const_cast<void*>(to), from, deadline_);
        if (!kernels_held_) holding_.add(std::move(device));
        kernels_held_ = true;
    }

    const Location& at(Place place) const {
        switch (place) {
            case Place::source:
                return from_;
            case Place::destination:
                return to_;
            default:
                return temporary_;
        }
    }

    Stream& stream_;
    const Deadline deadline_;
    Holding& holding_;
    const Location &to_, &from_;
    const bool captured_;
    Location temporary_;
    std::shared_ptr<const Block> scratch_;
    bool kernels_held_ = false;
};

/// The common case: both sides have all bytes in the same order and do not overlap.
bool is_plain(const TransferEnd& to, const TransferEnd& from) {
    if (to.dtype != from.dtype || !same_element_order(to.layout, from.layout)) return false;
    const auto size = static_cast<std::uint64_t>(to.layout.size_bytes());
    const auto distance = reinterpret_cast<std::uintptr_t>(to.data) - reinterpret_cast<std::uintptr_t>(from.data);
    return distance >= size && std::uint64_t{0} - distance >= size;
}

/// One copy of all bytes, without querying the memory's kind. Returns false, with nothing enqueued, if the stream
/// refuses it: unknown or too small memory, or the same memory under two addresses. The caller finds the reason.
bool try_copy(const TransferEnd& to, const TransferEnd& from, Stream& stream, Deadline deadline) {
    try {
        stream.copy_async(const_cast<void*>(to.data), from.data, static_cast<std::size_t>(to.layout.size_bytes()),
                          deadline);
        return true;
    } catch (const InvalidArgument&) {
        return false;
    }
}

/// Splits a transfer that would need a large temporary into pieces along one axis. The temporary stays small, and the
/// CPU packs one piece while the previous one is copied.
class Pieces {
  public:
    /// Splits along the largest-stride axis of the deciding side: the source if the whole range
    /// that it spans is sent, else the destination.
    Pieces(const TransferPlan& plan, const TransferEnd& to, const TransferEnd& from)
        : to_(to), from_(from), packed_by_cpu_(plan.steps[0].mover == Mover::cpu) {
        const bool whole_span = plan.steps[0].mover == Mover::copy && plan.steps[0].from == Place::source;
        const Layout& side = whole_span ? from.layout : to.layout;
        for (int i = 0; i < side.rank(); ++i) {
            if (side.shape()[i] > 1 && (axis_ < 0 || reach(side, i) > reach(side, axis_))) axis_ = i;
        }
        const std::int64_t pieces = temporary_bytes(plan) / most_temporary_bytes + 1;
        if (axis_ >= 0) section_ = (side.shape()[axis_] + pieces - 1) / pieces;
    }
    static bool wanted(const TransferPlan& plan) {
        return !plan.overlapping && temporary_bytes(plan) > most_temporary_bytes;
    }
    /// False for a single element.
    bool possible() const { return axis_ >= 0; }

    void run(const char* call, Stream& stream, Deadline deadline) {
        const std::vector<SubLayout> to = split(to_.layout, section_, axis_),
                                     from = split(from_.layout, section_, axis_);
        std::array<Event, 2> ends;
        for (std::size_t i = 0; i < to.size(); ++i) {
            // The CPU fills a temporary when the piece before the last has released it.
            if (packed_by_cpu_) ends[i % 2].synchronize(deadline);
            transfer(call, {bytes_at(to_.data, to[i].offset_bytes), to_.dtype, to[i].layout, to_.keep_alive},
                     {bytes_at(from_.data, from[i].offset_bytes), from_.dtype, from[i].layout, from_.keep_alive},
                     stream, deadline);
            if (packed_by_cpu_) ends[i % 2] = stream.record({}, deadline);
        }
    }

  private:
    static constexpr std::int64_t most_temporary_bytes = 16 << 20;

    static std::int64_t temporary_bytes(const TransferPlan& plan) { return plan.staging_bytes + plan.scratch_bytes; }
    static std::int64_t reach(const Layout& layout, int axis) { return std::abs(layout.strides_bytes()[axis]); }

    const TransferEnd &to_, &from_;
    const bool packed_by_cpu_;
    int axis_ = -1;
    std::int64_t section_ = 0;
};

}  // namespace

void transfer(const char* call, const TransferEnd& to, const TransferEnd& from, Stream& stream, Deadline deadline) {
    Holding holding(stream);
    const bool captured = stream.capturing();
    if (!captured && is_plain(to, from)) {
        if (to.layout.size() == 0) return;
        holding.add(to.keep_alive);
        holding.add(from.keep_alive);
        if (try_copy(to, from, stream, deadline)) return;
    }
    const Location to_place = locate(call, to, stream.agent()), from_place = locate(call, from, stream.agent());
    // By the device's address if there is one, so that memory is recognised under both of its addresses.
    const TransferPlan plan = plan_transfer(call, {to_place.identity(), to.dtype, to.layout, to_place.where},
                                            {from_place.identity(), from.dtype, from.layout, from_place.where});
    if (captured) require_replayable(call, plan, to_place, from_place);
    if (plan.steps.empty()) return;
    if (Pieces::wanted(plan) && !captured) {
        if (Pieces pieces(plan, to, from); pieces.possible()) return pieces.run(call, stream, deadline);
    }
    holding.add(to.keep_alive);
    holding.add(from.keep_alive);
    Execution(stream, deadline, holding, to_place, from_place, captured).run(plan);
}

}  // namespace hsadrv::detail
