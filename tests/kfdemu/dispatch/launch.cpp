// Descriptors and packets refused before any wave runs.
#include "tools/kfdemu/dispatch/launch.hpp"

#include <cstring>

#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;
using namespace kfdemu;

namespace {

/// A descriptor as clang writes it; tests change one field.
struct Descriptor {
    std::uint32_t group_segment = 1024, private_segment = 64, kernarg = 32, reserved0 = 0;
    std::int64_t entry = 0x1000;
    std::uint8_t reserved1[20] = {};
    std::uint32_t rsrc3 = 0, rsrc1 = 0x00af0000 | 3 | 2 << 6, rsrc2 = 0x1391 | 1 << 1;
    std::uint16_t properties = 0x3b, preload = 0;
    std::uint32_t reserved2 = 0;
};
static_assert(sizeof(Descriptor) == 64);

std::variant<KernelDescriptor, DescriptorRefused> parse(const Descriptor& d, Target target) {
    std::array<std::byte, 64> bytes;
    std::memcpy(bytes.data(), &d, sizeof d);
    return parse_kernel_descriptor(bytes, target);
}

KernelDispatchPacket packet() {
    KernelDispatchPacket p;
    p.setup = 1;
    p.workgroup_size = {64, 1, 1};
    p.grid_size = {128, 1, 1};
    p.kernel_object = 0x1000;
    return p;
}

}  // namespace

TEST_CASE("a descriptor's fields, in the granules of the target", "[dispatch][descriptor]") {
    Descriptor d;
    d.rsrc2 = 1 | 12 << 1 | 1 << 7 | 1 << 9 | 2 << 11;
    auto parsed = parse(d, Target::gfx900);
    const auto& k = std::get<KernelDescriptor>(parsed);
    REQUIRE(k.group_segment_bytes == 1024);
    REQUIRE(k.private_segment_bytes == 64);
    REQUIRE(k.kernarg_bytes == 32);
    REQUIRE(k.entry_offset_bytes == 0x1000);
    REQUIRE(k.vgprs == 16);
    REQUIRE(k.sgprs == 32);
    REQUIRE(k.accum_offset == 0);
    REQUIRE(k.mode == (0xf0u | 1 << 8 | 1 << 9));
    REQUIRE(k.private_segment_buffer);
    REQUIRE(k.dispatch_ptr);
    REQUIRE_FALSE(k.queue_ptr);
    REQUIRE(k.kernarg_ptr);
    REQUIRE(k.dispatch_id);
    REQUIRE(k.flat_scratch_init);
    REQUIRE_FALSE(k.private_segment_size);
    REQUIRE(k.user_sgprs == 12);
    REQUIRE(k.workgroup_id == std::array{true, false, true});
    REQUIRE_FALSE(k.workgroup_info);
    REQUIRE(k.private_segment_wave_offset);
    REQUIRE(k.workitem_id_dimensions == 3);

    d.rsrc3 = 2;
    parsed = parse(d, Target::gfx90a);
    REQUIRE(std::get<KernelDescriptor>(parsed).vgprs == 32);
    REQUIRE(std::get<KernelDescriptor>(parsed).accum_offset == 12);
}

TEST_CASE("a kernel whose arguments are loaded for it begins after the code that loads them",
          "[dispatch][descriptor]") {
    Descriptor d;
    d.rsrc2 = 1 | 14 << 1 | 1 << 7;
    d.preload = 2 | 3 << 7;
    const auto parsed = parse(d, Target::gfx90a);
    const auto& k = std::get<KernelDescriptor>(parsed);
    REQUIRE(k.preload_dwords == 2);
    REQUIRE(k.preload_offset_dwords == 3);
    REQUIRE(k.entry_offset_bytes == 0x1100);
}

