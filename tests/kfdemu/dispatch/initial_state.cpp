// The registers of a wave at its first instruction.
#include "tools/kfdemu/dispatch/initial_state.hpp"

#include <cstdlib>
#include <memory>

#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;
using namespace kfdemu;

namespace {

struct FreeAligned {
    void operator()(std::uint32_t* p) const { std::free(p); }
};

/// A wave whose registers are initialised to 0xcc.
struct OneWave {
    static constexpr std::size_t kDwords = 544 * 64;
    std::unique_ptr<std::uint32_t[], FreeAligned> registers{
        static_cast<std::uint32_t*>(std::aligned_alloc(64, kDwords * sizeof(std::uint32_t)))};
    isa::Wave wave;
    OneWave() { std::memset(registers.get(), 0xcc, kDwords * sizeof(std::uint32_t)); }
    void set(const LaunchState& launch, const std::array<std::uint32_t, 3>& group, const WavePlace& place) {
        InitialState initial{launch};
        initial.begin_group(group);
        initial.set(wave, registers.get(), place);
    }
};

struct Launch {
    KernelDescriptor kernel;
    KernelDispatchPacket packet;
    QueueFacts queue;
    GpuFacts gpu;
    LaunchState state() const { return {kernel, packet, 0x7000'0000'1040, queue, gpu}; }
};

Launch everything_enabled(Target target) {
    Launch l;
    KernelDescriptor& k = l.kernel;
    k.private_segment_buffer = k.dispatch_ptr = k.queue_ptr = k.kernarg_ptr = k.dispatch_id = k.flat_scratch_init =
        true;
    k.private_segment_size = true;
    k.user_sgprs = 15;
    k.workgroup_id = {true, true, true};
    k.workgroup_info = k.private_segment_wave_offset = true;
    k.workitem_id_dimensions = 3;
    k.vgprs = 8;
    k.sgprs = 32;
    k.mode = 0x3f0;
    k.entry_offset_bytes = -0x100;
    l.packet.workgroup_size = {5, 6, 7};
    l.packet.grid_size = {50, 60, 70};
    l.packet.kernel_object = 0x7fff'0000'4000;
    l.packet.kernarg_address = 0x1111'2222'3333;
    l.packet.private_segment_size = 96;
    l.queue.queue_ptr = 0x4444'5555'6666;
    l.queue.scratch_descriptor = {1, 2, 3, 4};
    l.queue.scratch_base = 0x7777'8888'0000;
    l.queue.dispatch_id = 0x9'0000'0001;
    l.queue.scratch = {32, 8 * 1024};
    l.gpu.target = target;
    return l;
}

}  // namespace

TEST_CASE("user and system SGPRs come in the order of the ABI", "[dispatch][state]") {
    const Launch l = everything_enabled(Target::gfx900);
    OneWave one;
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    const std::uint32_t expected[] = {
        1,
        2,
        3,
        4,  // private segment buffer
        0x00001040,
        0x7000,  // dispatch pointer
        0x55556666,
        0x4444,  // queue pointer
        0x22223333,
        0x1111,  // kernarg segment pointer
        1,
        9,  // dispatch id
        0x88880000,
        0x7777,  // flat scratch init
        96,      // private segment size
        7,
        8,
        9,             // work-group ids
        4,             // work-group info: not the first wave, four of them
        6 * 8 * 1024,  // private segment wave byte offset
        0,
    };
    for (unsigned i = 0; i < std::size(expected); ++i) {
        CAPTURE(i);
        REQUIRE(one.wave.s[i] == expected[i]);
    }
    REQUIRE(one.wave.pc == 0x7fff'0000'3f00);
    REQUIRE(one.wave.mode == 0x3f0);
    REQUIRE(one.wave.scratch_va == l.queue.scratch_base + 6 * 8 * 1024);
    REQUIRE(one.wave.scratch_size_bytes == 8 * 1024);
}

TEST_CASE("where the hardware sets up scratch, FLAT_SCRATCH is the wave's, and no SGPR has its offset",
          "[dispatch][state]") {
    Launch l = everything_enabled(Target::gfx942);
    l.kernel.private_segment_buffer = l.kernel.flat_scratch_init = false;
    l.kernel.user_sgprs = 9;
    OneWave one;
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    REQUIRE(one.wave.s[12] == 4);  // work-group info
    REQUIRE(one.wave.s[13] == 0);
    REQUIRE(one.wave.s64(isa::kFlatScratch) == l.queue.scratch_base + 6 * 8 * 1024);
}

