// The state of one wave: registers, program counter, and why it stopped.
//
//     Wave& wave = ...;                      // registers set as the kernel descriptor says
//     wave.pc = entry;
//     while (run(wave, 10'000) == Stop::Budget) {}
//
// Thread safety: one thread at a time. Memory ordering: none of its own. Lifetime: Borrows the register
// storage, work-group and address space until it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "inst.hpp"

/// Functions of this header are compiled into translation units of several x86 levels: none may be emitted
/// out of line, or the linker could keep the copy of the highest level for everybody.
#define KFDEMU_INLINE inline __attribute__((always_inline))
#define KFDEMU_LAMBDA __attribute__((always_inline))

namespace kfdemu {
class AddressSpace;
}

namespace kfdemu::gfx9 {

inline constexpr unsigned kLanes = 64;

/// One VGPR. Its lanes lie next to each other, so that lane loops become vector code.
struct alignas(64) Lanes {
    std::uint32_t lane[kLanes];
};

/// Places in the scalar file ("Vega" ISA manual, "SGPR operand encoding").
enum ScalarIndex : Operand {
    kFlatScratch = 102,
    kXnackMask = 104,
    kVcc = 106,
    kTtmp0 = 108,
    kM0 = 124,
    kExec = 126,
    kConstants = 128,   ///< from here on not registers
    kHalfFloats = 209,  ///< 240-248 as 16-bit floats; encodings that the ISA reserves
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
    Budget,       ///< instructions used up; runs on at `next`
    Barrier,      ///< s_barrier; runs on at `next` once the whole work-group came
    Sleep,        ///< s_sleep; runs on at `next`
    Message,      ///< s_sendmsg `argument` with M0; runs on at `next`
    End,          ///< s_endpgm
    Halt,         ///< s_sethalt 1, s_sendmsghalt
    Trap,         ///< s_trap `argument`
    Illegal,      ///< unknown or reserved instruction at `pc`
    FetchFault,   ///< no executable memory at `pc`
    MemoryFault,  ///< see `fault`
    Aperture,     ///< an address outside the group or private segment; see `fault`
    Misaligned,   ///< an atomic that is not naturally aligned; see `fault`
};

struct MemoryFault {
    std::uint64_t address = 0;
    std::uint32_t lane = 0;
    std::uint32_t access = 0;  ///< a set of kfdemu::Access
};

struct WorkGroup;  // kfdemu/dispatch
struct Gws;        // gws.hpp
struct Tlb;        // tlb.hpp

struct alignas(64) Wave {
    /// The scalar file, indexed by operand encoding. From kConstants on it holds what an operand of that
    /// encoding reads (set_constants); kVccz, kExecz, kScc253 and kLiteral are refreshed by whoever reads
    /// them (Inst kScalarSetup).
    std::uint32_t s[256];

    std::uint32_t* v = nullptr;    ///< VGPR n, lane l: v[n * 64 + l]; 256 of them plus 32 of padding are readable
    std::uint32_t* acc = nullptr;  ///< AccVGPRs likewise; gfx90a: v + accum_offset * 64
    std::uint64_t pc = 0;          ///< of the instruction that stopped the wave, or where to begin if `next` is null
    const Inst* next = nullptr;    ///< where it runs on
    bool scc = false;
    bool slow = false;  ///< GPR indexing or VSKIP is on: run() looks at each instruction
    Stop stop = Stop::Running;
    std::uint32_t mode = 0;      ///< the MODE register; change it through set_mode()
    std::uint32_t status = 0;    ///< HW_REG_STATUS bits beyond those derived from the rest
    std::uint32_t argument = 0;  ///< of s_trap, s_sendmsg, s_sleep
    std::uint32_t mxcsr_f32 = 0x1f80,
                  mxcsr_f64 = 0x1f80;  ///< MODE's rounding and denormals, as x86 wants them
    std::uint32_t mxcsr_now = 0x1f80;  ///< what the CPU has while run() is active
    MemoryFault fault;

    /// Finds (decoding if needed) the instruction at `pc`; nullptr with wave.stop = FetchFault. Set by the code cache.
    const Inst* (*fetch)(Wave&, std::uint64_t pc) = nullptr;
    void* fetcher = nullptr;  ///< the code cache's own

    WorkGroup* group = nullptr;
    const AddressSpace* memory = nullptr;
    std::byte* lds = nullptr;  ///< of the work-group
    std::uint32_t lds_size_bytes = 0;
    std::uint32_t index_in_group = 0;
    std::uint64_t shared_base = 0;   ///< LDS aperture, as FLAT addresses see it: 4 GiB from here
    std::uint64_t private_base = 0;  ///< scratch aperture
    std::uint64_t scratch_va = 0;    ///< this wave's part of the queue's scratch memory, all lanes together
    std::uint64_t scratch_size_bytes = 0;
    Gws* gws = nullptr;  ///< nullptr: the queue has none, and its instructions are illegal
    /// At a semaphore, or at a ds_gws_barrier that had opened `gws_openings` times when the wave came.
    bool gws_waits = false;
    std::uint32_t gws_openings = 0;
    Tlb* tlb = nullptr;                                     ///< of the work-group; tlb.hpp
    std::uint32_t hw_id = 0, gpr_alloc = 0, lds_alloc = 0;  ///< what s_getreg reads

    KFDEMU_INLINE std::uint64_t s64(Operand index) const {
        std::uint64_t value;
        std::memcpy(&value, s + index, sizeof value);
        return value;
    }
    KFDEMU_INLINE void set_s64(Operand index, std::uint64_t value) { std::memcpy(s + index, &value, sizeof value); }
    KFDEMU_INLINE std::uint64_t exec() const { return s64(kExec); }
    KFDEMU_INLINE std::uint64_t vcc() const { return s64(kVcc); }
    /// The 64 lanes of a VGPR or AccVGPR operand.
    KFDEMU_INLINE std::uint32_t* lanes(Operand operand) {
        return operand < kAcc0 ? v + (operand - kVgpr0) * kLanes : acc + (operand - kAcc0) * kLanes;
    }
    /// Leaves the run loop for good, at this instruction.
    KFDEMU_INLINE const Inst* stop_at(Stop why, const Inst& inst) {
        stop = why;
        pc = inst.pc;
        next = nullptr;
        return nullptr;
    }
    /// Leaves the run loop so that it can go on behind this instruction.
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

/// Fills Wave::s from kConstants on. Call once after the registers were set up; needs the aperture bases.
void set_constants(Wave& wave);

/// Writes MODE and what follows from it. Bits: FP_ROUND 3:0, FP_DENORM 7:4, DX10_CLAMP 8, IEEE 9.
void set_mode(Wave& wave, std::uint32_t mode);

/// Executes until something stops the wave, at most `budget` instructions (Stop::Budget), and takes those that it
/// executed from `budget`. Begins at wave.next, or looks wave.pc up if that is null. Handlers are those of the best x86
/// level that the CPU has; the caller's floating-point environment is restored.
Stop run(Wave& wave, std::uint64_t& budget);
inline Stop run(Wave& wave, std::uint64_t&& budget) { return run(wave, budget); }

}  // namespace kfdemu::gfx9
