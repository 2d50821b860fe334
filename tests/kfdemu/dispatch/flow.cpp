// Waves that wait for each other, threads, and kernels that do not end well.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/kfdemu/dispatch/machine.hpp"
#include "tools/kfdemu/base/counters.hpp"

using namespace dispatch_test;
using kfdemu::Dispatch;
using kfdemu::WorkGroup;
using kfdemu::isa::Stop;

TEST_CASE("waves of a work-group that spin on each other make progress", "[dispatch][flow]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        auto* out = gpu.allocate<std::uint32_t>(2048);
        code.launch("spin", {.grid = {2048}, .group = {512}}, out);
        for (unsigned i = 0; i < 2048; ++i) REQUIRE(out[i] == i % 512 / gpu.lanes());
    });
}

TEST_CASE("work-groups that wait for earlier ones make progress", "[dispatch][flow][threads]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        for (unsigned threads : {1u, 4u}) {
            auto* flags = gpu.allocate<std::uint32_t>(100);
            auto* out = gpu.allocate<std::uint32_t>(100);
            code.launch("chain", {.grid = {6400}, .group = {64}, .threads = threads, .quantum = 1000}, flags, out);
            for (unsigned g = 0; g < 100; ++g) REQUIRE(out[g] == g * (g + 1) / 2);
        }
    });
}

TEST_CASE("a barrier waits only for waves that have not ended", "[dispatch][flow]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        auto* out = gpu.allocate<std::uint32_t>(256);
        code.launch("early_exit", {.grid = {256}, .group = {256}}, out);
        for (unsigned i = 0; i < 256; ++i) REQUIRE(out[i] == (i < 128 ? 128 : 0));
    });
}

// "Vega" and CDNA3 ISA manuals, S_BARRIER: waves are waited for, wherever their program counters are.
TEST_CASE("as in hardware, waves at different barriers of the code release each other", "[dispatch][flow]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        const unsigned items = 4 * gpu.lanes();
        auto* out = gpu.allocate<std::uint32_t>(items);
        code.launch("barriers_apart", {.grid = {items}, .group = {items}, .limit_seconds = 60}, out);
        for (unsigned i = 0; i < items; ++i) REQUIRE(out[i] == 1234);
    });
}

TEST_CASE("as in hardware, a wave that meets a barrier in both branches counts twice, and is one barrier late",
          "[dispatch][flow]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        const unsigned lanes = gpu.lanes();
        auto* out = gpu.allocate<std::uint32_t>(lanes);
        code.launch("barriers_doubled", {.grid = {2 * lanes}, .group = {2 * lanes}, .limit_seconds = 60}, out);
        for (unsigned i = 0; i < lanes; ++i) REQUIRE(out[i] == (i % 2 == 0 ? 71 : 72));
    });
}

TEST_CASE("as in hardware, a wave without active lanes reaches a barrier as any other", "[dispatch][flow]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        const unsigned items = 2 * gpu.lanes();
        auto* out = gpu.allocate<std::uint32_t>(items);
        code.launch("barrier_without_lanes", {.grid = {items}, .group = {items}, .limit_seconds = 60}, out);
        for (unsigned i = 0; i < items; ++i) REQUIRE(out[i] == 5);
    });
}

// "RDNA 4" ISA manual, "Work-group barriers".
TEST_CASE("a barrier in two steps counts signals, and a work-group of one wave has none", "[dispatch][flow]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        if (!kfdemu::isa::traits_of(gpu.target()).split_barriers) return;
        for (unsigned waves : {1u, 2u}) {
            const unsigned items = waves * gpu.lanes();
            auto* out = gpu.allocate<std::uint32_t>(4);
            code.launch("split_barrier", {.grid = {items}, .group = {items}, .limit_seconds = 60}, out);
            CAPTURE(waves);
            REQUIRE(out[0] == (waves == 1 ? 0 : 1 | 2 << 4 | 1 << 16));  // valid, members, signals
            REQUIRE(out[1] == (waves == 1 ? 0 : 1));
            REQUIRE(out[2] == (waves == 1 ? 1 : 0));
        }
    });
}

