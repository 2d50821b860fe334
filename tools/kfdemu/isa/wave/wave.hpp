// The state of one wave: registers, program counter and stop reason.
//
//     Wave& wave = ...;                      // with registers set as the kernel descriptor requires
//     wave.pc = entry;
//     while (run(wave, 10'000) == Stop::Budget) {}
//
// Thread safety: one thread at a time. Memory ordering: none. Lifetime: Borrows the register storage, work-group and
// address space until it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tools/kfdemu/isa/encodings/inst.hpp"

/// Functions of this header are compiled into translation units of several x86 levels. None may be emitted out of line:
/// the linker could keep the copy of the highest level for all of them.
#define KFDEMU_INLINE inline __attribute__((always_inline))
#define KFDEMU_LAMBDA __attribute__((always_inline))

namespace kfdemu {
class AddressSpace;
struct HostFault;
}  // namespace kfdemu
namespace kfdemu::jit {
struct Frame;  // kfdemu/jit
}

namespace kfdemu::isa {

/// Lanes that a wave may have, and the bits of a mask of them.
inline constexpr unsigned kMostLanes = 64;

/// One VGPR of a wave that has the most.
struct alignas(64) Lanes {
    std::uint32_t lane[kMostLanes];
};

/// Indices into the scalar file ("Vega" ISA manual, "SGPR operand encoding").
enum ScalarIndex : Operand {
    kFlatScratch = 102,
    kXnackMask = 104,
    kVcc = 106,
    kTtmp0 = 108,
    kM0 = 124,
    kExec = 126,
    kConstants = 128,            ///< not registers from here on
    kHalfFloats = 209,           ///< 240-248 as 16-bit floats, in encodings that the ISA reserves
    kBrainFloats = 218,          ///< likewise, as BF16
    kNull = 227,                 ///< operand 125 of GFX10: a source is 0,
    kDiscarded = 228,            ///< and what four registers from here on hold is never read
    kFlatScratchRegister = 232,  ///< two: FLAT_SCRATCH, where it is a hardware register
    kSharedBase = 235,
    kSharedLimit = 236,
    kPrivateBase = 237,
    kPrivateLimit = 238,
    kFloats = 240,
    kVccz = 251,
    kExecz = 252,
    kScc253 = 253,
    kLiteral = 255,
};

enum class Stop : std::uint8_t {
    Running,
    Budget,        ///< instruction budget spent; continues at `next`
    Barrier,       ///< s_barrier; continues at `next` when the whole work-group has arrived
    Signal,        ///< s_barrier_signal; with `argument`, SCC becomes whether it is the first; continues at `next`
    BarrierState,  ///< s_get_barrier_state into SGPR `argument`; continues at `next`
    BarrierWait,   ///< s_barrier_wait; continues at `next` when all waves of the work-group have signalled
    Sleep,         ///< s_sleep; continues at `next`
    Message,       ///< s_sendmsg `argument` with M0; continues at `next`
    End,           ///< s_endpgm
    Halt,          ///< s_sethalt 1, s_sendmsghalt
    Trap,          ///< s_trap `argument`
    Illegal,       ///< unknown or reserved instruction at `pc`
    FetchFault,    ///< no executable memory at `pc`
    MemoryFault,   ///< see `fault`
    Aperture,      ///< an address outside the group or private segment; see `fault`
    Misaligned,    ///< an atomic that is not naturally aligned; see `fault`
};

inline constexpr std::uint32_t kUnknownLane = ~0u;
inline constexpr std::uint32_t kInGroup = 1u << 11;  ///< of Wave::status: its work-group has several waves
inline constexpr std::uint8_t kNoXcc = 0xff;         ///< of a model whose s_getreg does not know it

struct MemoryFault {
    std::uint64_t address = 0;
    std::uint32_t lane = 0;    ///< or kUnknownLane
    std::uint32_t access = 0;  ///< a set of kfdemu::Access
};

struct WorkGroup;  // kfdemu/dispatch
struct Gws;        // gws.hpp
struct Tlb;        // tlb.hpp
class Watcher;     // watcher.hpp

struct alignas(64) Wave {
    /// The scalar file, indexed by operand encoding. From kConstants on it holds the value of that operand encoding
    /// (set_constants); kVccz, kExecz, kScc253 and kLiteral are refreshed by the instructions that read them (Inst
    /// kScalarSetup).
    std::uint32_t s[256];