TEST_CASE("a descriptor that breaks a rule is refused, saying which", "[dispatch][descriptor]") {
    using Reason = DescriptorRefused::Reason;
    struct Row {
        const char* why;
        Target target;
        Reason reason;
        void (*change)(Descriptor&);
    };
    const Row rows[] = {
        {"reserved bytes 24", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.reserved1[7] = 1; }},
        {"reserved bytes 12", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.reserved0 = 1; }},
        {"entry offset", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.entry = 0; }},
        {"32 lanes", Target::gfx90a, Reason::WrongIsa, [](Descriptor& d) { d.properties |= 1 << 10; }},
        {"GFX10", Target::gfx90a, Reason::WrongIsa, [](Descriptor& d) { d.rsrc1 |= 1u << 30; }},
        {"rsrc3", Target::gfx900, Reason::WrongIsa, [](Descriptor& d) { d.rsrc3 = 1; }},
        {"rsrc3", Target::gfx90a, Reason::WrongIsa, [](Descriptor& d) { d.rsrc3 = 1 << 8; }},
        {"rsrc1", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.rsrc1 |= 1 << 20; }},
        {"rsrc2", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.rsrc2 |= 1 << 15; }},
        {"exception", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.rsrc2 |= 1 << 24; }},
        {"workitem_id", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.rsrc2 |= 3 << 11; }},
        {"properties", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.properties |= 1 << 7; }},
        {"preload", Target::gfx908, Reason::WrongIsa, [](Descriptor& d) { d.preload = 1; }},
        {"user_sgpr", Target::gfx90a, Reason::Malformed, [](Descriptor& d) { d.preload = 1; }},
        {"rsrc3", Target::gfx1100, Reason::Malformed, [](Descriptor& d) { d.rsrc3 = 1; }},
        {"scratch", Target::gfx942, Reason::WrongIsa, [](Descriptor&) {}},
        // How much is fetched ahead is no reason.
        {"scratch", Target::gfx1100, Reason::WrongIsa, [](Descriptor& d) { d.rsrc3 = 0x3f0; }},
        {"user_sgpr", Target::gfx900, Reason::Malformed, [](Descriptor& d) { d.rsrc2 = 3 << 1; }},
        {"accum_offset", Target::gfx90a, Reason::Malformed, [](Descriptor& d) { d.rsrc3 = 60; }},
    };
    for (const Row& row : rows) {
        INFO(row.why);
        Descriptor d;
        d.rsrc2 = 1 | 12 << 1 | 1 << 7;
        row.change(d);
        auto parsed = parse(d, row.target);
        const auto* refused = std::get_if<DescriptorRefused>(&parsed);
        REQUIRE(refused != nullptr);
        REQUIRE(refused->why.find(row.why) != std::string::npos);
        REQUIRE(refused->reason == row.reason);
    }
}

TEST_CASE("a queue's scratch memory is counted by XCCs in KiB, from GFX11 on by shader engines in 256 bytes",
          "[dispatch][launch]") {
    const ScratchRing vega = scratch_ring(0xfff | 0x1fffu << 12, {.target = isa::Target::gfx90a});
    CHECK(vega.waves == 0xfff);
    CHECK(vega.wave_bytes == 0x1fff * 1024);
    const GpuFacts navi{.target = isa::Target::gfx1100, .shader_engines = 6, .arrays_per_engine = 2};
    const ScratchRing ring = scratch_ring(32 | 0x7fffu << 12, navi);
    CHECK(ring.waves == 32 * 6);
    CHECK(ring.wave_bytes == 0x7fff * 256);
    const GpuFacts newer{.target = isa::Target::gfx1201, .shader_engines = 4, .arrays_per_engine = 2};
    CHECK(scratch_ring(32 | 0x3ffffu << 12, newer).wave_bytes == 0x3ffff * 256);
}

