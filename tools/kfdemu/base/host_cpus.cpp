#include "tools/kfdemu/base/host_cpus.hpp"

#include <cpuid.h>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "tools/kfdemu/base/path_text.hpp"

namespace kfdemu {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(kBlanks);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view next_line(std::string_view& text) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

std::optional<unsigned> number(std::string_view text) {
    text = trimmed(text);
    return sysfs::take_number(text);
}

/// A list of CPUs as sysfs writes it: "0-3,8".
std::vector<unsigned> cpu_list(std::string_view text) {
    constexpr unsigned kMaxCpus = 1u << 16;
    std::vector<unsigned> cpus;
    text = trimmed(text);
    while (auto first = sysfs::take_number(text)) {
        const auto last = sysfs::take(text, "-") ? sysfs::take_number(text).value_or(*first) : *first;
        for (unsigned cpu = *first; cpu <= last && cpus.size() < kMaxCpus; ++cpu) cpus.push_back(cpu);
        if (!sysfs::take(text, ",")) break;
    }
    return cpus;
}

std::vector<HostCpu> parse_cpuinfo(std::string_view text) {
    std::vector<HostCpu> cpus;
    while (!text.empty()) {
        const auto line = next_line(text);
        const auto colon = std::min(line.find(':'), line.size());
        const auto name = trimmed(line.substr(0, colon));
        const auto value = trimmed(line.substr(std::min(colon + 1, line.size())));
        if (const auto cpu = number(value); name == "processor" && cpu)
            cpus.push_back({.number = *cpu, .apic_id = *cpu, .vendor = {}, .model = {}});
        if (cpus.empty()) continue;
        if (name == "vendor_id") cpus.back().vendor = value;
        if (name == "model name") cpus.back().model = value;
        if (name == "apicid") cpus.back().apic_id = number(value).value_or(cpus.back().apic_id);
    }
    return cpus;
}

/// The CPUs listed in sysfs, or 0 to count - 1 if it has no list.
std::vector<unsigned> online_cpus(const ReadFile& read, unsigned count) {
    std::vector<unsigned> numbers = cpu_list(read("/sys/devices/system/cpu/online").value_or(""));
    if (!numbers.empty()) return numbers;
    numbers.resize(std::max(count, 1u));
    std::iota(numbers.begin(), numbers.end(), 0u);
    return numbers;
}

std::vector<HostCpu> read_cpus(const ReadFile& read, unsigned online, const ProcessorFacts& processor) {
    std::vector<HostCpu> cpus = parse_cpuinfo(read("/proc/cpuinfo").value_or(""));
    if (cpus.empty())
        for (const unsigned cpu : online_cpus(read, online))
            cpus.push_back({.number = cpu, .apic_id = cpu, .vendor = {}, .model = {}});
    for (HostCpu& cpu : cpus) {
        if (cpu.vendor.empty()) cpu.vendor = processor.vendor;
        if (cpu.model.empty()) cpu.model = processor.model;
    }
    return cpus;
}

/// "32K", "1M" or "512", in bytes.
std::uint32_t size_of(std::string_view text) {
    text = trimmed(text);
    const auto value = sysfs::take_number(text).value_or(0);
    if (text == "K") return value << 10;
    return text == "M" ? value << 20 : value;
}

std::uint32_t type_of(std::string_view text) {
    text = trimmed(text);
    if (text == "Data") return kCacheData;
    return text == "Instruction" ? kCacheInstruction : kCacheData | kCacheInstruction;
}

/// The caches in sysfs's directory of `cpu`, without those shared with an earlier CPU of `cpus`.
void read_caches(const ReadFile& read, const std::vector<HostCpu>& cpus, const HostCpu& cpu,
                 std::vector<CpuCache>& caches) {
    constexpr unsigned kMaxCaches = 16;
    for (unsigned index = 0; index < kMaxCaches; ++index) {
        const auto file = [&](std::string_view name) {
            return read(fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/{}", cpu.number, index, name));
        };
        const auto property = [&](std::string_view name) { return number(file(name).value_or("")).value_or(0); };
        const auto level = number(file("level").value_or(""));
        if (!level) return;
        const auto sharing = cpu_list(file("shared_cpu_list").value_or(""));
        const auto shares = [&](const HostCpu& other) {
            return other.number == cpu.number ||
                   std::find(sharing.begin(), sharing.end(), other.number) != sharing.end();
        };
        if (std::find_if(cpus.begin(), cpus.end(), shares)->number != cpu.number) continue;
        CpuCache cache{.level = *level, .type = type_of(file("type").value_or(""))};
        for (const HostCpu& other : cpus)
            if (shares(other)) cache.apic_ids.push_back(other.apic_id);
        cache.size_bytes = size_of(file("size").value_or(""));
        cache.line_bytes = property("coherency_line_size");
        cache.lines_per_tag = std::max(property("physical_line_partition"), 1u);
        cache.ways = property("ways_of_associativity");
        caches.push_back(std::move(cache));
    }
}

std::vector<CpuCache> processors_caches(const std::vector<HostCpu>& cpus, const ProcessorFacts& processor) {
    std::vector<CpuCache> caches;
    const auto add = [&](CpuCache cache, std::vector<std::uint32_t> apic_ids) {
        if (cache.size_bytes == 0) return;
        cache.apic_ids = std::move(apic_ids);
        caches.push_back(std::move(cache));
    };
    std::vector<std::uint32_t> all;
    for (const HostCpu& cpu : cpus) {
        all.push_back(cpu.apic_id);
        for (const CpuCache* cache : {&processor.l1_data, &processor.l1_instruction, &processor.l2})
            add(*cache, {cpu.apic_id});
    }
    add(processor.l3, all);
    return caches;
}

bool is_data(const CpuCache& cache) { return cache.type == kCacheData; }

std::string cpuid_text(std::initializer_list<unsigned> registers) {
    std::string text;
    for (const unsigned value : registers) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        text.append(bytes, sizeof value);
    }
    return text;
}

std::string cpuid_vendor() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return "unknown";
    return cpuid_text({b, d, c});
}