    /// VGPR n, lane l: v[n * width + l]; 256 of them plus 32 of padding are readable. Lanes are adjacent, so that loops
    /// over them vectorise.
    std::uint32_t* v = nullptr;
    std::uint32_t* acc = nullptr;  ///< AccVGPRs likewise; gfx90a: v + accum_offset * width
    std::uint64_t pc = 0;          ///< of the instruction that stopped the wave, or where to start if `next` is null
    const Inst* next = nullptr;    ///< where it continues
    bool scc = false;
    Operand flat_scratch = kFlatScratch;  ///< where FLAT_SCRATCH is: SGPRs, or kFlatScratchRegister
    bool slow = false;                    ///< GPR indexing or VSKIP is on: run() checks each instruction
    bool unified_formats = false;         ///< buffer resources have GFX10's fields
    bool fewer_formats = false;           ///< and GFX11's numbers of formats
    bool number_wins = false;             ///< Traits::number_wins
    bool gfx12_names = false;             ///< Traits::gfx12_names
    std::uint8_t width = kMostLanes;      ///< lanes: 64 or 32; the handlers that execute it are those of this width
    Stop stop = Stop::Running;
    std::uint32_t mode = 0;      ///< the MODE register; change it through set_mode()
    std::uint32_t status = 0;    ///< HW_REG_STATUS bits that are not derived from other state
    std::uint32_t argument = 0;  ///< of s_trap, s_sendmsg, s_sleep
    std::uint32_t mxcsr_f32 = 0x1f80,
                  mxcsr_f64 = 0x1f80;  ///< MODE's rounding and denormals as MXCSR values
    std::uint32_t mxcsr_now = 0x1f80;  ///< the CPU's value while run() is active
    MemoryFault fault;

    /// Returns the instruction at `pc`, decoding it if needed; nullptr with wave.stop = FetchFault. Set by the code
    /// cache.
    const Inst* (*fetch)(Wave&, std::uint64_t pc) = nullptr;
    void* fetcher = nullptr;  ///< for the code cache's use

    WorkGroup* group = nullptr;
    const AddressSpace* memory = nullptr;
    std::byte* lds = nullptr;  ///< of the work-group
    std::uint32_t lds_size_bytes = 0;
    std::uint32_t index_in_group = 0;
    std::uint64_t shared_base = 0;   ///< LDS aperture, as FLAT addresses see it: 4 GiB from here
    std::uint64_t private_base = 0;  ///< scratch aperture
    std::uint64_t scratch_va = 0;    ///< this wave's part of the queue's scratch memory, for all lanes
    std::uint64_t scratch_size_bytes = 0;
    Gws* gws = nullptr;  ///< nullptr: the queue has none, and GWS instructions are illegal
    /// Waiting at a semaphore, or at a ds_gws_barrier that had opened `gws_openings` times when the wave arrived.
    bool gws_waits = false;
    std::uint32_t gws_openings = 0;
    Tlb* tlb = nullptr;                                     ///< of the work-group; tlb.hpp
    std::uint32_t hw_id = 0, gpr_alloc = 0, lds_alloc = 0;  ///< what s_getreg reads
    std::uint8_t xcc = kNoXcc;                              ///< likewise
    Watcher* watcher = nullptr;  ///< sees each instruction before it executes; read once per run()
    /// Codes of the scales of A and B, a lane's each, that the matrix product that follows takes: v_mfma_ld_scale_b32.
    bool scaled = false;
    std::uint8_t scales[2][kMostLanes] = {};
    bool interpreted = false;     ///< no instruction runs as translated code
    bool in_translated = false;   ///< translated code runs, or was left by a host fault
    jit::Frame* frame = nullptr;  ///< of the work-group; null: the wave is interpreted
    /// Instructions that translated code has executed, beyond the one of each that counts against the budget.
    std::uint64_t translated = 0;
    std::uint64_t most_translated = 0;  ///< run() returns Stop::Budget when `translated` is there

