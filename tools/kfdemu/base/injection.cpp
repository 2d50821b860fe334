#include "tools/kfdemu/base/injection.hpp"

#include <algorithm>

#include "tools/kfdemu/base/counters.hpp"

namespace kfdemu {
namespace {

bool concerns(std::uint64_t asked, QueueKind kind, std::uint64_t ring) {
    return asked == ring || asked == static_cast<std::uint64_t>(kind);
}

/// Counts one event for every request that it matches. Returns the first request that is due, or nullptr.
template <class Request, class Concerns>
Request* due(std::vector<Request>& requests, Concerns&& concerned) {
    Request* found = nullptr;
    for (Request& request : requests)
        if (concerned(request) && request.turns.next() && !found) found = &request;
    return found;
}

}  // namespace

Injection& injection() {
    static auto* instance = new Injection;
    return *instance;
}

void Injection::fail(const Failure& failure) {
    std::lock_guard lock{mutex_};
    failures_.push_back(failure);
    armed_.store(true, std::memory_order_relaxed);
}

void Injection::interrupts(Interrupt what, Turns turns) {
    std::lock_guard lock{mutex_};
    disturbances_.push_back({what, turns});
    armed_.store(true, std::memory_order_relaxed);
}

void Injection::stall(std::uint64_t ring, bool stalled) {
    std::lock_guard lock{mutex_};
    std::erase(stalled_, ring);
    if (stalled) stalled_.push_back(ring);
    armed_.store(true, std::memory_order_relaxed);
}

void Injection::patch(std::uint64_t ring, std::uint64_t nth, const Patch& patch) {
    std::lock_guard lock{mutex_};
    breaks_.push_back({ring, {nth, 1}, patch});
    armed_.store(true, std::memory_order_relaxed);
}

void Injection::defect(const Defect& defect) {
    switch (defect.kind) {
        case DefectKind::interrupts:
            return interrupts({InterruptAction::drop}, defect.turns);
        case DefectKind::queues:
            return stall(static_cast<std::uint64_t>(QueueKind::compute), true);
        case DefectKind::engines:
            return stall(static_cast<std::uint64_t>(QueueKind::sdma), true);
        case DefectKind::copies:
        case DefectKind::dispatches:
            break;
    }
    std::lock_guard lock{mutex_};
    defects_.push_back(defect);
    armed_.store(true, std::memory_order_relaxed);
}

void Injection::reset() {
    std::lock_guard lock{mutex_};
    failures_.clear();
    disturbances_.clear();
    stalled_.clear();
    breaks_.clear();
    defects_.clear();
    armed_.store(false, std::memory_order_relaxed);
}

int Injection::failure(Point point, std::uint32_t number) {
    if (!armed()) return 0;
    std::lock_guard lock{mutex_};
    const Failure* found =
        due(failures_, [&](const Failure& f) { return f.point == point && (f.number == 0 || f.number == number); });
    if (!found) return 0;
    counters.injected += 1;
    return found->error;
}

Injection::Interrupt Injection::interrupt() {
    if (!armed()) return {};
    std::lock_guard lock{mutex_};
    const Disturbance* found = due(disturbances_, [](const Disturbance&) { return true; });
    if (!found) return {};
    counters.injected += 1;
    return found->what;
}

bool Injection::stalled(QueueKind kind, std::uint64_t ring) {
    if (!armed()) return false;
    std::lock_guard lock{mutex_};
    return std::any_of(stalled_.begin(), stalled_.end(),
                       [&](std::uint64_t asked) { return concerns(asked, kind, ring); });
}

void Injection::apply(QueueKind kind, std::uint64_t ring, std::span<std::byte> packet) {
    if (!armed()) return;
    std::lock_guard lock{mutex_};
    const Break* found = due(breaks_, [&](const Break& b) { return concerns(b.ring, kind, ring); });
    if (!found || found->patch.offset + found->patch.size > packet.size()) return;
    std::copy_n(found->patch.bytes, found->patch.size, packet.begin() + found->patch.offset);
    counters.injected += 1;
}

bool Injection::counted(DefectKind kind) {
    if (!armed()) return false;
    std::lock_guard lock{mutex_};
    if (!due(defects_, [&](const Defect& defect) { return defect.kind == kind; })) return false;
    counters.injected += 1;
    return true;
}

}  // namespace kfdemu
