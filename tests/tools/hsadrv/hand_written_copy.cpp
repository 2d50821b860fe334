// Copies timed with only the HSA runtime: `hsadrv bench copy` must agree with them.
//
//   hand_written_copy DIRECTION SAMPLES SIZE…        prints JSON: the times of each size
//
// DIRECTION: to-device, from-device, both-ways, within-device. One loop: hsa_amd_memory_async_copy, hsa_signal_wait.
// Nothing of hsadrv is in here.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void check(hsa_status_t status, const char* call) {
    if (status == HSA_STATUS_SUCCESS) return;
    std::fprintf(stderr, "hand_written_copy: %s: status 0x%x\n", call, static_cast<unsigned>(status));
    std::exit(1);
}
#define CHECK(call) check(call, #call)

struct Agents {
    hsa_agent_t cpu{}, gpu{};
};

hsa_status_t take_agent(hsa_agent_t agent, void* data) {
    auto& agents = *static_cast<Agents*>(data);
    hsa_device_type_t type{};
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    hsa_agent_t& place = type == HSA_DEVICE_TYPE_GPU ? agents.gpu : agents.cpu;
    if (place.handle == 0) place = agent;
    return HSA_STATUS_SUCCESS;
}

struct Wanted {
    std::uint32_t flag;
    hsa_amd_memory_pool_t pool{};
};

/// The first global pool with that flag that is not for kernel arguments.
hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void* data) {
    auto& wanted = *static_cast<Wanted*>(data);
    hsa_amd_segment_t segment{};
    std::uint32_t flags = 0;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if ((flags & wanted.flag) && !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) && wanted.pool.handle == 0)
        wanted.pool = pool;
    return HSA_STATUS_SUCCESS;
}

void* allocate(hsa_agent_t agent, std::uint32_t flag, std::size_t size, const hsa_agent_t* user) {
    Wanted wanted{flag};
    CHECK(hsa_amd_agent_iterate_memory_pools(agent, take_pool, &wanted));
    void* memory = nullptr;
    CHECK(hsa_amd_memory_pool_allocate(wanted.pool, size, 0, &memory));
    if (user) CHECK(hsa_amd_agents_allow_access(1, user, nullptr, memory));
    return memory;
}

struct Copy {
    void* to;
    hsa_agent_t to_agent;
    const void* from;
    hsa_agent_t from_agent;
    hsa_signal_t done{};
};

void submit(const Copy& copy, std::size_t size) {
    CHECK(hsa_amd_memory_async_copy(copy.to, copy.to_agent, copy.from, copy.from_agent, size, 0, nullptr, copy.done));
}
void wait(const Copy& copy) {
    while (hsa_signal_wait_scacquire(copy.done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {
    }
}

double run(const std::vector<Copy>& copies, std::size_t size) {
    for (const Copy& copy : copies) hsa_signal_store_relaxed(copy.done, 1);
    const auto begin = std::chrono::steady_clock::now();
    for (const Copy& copy : copies) submit(copy, size);
    for (const Copy& copy : copies) wait(copy);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

double percentile(const std::vector<double>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fprintf(stderr, "usage: hand_written_copy DIRECTION SAMPLES SIZE...\n"), 2;
    const std::string direction = argv[1];
    const int samples = std::atoi(argv[2]);
    std::size_t largest = 0;
    for (int i = 3; i < argc; ++i) largest = std::max(largest, static_cast<std::size_t>(std::atoll(argv[i])));

    CHECK(hsa_init());
    Agents agents;
    CHECK(hsa_iterate_agents(take_agent, &agents));
    if (agents.gpu.handle == 0) return std::fprintf(stderr, "hand_written_copy: no GPU\n"), 1;
    constexpr std::uint32_t fine = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    constexpr std::uint32_t coarse = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
    auto* const host_source = static_cast<unsigned char*>(allocate(agents.cpu, fine, largest, &agents.gpu));
    auto* const host_sink = static_cast<unsigned char*>(allocate(agents.cpu, fine, largest, &agents.gpu));
    void* const source = allocate(agents.gpu, coarse, largest, nullptr);
    void* const sink = allocate(agents.gpu, coarse, largest, nullptr);
    const Copy up{sink, agents.gpu, host_source, agents.cpu}, down{host_sink, agents.cpu, source, agents.gpu},
        within{sink, agents.gpu, source, agents.gpu}, fill{source, agents.gpu, host_source, agents.cpu},
        back{host_sink, agents.cpu, sink, agents.gpu};
    std::vector<Copy> copies = direction == "to-device"     ? std::vector{up}
                               : direction == "from-device" ? std::vector{down}
                               : direction == "both-ways"   ? std::vector{up, down}
                                                            : std::vector{within};
    for (Copy& copy : copies) CHECK(hsa_signal_create(1, 0, nullptr, &copy.done));
    std::vector<Copy> filling{fill}, reading{back};
    for (Copy* copy : {&filling[0], &reading[0]}) CHECK(hsa_signal_create(1, 0, nullptr, &copy->done));
    for (std::size_t i = 0; i < largest; ++i) host_source[i] = static_cast<unsigned char>(i * 31 + i / 251);
    run(filling, largest);

    std::printf("{\"rows\": [");
    for (int i = 3; i < argc; ++i) {
        const auto size = static_cast<std::size_t>(std::atoll(argv[i]));
        for (int warmup = 0; warmup < 3; ++warmup) run(copies, size);
        std::vector<double> times;
        for (int sample = 0; sample < samples; ++sample) times.push_back(run(copies, size));
        std::sort(times.begin(), times.end());
        // Downloads end in host_sink; uploads are fetched into it.
        bool right =
            direction == "to-device" || direction == "within-device" || std::memcmp(host_sink, host_source, size) == 0;
        if (direction != "from-device") {
            std::memset(host_sink, 0xa5, size);
            run(reading, size);
            right = right && std::memcmp(host_sink, host_source, size) == 0;
        }
        std::printf(
            "%s\n  {\"size_bytes\": %zu, \"samples\": %d, \"verified\": %s, \"time_ns\": {\"median\": %.1f, "
            "\"p5\": %.1f, "
            "\"p95\": %.1f}}",
            i == 3 ? "" : ",", size, samples, right ? "true" : "false", percentile(times, 0.5), percentile(times, 0.05),
            percentile(times, 0.95));
    }
    std::printf("\n]}\n");
    for (void* memory : {static_cast<void*>(host_source), static_cast<void*>(host_sink), source, sink})
        CHECK(hsa_amd_memory_pool_free(memory));
    for (const auto* list : {&copies, &filling, &reading})
        for (const Copy& copy : *list) CHECK(hsa_signal_destroy(copy.done));
    CHECK(hsa_shut_down());
}
