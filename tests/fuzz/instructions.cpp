// GFX9 code: any dwords as a kernel's body. They execute or fault; the executor neither crashes nor runs
// beyond its budget.
#include <span>

#include "tests/fuzz/fuzz.hpp"
#include "tests/kfdemu/isa/samples.hpp"
#include "tools/kfdemu/dispatch/dispatch.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace {

using namespace kfdemu;

// Low GPU addresses, zero among them, so that small values in registers are mapped addresses.
constexpr std::uint64_t kData = 0, kCode = 0x100000, kScratch = 0x200000;
constexpr std::size_t kDataBytes = 65536, kCodeBytes = 8192, kDescriptorBytes = 256;
constexpr std::uint32_t kLaneBytes = 256, kWaves = 4, kWaveBytes = kLaneBytes * 64;
constexpr std::uint64_t kQuantum = 20'000;

// kernel_descriptor_t of LLVM's AMDGPUUsage, the fields used here.
struct Descriptor {
    std::uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
    std::int64_t entry_offset;
    std::uint8_t reserved1[20];
    std::uint32_t rsrc3, rsrc1, rsrc2;
    std::uint16_t properties, preload;
    std::uint32_t reserved2;
};
static_assert(sizeof(Descriptor) == kKernelDescriptorBytes);

struct Gpu {
    Gpu(isa::Target target, jit::When translated, isa::Level level) : code{target, translated, level} {
        space.map({kData, kData + kDataBytes, data.data(), kRead | kWrite, 1});
        space.map({kCode, kCode + kCodeBytes, program.data(), kRead | kWrite | kExecute, 2});
        space.map({kScratch, kScratch + scratch.size(), scratch.data(), kRead | kWrite, 3});
    }

    AddressSpace space;
    CodeCache code;
    WorkGroup group;
    std::shared_ptr<ScratchSlots> slots = std::make_shared<ScratchSlots>(kWaves);
    std::vector<std::byte> data = std::vector<std::byte>(kDataBytes);
    std::vector<std::byte> program = std::vector<std::byte>(kCodeBytes);
    std::vector<std::byte> scratch = std::vector<std::byte>(kWaveBytes * kWaves);
};

Gpu& gpu(unsigned choice) {
    static std::vector<std::unique_ptr<Gpu>> all = [] {
        std::vector<std::unique_ptr<Gpu>> made;
        for (isa::Target target : isa::kTargets) {
            for (isa::Level level : {isa::Level::V2, isa::Level::V3, isa::Level::V4})
                if (isa::supported(level)) made.push_back(std::make_unique<Gpu>(target, jit::When::never, level));
            made.push_back(std::make_unique<Gpu>(target, jit::When::always, isa::best_level()));
        }
        return made;
    }();
    return *all[choice % all.size()];
}

std::variant<std::shared_ptr<Dispatch>, LaunchRefused> start(Gpu& gpu, fuzz::Input& in) {
    Descriptor descriptor{};
    descriptor.entry_offset = kDescriptorBytes;
    descriptor.rsrc1 = in.take<std::uint32_t>() & 0x00af'f3ff;  // registers and floating-point modes
    descriptor.rsrc2 = in.take<std::uint16_t>() & 0x1fff;       // SGPRs, work-group and work-item ids
    const isa::Traits& traits = isa::traits_of(gpu.code.target());
    descriptor.properties = in.take<std::uint8_t>() & (traits.architected_scratch ? 0x5e : 0x7f);
    if (traits.unified_registers) descriptor.rsrc3 = in.take<std::uint8_t>() & 0x3f;
    KernelDispatchPacket packet;
    packet.setup = 1;
    packet.workgroup_size = {static_cast<std::uint16_t>(1 + in.below(130)), 1, 1};
    packet.grid_size = {packet.workgroup_size[0] + in.below(2), 1, 1};
    packet.private_segment_size = in.below(2) * kLaneBytes;
    packet.group_segment_size = in.below(4) * 600;
    packet.kernel_object = kCode;
    packet.kernarg_address = kData + 4096;
    std::memset(gpu.data.data(), 0, kDataBytes);
    std::memset(gpu.scratch.data(), 0, gpu.scratch.size());
    std::memset(gpu.program.data(), 0, kCodeBytes);
    std::memcpy(gpu.program.data(), &descriptor, sizeof descriptor);
    in.take_bytes(gpu.program.data() + kDescriptorBytes, kCodeBytes - kDescriptorBytes);

    Dispatch::Setup setup;
    setup.packet = packet;
    setup.packet_va = kData + 64;
    setup.queue.queue_ptr = kData + 256;
    setup.queue.scratch_base = kScratch;
    setup.queue.scratch_lane_bytes = kLaneBytes;
    setup.queue.scratch = {kWaves, kWaveBytes};
    setup.queue.scratch_descriptor = {kScratch, 1u << 31, kWaveBytes * kWaves,
                                      1u << 23 | 3u << 21 | 1u << 19 | 4u << 15 | 0xfac};
    setup.gpu.target = gpu.code.target();
    setup.memory = &gpu.space;
    setup.code = &gpu.code;
    setup.scratch_slots = gpu.slots;
    const AddressSpace::Hold hold{gpu.space};
    return Dispatch::create(std::move(setup));
}

