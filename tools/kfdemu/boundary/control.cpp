// Implements kfdemu.h on the device of this process.
#include "tools/kfdemu/kfdemu.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/kfdemu/base/counters.hpp"
#include "tools/kfdemu/base/injection.hpp"
#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/boundary/host_pages.hpp"
#include "tools/kfdemu/boundary/hsa_memory.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/kfd/device.hpp"

namespace kfdemu {
namespace {

static_assert(KFDEMU_ALL == Turns::kAll);
static_assert(KFDEMU_ALLOCATION == static_cast<int>(Point::allocation) &&
              KFDEMU_SCRATCH == static_cast<int>(Point::scratch) && KFDEMU_MMAP == static_cast<int>(Point::mapping) &&
              KFDEMU_IOCTL == static_cast<int>(Point::ioctl) && KFDEMU_OPEN == static_cast<int>(Point::open));
static_assert(KFDEMU_DROP == static_cast<int>(InterruptAction::drop) &&
              KFDEMU_DELAY == static_cast<int>(InterruptAction::delay) &&
              KFDEMU_DUPLICATE == static_cast<int>(InterruptAction::duplicate));

static_assert(KFDEMU_CHECK_INIT == 1 << static_cast<int>(Check::init) &&
              KFDEMU_CHECK_FENCE == 1 << static_cast<int>(Check::fence));
static_assert(KFDEMU_CHECK_MEMORY == 1 << static_cast<int>(Check::memory) &&
              KFDEMU_CHECK_WAIT == 1 << static_cast<int>(Check::wait) &&
              KFDEMU_CHECK_RACE == 1 << static_cast<int>(Check::race) &&
              KFDEMU_CHECK_LDS_RACE == 1 << static_cast<int>(Check::lds_race));

/// KFDEMU_ALL_COMPUTE_QUEUES and KFDEMU_ALL_SDMA_QUEUES are QueueKind's values.
std::uint64_t queue_name(const void* ring) { return reinterpret_cast<std::uint64_t>(ring); }

int fail(std::uint32_t point, std::uint64_t nth, std::uint64_t count, int error) {
    const std::uint32_t kind = point & 0xff, number = point >> 8;
    const Failure failure{static_cast<Point>(kind), number, {nth, count}, error};
    if (kind < KFDEMU_ALLOCATION || kind > KFDEMU_OPEN || (number != 0 && kind != KFDEMU_IOCTL) || number > 0xff)
        return EINVAL;
    if (!failure.turns.valid() || error < 1 || error > 4095) return EINVAL;
    injection().fail(failure);
    return 0;
}

int interrupts(std::uint32_t action, std::uint64_t nth, std::uint64_t count, std::uint64_t delay_us) {
    const Turns turns{nth, count};
    if (action < KFDEMU_DROP || action > KFDEMU_DUPLICATE || !turns.valid()) return EINVAL;
    injection().interrupts({static_cast<InterruptAction>(action), delay_us}, turns);
    return 0;
}

int stall_queue(const void* ring, int stalled) {
    if (!ring) return EINVAL;
    injection().stall(queue_name(ring), stalled != 0);
    return 0;
}

int break_packet(const void* ring, std::uint64_t nth, std::uint32_t offset, const void* bytes, std::uint32_t size) {
    constexpr std::uint32_t kPacketBytes = 64;
    Injection::Patch patch;
    if (!ring || !bytes || nth == 0 || size == 0 || size > sizeof patch.bytes || offset > kPacketBytes - size)
        return EINVAL;
    patch.offset = static_cast<std::uint8_t>(offset);
    patch.size = static_cast<std::uint8_t>(size);
    std::memcpy(patch.bytes, bytes, size);
    injection().patch(queue_name(ring), nth, patch);
    return 0;
}

int reset_gpu(std::uint32_t gpu, int memory_lost) {
    Device* device = Device::existing();
    if (!device || gpu >= Device::topology()->gpus.size()) return ENODEV;
    device->scheduler().reset(Device::topology()->gpus[gpu], memory_lost != 0);
    return 0;
}

std::uint64_t early_slots(const void* ring) {
    Device* device = Device::existing();
    return device ? device->scheduler().count_slots(queue_name(ring), &AdvertisedSlots::early) : 0;
}

std::uint64_t torn_packets(const void* ring) {
    Device* device = Device::existing();
    return device ? device->scheduler().count_slots(queue_name(ring), &AdvertisedSlots::torn) : 0;
}

void set_seed(std::uint64_t seed) { order_seed.store(seed, std::memory_order_relaxed); }

void read_counters(struct kfdemu_counters* out, std::size_t size_bytes) {
    free_delayed();
    const struct kfdemu_counters now = {
        .packets = counters.packets,
        .dispatches = counters.dispatches,
        .work_groups = counters.work_groups,
        .waves = counters.waves,
        .instructions = counters.instructions,
        .sdma_packets = counters.sdma_packets,
        .sdma_bytes = counters.sdma_bytes,
        .ioctls = counters.ioctls,
        .allocations = counters.allocations,
        .mappings = counters.mappings,
        .interrupts = counters.interrupts,
        .faults = counters.faults,
        .injected = counters.injected,
        .buffers = counters.buffers,
    };
    std::memcpy(out, &now, std::min(size_bytes, sizeof now));
}

int check(std::uint32_t checks) {
    if ((checks & ~(Checks::all().bits() | KFDEMU_CHECK_LDS_RACE)) != 0) return EINVAL;
    check::process_checks().enabled.store(checks, std::memory_order_relaxed);
    host_pages::follow_checks();
    return 0;
}

/// What is found so far.
check::Report& settled_report() {
    check::Report& report = check::process_checks().report;
    report.settle();
    return report;
}

std::uint64_t findings() { return settled_report().distinct(); }

std::size_t finding(std::uint64_t index, char* text, std::size_t size_bytes) {
    const auto all = settled_report().findings();
    if (index >= all.size()) return 0;
    const std::string whole = to_text(all[index]);
    if (size_bytes == 0) return whole.size();
    const std::size_t copied = std::min(whole.size(), size_bytes - 1);
    std::memcpy(text, whole.data(), copied);
    text[copied] = 0;
    return whole.size();
}

int suppress(const char* line) {
    return line == nullptr || !check::process_checks().report.suppress(line).empty() ? EINVAL : 0;
}

std::uint64_t suppressed() { return settled_report().totals().suppressed; }

void forget_findings() { settled_report().clear(); }

void reset() {
    injection().reset();
    set_seed(Device::options().seed);
    check(Device::options().checks.bits());
    check::process_checks().report.set_suppressions(check::suppressions_of(Device::options()));
}

constexpr struct kfdemu_control kControl = {
    .version = KFDEMU_CONTROL_VERSION,
    .size_bytes = sizeof(struct kfdemu_control),
    .fail = fail,
    .interrupts = interrupts,
    .stall_queue = stall_queue,
    .break_packet = break_packet,
    .reset_gpu = reset_gpu,
    .set_seed = set_seed,
    .counters = read_counters,
    .reset = reset,
    .check = check,
    .findings = findings,
    .finding = finding,
    .forget_findings = forget_findings,
    .suppress = suppress,
    .suppressed = suppressed,
    .early_slots = early_slots,
    .torn_packets = torn_packets,
};

}  // namespace
}  // namespace kfdemu

extern "C" [[gnu::visibility("default")]] const struct kfdemu_control* kfdemu_get_control(std::uint32_t version) {
    return version == KFDEMU_CONTROL_VERSION && kfdemu::Device::topology() ? &kfdemu::kControl : nullptr;
}
