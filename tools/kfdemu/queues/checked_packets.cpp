#include "tools/kfdemu/queues/checked_packets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tools/kfdemu/base/clock.hpp"
#include "tools/kfdemu/check/process.hpp"
#include "tools/kfdemu/queues/gpu_memory.hpp"

namespace kfdemu {
namespace {

using check::Finding;
using check::is_switched_on;
using check::process_checks;

// Until a packet is looked at again that was published: longer than a producer takes to write one.
constexpr std::uint64_t kSettleNs = 100'000;
// Of a kernel's arguments, as many are compared.
constexpr std::uint32_t kMostArgumentBytes = 64 << 10;

/// False: not mapped.
bool read(const AddressSpace& space, std::uint64_t va, std::span<std::uint32_t> words) {
    for (std::uint32_t& word : words) {
        if (!access<const std::uint32_t>(space, va, kRead,
                                         [&](auto& there) { word = __atomic_load_n(&there, __ATOMIC_RELAXED); }))
            return false;
        va += 4;
    }
    return true;
}

bool is_kernel(const aql::Packet& packet) { return aql::type_of(packet.header) == aql::kKernelDispatch; }

}  // namespace

CheckedPackets::~CheckedPackets() { clear(); }

KernelDescriptor CheckedPackets::descriptor(const AddressSpace& space, const KernelDispatchPacket& packet) const {
    std::uint32_t words[kKernelDescriptorBytes / 4];
    if (!read(space, packet.kernel_object, words)) return {};
    const auto bytes = std::as_bytes(std::span{words});
    const auto parsed = parse_kernel_descriptor(bytes, target_);
    const auto* kernel = std::get_if<KernelDescriptor>(&parsed);
    return kernel != nullptr ? *kernel : KernelDescriptor{};
}

void CheckedPackets::clear() {
    for (auto& [index, watched] : watched_)
        if (watched.operation) process_checks().operations.drop(watched.operation);
    watched_.clear();
    published_.clear();
}

void CheckedPackets::rung(const AddressSpace& space, std::uint64_t next, std::uint64_t highest) {
    published_.rung(next, highest);
    is_switched_on(Check::fence) ? watch_published(space, highest) : void(next_watched_ = highest + 1);
}

void CheckedPackets::watch_published(const AddressSpace& space, std::uint64_t highest) {
    next_watched_ = std::max(next_watched_, highest >= packets_ ? highest + 1 - packets_ : 0);
    while (next_watched_ <= highest) {
        std::uint16_t header = aql::kInvalid;
        // Acquire: pairs with the producer's release of the header.
        const bool mapped = access<const std::uint16_t>(space, slot_va(next_watched_), kRead, [&](auto& there) {
            header = __atomic_load_n(&there, __ATOMIC_ACQUIRE);
        });
        if (!mapped || aql::type_of(header) == aql::kInvalid) return;
        watch(space, next_watched_++);
    }
}

void CheckedPackets::watch(const AddressSpace& space, std::uint64_t index) {
    Watched watched;
    watched.seen_ns = clock::now_ns();
    watched.seen = process_checks().operations.now();
    std::uint32_t words[16];
    if (!read(space, slot_va(index), words)) return;
    watched.packet = std::bit_cast<aql::Packet>(words);
    read_arguments(space, watched);
    watched_[index] = std::move(watched);
}

void CheckedPackets::read_arguments(const AddressSpace& space, Watched& watched) const {
    watched.arguments.clear();
    if (!is_kernel(watched.packet)) return;
    const auto kernel = watched.packet.as<KernelDispatchPacket>();
    // The launch has not looked at the kernel object yet: a wrong one may have any size.
    const std::uint32_t bytes = std::min(descriptor(space, kernel).kernarg_bytes, kMostArgumentBytes);
    const AddressSpace::Range* range = space.find(kernel.kernarg_address);
    if (range == nullptr || !range->contains(kernel.kernarg_address, bytes)) return;
    watched.arguments.resize(bytes / 4);
    if (!read(space, kernel.kernarg_address, watched.arguments)) watched.arguments.clear();
}

bool CheckedPackets::settled(const AddressSpace& space, std::uint64_t index) {
    if (std::exchange(late_, false)) waited();
    if (!is_switched_on(Check::fence)) return true;
    watch_published(space, index);  // a producer may be late with its header
    const auto found = watched_.find(index);
    if (found == watched_.end() || found->second.settled) return true;
    if (clock::now_ns() - found->second.seen_ns < kSettleNs) return false;
    found->second.settled = true;
    compare(space, index, found->second);
    return true;
}

void CheckedPackets::starts(std::uint64_t index, const Dispatch& dispatch) {
    if (index != 0) published_.passed(index - 1);  // those that started while `race` was off
    const auto& memory = dispatch.memory_races();
    if (memory == nullptr) return;
    Watched& watched = watched_[index];
    const KernelDispatchPacket& packet = dispatch.packet();
    watched.kernel = {memory, dispatch.target(), packet.kernel_object, dispatch.queue_id(), index + 1, gpu_.index};
    check::ProcessChecks& process = process_checks();
    if (is_switched_on(Check::race)) watched.operation = process.operations.begin(published_.safe(), watched.kernel);
    if (is_switched_on(Check::fence)) {
        watched.host_safe = published_.host_safe(index, watched.seen != 0 ? watched.seen : process.operations.now());
        watched.start =
            process.visibility.acquired(gpu_.index, static_cast<check::FenceScope>(aql::acquire_scope(packet.header)),
                                        published_.safe(), process.operations.now());
        watched.in_flight = check::HostTouches::Busy{process.host_touches};
    }
    published_.passed(index);
}

void CheckedPackets::ends(const AddressSpace& space, std::uint64_t index, std::uint16_t header) {
    published_.passed(index);
    const auto found = watched_.find(index);
    Watched watched = found != watched_.end() ? std::move(found->second) : Watched{};
    if (found != watched_.end()) watched_.erase(found);
    check::ProcessChecks& process = process_checks();
    if (watched.seen_ns != 0) compare(space, index, watched);
    if (watched.operation) process.operations.end(watched.operation, process.report, &process.allocations);
    if (is_switched_on(Check::fence)) follow_fences(watched, header);
}

/// It has ended. Packets without a kernel do both of their fences then.
void CheckedPackets::follow_fences(const Watched& watched, std::uint16_t header) const {
    check::ProcessChecks& process = process_checks();
    const auto now = process.operations.now();
    if (watched.kernel.memory) {
        process.visibility.ended(watched.kernel, watched.start, now, process.report, &process.allocations);
        process.host_touches.compare(watched.kernel, watched.host_safe, now, process.report, &process.allocations);
    } else {
        process.visibility.acquired(gpu_.index, static_cast<check::FenceScope>(aql::acquire_scope(header)), 0, now);
    }
    process.visibility.released(gpu_.index, static_cast<check::FenceScope>(aql::release_scope(header)), now);
}

/// Goes on with what is there now.
void CheckedPackets::compare(const AddressSpace& space, std::uint64_t index, Watched& watched) {
    std::uint32_t now[16], before[16];
    std::memcpy(before, &watched.packet, sizeof before);
    if (!read(space, slot_va(index), now)) return;
    before[0] &= 0xffff0000, now[0] &= 0xffff0000;  // firmware invalidates the header
    const auto changed = std::ranges::mismatch(before, now);
    if (changed.in1 == std::end(before)) return compare_arguments(space, index, watched);
    const auto offset = static_cast<std::uint64_t>(changed.in1 - before) * 4;
    check::Report& report = process_checks().report;
    Finding finding = this->finding("packet-changed", space, index, watched);
    finding.what = fmt::format(
        "packet {} of the queue changes after it was published, at byte {}: {:#x} becomes {:#x}; its header has to be "
        "stored last, and its slot be used again when the read index has passed it",
        index, offset, *changed.in1, *changed.in2);
    finding.address = slot_va(index) + offset;
    finding.place = fmt::format("slot {} of the ring at {:#x}", index % packets_, ring_);
    std::memcpy(reinterpret_cast<std::byte*>(&watched.packet) + 4, now + 1, sizeof now - 4);
    read_arguments(space, watched);
    if (report.is_new(finding)) report.add(std::move(finding));
}

void CheckedPackets::compare_arguments(const AddressSpace& space, std::uint64_t index, Watched& watched) {
    if (watched.arguments.empty()) return;
    const std::uint64_t va = watched.packet.as<KernelDispatchPacket>().kernarg_address;
    std::vector<std::uint32_t> now(watched.arguments.size());
    if (!read(space, va, now)) return;
    check::ProcessChecks& process = process_checks();
    for (std::size_t n = 0; n < now.size(); ++n) {
        if (now[n] == watched.arguments[n] ||
            (watched.kernel.memory && watched.kernel.memory->shadow.is_written(va + 4 * n)))
            continue;
        Finding finding = this->finding("arguments-changed", space, index, watched);
        finding.what = fmt::format(
            "kernel arguments change while the kernel may read them, at byte {} of {}: {:#x} becomes {:#x}; their "
            "memory is free when the kernel has completed",
            4 * n, 4 * now.size(), watched.arguments[n], now[n]);
        finding.address = va + 4 * n;
        finding.place = process.allocations.describe(finding.address);
        if (process.report.is_new(finding)) process.report.add(std::move(finding));
        break;
    }
    watched.arguments = std::move(now);
}

Finding CheckedPackets::finding(const char* rule, const AddressSpace& space, std::uint64_t index,
                                const Watched& of) const {
    Finding result;
    result.check = Check::fence;
    result.rule = rule;
    result.gpu = gpu_.index;
    access<const aql::AmdQueue>(space, queue_va_, kRead, [&](auto& queue) { result.queue_id = queue.id; });
    result.dispatch_id = index + 1;
    result.wave = check::kWholeKernel;
    if (!is_kernel(of.packet)) return result.identity = ring_ + 1, result;
    const auto packet = of.packet.as<KernelDispatchPacket>();
    result.kernel_object = packet.kernel_object;
    result.at.pc = packet.kernel_object + static_cast<std::uint64_t>(descriptor(space, packet).entry_offset_bytes);
    result.at.instruction = "the kernel's first instruction";
    return result;
}

}  // namespace kfdemu
