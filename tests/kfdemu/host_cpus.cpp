#include "tools/kfdemu/base/host_cpus.hpp"

#include <fmt/core.h>

#include <map>
#include <set>

#include "tests/support/catch.hpp"

using namespace kfdemu;

namespace {

using Files = std::map<std::string, std::string>;

const ProcessorFacts processor{
    .vendor = "GenuineIntel",
    .model = "A processor",
    .l1_data = {.level = 1, .type = kCacheData, .size_bytes = 48 << 10, .line_bytes = 64, .ways = 12},
    .l1_instruction = {.level = 1, .type = kCacheInstruction, .size_bytes = 32 << 10, .line_bytes = 64, .ways = 8},
    .l2 = {.level = 2, .type = kCacheData | kCacheInstruction, .size_bytes = 2 << 20, .line_bytes = 64, .ways = 16},
    .l3 = {.level = 3, .type = kCacheData | kCacheInstruction, .size_bytes = 32 << 20, .line_bytes = 64, .ways = 16},
};

HostCpus read(const Files& files, unsigned online = 2) {
    const auto file = [&](const std::string& path) {
        const auto found = files.find(path);
        return found == files.end() ? std::nullopt : std::optional{found->second};
    };
    return read_host_cpus(file, online, processor);
}

std::string cpuinfo(const std::vector<std::pair<unsigned, unsigned>>& numbers_and_apic_ids) {
    std::string text;
    for (const auto& [number, apic_id] : numbers_and_apic_ids)
        text += fmt::format(
            "processor\t: {}\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9354P\nflags\t\t: fpu vme\napicid\t\t: "
            "{}\n\n",
            number, apic_id);
    return text;
}

void add_cache(Files& files, unsigned cpu, unsigned index, unsigned level, const std::string& type,
               const std::string& size, const std::string& sharing) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
    files[folder + "level"] = fmt::format("{}\n", level);
    files[folder + "type"] = type + "\n";
    files[folder + "size"] = size + "\n";
    files[folder + "coherency_line_size"] = "64\n";
    files[folder + "physical_line_partition"] = "1\n";
    files[folder + "ways_of_associativity"] = "8\n";
    files[folder + "shared_cpu_list"] = sharing + "\n";
}

/// Of each CPU a data and an instruction cache, and one that all share.
Files with_caches(const std::vector<std::pair<unsigned, unsigned>>& numbers_and_apic_ids, const std::string& all) {
    Files files{{"/proc/cpuinfo", cpuinfo(numbers_and_apic_ids)}};
    for (const auto& [cpu, apic_id] : numbers_and_apic_ids) {
        add_cache(files, cpu, 0, 1, "Data", "32K", std::to_string(cpu));
        add_cache(files, cpu, 1, 1, "Instruction", "64K", std::to_string(cpu));
        add_cache(files, cpu, 2, 3, "Unified", "32M", all);
    }
    return files;
}

std::vector<std::uint32_t> levels(const HostCpus& host) {
    std::vector<std::uint32_t> result;
    for (const CpuCache& cache : host.caches) result.push_back(cache.level);
    return result;
}

}  // namespace

TEST_CASE("CPUs and caches are the host's if visible", "[kfdemu][host]") {
    const HostCpus host = read(with_caches({{0, 0}, {1, 2}}, "0-1"));
    REQUIRE(host.cpus.size() == 2);
    CHECK(host.cpus[1].apic_id == 2);
    CHECK(host.cpus[1].model == "AMD EPYC 9354P");
    REQUIRE(levels(host) == std::vector<std::uint32_t>{1, 1, 3, 1, 1});
    CHECK(host.caches[0].type == kCacheData);
    CHECK(host.caches[0].size_bytes == 32 << 10);
    CHECK(host.caches[0].line_bytes == 64);
    CHECK(host.caches[0].ways == 8);
    CHECK(host.caches[1].type == kCacheInstruction);
    CHECK(host.caches[2].type == (kCacheData | kCacheInstruction));
    CHECK(host.caches[2].size_bytes == 32 << 20);
    CHECK(host.caches[2].apic_ids == std::vector<std::uint32_t>{0, 2});
    CHECK(host.caches[3].apic_ids == std::vector<std::uint32_t>{2});
}

