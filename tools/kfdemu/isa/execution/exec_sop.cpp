// Execution of the scalar unit's instructions: SOP1, SOP2, SOPC, SOPK, SOPP.
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/half_math.hpp"
#include "tools/kfdemu/isa/execution/integer_math.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"
#include "tools/kfdemu/isa/memory/tlb.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

const Inst* illegal(Wave& w, const Inst& i) { return w.stop_at(Stop::Illegal, i); }

const Inst* go_to(Wave& w, u64 pc) { return w.fetch(w, pc & ~u64{3}); }

KFDEMU_INLINE const Inst* branch(Wave& w, const Inst& i) { return i.target ? i.target : w.fetch(w, i.target_pc()); }

KFDEMU_INLINE bool set_exec(Wave& w, u64 value) {
    w.set_s64(kExec, value);
    return value != 0;
}

KFDEMU_INLINE bool set_exec_low(Wave& w, u32 value) {
    w.s[kExec] = value;
    return value != 0;
}

// S_SUBVECTOR_LOOP_BEGIN and _END ("RDNA 2" ISA manual): lanes 0-31 execute the loop's body, then lanes 32-63; `saved`
// is the half of EXEC that does not.

/// Whether no lane is active, so that the loop is skipped.
KFDEMU_INLINE bool begin_halves(Wave& w, u32& saved) {
    u32 &low = w.s[kExec], &high = w.s[kExec + 1];
    if ((low | high) == 0) return true;
    saved = low == 0 ? 0 : high;
    if (low != 0) high = 0;
    return false;
}
/// Whether the upper half follows.
KFDEMU_INLINE bool end_half(Wave& w, u32& saved) {
    u32 &low = w.s[kExec], &high = w.s[kExec + 1];
    if (high != 0) {
        low = saved;
        return false;
    }
    if (saved == 0) return false;
    high = saved, saved = low, low = 0;
    return true;
}

KFDEMU_INLINE u32 shifted_sum(u32 a, unsigned shift, u32 b, bool& scc) {
    const u64 sum = (u64{a} << shift) + b;
    scc = sum >> 32 != 0;
    return static_cast<u32>(sum);
}

bool is_rdna(const Wave& w) { return w.flat_scratch != kFlatScratch; }

/// The SGPRs that M0-relative addressing reaches end before FLAT_SCRATCH, which GFX10 to GFX12 have elsewhere.
u32 end_of_sgprs(const Wave& w) { return is_rdna(w) ? kVcc : kFlatScratch; }

/// Whether M0-relative addressing from `base` stays within the SGPRs.
bool relative(const Wave& w, Operand base, unsigned dwords) {
    const u32 end = end_of_sgprs(w);
    return base < end && w.s[kM0] <= end && base + w.s[kM0] + dwords <= end;
}

/// S_MOVRELSD_2_B32: M0 is the destination's offset above the source's. False: one leaves the SGPRs.
bool move_scalar_by_halves(Wave& w, const Inst& i) {
    const u32 from = i.src[0] + (w.s[kM0] & 0x3ff), to = i.dst + (w.s[kM0] >> 16 & 0x3ff);
    if (from >= end_of_sgprs(w) || to >= end_of_sgprs(w)) return false;
    w.s[to] = w.s[from];
    return true;
}

// Forks ("Vega" ISA manual, "Branching with fork and join"): a stack of pending branch sides in SGPRs, four per level;
// its depth (CSP) is MODE[31:29].

constexpr unsigned kCspShift = 29;

const Inst* fork(Wave& w, const Inst& i, u64 taken, u64 target) {
    const u64 exec = exec_of(w);
    const u64 pass = taken & exec, fail = ~taken & exec;
    if (pass == exec) return go_to(w, target);
    if (fail == exec) return next_of(i);
    const u32 depth = w.mode >> kCspShift;
    const bool fail_first = popcount64(fail) < popcount64(pass);
    w.set_s64(static_cast<Operand>(4 * depth), fail_first ? pass : fail);
    w.set_s64(static_cast<Operand>(4 * depth + 2), fail_first ? target : i.next_pc());
    w.mode += 1u << kCspShift;
    w.set_s64(kExec, fail_first ? fail : pass);
    return fail_first ? next_of(i) : go_to(w, target);
}

