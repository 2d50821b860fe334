// The host's CPUs and their caches, from /proc/cpuinfo and sysfs, or from CPUID if these do not list them.
//
//     const HostCpus host = read_host_cpus(read_file, online, processor_facts());
//
// KFD's topology lists these caches in the CPU node, so that the thunk does not read them from sysfs. There it fails if
// they are missing (libhsakmt 5.2), and up to 7.x it indexes a table sized by the count of online CPUs with CPU
// numbers, which may exceed it. Small virtual machines and sandboxes list no caches; some have no sysfs or no procfs.
//
// read_host_cpus() and cpuinfo_text() are pure; the other functions query the host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kfdemu {

/// Bits of a cache's `type` (HSA_CACHE_TYPE in the thunk's hsakmttypes.h).
inline constexpr std::uint32_t kCacheData = 1, kCacheInstruction = 2, kCacheCpu = 4, kCacheGpu = 8;

struct HostCpu {
    unsigned number = 0;        ///< the kernel's CPU number; numbers may have gaps
    std::uint32_t apic_id = 0;  ///< from the processor
    std::string vendor, model;
};

struct CpuCache {
    unsigned level = 0;
    std::uint32_t type = 0;  ///< kCacheData, kCacheInstruction or both
    std::uint32_t size_bytes = 0, line_bytes = 0, lines_per_tag = 1, ways = 0;
    std::vector<std::uint32_t> apic_ids = {};  ///< of the CPUs that share it, in order of the CPUs
};

/// What CPUID reports. A cache of size 0 is absent. l3 is shared by all CPUs.
struct ProcessorFacts {
    std::string vendor, model;
    CpuCache l1_data, l1_instruction, l2, l3;
};

/// Contains at least one CPU and one data cache.
struct HostCpus {
    std::vector<HostCpu> cpus;
    std::vector<CpuCache> caches;
};

/// The content of a file, or std::nullopt if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// `online`: number of CPUs, used if the host does not list them.
HostCpus read_host_cpus(const ReadFile& read, unsigned online, const ProcessorFacts& processor);

/// The lines of /proc/cpuinfo that the thunk reads. CPUs are renumbered from 0 without gaps, because the thunk stops at
/// the first number that is not below their count.
std::string cpuinfo_text(const HostCpus& host);

/// Reads CPUID; cache sizes come from sysconf().
ProcessorFacts processor_facts();

/// This host's CPUs, read at the first call. Thread safety: any thread.
const HostCpus& this_host();

}  // namespace kfdemu