TEST_CASE("a host that shows no caches has the processor's", "[kfdemu][host]") {
    const HostCpus host = read({{"/proc/cpuinfo", cpuinfo({{0, 0}, {1, 1}})}});
    REQUIRE(levels(host) == std::vector<std::uint32_t>{1, 1, 2, 1, 1, 2, 3});
    CHECK(host.caches[0].size_bytes == 48 << 10);
    CHECK(host.caches[3].apic_ids == std::vector<std::uint32_t>{1});
    CHECK(host.caches[6].apic_ids == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("a host without procfs and sysfs has as many CPUs as are online", "[kfdemu][host]") {
    const HostCpus host = read({}, 3);
    REQUIRE(host.cpus.size() == 3);
    CHECK(host.cpus[2].number == 2);
    CHECK(host.cpus[2].vendor == "GenuineIntel");
    CHECK(host.cpus[2].model == "A processor");
    CHECK(read({}, 0).cpus.size() == 1);
}

TEST_CASE("a host without procfs has the CPUs that sysfs lists", "[kfdemu][host]") {
    const HostCpus host = read({{"/sys/devices/system/cpu/online", "0-1,8,10-11\n"}});
    std::vector<unsigned> numbers;
    for (const HostCpu& cpu : host.cpus) numbers.push_back(cpu.number);
    CHECK(numbers == std::vector<unsigned>{0, 1, 8, 10, 11});
}

TEST_CASE("a CPU without a name or an APIC ID gets the processor's name and its own number", "[kfdemu][host]") {
    const HostCpus host = read({{"/proc/cpuinfo", "processor : 0\nbogomips : 1\n\nprocessor : 1\n"}});
    REQUIRE(host.cpus.size() == 2);
    CHECK(host.cpus[1].model == "A processor");
    CHECK(host.cpus[1].apic_id == 1);
}

TEST_CASE("a shared cache is listed once, at the first online CPU of those that share it", "[kfdemu][host]") {
    // CPU 0 is offline, and sysfs's list still begins with it.
    const HostCpus host = read(with_caches({{4, 8}, {5, 9}}, "0,4-5"));
    REQUIRE(levels(host) == std::vector<std::uint32_t>{1, 1, 3, 1, 1});
    CHECK(host.caches[2].apic_ids == std::vector<std::uint32_t>{8, 9});
}

TEST_CASE("the runtime's cpuinfo numbers CPUs without gaps and keeps their APIC IDs", "[kfdemu][host]") {
    const std::string text = cpuinfo_text(read(with_caches({{4, 8}, {130, 9}}, "4,130")));
    CHECK(text ==
          "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9354P\napicid\t\t: 8\n\n"
          "processor\t: 1\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9354P\napicid\t\t: 9\n\n");
}

TEST_CASE("three hundred CPUs have three hundred data caches, and one that they share", "[kfdemu][host]") {
    std::vector<std::pair<unsigned, unsigned>> cpus;
    for (unsigned i = 0; i < 300; ++i) cpus.push_back({i, 2 * i});
    const HostCpus host = read(with_caches(cpus, "0-299"), 300);
    CHECK(host.cpus.size() == 300);
    CHECK(host.caches.size() == 601);
    CHECK(host.caches[2].apic_ids.size() == 300);
}

TEST_CASE("malformed files of the host count as missing", "[kfdemu][host]") {
    for (const char* text : {"", "\n\n", "processor", "processor: x\n", ":", "model name : lost\n",
                             "processor : 99999999999999999999\n"}) {
        INFO('"' << text << '"');
        const HostCpus host = read({{"/proc/cpuinfo", text}, {"/sys/devices/system/cpu/online", "3-1,"}});
        CHECK(!host.cpus.empty());
        CHECK(!host.caches.empty());
    }
    Files files = with_caches({{0, 0}}, "");
    files["/sys/devices/system/cpu/cpu0/cache/index0/size"] = "lots";
    files["/sys/devices/system/cpu/cpu0/cache/index2/level"] = "three";
    CHECK(levels(read(files)) == std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("this host has a CPU with a name, and a data cache", "[kfdemu][host]") {
    const HostCpus& host = this_host();
    REQUIRE(!host.cpus.empty());
    CHECK(!host.cpus[0].vendor.empty());
    CHECK(!host.cpus[0].model.empty());
    std::set<std::uint32_t> sizes;
    for (const CpuCache& cache : host.caches)
        if (cache.type == kCacheData) sizes.insert(cache.size_bytes);
    CHECK(!sizes.empty());
    CHECK(sizes.count(0) == 0);
}