TEST_CASE("an endless kernel is aborted, on several threads", "[dispatch][flow][threads]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        auto* out = gpu.allocate<std::uint32_t>(2);
        auto packet = code.packet("endless", {.grid = {6400}, .group = {64}});
        packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{out}));
        const auto dispatch = gpu.start(packet);
        Outcome outcome;
        std::thread runner{[&] { outcome = run_to_end(dispatch, 3, 1'000'000'000); }};
        while (__atomic_load_n(out, __ATOMIC_RELAXED) < 1000) std::this_thread::yield();
        // The map can be changed while the kernel runs.
        gpu.allocate<std::uint32_t>(1);
        REQUIRE(dispatch->state() == Dispatch::State::Running);
        dispatch->abort();
        runner.join();
        REQUIRE(outcome.state == Dispatch::State::Aborted);
        REQUIRE(dispatch->claim_end());
        REQUIRE_FALSE(dispatch->claim_end());
    });
}

TEST_CASE("a claimed end stays, while other threads still request work", "[dispatch][flow][threads]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    auto* out = gpu.allocate<std::uint32_t>(256);
    auto packet = code.packet("early_exit", {.grid = {256}, .group = {256}});
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{out}));
    const auto dispatch = gpu.start(packet);
    REQUIRE(run_to_end(dispatch, 1, 1'000'000).state == Dispatch::State::Finished);
    REQUIRE(dispatch->claim_end());
    std::atomic<bool> over{false};
    std::thread asker{[&] {
        WorkGroup group;
        while (!over) (void)dispatch->start_group(group);
    }};
    unsigned running = 0;
    for (int i = 0; i < 1'000'000; ++i) running += dispatch->state() != Dispatch::State::Finished;
    over = true;
    asker.join();
    CHECK(running == 0);
}