const Inst* join(Wave& w, const Inst& i, u32 depth) {
    if (w.mode >> kCspShift == depth) return next_of(i);
    w.mode -= 1u << kCspShift;
    const u32 top = w.mode >> kCspShift;
    w.set_s64(kExec, w.s64(static_cast<Operand>(4 * top)));
    return go_to(w, w.s64(static_cast<Operand>(4 * top + 2)));
}

// GPR indexing and VSKIP are bits of GFX9's MODE; run() must be notified when they change.

constexpr u32 kModeGprIndex = 1u << 27, kModeVskip = 1u << 28, kModeExceptions = 0x7f000;

const Inst* refresh_loop(Wave& w, const Inst& i) {
    const bool slow = (w.mode & (kModeGprIndex | kModeVskip)) != 0 && !is_rdna(w);
    if (slow == w.slow) return next_of(i);
    w.slow = slow;
    return w.pause_after(Stop::Running, i);
}
void set_vskip(Wave& w, bool on) { w.mode = on ? w.mode | kModeVskip : w.mode & ~kModeVskip; }
void start_indexing(Wave& w, u32 index, u32 what) {
    w.s[kM0] = (w.s[kM0] & ~0xf0ffu) | (index & 0xff) | (what & 15) << 12;
    w.mode |= kModeGprIndex;
}
void stop_indexing(Wave& w) { w.mode &= ~kModeGprIndex; }

// Barriers in two steps ("RDNA 4" ISA manual, "Work-group barriers"): the work-group counts the signals.

constexpr i32 kGroupBarrier = -1, kNullBarrier = 0;

[[gnu::noinline, maybe_unused]] const Inst* signal_barrier(Wave& w, const Inst& i, i32 barrier, bool asks) {
    if (barrier == kNullBarrier && !asks) return next_of(i);
    if (barrier != kGroupBarrier) return not_implemented(w, i);
    w.argument = asks;
    return w.pause_after(Stop::Signal, i);
}
const Inst* wait_at_barrier(Wave& w, const Inst& i, i32 barrier) {
    if (barrier == kNullBarrier) return next_of(i);
    return barrier == kGroupBarrier ? w.pause_after(Stop::BarrierWait, i) : not_implemented(w, i);
}
[[gnu::noinline, maybe_unused]] const Inst* get_barrier_state(Wave& w, const Inst& i, i32 barrier) {
    if (barrier != kGroupBarrier) return not_implemented(w, i);
    w.argument = i.dst;
    return w.pause_after(Stop::BarrierState, i);
}

// s_getreg, s_setreg: SIMM16 = size - 1, offset, register ("Vega" ISA manual, "Hardware registers").

enum HardwareRegister : u32 {
    kHwMode = 1,
    kHwStatus = 2,
    kHwTrapStatus = 3,
    kHwId = 4,
    kHwGprAlloc = 5,
    kHwLdsAlloc = 6,
    kHwIbStatus = 7,
    kHwShMemBases = 15,
    kHwXccId = 20,
    kHwFlatScratchLow = 20,  // where the model has no XCC
    kHwFlatScratchHigh = 21,
    kHwId1 = 23,
    kHwId2 = 24,
    kHwShaderCycles = 29,
    // Of GFX12.
    kHwExceptionsPrivate = 17,
    kHwExceptionsUser = 18,
    kHwShaderCyclesHigh = 30,
};
constexpr u32 kCyclesMask = 0xfffff;

constexpr u32 kStatusScc = 1, kStatusWide = 1u << 29;  // the first before GFX12, the second on it

u32 status_register(const Wave& w) {
    const u32 scc = w.scc ? 1 : 0;
    const u32 execz = exec_of(w) == 0 ? 1u << 9 : 0, vccz = mask_of(w, kVcc) == 0 ? 1u << 10 : 0;
    return (w.status & ~0x601u) | scc | execz | vccz | 1u << 16;  // bit 16: VALID
}

/// Of GFX10 to GFX12, where FLAT_SCRATCH is no pair of SGPRs.
bool get_rdna_register(const Wave& w, u32 number, u32& whole) {
    if (!is_rdna(w)) return false;
    if (number == kHwFlatScratchLow || number == kHwFlatScratchHigh)
        whole = w.s[w.flat_scratch + number - kHwFlatScratchLow];
    else if (number == kHwId1 || number == kHwId2)
        whole = number == kHwId1 ? w.hw_id : 0;
    else if (number == kHwShaderCycles)
        whole = static_cast<u32>(shader_clock_ticks()) & kCyclesMask;
    else
        return false;
    return true;
}