TEST_CASE("the hardware's register of scratch is set where the hardware sets it", "[dispatch][state]") {
    for (const Target target : {Target::gfx1030, Target::gfx1100}) {
        Launch l = everything_enabled(target);
        l.kernel.private_segment_buffer = l.kernel.flat_scratch_init = false;
        l.kernel.user_sgprs = 9;
        OneWave one;
        one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
        isa::set_constants(one.wave);
        const bool architected = isa::traits_of(target).architected_scratch;
        REQUIRE(one.wave.s64(isa::kFlatScratchRegister) == (architected ? l.queue.scratch_base + 6 * 8 * 1024 : 0));
    }
}

TEST_CASE("on gfx1201, a work-group's id is in TTMP9 and TTMP7, and a wave's number in TTMP8", "[dispatch][state]") {
    Launch l = everything_enabled(Target::gfx1201);
    l.kernel.private_segment_buffer = l.kernel.flat_scratch_init = false;
    l.kernel.user_sgprs = 9;
    OneWave one;
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    constexpr unsigned ttmp = isa::kTtmp0;
    REQUIRE(one.wave.s[ttmp + 9] == 7);
    REQUIRE(one.wave.s[ttmp + 7] == (9 << 16 | 8));
    REQUIRE(one.wave.s[ttmp + 8] >> 25 == (1 << 5 | 3));
    REQUIRE(one.wave.status == isa::kInGroup);
    REQUIRE(one.wave.s[9] == 4);  // work-group info follows the user SGPRs
    REQUIRE(one.wave.s64(isa::kFlatScratchRegister) == l.queue.scratch_base + 6 * 8 * 1024);
    REQUIRE((one.wave.mode & 0x300) == 0x100);  // of these bits the kernel says other things
    l.kernel.workgroup_id = {true, true, false};
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    REQUIRE(one.wave.s[ttmp + 7] == 8);
    l.kernel.workgroup_id = {true, false, true};
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    REQUIRE(one.wave.s[ttmp + 7] == (9 << 16 | 8));
    l.kernel.workgroup_id = {false, false, false};
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 0, 1, 6});
    REQUIRE(one.wave.s[ttmp + 9] == 7);
    REQUIRE(one.wave.s[ttmp + 8] == 0);
    REQUIRE(one.wave.status == 0);
}

TEST_CASE("arguments that are loaded for a kernel follow its other user SGPRs", "[dispatch][state]") {
    Launch l = everything_enabled(Target::gfx90a);
    l.kernel.user_sgprs = 16;
    l.kernel.private_segment_buffer = false;
    l.kernel.preload_dwords = 3;
    const std::array<std::uint32_t, 3> arguments{0xa, 0xb, 0xc};
    LaunchState state = l.state();
    state.preloaded = arguments;
    OneWave one;
    one.set(state, {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    REQUIRE(one.wave.s[10] == 96);  // private segment size
    for (unsigned n = 0; n < 3; ++n) REQUIRE(one.wave.s[11 + n] == arguments[n]);
    REQUIRE(one.wave.s[16] == 7);  // work-group id
}

TEST_CASE("units go round the XCCs, then round the shader engines of each", "[dispatch][state]") {
    GpuFacts gpu{.target = Target::gfx942, .xccs = 8, .shader_engines = 32};
    for (std::uint32_t unit = 0; unit < 304; ++unit) {
        CAPTURE(unit);
        const UnitPlace place = place_of_unit(gpu, unit);
        REQUIRE(place.xcc == unit % 8);
        REQUIRE(place.hw_id >> 13 == unit / 8 % 4);
        REQUIRE((place.hw_id >> 8 & 15) == unit / 32);
    }
}

TEST_CASE("pairs of units go round the shader engines, then round the arrays of each, on gfx1030",
          "[dispatch][state]") {
    const GpuFacts gpu{.target = Target::gfx1030, .shader_engines = 4, .arrays_per_engine = 2};
    for (std::uint32_t unit = 0; unit < 80; ++unit) {
        CAPTURE(unit);
        const std::uint32_t id = place_of_unit(gpu, unit).hw_id;
        REQUIRE((id >> 8 & 1) == unit % 2);
        REQUIRE((id >> 18 & 3) == unit / 2 % 4);
        REQUIRE((id >> 16 & 1) == unit / 8 % 2);
        REQUIRE((id >> 10 & 15) == unit / 16);
    }
}

TEST_CASE("the first wave of a group is marked in the work-group info", "[dispatch][state]") {
    Launch l = everything_enabled(Target::gfx900);
    l.kernel.workgroup_id = {true, false, false};
    OneWave one;
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 0, 4, 0});
    REQUIRE(one.wave.s[15] == 7);
    REQUIRE(one.wave.s[16] == (1u << 31 | 4));
}

