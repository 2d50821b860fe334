#include "tests/kfdemu/hsa/machine.hpp"

#include <fstream>
#include <stdexcept>
#include <thread>

namespace hsa_test {
namespace {

template <class T>
T agent_info(hsa_agent_t agent, hsa_agent_info_t what) {
    T value{};
    HSA_CHECK(hsa_agent_get_info(agent, what, &value));
    return value;
}

template <class T>
T pool_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what) {
    T value{};
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, what, &value));
    return value;
}

/// Calls each(pool, flags) for the agent's pools of global memory.
template <class Each>
void for_each_pool(hsa_agent_t agent, Each each) {
    const auto visit = [](hsa_amd_memory_pool_t pool, void* data) {
        if (pool_info<hsa_amd_segment_t>(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT) == HSA_AMD_SEGMENT_GLOBAL)
            (*static_cast<Each*>(data))(pool, pool_info<std::uint32_t>(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS));
        return HSA_STATUS_SUCCESS;
    };
    HSA_CHECK(hsa_amd_agent_iterate_memory_pools(agent, visit, &each));
}

Cpu make_cpu(hsa_agent_t agent) {
    Cpu cpu{.agent = agent};
    for_each_pool(agent, [&](hsa_amd_memory_pool_t pool, std::uint32_t flags) {
        if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
            cpu.kernarg = pool;
        else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
            cpu.fine = pool;
        else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
            cpu.coarse = pool;
    });
    return cpu;
}

Gpu make_gpu(hsa_agent_t agent) {
    Gpu gpu{.agent = agent};
    char name[64] = {};
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name));
    gpu.name = name;
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE, &gpu.wavefront_size));
    for_each_pool(agent, [&](hsa_amd_memory_pool_t pool, std::uint32_t flags) {
        if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
            gpu.coarse = pool;
        else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
            gpu.fine = pool;
    });
    return gpu;
}

bool can_access(hsa_agent_t agent, hsa_amd_memory_pool_t pool) {
    hsa_amd_memory_pool_access_t access{};
    HSA_CHECK(hsa_amd_agent_memory_pool_get_info(agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    return access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

}  // namespace

std::string describe(hsa_status_t status) {
    const char* text = nullptr;
    if (hsa_status_string(status, &text) != HSA_STATUS_SUCCESS || !text) return "status " + std::to_string(status);
    return text;
}

void check(hsa_status_t status, const char* what) {
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK)
        throw std::runtime_error{std::string{what} + ": " + describe(status)};
}

std::uint16_t interface_minor() {
    constexpr auto ext_version_minor = static_cast<hsa_system_info_t>(0x208);  // not in the headers of every runtime
    std::uint16_t minor = 0;
    return hsa_system_get_info(ext_version_minor, &minor) == HSA_STATUS_SUCCESS ? minor : std::uint16_t{0};
}

Runtime::Runtime() { HSA_CHECK(hsa_init()); }
Runtime::~Runtime() { hsa_shut_down(); }

Machine::Machine() {
    const auto visit = [](hsa_agent_t agent, void* data) {
        auto& self = *static_cast<Machine*>(data);
        const auto type = agent_info<hsa_device_type_t>(agent, HSA_AGENT_INFO_DEVICE);
        if (type == HSA_DEVICE_TYPE_CPU) self.cpus_.push_back(make_cpu(agent));
        if (type == HSA_DEVICE_TYPE_GPU) self.gpus_.push_back(make_gpu(agent));
        return HSA_STATUS_SUCCESS;
    };
    HSA_CHECK(hsa_iterate_agents(visit, this));
    agents_.push_back(cpus_.at(0).agent);
    for (const Gpu& gpu : gpus_) agents_.push_back(gpu.agent);
}

// The pool's access information is unreliable: ROCR 5.2 treats all of a GPU's memory as visible. It maps
// private memory without any access right.
bool Machine::host_sees(const Gpu& gpu) const {
    const Memory memory{gpu.coarse, 4096, {}};
    std::ifstream maps{"/proc/self/maps"};
    std::uint64_t begin = 0, end = 0;
    char dash = 0;
    for (std::string rights, rest; maps >> std::hex >> begin >> dash >> end >> rights; std::getline(maps, rest))
        if (memory.address() >= begin && memory.address() < end) return rights[0] == 'r';
    return false;
}

Memory::Memory(hsa_amd_memory_pool_t pool, std::size_t size_bytes, const std::vector<hsa_agent_t>& readers)
    : size_bytes_{size_bytes} {
    HSA_CHECK(hsa_amd_memory_pool_allocate(pool, size_bytes, 0, &data_));
    std::vector<hsa_agent_t> able;
    for (hsa_agent_t agent : readers)
        if (can_access(agent, pool)) able.push_back(agent);
    if (!able.empty())
        HSA_CHECK(hsa_amd_agents_allow_access(static_cast<std::uint32_t>(able.size()), able.data(), nullptr, data_));
}

Memory::~Memory() {
    if (data_) hsa_amd_memory_pool_free(data_);
}

Memory::Memory(Memory&& other) noexcept
    : data_{std::exchange(other.data_, nullptr)}, size_bytes_{std::exchange(other.size_bytes_, 0)} {}

Memory& Memory::operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
}

Signal::Signal(hsa_signal_value_t initial) { HSA_CHECK(hsa_signal_create(initial, 0, nullptr, &signal_)); }

Signal::~Signal() {
    if (signal_.handle) hsa_signal_destroy(signal_);
}

bool Signal::wait(hsa_signal_condition_t condition, hsa_signal_value_t value, Duration timeout,
                  hsa_wait_state_t how) const {
    std::uint64_t ticks_per_second = 0;
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &ticks_per_second));
    const double seconds = std::chrono::duration<double>(timeout).count();
    const auto ticks = static_cast<std::uint64_t>(seconds * static_cast<double>(ticks_per_second));
    const hsa_signal_value_t now = hsa_signal_wait_scacquire(signal_, condition, value, ticks, how);
    switch (condition) {
        case HSA_SIGNAL_CONDITION_EQ:
            return now == value;
        case HSA_SIGNAL_CONDITION_NE:
            return now != value;
        case HSA_SIGNAL_CONDITION_LT:
            return now < value;
        default:
            return now >= value;
    }
}

void detail::pause() { std::this_thread::sleep_for(200us); }

std::optional<std::string> too_few_gpus(std::size_t wanted) {
#ifdef WITH_KFDEMU
    if (wanted == 1) return std::nullopt;
#endif
    if (hsa_init() != HSA_STATUS_SUCCESS) return "there is no HSA device";
    hsa_shut_down();
    const std::size_t found = Machine{}.gpus().size();
    if (found >= wanted) return std::nullopt;
    return "wants " + std::to_string(wanted) + " GPUs, and there are " + std::to_string(found);
}

}  // namespace hsa_test