/// Of GFX12, where others have other fields: not emulated.
bool get_gfx12_register(const Wave& w, u32 number, u32& whole) {
    constexpr u32 nan_modes = 0x300;
    const u64 cycles = shader_clock_ticks();
    switch (number) {
        case kHwMode:
            whole = w.mode & ~nan_modes;
            return true;
        case kHwStatus:
            whole = (status_register(w) & ~kStatusScc) | (w.width == kMostLanes ? kStatusWide : 0);
            return true;
        case kHwExceptionsPrivate:
        case kHwExceptionsUser:
            whole = 0;
            return true;
        case kHwShaderCycles:
        case kHwShaderCyclesHigh:
            whole = static_cast<u32>(number == kHwShaderCycles ? cycles : cycles >> 32);
            return true;
        default:
            return get_rdna_register(w, number, whole);
    }
}

bool get_known_register(const Wave& w, i32 k, u32& whole) {
    if (w.gfx12_names) return get_gfx12_register(w, static_cast<u32>(k) & 63, whole);
    switch (k & 63) {
        case kHwMode:
            whole = w.mode;
            break;
        case kHwStatus:
            whole = status_register(w);
            break;
        case kHwTrapStatus:
            whole = 0;
            break;
        case kHwId:
            whole = w.hw_id;
            break;
        case kHwGprAlloc:
            whole = w.gpr_alloc;
            break;
        case kHwLdsAlloc:
            whole = w.lds_alloc;
            break;
        case kHwIbStatus:
            whole = 0;
            break;
        case kHwShMemBases:
            whole = static_cast<u32>(w.private_base >> 48) | (static_cast<u32>(w.shared_base >> 48) << 16);
            break;
        case kHwXccId:
            if (w.xcc != kNoXcc) {
                whole = w.xcc;
                break;
            }
            [[fallthrough]];
        default:
            return get_rdna_register(w, static_cast<u32>(k) & 63, whole);
    }
    return true;
}

bool get_hardware_register(const Wave& w, i32 k, u32& value) {
    u32 whole = 0;
    if (!get_known_register(w, k, whole)) return false;
    const u32 offset = (static_cast<u32>(k) >> 6) & 31, size = ((static_cast<u32>(k) >> 11) & 31) + 1;
    value = (whole >> offset) & (size == 32 ? ~0u : ones(size));
    return true;
}

bool set_hardware_register(Wave& w, i32 k, u32 value) {
    const u32 offset = (static_cast<u32>(k) >> 6) & 31, size = ((static_cast<u32>(k) >> 11) & 31) + 1;
    const u32 places = (size == 32 ? ~0u : ones(size)) << offset;
    const u32 number = static_cast<u32>(k) & 63;
    // Sticky exception bits, which kfdemu never sets.
    if (number == (w.gfx12_names ? kHwExceptionsUser : kHwTrapStatus)) return true;
    if (is_rdna(w) && !w.gfx12_names && (number == kHwFlatScratchLow || number == kHwFlatScratchHigh)) {
        u32& whole = w.s[w.flat_scratch + number - kHwFlatScratchLow];
        whole = (whole & ~places) | ((value << offset) & places);
        return true;
    }
    if (number != kHwMode) return false;
    const u32 mode = (w.mode & ~places) | ((value << offset) & places);
    if (mode & kModeExceptions) return false;
    set_mode(w, mode);
    return true;
}

// Messages of GFX11 and GFX12 (LLVM's AMDGPUUsage and SIDefines.h).
constexpr u32 kMessageFreeVgprs = 3, kMessageRealTime = 0x83;

/// What s_sendmsg_rtn returns; false: it is for trap handlers, or not emulated.
bool answer_of(u32 message, u64& value) {
    if (message != kMessageRealTime) return false;
    value = reference_clock_ticks();
    return true;
}

// Halves of the scalar unit, as their bits.