TEST_CASE("a work-group can be left and taken up again", "[dispatch][flow]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    auto* out = gpu.allocate<std::uint32_t>(2);
    auto packet = code.packet("endless", {.grid = {64}, .group = {64}});
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{out}));
    const auto dispatch = gpu.start(packet);
    WorkGroup group;
    REQUIRE(dispatch->start_group(group) == Dispatch::Start::Started);
    WorkGroup other;
    REQUIRE(dispatch->start_group(other) == Dispatch::Start::NoMore);
    REQUIRE(group.run(10'000) == WorkGroup::Progress::Paused);
    const std::uint32_t so_far = out[0];
    REQUIRE(so_far > 0);
    REQUIRE(group.run(10'000) == WorkGroup::Progress::Paused);
    REQUIRE(out[0] > so_far);
    out[1] = 1;
    REQUIRE(group.run(10'000) == WorkGroup::Progress::Ended);
    REQUIRE(dispatch->state() == Dispatch::State::Finished);
}

TEST_CASE("work-groups of a batch that is given back run elsewhere, each once", "[dispatch][flow]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    constexpr unsigned groups = 4000;
    auto* out = gpu.allocate<std::uint32_t>(2);
    auto packet = code.packet("atomic_at", {.grid = {64 * groups}, .group = {64}});
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{out}));
    const auto dispatch = gpu.start(packet);
    WorkGroup group;
    unsigned begun = 0;
    for (unsigned batches = 0; batches < 5; ++batches) {
        Dispatch::Batch batch{*dispatch};
        for (unsigned n = 0; n <= batches; ++n, ++begun) {
            REQUIRE(dispatch->start_group(group, batch) == Dispatch::Start::Started);
            REQUIRE(group.run(10'000) == WorkGroup::Progress::Ended);
        }
    }
    CHECK(out[0] == 64 * begun);
    REQUIRE(run_to_end(dispatch, 3, 1000).state == Dispatch::State::Finished);
    CHECK(out[0] == 64 * groups);
    Dispatch::Batch batch{*dispatch};
    CHECK(dispatch->start_group(group, batch) == Dispatch::Start::NoMore);
}

TEST_CASE("a worker may run several work-groups before it reports them, and the dispatch ends with the report",
          "[dispatch][flow]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    auto* out = gpu.allocate<std::uint32_t>(256);
    auto packet = code.packet("early_exit", {.grid = {256}, .group = {64}});
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{out}));
    const auto dispatch = gpu.start(packet);
    const std::uint64_t before = kfdemu::counters.work_groups;
    WorkGroup group, other;
    group.report_later();
    for (int n = 0; n < 4; ++n) {
        REQUIRE(dispatch->start_group(group) == Dispatch::Start::Started);
        REQUIRE(group.run(1'000'000) == WorkGroup::Progress::Ended);
    }
    REQUIRE(dispatch->start_group(other) == Dispatch::Start::NoMore);
    REQUIRE(dispatch->state() == Dispatch::State::Running);
    REQUIRE(kfdemu::counters.work_groups == before);
    group.report();
    REQUIRE(dispatch->state() == Dispatch::State::Finished);
    REQUIRE(kfdemu::counters.work_groups == before + 4);
}

TEST_CASE("a work-group reports that its waves only sleep", "[dispatch][flow]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    auto* flags = gpu.allocate<std::uint32_t>(2);
    auto* out = gpu.allocate<std::uint32_t>(2);
    auto packet = code.packet("chain", {.grid = {256}, .group = {128}});
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{flags, out}));
    const auto dispatch = gpu.start(packet);
    WorkGroup first, second;
    REQUIRE(dispatch->start_group(first) == Dispatch::Start::Started);
    REQUIRE(dispatch->start_group(second) == Dispatch::Start::Started);
    REQUIRE(second.run(1'000'000) == WorkGroup::Progress::Idle);
    REQUIRE(first.run(1'000'000) == WorkGroup::Progress::Ended);
    REQUIRE(second.run(1'000'000) == WorkGroup::Progress::Ended);
    REQUIRE(dispatch->state() == Dispatch::State::Finished);
}

namespace {
void require_fault(const Outcome& outcome, Stop what, const void* address, std::uint32_t access, std::uint32_t lane) {
    INFO(kfdemu::describe(outcome.fault));
    REQUIRE(outcome.state == Dispatch::State::Failed);
    REQUIRE(outcome.fault.what == what);
    REQUIRE(outcome.fault.address == reinterpret_cast<std::uint64_t>(address));
    REQUIRE(outcome.fault.access == access);
    REQUIRE(outcome.fault.lane == lane);
}
}  // namespace

TEST_CASE("a memory fault names lane, address, access and instruction", "[dispatch][faults]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        using namespace kfdemu;
        std::uint32_t* null = nullptr;
        auto* out = gpu.allocate<std::uint32_t>(4);
        auto* read_only = gpu.allocate<std::uint32_t>(4, kRead);
        const Shape shape{.grid = {256}, .group = {128}};

        Outcome outcome = code.try_launch("store_at", shape, null, 70u);
        require_fault(outcome, Stop::MemoryFault, null, kWrite, 6);
        REQUIRE(outcome.fault.wave == 64 / gpu.lanes());
        REQUIRE(outcome.fault.group[0] == 0);
        const std::uint64_t code_begin = code.symbol("store_at");
        REQUIRE(outcome.fault.pc >= code_begin);
        REQUIRE(outcome.fault.pc < code_begin + 4096);
        REQUIRE(outcome.fault.instruction.find("_store_") != std::string::npos);
        REQUIRE(describe(outcome.fault).find("write to 0x0 by lane 6") != std::string::npos);

        require_fault(code.try_launch("load_at", shape, null, 3u, out), Stop::MemoryFault, null, kRead, 3);
        require_fault(code.try_launch("store_at", shape, read_only + 1, 0u), Stop::MemoryFault, read_only + 1, kWrite,
                      0);
        code.launch("load_at", shape, read_only, 0u, out);
        require_fault(code.try_launch("store_at", shape, out + 4, 1u), Stop::MemoryFault, out + 4, kWrite, 1);
        code.launch("store_at", shape, out + 3, 1u);
        REQUIRE(out[3] == 1);
        auto* far = reinterpret_cast<std::uint32_t*>(0x7ffff0000000ull * 2 + 0x123450);
        require_fault(code.try_launch("store_at", shape, far, 1u), Stop::MemoryFault, far, kWrite, 1);
    });
}

