// A wave that runs a few dwords of code, with no memory and no HSA.
//
//     Machine m{Target::gfx90a, Level::V3};
//     m.vgpr(1, 5u);
//     m.run({0x7e000301});               // v_mov_b32 v0, v1; s_endpgm follows by itself
//     m.lane(0, 17) == 5
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"
#include "tools/kfdemu/jit/frame.hpp"
#include "tools/kfdemu/jit/page_runs.hpp"

namespace test_isa {

using kfdemu::isa::Decoder;
using kfdemu::isa::Inst;
using kfdemu::isa::Level;
using kfdemu::isa::Stop;
using kfdemu::isa::Target;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr u64 kAll = ~u64{0};
inline constexpr u64 kCodeBase = 0x10000;

class Machine {
  public:
    explicit Machine(Target target = Target::gfx90a, Level level = kfdemu::isa::best_level(),
                     unsigned width = kfdemu::isa::kMostLanes);

    kfdemu::isa::Wave& wave() { return wave_; }
    void vgpr(unsigned n, u32 value);  ///< all lanes
    void vgpr64(unsigned n, u64 value);
    u32& lane(unsigned n, unsigned lane) { return wave_.v[n * wave_.width + lane]; }
    /// Lane after lane one more in VGPR n.
    void number_lanes(unsigned n, u32 base = 0) {
        for (u32 lane = 0; lane < wave_.width; ++lane) this->lane(n, lane) = base + lane;
    }
    u64 lane64(unsigned n, unsigned lane) { return this->lane(n, lane) | u64{this->lane(n + 1, lane)} << 32; }
    /// Number n of those of `width` bits, without gaps, in a lane's registers from `first` on.
    u32 packed(unsigned first, unsigned lane, unsigned n, unsigned width);
    void put_packed(unsigned first, unsigned lane, unsigned n, unsigned width, u32 number);
    u32& sgpr(unsigned n) { return wave_.s[n]; }
    /// From the next run on every instruction is executed by its row's general handler.
    void use_general_handlers() { general_ = &kfdemu::isa::handlers(level_); }
    /// From the next run on stretches of vector instructions run as translated code.
    void use_translation() {
        translated_ = kfdemu::jit::When::always;
        wave_.frame = &frame_;
    }
    void exec(u64 mask) { wave_.set_s64(kfdemu::isa::kExec, mask); }

    /// Decodes the code at kCodeBase, lets s_endpgm follow, and runs it from the start.
    Stop run(const std::vector<u32>& code, u64 budget = 10'000);
    Stop resume(u64 budget = 10'000) { return kfdemu::isa::run(wave_, budget); }

  private:
    static const Inst* fetch(kfdemu::isa::Wave& wave, u64 pc);

    struct Registers {
        alignas(64) u32 dword[(256 + 256 + 32) * 64];
    };
    Level level_;
    const kfdemu::isa::Handlers* general_ = nullptr;
    Decoder decoder_;
    std::unique_ptr<Registers> registers_ = std::make_unique<Registers>();
    std::vector<Inst> slots_;
    kfdemu::jit::When translated_ = kfdemu::jit::When::never;
    kfdemu::jit::PageRuns runs_;
    kfdemu::jit::Frame frame_{};
    kfdemu::isa::Wave wave_;
};

/// The levels that are built and that this CPU can run.
std::vector<Level> levels();
/// The lanes of waves that executors are built for.
std::vector<unsigned> widths();

/// Opcode number of a mnemonic on a target; fails the test if there is none.
const kfdemu::isa::Row& row_of(const std::string& mnemonic, Target target = Target::gfx90a);

// Encodings. Sources are operand encodings: 0-255 scalar, 256 + n VGPR n.
inline constexpr u32 v(u32 n) { return 256 + n; }
std::vector<u32> vop1(const std::string& mnemonic, u32 d, u32 a, Target target = Target::gfx90a);
std::vector<u32> vop2(const std::string& mnemonic, u32 d, u32 a, u32 b, Target target = Target::gfx90a);
/// Any vector row in its VOP3 form; `high` is ORed into the second dword (neg, omod), `low` into the first
/// (abs, clamp, op_sel).
std::vector<u32> vop3(const std::string& mnemonic, u32 d, u32 a, u32 b = 0, u32 c = 0, u32 low = 0, u32 high = 0,
                      Target target = Target::gfx90a);

std::vector<u32> sop1(const std::string& mnemonic, u32 d, u32 a);
std::vector<u32> sop2(const std::string& mnemonic, u32 d, u32 a, u32 b);
std::vector<u32> sopc(const std::string& mnemonic, u32 a, u32 b);
std::vector<u32> sopk(const std::string& mnemonic, u32 d, u32 k);
std::vector<u32> sopp(const std::string& mnemonic, u32 k = 0);
std::vector<u32> operator+(std::vector<u32> a, const std::vector<u32>& b);

u32 bits(float value);
u64 bits(double value);
float as_float(u32 value);
double as_double(u64 value);

}  // namespace test_isa