float float_in(Wave& w, const Inst& i, u32 half) {
    use_mode<Kind::Float16>(w);
    return HalfFloat::of(half, context(w, i));
}
u32 half_of(Wave& w, const Inst& i, float value) {
    use_mode<Kind::Float16>(w);
    return HalfFloat::to(value, context(w, i));
}
#define T_f16 T_b32

#define KFDEMU_SCALAR(name, d_, a_, b_, setup, ...)             \
    const Inst* name([[maybe_unused]] Wave& w, const Inst& i) { \
        using D [[maybe_unused]] = T_##d_;                      \
        scalar_setup(w, i);                                     \
        [[maybe_unused]] bool& scc = w.scc;                     \
        setup;                                                  \
        __VA_ARGS__;                                            \
        return next_of(i);                                      \
    }
#define KFDEMU_READ(variable, type, operand) [[maybe_unused]] const auto variable = read<T_##type>(w, operand)
#define KFDEMU_DESTINATION(type) [[maybe_unused]] auto d = read<T_##type>(w, i.dst)
#define KFDEMU_SIMM                          \
    [[maybe_unused]] const i32 k = i.offset; \
    [[maybe_unused]] const u32 uk = static_cast<u16>(k)

#define SOP1(op, name, on, d_, a_, attributes, flow, code, ...)                                          \
    KFDEMU_SCALAR(name, d_, a_, none, KFDEMU_READ(a, a_, i.src[0]); KFDEMU_DESTINATION(d_), __VA_ARGS__; \
                  write<D>(w, i.dst, d))
#define SOP2(op, name, on, d_, a_, b_, attributes, flow, code, ...)                             \
    KFDEMU_SCALAR(name, d_, a_, b_, KFDEMU_READ(a, a_, i.src[0]); KFDEMU_READ(b, b_, i.src[1]); \
                  KFDEMU_DESTINATION(d_), __VA_ARGS__; write<D>(w, i.dst, d))
#define SOP2_K(op, name, on, d_, a_, b_, c_, attributes, flow, code, ...)                       \
    KFDEMU_SCALAR(name, d_, a_, b_, KFDEMU_READ(a, a_, i.src[0]); KFDEMU_READ(b, b_, i.src[1]); \
                  KFDEMU_READ(c, c_, i.src[2]); KFDEMU_DESTINATION(d_), __VA_ARGS__; write<D>(w, i.dst, d))
#define SOPC(op, name, on, a_, b_, attributes, flow, code, ...) \
    KFDEMU_SCALAR(name, none, a_, b_, KFDEMU_READ(a, a_, i.src[0]); KFDEMU_READ(b, b_, i.src[1]), __VA_ARGS__)
#define SOPK(op, name, on, d_, a_, attributes, flow, code, ...) \
    KFDEMU_SCALAR(name, d_, none, none, KFDEMU_DESTINATION(d_); KFDEMU_SIMM, __VA_ARGS__; write<D>(w, i.dst, d))
#define SOPP(op, name, on, a_, attributes, code, ...) KFDEMU_SCALAR(name, none, none, none, KFDEMU_SIMM, __VA_ARGS__)
#define SOPP_BRANCH(op, name, on, attributes, ...) \
    KFDEMU_SCALAR(name, none, none, none, , if (__VA_ARGS__) return branch(w, i))
#include "tools/kfdemu/isa/rows/sop1.inc"
#include "tools/kfdemu/isa/rows/sop2.inc"
#include "tools/kfdemu/isa/rows/sopc.inc"
#include "tools/kfdemu/isa/rows/sopk.inc"
#include "tools/kfdemu/isa/rows/sopp.inc"
#undef SOP1
#undef SOP2
#undef SOP2_K
#undef SOPC
#undef SOPK
#undef SOPP
#undef SOPP_BRANCH

}  // namespace

void fill_sop(Handler* handlers) {
#define SOP1(op, name, ...) handlers[index(Op::name)] = &name;
#define SOP2 SOP1
#define SOP2_K SOP1
#define SOPC SOP1
#define SOPK SOP1
#define SOPP SOP1
#define SOPP_BRANCH SOP1
#include "tools/kfdemu/isa/rows/sop1.inc"
#include "tools/kfdemu/isa/rows/sop2.inc"
#include "tools/kfdemu/isa/rows/sopc.inc"
#include "tools/kfdemu/isa/rows/sopk.inc"
#include "tools/kfdemu/isa/rows/sopp.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