TEST_CASE("scalar loads and atomics fault as well", "[dispatch][faults]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        using namespace kfdemu;
        auto* out = gpu.allocate<std::uint64_t>(1);
        const auto* nowhere = reinterpret_cast<std::uint64_t*>(0x1000);
        const Outcome outcome = code.try_launch("load_uniform", {.grid = {64}, .group = {64}}, nowhere, out);
        REQUIRE(outcome.state == Dispatch::State::Failed);
        REQUIRE(outcome.fault.what == Stop::MemoryFault);
        REQUIRE(outcome.fault.address == 0x1000);
        REQUIRE(outcome.fault.access == kRead);

        auto* read_only = gpu.allocate<std::uint32_t>(2, kRead);
        require_fault(code.try_launch("atomic_at", {.grid = {64}, .group = {64}}, read_only), Stop::MemoryFault,
                      read_only, kRead | kWrite, 0);
        auto* odd = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(out) + 1);
        require_fault(code.try_launch("atomic_at", {.grid = {64}, .group = {64}}, odd), Stop::Misaligned, odd,
                      kRead | kWrite, 0);
    });
}

TEST_CASE("unmapping memory between two dispatches is noticed", "[dispatch][faults]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    auto* where = gpu.allocate<std::uint32_t>(4);
    code.launch("store_at", {.grid = {64}, .group = {64}}, where, 0u);
    const auto va = reinterpret_cast<std::uint64_t>(where);
    gpu.space.unmap(va, va + 16);
    require_fault(code.try_launch("store_at", {.grid = {64}, .group = {64}}, where, 0u), Stop::MemoryFault, where,
                  kfdemu::kWrite, 0);
}

TEST_CASE("traps, illegal instructions and wild jumps", "[dispatch][faults]") {
    on_each("flow", [](Machine& gpu, const CodeObject& code) {
        const Shape shape{.grid = {64}, .group = {64}};
        Outcome outcome = code.try_launch("trap", shape);
        REQUIRE(outcome.state == Dispatch::State::Failed);
        REQUIRE(outcome.fault.what == Stop::Trap);
        REQUIRE(outcome.fault.argument == 2);

        outcome = code.try_launch("illegal", shape);
        REQUIRE(outcome.state == Dispatch::State::Failed);
        REQUIRE(outcome.fault.what == Stop::Illegal);
        REQUIRE(outcome.fault.instruction.find("beff7f00") != std::string::npos);

        auto* data = gpu.allocate<std::uint32_t>(64);
        outcome = code.try_launch("jump", shape, data);
        REQUIRE(outcome.state == Dispatch::State::Failed);
        REQUIRE(outcome.fault.what == Stop::FetchFault);
        REQUIRE(outcome.fault.pc == reinterpret_cast<std::uint64_t>(data));

        auto* out = gpu.allocate<std::uint32_t>(64);
        code.launch("debug_trap", shape, out);
        REQUIRE(out[63] == 5);
    });
}

TEST_CASE("an interrupt message reaches the device", "[dispatch][flow]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    auto* out = gpu.allocate<std::uint32_t>(64);
    auto packet = code.packet("message", {.grid = {gpu.lanes()}, .group = {gpu.lanes()}});
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{out}));
    auto setup = gpu.setup(packet);
    std::vector<std::uint32_t> events;
    setup.interrupt = [&](std::uint32_t event) { events.push_back(event); };
    std::shared_ptr<Dispatch> dispatch;
    {
        const kfdemu::AddressSpace::Hold hold{gpu.space};
        dispatch = std::get<std::shared_ptr<Dispatch>>(Dispatch::create(std::move(setup)));
    }
    REQUIRE(run_to_end(dispatch, 1, 1000).state == Dispatch::State::Finished);
    REQUIRE(events == std::vector<std::uint32_t>{17});
    REQUIRE(out[5] == 1);
}

