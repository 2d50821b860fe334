// Two GPUs: each other's memory, copies between them, access granted and taken back.
#include <memory>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

constexpr std::uint32_t kWords = 100'000;

hsa_amd_memory_pool_access_t pool_access(const Gpu& gpu, hsa_amd_memory_pool_t pool) {
    hsa_amd_memory_pool_access_t access{};
    HSA_CHECK(hsa_amd_agent_memory_pool_get_info(gpu.agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    return access;
}

std::vector<std::uint32_t> read_back(const Memory& memory) {
    std::vector<std::uint32_t> words(memory.size_bytes() / 4);
    HSA_CHECK(hsa_memory_copy(words.data(), memory.data(), memory.size_bytes()));
    return words;
}

void allow(const std::vector<hsa_agent_t>& agents, const Memory& memory) {
    HSA_CHECK(
        hsa_amd_agents_allow_access(static_cast<std::uint32_t>(agents.size()), agents.data(), nullptr, memory.data()));
}

}  // namespace

#define NEEDS_PEERS(machine)                                                                                \
    if (pool_access((machine).gpu(0), (machine).gpu(1).coarse) == HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED) \
    SKIP_BECAUSE("the GPUs cannot reach each other's memory")

TEST_CASE("another GPU's memory is not accessible until it is allowed", "[device][peer]") {
    NEEDS_GPUS(2);
    Machine machine;
    NEEDS_PEERS(machine);
    CHECK(pool_access(machine.gpu(0), machine.gpu(0).coarse) == HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
    CHECK(pool_access(machine.gpu(0), machine.gpu(1).coarse) == HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    CHECK(pool_access(machine.gpu(1), machine.gpu(0).coarse) == HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
}

TEST_CASE("a kernel reads and writes the memory of the other GPU", "[device][peer]") {
    NEEDS_GPUS(2);
    Machine machine;
    NEEDS_PEERS(machine);
    for (std::size_t here : {0u, 1u}) {
        CAPTURE(here);
        const Gpu &own = machine.gpu(here), &peer = machine.gpu(1 - here);
        Queue queue{own};
        const Executable code{own, "work"};
        const Memory theirs{peer.coarse, kWords * 4, {peer.agent, own.agent}}, ours{own.coarse, kWords * 4, {}};
        run(machine, queue, code.kernel("fill"), line(kWords), theirs.data(), 3u, kWords);
        run(machine, queue, code.kernel("increment"), line(kWords), ours.data(), theirs.data(), kWords);
        const auto words = read_back(ours);
        for (std::uint32_t i = 0; i < kWords; ++i) REQUIRE(words[i] == 4 + i);
    }
}

TEST_CASE("copies go from GPU to GPU, by either's engines", "[device][peer]") {
    NEEDS_GPUS(2);
    Machine machine;
    NEEDS_PEERS(machine);
    const std::vector<hsa_agent_t> both{machine.gpu(0).agent, machine.gpu(1).agent};
    const Memory a{machine.gpu(0).coarse, kWords * 4, both}, b{machine.gpu(1).coarse, kWords * 4, both};
    Queue queue{machine.gpu(0)};
    const Executable code{machine.gpu(0), "work"};
    run(machine, queue, code.kernel("fill"), line(kWords), a.data(), 11u, kWords);
    const Signal there, back;
    const hsa_signal_t first = there;
    HSA_CHECK(hsa_amd_memory_async_copy(b.data(), both[1], a.data(), both[0], kWords * 4 - 4, 0, nullptr, there));
    HSA_CHECK(
        hsa_amd_memory_async_copy(a.as<std::byte>() + 4, both[0], b.data(), both[1], kWords * 4 - 4, 1, &first, back));
    REQUIRE(back.completed());
    const auto words = read_back(a);
    CHECK(words[0] == 11);
    for (std::uint32_t i = 1; i < kWords; ++i) REQUIRE(words[i] == 11 + i - 1);
}

TEST_CASE("copies between GPUs without access go through the host", "[device][peer]") {
    NEEDS_GPUS(2);
    Machine machine;
    const Memory a{machine.gpu(0).coarse, 1 << 20, {}}, b{machine.gpu(1).coarse, 1 << 20, {}};
    HSA_CHECK(hsa_amd_memory_fill(a.data(), 0x1234567, 1 << 18));
    HSA_CHECK(hsa_memory_copy(b.data(), a.data(), 1 << 20));
    const auto words = read_back(b);
    CHECK(words.front() == 0x1234567);
    CHECK(words.back() == 0x1234567);
}

TEST_CASE("both GPUs count in the same word of host memory", "[device][peer]") {
    NEEDS_GPUS(2);
    Machine machine;
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    *total.as<std::uint32_t>() = 0;
    std::vector<Queue> queues;
    std::vector<std::unique_ptr<Executable>> codes;
    std::vector<Launch> launched;
    for (std::size_t i : {0u, 1u}) {
        queues.emplace_back(machine.gpu(i));
        codes.push_back(std::make_unique<Executable>(machine.gpu(i), "work"));
    }
    for (int round = 0; round < 5; ++round)
        for (std::size_t i : {0u, 1u})
            launched.push_back(launch(machine, queues[i], codes[i]->kernel("count"), line(1000), total.data()));
    for (const Launch& one : launched) REQUIRE(one.completed());
    CHECK(*total.as<std::uint32_t>() == 10'000);
}

TEST_CASE("a queue of one GPU waits for a kernel on the other", "[device][peer]") {
    NEEDS_GPUS(2);
    Machine machine;
    Queue first{machine.gpu(0)}, second{machine.gpu(1)};
    const Signal gate, between, done;
    second.submit(barrier_and({between}, done));
    first.submit(barrier_and({gate}, between));
    CHECK_FALSE(done.completed(20ms));
    gate.store(0);
    CHECK(done.completed());
}

TEST_CASE("child: the other GPU's memory", "[.child]") {
    Machine machine;
    const Gpu &own = machine.gpu(0), &peer = machine.gpu(1);
    Queue queue{own};
    const Executable code{own, "work"};
    const Memory theirs{peer.coarse, 4 << 20, {}};
    if (row() != "never") allow({peer.agent, own.agent}, theirs);
    if (row() == "revoked") allow({peer.agent}, theirs);
    const Launch launched = launch(machine, queue, code.kernel("fill"), line(64), theirs.data(), 1u, 64u);
    CHECK(launched.completed());
}

TEST_CASE("a GPU's access to another's memory is a memory fault without permission, and succeeds with it",
          "[device][peer]") {
    NEEDS_GPUS(2);
    {
        Machine machine;
        NEEDS_PEERS(machine);
    }
    const std::pair<const char*, bool> rows[] = {{"never", false}, {"granted", true}, {"revoked", false}};
    for (const auto& [name, works] : rows) {
        const ChildResult child = run_child("child: the other GPU's memory", name);
        CAPTURE(name, child.output);
        CHECK(child.passed() == works);
        CHECK((child.output.find("Memory access fault by GPU") == std::string::npos) == works);
        CHECK_FALSE(child.timed_out);
    }
}
