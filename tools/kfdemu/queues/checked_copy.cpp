#include "tools/kfdemu/queues/checked_copy.hpp"

#include <utility>

#include "tools/kfdemu/check/process.hpp"

namespace kfdemu {
namespace {

using check::Box;
using check::is_switched_on;
using check::process_checks;

Box line(std::uint64_t va, std::uint64_t bytes) { return {va, bytes, 0, 0, 1, 1}; }

Box box(const sdma::CopyRect& copy, const sdma::CopyRect::Side& side) {
    return {side.address, copy.width_bytes, side.pitch_bytes, side.slice_bytes, copy.height, copy.depth};
}

/// Reads and writes nothing if it is neither a copy nor a fill.
check::Operations::Copy memory_of(const sdma::Command& command) {
    check::Operations::Copy result;
    if (const auto* copy = std::get_if<sdma::CopyLinear>(&command)) {
        result.reads.push_back(line(copy->source, copy->size_bytes));
        result.writes.push_back(line(copy->destination, copy->size_bytes));
        if (copy->second_destination) result.writes.push_back(line(*copy->second_destination, copy->size_bytes));
    }
    if (const auto* copy = std::get_if<sdma::CopyRect>(&command)) {
        result.reads.push_back(box(*copy, copy->source));
        result.writes.push_back(box(*copy, copy->destination));
    }
    if (const auto* fill = std::get_if<sdma::Fill>(&command))
        result.writes.push_back(line(fill->destination, fill->size_bytes));
    return result;
}

}  // namespace

CheckedCopy::~CheckedCopy() { fails(); }

void CheckedCopy::rung(std::uint64_t next, std::uint64_t end) {
    if (end != 0) published_.rung(next, end - 1);
}

void CheckedCopy::passed(std::uint64_t next) {
    if (next != 0) published_.passed(next - 1);
}

void CheckedCopy::fails() {
    published_.clear();
    copy_ = {};
    in_flight_ = {};
    if (running_) process_checks().operations.drop(std::exchange(running_, nullptr));
}

void CheckedCopy::begins(const sdma::Command& command, std::uint64_t at) {
    if (!copy_.writes.empty() || !Publications::are_followed()) return;
    copy_ = memory_of(command);
    if (copy_.writes.empty()) return;
    copy_.gpu = gpu_;
    copy_.queue = this;
    check::ProcessChecks& process = process_checks();
    if (is_switched_on(Check::race)) running_ = process.operations.begin(published_.safe(), copy_);
    if (!is_switched_on(Check::fence)) return;
    host_safe_ = published_.host_safe(at, published_.safe());
    in_flight_ = check::HostTouches::Busy{process.host_touches};
    start_ = process.visibility.acquired(gpu_, check::FenceScope::None, published_.safe(), process.operations.now());
}

void CheckedCopy::ends() {
    if (copy_.writes.empty()) return;
    const check::Operations::Copy copy = std::exchange(copy_, {});
    check::ProcessChecks& process = process_checks();
    if (running_) process.operations.end(std::exchange(running_, nullptr), process.report, &process.allocations);
    in_flight_ = {};
    if (!is_switched_on(Check::fence)) return;
    const auto now = process.operations.now();
    process.visibility.ended(copy, start_, now, process.report, &process.allocations);
    process.host_touches.compare(copy, host_safe_, now, process.report, &process.allocations);
}

}  // namespace kfdemu
