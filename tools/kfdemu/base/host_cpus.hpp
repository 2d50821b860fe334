// The host's CPUs and their caches: as /proc/cpuinfo and sysfs show them or, where they do not, as the processor itself
// does.
//
//     const HostCpus host = read_host_cpus(read_file, online, processor_facts());
//
// KFD's topology lists these caches in the CPU's node, so that the thunk does not look for them in sysfs: it fails
// where they are missing (libhsakmt 5.2), and up to 7.x it indexes a table of the online CPUs by their numbers, which
// may be larger. Small virtual machines and sandboxes show no caches, some no sysfs, some no procfs.
//
// read_host_cpus() and cpuinfo_text() are pure; the other functions ask the host.
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
    unsigned number = 0;        ///< the kernel's; not every number is in use
    std::uint32_t apic_id = 0;  ///< the processor's own
    std::string vendor, model;
};

struct CpuCache {
    unsigned level = 0;
    std::uint32_t type = 0;  ///< kCacheData, kCacheInstruction or both
    std::uint32_t size_bytes = 0, line_bytes = 0, lines_per_tag = 1, ways = 0;
    std::vector<std::uint32_t> apic_ids = {};  ///< of the CPUs that share it, the first one's first
};

/// What the processor tells of itself. A cache of size 0 is absent; the last level's is shared by all CPUs.
struct ProcessorFacts {
    std::string vendor, model;
    CpuCache l1_data, l1_instruction, l2, l3;
};

/// At least one CPU and one data cache.
struct HostCpus {
    std::vector<HostCpu> cpus;
    std::vector<CpuCache> caches;
};

/// The content of the file at a path, or nothing if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// `online` is how many CPUs there are, for hosts that do not tell which.
HostCpus read_host_cpus(const ReadFile& read, unsigned online, const ProcessorFacts& processor);

/// The lines of /proc/cpuinfo that the thunk reads, with the CPUs numbered from 0 without gaps: it stops at the first
/// number that is not below their count.
std::string cpuinfo_text(const HostCpus& host);

/// CPUID's answers, through libc.
ProcessorFacts processor_facts();

/// This host's, read at the first call. Thread safe.
const HostCpus& this_host();

}  // namespace kfdemu