std::string cpuid_model() {
    std::string text;
    for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__get_cpuid(leaf, &a, &b, &c, &d)) break;
        text += cpuid_text({a, b, c, d});
    }
    text = text.substr(0, text.find('\0'));
    return text.empty() ? "x86-64 processor" : std::string{trimmed(text)};
}

/// glibc reads these from CPUID; values hidden by a hypervisor are 0.
CpuCache cache_of(unsigned level, std::uint32_t type, int size, int ways, int line) {
    const auto ask = [](int name) { return static_cast<std::uint32_t>(std::max(sysconf(name), 0l)); };
    CpuCache cache{.level = level, .type = type, .size_bytes = ask(size)};
    cache.ways = ask(ways);
    cache.line_bytes = ask(line) ? ask(line) : 64;
    return cache;
}

std::optional<std::string> read_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    std::string text;
    std::array<char, 4096> buffer;
    ssize_t count = 0;
    while ((count = ::read(fd, buffer.data(), buffer.size())) > 0)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    ::close(fd);
    return count < 0 ? std::nullopt : std::optional{text};
}

}  // namespace

HostCpus read_host_cpus(const ReadFile& read, unsigned online, const ProcessorFacts& processor) {
    HostCpus host{.cpus = read_cpus(read, online, processor), .caches = {}};
    for (const HostCpu& cpu : host.cpus) read_caches(read, host.cpus, cpu, host.caches);
    if (std::none_of(host.caches.begin(), host.caches.end(), is_data))
        host.caches = processors_caches(host.cpus, processor);
    return host;
}

std::string cpuinfo_text(const HostCpus& host) {
    std::string text;
    for (std::size_t i = 0; i < host.cpus.size(); ++i) {
        const HostCpu& cpu = host.cpus[i];
        text += fmt::format("processor\t: {}\nvendor_id\t: {}\nmodel name\t: {}\napicid\t\t: {}\n\n", i, cpu.vendor,
                            cpu.model, cpu.apic_id);
    }
    return text;
}

ProcessorFacts processor_facts() {
    ProcessorFacts facts{
        .vendor = cpuid_vendor(),
        .model = cpuid_model(),
        .l1_data = cache_of(1, kCacheData, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE),
        .l1_instruction =
            cache_of(1, kCacheInstruction, _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC, _SC_LEVEL1_ICACHE_LINESIZE),
        .l2 = cache_of(2, kCacheData | kCacheInstruction, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC,
                       _SC_LEVEL2_CACHE_LINESIZE),
        .l3 = cache_of(3, kCacheData | kCacheInstruction, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC,
                       _SC_LEVEL3_CACHE_LINESIZE),
    };
    // Every x86-64 processor has a first-level data cache, and the thunk requires one.
    if (facts.l1_data.size_bytes == 0) facts.l1_data.size_bytes = 32 << 10, facts.l1_data.ways = 8;
    return facts;
}

const HostCpus& this_host() {
    static const HostCpus* host = new HostCpus{read_host_cpus(
        read_file, static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1l)), processor_facts())};
    return *host;  // outlives every exit handler
}

}  // namespace kfdemu
