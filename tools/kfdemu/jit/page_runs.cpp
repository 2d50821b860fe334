#include "page_runs.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <mutex>

#include "../gfx9/wave.hpp"
#include "code_memory.hpp"
#include "translator.hpp"

namespace kfdemu::jit {

struct Run {
    gfx9::Handler original;  // of the first instruction
    Stretch stretch;
    Width width;
    bool floats = false;
    std::atomic<Translated> code{nullptr};
    std::atomic<std::uint32_t> visits{0};
    std::mutex mutex;  // guards block and refused
    std::unique_ptr<CodeMemory::Block> block;
    bool refused = false;
    std::atomic<std::uint32_t> nans{0};

    void translate();
    /// Code whose data are full of NaNs is interpreted in the end.
    void note_nan() {
        constexpr std::uint32_t most = 4096;
        if (nans.fetch_add(1, std::memory_order_relaxed) == most) code.store(nullptr, std::memory_order_relaxed);
    }
};

namespace {

using gfx9::Inst;
using gfx9::Wave;

/// Interpreted visits, of all waves: translating an operation takes about as long as interpreting it so often.
constexpr std::uint32_t kVisitsBefore = 200;

/// The stretch for lanes from `first` on. Frame::s has the masks of those before.
void interpret(Wave& wave, const Run& run, const Frame& frame, std::uint64_t first) {
    const std::uint64_t exec = wave.exec(), rest = ~std::uint64_t{0} << first;
    wave.set_s64(gfx9::kExec, exec & rest);
    for (const Inst* inst : run.stretch.insts)
        (inst == run.stretch.insts.front() ? run.original : inst->handler)(wave, *inst);
    wave.set_s64(gfx9::kExec, exec);
    for (const std::uint16_t mask : run.stretch.masks) {
        std::uint64_t done = 0;
        std::memcpy(&done, frame.s + mask, sizeof done);
        wave.set_s64(mask, wave.s64(mask) | (done & ~rest));
    }
}

/// Leaves the run loop: translated code has executed as much as the slice allows.
const Inst* pause(Wave& wave, const Inst& next) {
    wave.stop = gfx9::Stop::Budget;
    wave.next = &next;
    wave.pc = next.pc;
    return nullptr;
}

// Translated code has no type for the sanitizer to look at in front of it.
#if defined(__clang__)
[[clang::no_sanitize("function")]]
#endif
const Inst* enter(Wave& wave, const Inst& inst) {
    Run& run = *inst.run;
    const Translated code = run.code.load(std::memory_order_acquire);
    if (wave.slow || wave.watcher != nullptr || wave.interpreted || (run.floats && wave.mxcsr_now != wave.mxcsr_f32))
        return run.original(wave, inst);
    if (code == nullptr) {
        if (run.visits.load(std::memory_order_relaxed) <= kVisitsBefore &&
            run.visits.fetch_add(1, std::memory_order_relaxed) == kVisitsBefore)
            run.translate();
        return run.original(wave, inst);
    }
    Frame frame;  // NOLINT: translated code sets what else it uses
    frame.lds = wave.lds;
    frame.lds_size_bytes = wave.lds_size_bytes;
    const std::uint64_t done = code(wave.v, wave.s, wave.exec(), &frame);
    if (done < gfx9::kLanes) [[unlikely]] {
        interpret(wave, run, frame, done);
        run.note_nan();
    }
    wave.translated += run.stretch.insts.size() - 1;
    return wave.translated < wave.most_translated ? run.stretch.end : pause(wave, *run.stretch.end);
}

}  // namespace

void Run::translate() {
    const std::lock_guard lock{mutex};
    if (block || refused) return;
    refused = true;
    try {
        block = CodeMemory::process().store(jit::translate(stretch, width));
    } catch (const std::exception&) {  // more code than there is room for, or no memory
    }
    stretch.ops = {};
    if (block) code.store(std::bit_cast<Translated>(block->entry()), std::memory_order_release);
}

PageRuns::PageRuns() = default;
PageRuns::PageRuns(PageRuns&&) noexcept = default;
PageRuns& PageRuns::operator=(PageRuns&&) noexcept = default;
PageRuns::~PageRuns() = default;

PageRuns::PageRuns(std::span<gfx9::Inst> slots, gfx9::Level level, When when) {
    if (level == gfx9::Level::V2 || when == When::never) return;
    const Width width = level == gfx9::Level::V4 ? Width::bits512 : Width::bits256;
    for (Stretch& stretch : stretches(slots, width)) {
        auto run = std::make_unique<Run>();
        Inst& first = slots[static_cast<std::size_t>(stretch.insts.front() - slots.data())];
        run->original = first.handler;
        run->width = width;
        for (const LaneOp& op : stretch.ops) run->floats = run->floats || op.needs_mode();
        run->stretch = std::move(stretch);
        if (when == When::always) run->translate();
        first.run = run.get();
        first.handler = &enter;
        runs_.push_back(std::move(run));
    }
}

}  // namespace kfdemu::jit
