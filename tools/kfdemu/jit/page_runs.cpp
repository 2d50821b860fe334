#include "tools/kfdemu/jit/page_runs.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <mutex>

#include "tools/kfdemu/isa/memory/tlb.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"
#include "tools/kfdemu/jit/code_memory.hpp"
#include "tools/kfdemu/jit/translator.hpp"

namespace kfdemu::jit {

struct Run {
    std::atomic<Translated> code{nullptr};
    isa::Handler original;  // of the first instruction
    const isa::Inst* end;
    std::uint64_t instructions;
    bool floats = false;
    Width width;
    Stretch stretch;
    std::atomic<std::uint32_t> visits{0};
    std::mutex mutex;  // guards block and refused
    std::unique_ptr<CodeMemory::Block> block;
    bool refused = false;
    std::atomic<std::uint32_t> exits{0};

    void translate();
    /// Code whose data are full of NaNs, or whose lanes access several ranges, is interpreted in the end.
    void note_exit() {
        constexpr std::uint32_t most = 4096;
        if (exits.fetch_add(1, std::memory_order_relaxed) == most) code.store(nullptr, std::memory_order_relaxed);
    }
};

namespace {

using isa::Inst;
using isa::Wave;

/// Interpreted visits, of all waves: translating an operation takes about as long as interpreting it so often.
constexpr std::uint32_t kVisitsBefore = 200;

/// The stretch for lanes from `first` on, whose scalars are done. Frame::s has the masks of those before. False: an
/// access has faulted.
bool interpret(Wave& wave, const Run& run, const Frame& frame, std::uint64_t first) {
    const std::uint64_t exec = wave.exec(), rest = ~std::uint64_t{0} << first;
    wave.set_mask(isa::kExec, exec & rest);
    for (const Inst* inst : run.stretch.insts) {
        wave.next = inst;
        if ((inst == run.stretch.begin ? run.original : inst->handler)(wave, *inst) == nullptr) return false;
    }
    wave.set_mask(isa::kExec, exec);
    for (const std::uint16_t mask : run.stretch.masks) {
        std::uint64_t done = 0;
        std::memcpy(&done, frame.s + mask, wave.width / 8);
        wave.set_mask(mask, wave.mask(mask) | (done & ~rest));
    }
    return true;
}

/// Leaves the run loop: translated code has executed as much as the slice allows.
const Inst* pause(Wave& wave, const Inst& next) {
    wave.stop = isa::Stop::Budget;
    wave.next = &next;
    wave.pc = next.pc;
    return nullptr;
}

const Inst* leave(Wave& wave, const Run& run) {
    wave.in_translated = false;
    wave.translated += run.instructions - 1;
    return wave.translated < wave.most_translated ? run.end : pause(wave, *run.end);
}

/// Translated code has done no more than the lanes before `first`, if these exist.
[[gnu::noinline]] const Inst* go_on(Wave& wave, Run& run, std::uint64_t first) {
    wave.in_translated = false;
    if (first >= wave.width) return run.original(wave, *run.stretch.begin);
    const std::uint64_t refills = wave.tlb != nullptr ? wave.tlb->refills : 0;
    if (!interpret(wave, run, *wave.frame, first)) return nullptr;
    if (wave.tlb == nullptr || refills == wave.tlb->refills) run.note_exit();
    return leave(wave, run);
}

[[gnu::noinline]] const Inst* not_translated(Wave& wave, const Inst& inst, Run& run) {
    if (run.visits.load(std::memory_order_relaxed) <= kVisitsBefore &&
        run.visits.fetch_add(1, std::memory_order_relaxed) == kVisitsBefore)
        run.translate();
    return run.original(wave, inst);
}

// Translated code has no type for the sanitizer to look at in front of it.
#if defined(__clang__)
[[clang::no_sanitize("function")]]
#endif
const Inst* enter(Wave& wave, const Inst& inst) {
    Run& run = *inst.run;
    if (wave.in_translated) [[unlikely]]
        return go_on(wave, run, wave.frame->done_bytes / sizeof(std::uint32_t));
    if (wave.slow || wave.interpreted || wave.watcher != nullptr || wave.frame == nullptr ||
        (run.floats && wave.mxcsr_now != wave.mxcsr_f32))
        return run.original(wave, inst);
    const Translated code = run.code.load(std::memory_order_acquire);
    if (code == nullptr) [[unlikely]]
        return not_translated(wave, inst, run);
    Frame& frame = *wave.frame;
    frame.lds = wave.lds;
    frame.lds_size_bytes = wave.lds_size_bytes;
    frame.tlb = wave.tlb;
    wave.in_translated = true;
    const std::uint64_t done = code(wave.v, wave.s, wave.exec(), &frame);
    return done == wave.width ? leave(wave, run) : go_on(wave, run, done);
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

PageRuns::PageRuns(std::span<isa::Inst> slots, isa::Level level, unsigned lanes, When when) {
    if (level == isa::Level::V2 || when == When::never) return;
    const Width width = level == isa::Level::V4 ? Width::bits512 : Width::bits256;
    for (Stretch& stretch : stretches(slots, {width, lanes})) {
        auto run = std::make_unique<Run>();
        Inst& first = slots[static_cast<std::size_t>(stretch.begin - slots.data())];
        run->original = first.handler;
        run->end = stretch.end;
        run->instructions = stretch.instructions();
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
