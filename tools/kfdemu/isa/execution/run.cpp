// The run loop, and the setup of a wave.
#include <immintrin.h>

#include <algorithm>

#include "tools/kfdemu/base/host_fault.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"
#include "tools/kfdemu/isa/wave/watcher.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {
namespace {

constexpr std::uint32_t kModeGprIndex = 1u << 27, kModeVskip = 1u << 28;

/// The MXCSR value for denormals and rounding; all exceptions are masked.
std::uint32_t mxcsr(std::uint32_t round, std::uint32_t denormals) {
    constexpr std::uint32_t masked = 0x1f80, daz = 0x40, ftz = 0x8000;
    constexpr std::uint32_t rounding[] = {0, 2, 1, 3};  // nearest, up, down, zero as x86 encodes them
    return masked | rounding[round & 3] << 13 | ((denormals & 1) ? 0 : daz) | ((denormals & 2) ? 0 : ftz);
}

/// The vector instruction with M0's offset added to the operands that M0[15:12] names ("Vega" ISA manual, "VGPR
/// indexing").
Inst indexed(const Wave& wave, const Inst& inst) {
    Inst moved = inst;
    const Operand by = static_cast<Operand>(wave.s[kM0] & 0xff);
    const std::uint32_t what = (wave.s[kM0] >> 12) & 15;
    const auto move = [by](Operand& operand) {
        if (operand >= kVgpr0 && operand < kAcc0) operand = static_cast<Operand>(operand + by);
    };
    for (unsigned n = 0; n < 3; ++n) {
        if (what & (1u << n)) move(moved.src[n]);
    }
    if (what & 8) move(moved.dst);
    return moved;
}

/// Whether all dwords of the moved operands are still VGPRs.
bool in_range(const Inst& moved) {
    const Row& row = rows()[moved.row];
    const auto inside = [](Operand operand, Type type) {
        return operand < kVgpr0 || operand == kNoOperand || operand + dwords(type) <= kAcc0;
    };
    return inside(moved.dst, row.dst) && inside(moved.src[0], row.src[0]) && inside(moved.src[1], row.src[1]) &&
           inside(moved.src[2], row.src[2]);
}

/// Executes one instruction while VSKIP or GPR indexing is on.
const Inst* slow_step(Wave& wave, const Inst& inst, Watcher* watcher) {
    const auto execute = [&](const Inst& effective) {
        if (watcher) watcher->before(wave, effective);
        return effective.handler(wave, effective);
    };
    // Rows that are no instruction, such as the end mark of a code page, run unchanged.
    if (inst.row == Decoder::kNoRow) return inst.handler(wave, inst);
    const bool vector = is_vector(inst.format);
    if ((wave.mode & kModeVskip) && (vector || is_vector_memory(inst.format))) return &inst + inst.size;
    if (!(wave.mode & kModeGprIndex) || !vector) return execute(inst);
    Inst copy[3] = {indexed(wave, inst), {}, {}};
    if (!in_range(copy[0])) return wave.stop_at(Stop::Illegal, inst);
    return execute(copy[0]) ? &inst + inst.size : nullptr;
}

const Inst* step_through(Wave& wave, const Inst* inst, std::uint64_t& budget) {
    while (inst && budget) {
        --budget;
        wave.next = inst;
        inst = wave.slow ? slow_step(wave, *inst, nullptr) : inst->handler(wave, *inst);
    }
    return inst;
}

const Inst* step_watched(Wave& wave, const Inst* inst, std::uint64_t& budget) {
    Watcher& watcher = *wave.watcher;
    while (inst && budget) {
        --budget;
        wave.next = inst;
        if (wave.slow) {
            inst = slow_step(wave, *inst, &watcher);
            continue;
        }
        if (inst->row != Decoder::kNoRow) watcher.before(wave, *inst);
        inst = inst->handler(wave, *inst);
    }
    return inst;
}

}  // namespace