void run(Gpu& gpu, Dispatch& dispatch) {
    unsigned quanta = 2;
    while (dispatch.start_group(gpu.group) == Dispatch::Start::Started) {
        WorkGroup::Progress progress;
        do {
            if (quanta-- == 0) dispatch.abort();
            progress = gpu.group.run(kQuantum);
            if (quanta > 2 && gpu.group.busy()) fuzz::broken("a work-group runs after its dispatch was aborted");
        } while (progress == WorkGroup::Progress::Paused || progress == WorkGroup::Progress::Idle);
    }
    if (dispatch.state() == Dispatch::State::Running) fuzz::broken("a dispatch runs without work-groups");
    if (dispatch.state() == Dispatch::State::Failed) describe(dispatch.fault());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in{data, size};
    Gpu& chosen = gpu(in.take<std::uint8_t>());
    auto made = start(chosen, in);
    if (auto* dispatch = std::get_if<std::shared_ptr<Dispatch>>(&made)) run(chosen, **dispatch);
    return 0;
}

namespace {

// Fills v2 to v223 with numbers that differ between lanes: for s11 from 2: v1 = v1 * 0x9e3779b9 +
// 0x7f4a7c15; v[s11] = v1.
constexpr std::uint32_t kScramble[] = {0xbe8a00ff, 0x9e3779b9, 0xbe8b0082, 0x7e020300, 0xd2850001,
                                       0x00001501, 0x680202ff, 0x7f4a7c15, 0xbf11080b, 0x7e000301,
                                       0xbf9c0000, 0x800b810b, 0xbf0aff0b, 0x000000e0, 0xbf85fff5};
constexpr std::uint32_t kEndProgram = 0xbf810000;

fuzz::Bytes program(std::uint8_t choice, bool scramble, std::span<const test_isa::Words> instructions) {
    fuzz::Output out;
    out.put(choice)
        .put<std::uint32_t>(0x000c'0fff)          // the maximum number of registers
        .put<std::uint16_t>(16 << 1 | 0x380)      // 16 user SGPRs, work-group ids
        .put<std::uint8_t>(0x4b)                  // scratch descriptor, dispatch and kernarg pointers, private size
        .put<std::uint8_t>(choice % 3 ? 63 : 31)  // the first AccVGPR
        .put<std::uint8_t>(127)                   // 128 work-items
        .put<std::uint8_t>(0)
        .put<std::uint8_t>(1)   // with scratch
        .put<std::uint8_t>(2);  // and LDS
    if (scramble)
        for (std::uint32_t word : kScramble) out.put(word);
    for (const auto& words : instructions)
        for (std::uint32_t word : words) out.put(word);
    return out.put(kEndProgram).bytes;
}

}  // namespace

/// Every instruction with varied operands, a few per program; every other program on registers filled with
/// numbers, the rest on zeroes, which are addresses.
std::vector<fuzz::Bytes> fuzz::seeds() {
    constexpr std::size_t kPerProgram = 4;
    std::vector<Bytes> all;
    std::uint8_t choice = 0;
    for (isa::Target target : {isa::Target::gfx900, isa::Target::gfx90a, isa::Target::gfx942}) {
        for (const isa::Row& row : isa::rows()) {
            if (!row.on(target)) continue;
            const auto samples = test_isa::samples(row, target);
            for (std::size_t n = 0; n < samples.size(); n += kPerProgram) {
                const auto some = std::span{samples}.subspan(n, std::min(kPerProgram, samples.size() - n));
                all.push_back(program(choice++, n / kPerProgram % 2 == 0, some));
            }
        }
    }
    return all;
}