TEST_CASE("changed code at the same address is decoded again", "[dispatch][code]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    auto* out = gpu.allocate<std::uint32_t>(64);
    code.launch("debug_trap", {.grid = {64}, .group = {64}}, out);
    REQUIRE(out[0] == 5);
    // The entry becomes s_endpgm.
    auto* entry = reinterpret_cast<std::uint32_t*>(code.symbol("debug_trap"));
    *entry = 0xbf810000;
    out[0] = 0;
    code.launch("debug_trap", {.grid = {64}, .group = {64}}, out);
    REQUIRE(out[0] == 0);
}

namespace {

/// Whether a kernel's first page has stretches for translation after so many waves of it.
bool is_planned(const CodeObject& code, const std::string& kernel, unsigned waves, std::uint64_t instructions) {
    Machine& gpu = code.machine();
    kfdemu::CodeCache cache{gpu.target(), kfdemu::jit::When::hot};
    const kfdemu::CodeCache::Use use{cache};
    auto setup = gpu.setup(code.packet(kernel, {.grid = {64 * waves}, .group = {64}}));
    setup.code = &cache;
    setup.packet.kernarg_address =
        reinterpret_cast<std::uint64_t>(gpu.copy(std::vector<void*>{gpu.allocate<std::uint32_t>(2)}));
    std::shared_ptr<Dispatch> dispatch;
    {
        const kfdemu::AddressSpace::Hold hold{gpu.space};
        dispatch = std::get<std::shared_ptr<Dispatch>>(Dispatch::create(std::move(setup)));
    }
    WorkGroup group;
    while (dispatch->start_group(group) == Dispatch::Start::Started)
        if (group.run(instructions) != WorkGroup::Progress::Ended) break;
    group.leave();
    const kfdemu::AddressSpace::Hold hold{gpu.space};
    const std::uint64_t entry =
        dispatch->packet().kernel_object + static_cast<std::uint64_t>(dispatch->kernel().entry_offset_bytes);
    return cache.find(gpu.space, entry, gpu.lanes(), cache.new_serial(), 0)->planned;
}

}  // namespace

TEST_CASE("code is planned for translation when many waves have entered it, or one has run long", "[dispatch][code]") {
    Machine gpu{targets().front()};
    const CodeObject code = gpu.load("flow", "O2");
    CHECK_FALSE(is_planned(code, "atomic_at", 10, 1000));
    CHECK(is_planned(code, "atomic_at", 100, 1000));
    CHECK_FALSE(is_planned(code, "endless", 1, 1000));
    CHECK(is_planned(code, "endless", 1, 1'000'000));
}

TEST_CASE("a WorkGroup that ran one GPU's dispatch runs another's of the same number", "[dispatch][flow]") {
    Machine gpus[] = {Machine{targets().front()}, Machine{targets().front()}};
    WorkGroup group;
    for (Machine& gpu : gpus) {
        constexpr std::uint32_t n = 256;
        const CodeObject code = gpu.load("memory", "O2");
        const bool second = &gpu != gpus;
        auto* const sums = gpu.allocate<float>(n);
        struct {
            const float *a, *b;
            float* c;
            std::uint32_t n;
        } arguments{gpu.copy(std::vector<float>(n, second ? 2 : 1)), gpu.copy(std::vector<float>(n, 10)), sums, n};
        auto packet = code.packet("vector_add", {.grid = {n}, .group = {64}});
        std::vector<std::byte> kernarg(sizeof arguments);
        std::memcpy(kernarg.data(), &arguments, sizeof arguments);
        append_hidden_arguments(kernarg, packet, 5);
        packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(kernarg));
        const auto dispatch = gpu.start(packet);
        while (dispatch->start_group(group) == Dispatch::Start::Started)
            while (group.run(100'000) == WorkGroup::Progress::Paused) {
            }
        REQUIRE(dispatch->state() == Dispatch::State::Finished);
        CHECK(sums[0] == (second ? 12 : 11));
        CHECK(sums[n - 1] == (second ? 12 : 11));
    }
}