void set_constants(Wave& wave) {
    for (std::uint32_t n = kConstants; n < 256; ++n)
        if (n != kFlatScratchRegister && n != kFlatScratchRegister + 1) wave.s[n] = 0;
    for (std::uint32_t n = 0; n <= 64; ++n) wave.s[128 + n] = n;
    for (std::uint32_t n = 1; n <= 16; ++n) wave.s[192 + n] = 0u - n;
    constexpr std::uint32_t floats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    constexpr std::uint32_t halves[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
    for (std::uint32_t n = 0; n < 9; ++n) {
        wave.s[kFloats + n] = floats[n];
        wave.s[kHalfFloats + n] = halves[n];
        wave.s[kBrainFloats + n] = floats[n] >> 16;
    }
    wave.s[kNull] = 0;
    // As 32-bit operands, the apertures read as their low halves.
    wave.s[kSharedLimit] = wave.s[kPrivateLimit] = ~0u;
}

void set_traits(Wave& wave, const Traits& traits) {
    wave.unified_formats = traits.unified_formats;
    wave.fewer_formats = traits.fewer_formats;
    wave.number_wins = traits.number_wins;
    wave.gfx12_names = traits.gfx12_names;
    if (traits.scratch_register) wave.flat_scratch = kFlatScratchRegister;
}

void set_mode(Wave& wave, std::uint32_t mode) {
    constexpr std::uint32_t clamps_nan = 0x100, of_nan = 0x300;
    wave.mode = wave.number_wins ? (mode & ~of_nan) | clamps_nan : mode;
    wave.mxcsr_f32 = mxcsr(mode, mode >> 4);
    wave.mxcsr_f64 = mxcsr(mode >> 2, mode >> 6);
}

/// Keeps wave.next at the instruction that runs: an access may end the loop by a jump (host_fault.hpp).
static void run_instructions(Wave& wave, std::uint64_t& budget) {
    wave.stop = Stop::Running;
    constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;
    wave.most_translated = wave.translated + std::min(budget, unlimited);
    const Inst* inst = wave.next ? wave.next : wave.fetch(wave, wave.pc);
    if (!inst) wave.next = nullptr;
    while (inst && budget) {
        // Handlers return with Stop::Running when the execution mode changes between fast and slow.
        if (wave.watcher) {
            inst = step_watched(wave, inst, budget);
        } else if (wave.slow) {
            inst = step_through(wave, inst, budget);
        } else {
            while (inst && budget) {
                --budget;
                wave.next = inst;
                inst = inst->handler(wave, *inst);
            }
        }
        if (!inst && wave.stop == Stop::Running) inst = wave.next;
    }
    if (inst) {
        wave.stop = Stop::Budget;
        wave.next = inst;
        wave.pc = inst->pc;
    }
}

HostFloats::HostFloats() : callers_{_mm_getcsr()}, now_{callers_} {}

void HostFloats::set(std::uint32_t mxcsr) {
    constexpr std::uint32_t flags = 0x3f;  // of exceptions that have happened
    if (((mxcsr ^ now_) & ~flags) == 0) return;
    now_ = mxcsr;
    _mm_setcsr(mxcsr);
}

Stop run_guarded(Wave& wave, std::uint64_t& budget, HostFloats& floats) {
    wave.mxcsr_now = wave.mxcsr_f32;
    floats.set(wave.mxcsr_now);
    run_instructions(wave, budget);
    floats.changed_to(wave.mxcsr_now);
    return wave.stop;
}

void stop_by_fault(Wave& wave, const HostFault& fault, HostFloats& floats) {
    floats.changed_to(_mm_getcsr());  // of an instruction that did not end
    // A wave without a next instruction was about to fetch one.
    if (wave.next != nullptr) wave.pc = wave.next->pc;
    if (wave.in_translated) {
        wave.stop = Stop::Budget;
        return;
    }
    wave.stop = Stop::MemoryFault;
    wave.fault = {fault.va, kUnknownLane, fault.access};
    wave.next = nullptr;
}

Stop run(Wave& wave, std::uint64_t& budget) {
    HostFloats floats;
    const auto fault = host_fault::guarded(wave.memory, [&] { run_guarded(wave, budget, floats); });
    if (fault) stop_by_fault(wave, *fault, floats);
    return wave.stop;
}

}  // namespace kfdemu::isa