TEST_CASE("a packet that cannot run is refused with its reason", "[dispatch][launch]") {
    struct Row {
        Refusal reason;
        void (*change)(KernelDispatchPacket&);
    };
    const Row rows[] = {
        {Refusal::InvalidDimensions, [](auto& p) { p.setup = 0; }},
        {Refusal::InvalidDimensions, [](auto& p) { p.setup = 4; }},
        {Refusal::InvalidDimensions, [](auto& p) { p.grid_size[1] = 2; }},
        {Refusal::InvalidSize, [](auto& p) { p.grid_size[0] = 0; }},
        {Refusal::InvalidSize, [](auto& p) { p.workgroup_size[0] = 0; }},
        {Refusal::InvalidSize, [](auto& p) { p.grid_size[0] = 63; }},
        {Refusal::GroupTooLarge,
         [](auto& p) {
             p.workgroup_size[0] = 1025;
             p.grid_size[0] = 2048;
         }},
        {Refusal::LdsTooLarge, [](auto& p) { p.group_segment_size = 65537; }},
        {Refusal::NeedsScratch, [](auto& p) { p.private_segment_size = 65; }},
        {Refusal::NeedsScratch,
         [](auto& p) {
             p.private_segment_size = 64;
             p.workgroup_size[0] = 320;
             p.grid_size[0] = 320;
         }},
    };
    QueueFacts queue;
    queue.scratch_lane_bytes = 64;
    queue.scratch = {4, 4096};
    for (const Row& row : rows) {
        KernelDispatchPacket p = packet();
        row.change(p);
        auto refused = check_packet(p, GpuFacts{});
        if (!refused) refused = check_scratch(p, KernelDescriptor{}, queue);
        REQUIRE(refused.has_value());
        INFO(refused->why);
        REQUIRE(refused->reason == row.reason);
        REQUIRE((refused->scratch_lane_bytes == p.private_segment_size) ==
                (row.reason == Refusal::NeedsScratch || p.private_segment_size == 0));
    }
    KernelDispatchPacket p = packet();
    p.group_segment_size = 65536;
    p.private_segment_size = 64;
    p.workgroup_size = {256, 1, 1};
    p.grid_size = {256, 1, 1};
    REQUIRE_FALSE(check_packet(p, GpuFacts{}));
    p.group_segment_size = 160 * 1024;
    REQUIRE_FALSE(check_packet(p, GpuFacts{.lds_bytes = 160 * 1024}));
    REQUIRE(check_packet(p, GpuFacts{}));
    REQUIRE_FALSE(check_scratch(p, KernelDescriptor{}, queue));
    KernelDescriptor narrow;
    narrow.width = 32;  // twice as many waves as there is scratch for
    REQUIRE(check_scratch(p, narrow, queue));
    // And twice as many bytes for each lane.
    p = packet();
    p.private_segment_size = 128;
    REQUIRE_FALSE(check_scratch(p, narrow, queue));
    p.private_segment_size = 129;
    const auto refused = check_scratch(p, narrow, queue);
    REQUIRE((refused && refused->width == 32));
}

TEST_CASE("an invalid kernel object is refused", "[dispatch][launch]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("memory", "O2");
    const auto reason_for = [&](std::uint64_t kernel_object) {
        auto p = code.packet("ids", {.grid = {64}, .group = {64}});
        p.kernel_object = kernel_object;
        auto setup = gpu.setup(p);
        const AddressSpace::Hold hold{gpu.space};
        auto made = Dispatch::create(std::move(setup));
        const auto* refused = std::get_if<LaunchRefused>(&made);
        REQUIRE(refused != nullptr);
        return refused->reason;
    };
    REQUIRE(reason_for(0) == Refusal::BadKernelObject);
    REQUIRE(reason_for(0x1000) == Refusal::BadKernelObject);
    REQUIRE(reason_for(code.symbol("ids.kd") + 4) == Refusal::BadKernelObject);
    auto* elsewhere = gpu.copy(std::vector<std::byte>(64));
    REQUIRE(reason_for(reinterpret_cast<std::uint64_t>(elsewhere)) == Refusal::BadKernelObject);
    // A descriptor whose code cannot be executed.
    std::memcpy(elsewhere, reinterpret_cast<void*>(code.symbol("ids.kd")), 64);
    REQUIRE(reason_for(reinterpret_cast<std::uint64_t>(elsewhere)) == Refusal::BadKernelObject);
}

TEST_CASE("scratch slots are given out whole or not at all", "[dispatch][scratch]") {
    ScratchSlots slots{4};
    std::uint16_t a[3], b[2], c[1];
    REQUIRE(slots.acquire(a, 3));
    REQUIRE_FALSE(slots.acquire(b, 2));
    REQUIRE(slots.acquire(c, 1));
    REQUIRE(c[0] == 3);
    slots.release(a, 3);
    REQUIRE(slots.acquire(b, 2));
    REQUIRE(b[0] == 0);
    REQUIRE(b[1] == 1);
}

TEST_CASE("where the ids of Y and Z share a register, there are 65536 of each", "[dispatch][packet]") {
    for (const unsigned d : {0, 1, 2}) {
        KernelDispatchPacket p = packet();
        p.setup = 3;
        p.workgroup_size = {1, 1, 1};
        p.grid_size = {1, 1, 1};
        p.grid_size[d] = 65536;
        REQUIRE_FALSE(check_packet(p, GpuFacts{.target = Target::gfx1201}));
        p.grid_size[d] += 1;
        REQUIRE_FALSE(check_packet(p, GpuFacts{.target = Target::gfx1100}));
        const auto refused = check_packet(p, GpuFacts{.target = Target::gfx1201});
        REQUIRE(refused.has_value() == (d != 0));
        if (refused) REQUIRE(refused->reason == Refusal::InvalidSize);
    }
}
