// Lists the agents, their memory regions from HSA's core API, and AMD's memory pools.
#include <hsadrv/hsadrv.hpp>

#include <cstdio>
#include <exception>
#include <string>

using namespace hsadrv;

namespace {

std::string bytes(std::size_t size) {
    const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    auto value = static_cast<double>(size);
    for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f %s", value == static_cast<double>(static_cast<int>(value)) ? 0 : 1, value,
                  units[unit]);
    return text;
}

void print_agent(const AgentRef& agent) {
    std::printf("\n%s  %s", agent.label().c_str(), agent.product_name().c_str());
    if (agent.is_gpu()) {
        std::printf("  %u compute units, wave%u, %s LDS, work-groups up to %u\n", agent.compute_units(),
                    agent.wavefront_size(), bytes(agent.group_segment_max_bytes()).c_str(),
                    agent.workgroup_max_workitems());
        for (const Isa& isa : agent.isas()) std::printf("  isa     %s\n", isa.name.c_str());
    } else {
        std::printf("  %u cores\n", agent.compute_units());
    }
    for (const MemRegion& region : agent.regions()) {
        std::printf("  region  %-8s  %-28s %10s\n", segment_name(region.segment()),
                    region.global_flags().text().c_str(), bytes(region.size_bytes()).c_str());
    }
    for (const MemPool& pool : agent.pools()) {
        std::printf("  pool    %-8s  %-28s %10s  %s\n", segment_name(pool.segment()),
                    pool.global_flags().text().c_str(), bytes(pool.size_bytes()).c_str(),
                    pool.alloc_allowed() ? ("granule " + bytes(pool.alloc_granule_bytes())).c_str() : "no allocation");
    }
}

}  // namespace

int main() try {
    const Driver driver;
    const SystemFacts& system = driver.system();
    std::printf("HSA runtime %u.%u, %zu agents, %zu of them GPUs\n", system.version_major, system.version_minor,
                driver.agents().size(), driver.gpus().size());
    for (const AgentRef& agent : driver.agents()) print_agent(agent);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "info: %s\n", error.what());
    return 1;
}
