// Which writes are visible to later kernels and copies, by the fences of packets.
#include "tools/kfdemu/check/fence/visibility.hpp"

#include "tests/kfdemu/check/checked.hpp"

using namespace kfdemu::check;

namespace {

constexpr std::uint64_t kVa = 0x40000;

using Kernel = Operations::Kernel;
using Copy = Operations::Copy;

MemoryShadow::Record access(std::uint32_t number) {
    MemoryShadow::Record record;
    record.group = 1;
    record.number = number;
    record.bytes = 15;
    return record;
}

/// Accesses of one dword, by one wave: numbers of its instructions; 0: none.
Kernel kernel(std::uint32_t writes, std::uint32_t reads, std::uint32_t gpu = 0, std::uint64_t va = kVa) {
    auto memory = std::make_shared<MemoryRaces>(kfdemu::isa::Target::gfx90a);
    memory->add_group({0, 0, 0});
    memory->add_site({});
    MemoryShadow::Cell& cell = memory->shadow.page(va)->cell(va);
    if (writes != 0) cell.write = access(writes);
    if (reads != 0) cell.read[0] = access(reads);
    return {std::move(memory), {}, 0x1000, 0, 0, gpu};
}

class Gpus {
  public:
    void acquire_of(std::uint32_t gpu, FenceScope scope) { visibility_.acquired(gpu, scope, 0, ++tick_); }
    void run(const Visibility::Work& work, std::uint32_t gpu, FenceScope acquire, FenceScope release) {
        const Visibility::Tick safe = ++tick_, start = ++tick_;
        const auto begun = visibility_.acquired(gpu, acquire, safe, start);
        visibility_.ended(work, begun, ++tick_, report_, nullptr);
        visibility_.released(gpu, release, tick_);
    }
    void release_at(std::uint32_t gpu, Visibility::Tick tick) { visibility_.released(gpu, FenceScope::System, tick); }
    Visibility::Tick tick() const { return tick_; }
    std::uint64_t findings() const { return report_.distinct(); }

  private:
    Visibility visibility_;
    Report report_;
    Visibility::Tick tick_ = 0;
};

constexpr auto kNone = FenceScope::None, kAgent = FenceScope::Agent, kSystem = FenceScope::System;

}  // namespace

TEST_CASE("queues tell of their fences in any order", "[check][visibility]") {
    Gpus gpus;
    const auto early = gpus.tick();
    gpus.run(kernel(1, 0), 0, kSystem, kSystem);
    gpus.release_at(0, early);
    gpus.run(kernel(0, 1), 0, kSystem, kSystem);
    CHECK(gpus.findings() == 0);
}

TEST_CASE("a kernel misses what a copy wrote if its GPU has the line since before", "[check][visibility]") {
    Gpus gpus;
    const Copy copy{{}, {Box{kVa, 4, 0, 0, 1, 1}}};
    const auto findings = [&] {
        gpus.run(kernel(0, 1), 0, kAgent, kSystem);
        return gpus.findings();
    };
    const auto accesses = [&](const Kernel& kernel) { gpus.run(kernel, kernel.gpu, kAgent, kAgent); };
    gpus.acquire_of(0, kSystem);
    SECTION("of its own dword") {
        accesses(kernel(0, 1));
        SECTION("which it wrote") { accesses(kernel(1, 0)); }
        gpus.run(copy, 0, kNone, kNone);
        CHECK(findings() == 1);
    }
    SECTION("of its neighbour") {
        accesses(kernel(0, 1, 0, kVa + 124));
        gpus.run(copy, 0, kNone, kNone);
        CHECK(findings() == 1);
    }
    SECTION("not if nothing accessed it") {
        accesses(kernel(0, 1, 0, kVa + 128));
        accesses(kernel(0, 1, 0, kVa - 4));
        gpus.run(copy, 0, kNone, kNone);
        CHECK(findings() == 0);
    }
    SECTION("not if another GPU accessed it") {
        accesses(kernel(0, 1, 1));
        gpus.run(copy, 0, kNone, kNone);
        CHECK(findings() == 0);
    }
    SECTION("not if the cache was invalidated in between") {
        accesses(kernel(0, 1));
        gpus.acquire_of(0, kSystem);
        gpus.run(copy, 0, kNone, kNone);
        CHECK(findings() == 0);
    }
    SECTION("not if it was accessed after the copy") {
        gpus.run(copy, 0, kNone, kNone);
        accesses(kernel(0, 1));
        CHECK(findings() == 0);
    }
}

TEST_CASE("what was overwritten is not read", "[check][visibility]") {
    Gpus gpus;
    gpus.run(kernel(0, 1), 0, kSystem, kSystem);
    gpus.run(Copy{{}, {Box{kVa, 64, 0, 0, 1, 1}}}, 0, kNone, kNone);
    SECTION("by a kernel whose stores are visible") {
        gpus.run(kernel(1, 0), 0, kAgent, kSystem);
        gpus.run(kernel(0, 1), 0, kAgent, kSystem);
        CHECK(gpus.findings() == 0);
    }
    SECTION("without, the copy is") {
        gpus.run(kernel(0, 1), 0, kAgent, kSystem);
        CHECK(gpus.findings() == 1);
    }
}

TEST_CASE("a kernel that reads before it writes reads the earlier value", "[check][visibility]") {
    for (const bool reads_first : {true, false}) {
        Gpus gpus;
        gpus.run(kernel(1, 0), 0, kAgent, kAgent);
        gpus.run(kernel(reads_first ? 2 : 1, reads_first ? 1 : 2), 0, kNone, kAgent);
        CHECK(gpus.findings() == (reads_first ? 1 : 0));
    }
}

TEST_CASE("an acquire of one GPU says nothing of another's caches", "[check][visibility]") {
    for (const FenceScope scope : {kAgent, kSystem}) {
        Gpus gpus;
        gpus.acquire_of(1, kSystem);
        gpus.run(kernel(0, 1, 1), 1, kAgent, kAgent);
        gpus.run(kernel(1, 0), 0, kSystem, kSystem);
        gpus.acquire_of(0, kAgent);
        gpus.run(kernel(0, 1, 1), 1, scope, kSystem);
        CHECK(gpus.findings() == (scope == kSystem ? 0 : 1));
    }
}