TEST_CASE("a wave reads its group's LDS in granules of the GPU", "[dispatch][state]") {
    Launch l = everything_enabled(Target::gfx942);
    l.packet.group_segment_size = 1284;
    OneWave one;
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    REQUIRE(one.wave.lds_alloc == 3u << 12);
    l.gpu.lds_granule_bytes = 1280;
    one.set(l.state(), {7, 8, 9}, {{5, 6, 7}, 3, 4, 6});
    REQUIRE(one.wave.lds_alloc == 2u << 12);
}

TEST_CASE("work-item ids: three registers before gfx90a, packed into one there", "[dispatch][state]") {
    for (Target target : isa::kTargets)
        for (unsigned dimensions : {1u, 2u, 3u}) {
            Launch l = everything_enabled(target);
            l.kernel.workitem_id_dimensions = dimensions;
            OneWave one;
            one.set(l.state(), {0, 0, 0}, {{5, 6, 7}, 3, 4, 0});
            REQUIRE(one.wave.exec() == (1ull << (210 - 192)) - 1);
            for (unsigned lane = 0; lane < 18; ++lane) {
                const unsigned flat = 192 + lane, x = flat % 5, y = flat / 5 % 6, z = flat / 30;
                CAPTURE(isa::name(target), dimensions, lane);
                if (isa::traits_of(target).packed_workitem_ids) {
                    REQUIRE(one.wave.v[lane] == (x | (dimensions > 1 ? y << 10 : 0) | (dimensions > 2 ? z << 20 : 0)));
                } else {
                    REQUIRE(one.wave.v[lane] == x);
                    REQUIRE(one.wave.v[64 + lane] == (dimensions > 1 ? y : 0));
                    REQUIRE(one.wave.v[128 + lane] == (dimensions > 2 ? z : 0));
                }
            }
        }
}

TEST_CASE("a wave of 32 lanes has its work-items, and registers of 32 dwords", "[dispatch][state]") {
    Launch l = everything_enabled(Target::gfx900);
    l.kernel.width = 32;
    OneWave one;
    one.set(l.state(), {0, 0, 0}, {{5, 6, 7}, 6, 7, 0});
    REQUIRE(one.wave.width == 32);
    REQUIRE(one.wave.s64(isa::kExec) == (1u << (210 - 192)) - 1);
    for (unsigned lane = 0; lane < 18; ++lane) {
        const unsigned flat = 192 + lane;
        CAPTURE(lane);
        REQUIRE(one.wave.v[lane] == flat % 5);
        REQUIRE(one.wave.v[32 + lane] == flat / 5 % 6);
        REQUIRE(one.wave.v[64 + lane] == flat / 30);
    }
    REQUIRE(one.wave.v[8 * 32] == 0xcccccccc);  // the kernel has 8 registers
    one.set(l.state(), {0, 0, 0}, {{5, 6, 7}, 0, 7, 0});
    REQUIRE(one.wave.s64(isa::kExec) == 0xffffffff);
}

TEST_CASE("a wave does not see the registers of an earlier one", "[dispatch][state]") {
    const Launch l = everything_enabled(Target::gfx908);
    OneWave one;
    one.set(l.state(), {0, 0, 0}, {{64, 1, 1}, 0, 1, 0});
    REQUIRE(one.wave.exec() == ~0ull);
    for (unsigned i = 20; i < 126; ++i) REQUIRE(one.wave.s[i] == 0);
    for (unsigned i = 3 * 64; i < 8 * 64; ++i) REQUIRE(one.wave.v[i] == 0);
    for (unsigned i = 0; i < 8 * 64; ++i) REQUIRE(one.wave.acc[i] == 0);
}