    KFDEMU_INLINE std::uint64_t s64(Operand index) const {
        std::uint64_t value;
        std::memcpy(&value, s + index, sizeof value);
        return value;
    }
    KFDEMU_INLINE void set_s64(Operand index, std::uint64_t value) { std::memcpy(s + index, &value, sizeof value); }
    /// A mask of lanes: two SGPRs, of 32 lanes one.
    KFDEMU_INLINE std::uint64_t mask(Operand index) const { return width == kMostLanes ? s64(index) : s[index]; }
    KFDEMU_INLINE void set_mask(Operand index, std::uint64_t value) {
        if (width == kMostLanes)
            set_s64(index, value);
        else
            s[index] = static_cast<std::uint32_t>(value);
    }
    KFDEMU_INLINE std::uint64_t exec() const { return mask(kExec); }
    KFDEMU_INLINE std::uint64_t vcc() const { return mask(kVcc); }
    /// The lanes of a VGPR or AccVGPR operand.
    KFDEMU_INLINE std::uint32_t* lanes(Operand operand) {
        return operand < kAcc0 ? v + (operand - kVgpr0) * width : acc + (operand - kAcc0) * width;
    }
    /// Leaves the run loop permanently, at this instruction.
    KFDEMU_INLINE const Inst* stop_at(Stop why, const Inst& inst) {
        stop = why;
        pc = inst.pc;
        next = nullptr;
        return nullptr;
    }
    /// Leaves the run loop; continues after this instruction.
    KFDEMU_INLINE const Inst* pause_after(Stop why, const Inst& inst) {
        stop = why;
        pc = inst.pc;
        next = &inst + inst.size;
        return nullptr;
    }
    KFDEMU_INLINE const Inst* fault_at(Stop why, const Inst& inst, MemoryFault what) {
        fault = what;
        return stop_at(why, inst);
    }
};

/// Fills Wave::s from kConstants on, but for FLAT_SCRATCH. Call once after the registers have been set up; needs the
/// aperture bases.
void set_constants(Wave& wave);

struct Traits;
/// Sets what instructions of a target take from the wave.
void set_traits(Wave& wave, const Traits& target);

/// Sets MODE and the state derived from it. Bits: FP_ROUND 3:0, FP_DENORM 7:4, DX10_CLAMP 8, IEEE 9;
/// with Traits::number_wins, there are none of the last two.
void set_mode(Wave& wave, std::uint32_t mode);

/// Executes at most `budget` instructions until something stops the wave (Stop::Budget: the budget), and subtracts the
/// executed ones from `budget`. Starts at wave.next, or at wave.pc if that is null. Uses the handlers of the best x86
/// level that the CPU supports; restores the caller's floating-point environment.
Stop run(Wave& wave, std::uint64_t& budget);
inline Stop run(Wave& wave, std::uint64_t&& budget) { return run(wave, budget); }

/// What a thread that runs one wave after another keeps. MXCSR is set when a wave needs another value than the one
/// before: the CPU waits in front of that until all that came earlier is done, a wave's last stores included.
class HostFloats {
  public:
    HostFloats();
    ~HostFloats() { set(callers_); }
    HostFloats(const HostFloats&) = delete;
    HostFloats& operator=(const HostFloats&) = delete;

    void set(std::uint32_t mxcsr);
    void changed_to(std::uint32_t mxcsr) { now_ = mxcsr; }

  private:
    const std::uint32_t callers_;
    std::uint32_t now_;
};

/// As run(), in a body of host_fault::guarded(), which the first access that faults leaves: stop_by_fault() is then
/// to be called. If translated code has faulted, it stops with Stop::Budget: the wave is to be run next, and interprets
/// the rest, which finds the instruction.
Stop run_guarded(Wave& wave, std::uint64_t& budget, HostFloats& floats);
void stop_by_fault(Wave& wave, const HostFault& fault, HostFloats& floats);

}  // namespace kfdemu::isa
