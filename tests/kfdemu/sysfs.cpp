#include "tools/kfdemu/boundary/sysfs.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "tests/support/catch.hpp"

using namespace kfdemu;

namespace {

const std::string root = "/sys/devices/virtual/kfd/kfd/topology";

Topology machine(unsigned gpus, std::string model = "gfx90a", Partition partition = Partition::spx) {
    Options options;
    options.partition = partition;
    options.gpus = gpus;
    options.model = std::move(model);
    return make_topology(options);
}

std::string text(const Topology& topology, const std::string& path) {
    INFO(path);
    const auto entry = sysfs::lookup(topology, path);
    REQUIRE(entry);
    REQUIRE(std::holds_alternative<sysfs::Text>(*entry));
    return std::get<sysfs::Text>(*entry).content;
}

std::vector<std::string> names(const Topology& topology, const std::string& path) {
    INFO(path);
    const auto entry = sysfs::lookup(topology, path);
    REQUIRE(entry);
    REQUIRE(std::holds_alternative<sysfs::Directory>(*entry));
    return std::get<sysfs::Directory>(*entry).names;
}

std::uint64_t property(const std::string& text, const std::string& wanted) {
    std::istringstream lines{text};
    std::string name;
    for (std::uint64_t value; lines >> name >> value;)
        if (name == wanted) return value;
    FAIL("no property " << wanted);
    return 0;
}

}  // namespace

TEST_CASE("a process's mappings have the names of device files, and other files keep theirs", "[kfdemu][sysfs]") {
    const std::string before = "7000-8000 rw-s 0000 00:01 7   /memfd:kfdemu-", gone = " (deleted)\n";
    const std::string mine =
        "8000-9000 rw-s 0000 00:01 8   /memfd:kfdemu-sysfs (deleted)\n9000-a000 ---p 0000 00:00 0\n";
    CHECK(sysfs::with_device_names(before + "renderD129" + gone + mine + before + "kfd" + gone) ==
          "7000-8000 rw-s 0000 00:01 7   /dev/dri/renderD129\n" + mine + "7000-8000 rw-s 0000 00:01 7   /dev/kfd\n");
    CHECK(sysfs::with_device_names(before + "renderD129") == before + "renderD129");
    CHECK(sysfs::with_device_names("").empty());
}

TEST_CASE("a GPU of several XCCs is one node, or one of each", "[kfdemu][sysfs]") {
    struct Shown {
        const char* model;
        Partition partition;
        unsigned xccs, units, engines, copies, xgmi_copies;
        std::uint64_t gib;
        unsigned lds_kib;
    };
    for (const Shown& shown : {Shown{"gfx942", Partition::spx, 8, 304, 32, 2, 14, 192, 64},
                               {"gfx942", Partition::cpx, 1, 38, 4, 2, 0, 24, 64},
                               {"gfx950", Partition::spx, 8, 256, 32, 2, 14, 288, 160},
                               {"gfx950", Partition::cpx, 1, 32, 4, 2, 0, 36, 160}}) {
        CAPTURE(shown.model, shown.xccs);
        const Topology one = machine(1, shown.model, shown.partition);
        const std::string properties = text(one, root + "/nodes/1/properties");
        CHECK(property(properties, "num_xcc") == shown.xccs);
        CHECK(property(properties, "simd_count") == 4 * shown.units);
        CHECK(property(properties, "lds_size_in_kb") == shown.lds_kib);
        CHECK(property(properties, "array_count") == shown.engines);
        CHECK(property(properties, "num_sdma_engines") == shown.copies);
        CHECK(property(properties, "num_sdma_xgmi_engines") == shown.xgmi_copies);
        CHECK(property(properties, "caches_count") == 3);
        CHECK(property(text(one, root + "/nodes/1/caches/2/properties"), "size") == 262144 * shown.xccs / 8);
        CHECK(property(text(one, root + "/nodes/1/mem_banks/0/properties"), "size_in_bytes") == shown.gib << 30);
    }
    const Topology board = machine(8, "gfx942", Partition::cpx);
    for (unsigned n = 0; n < 8; ++n) CHECK(board.gpus[n].location_id == (1u << 8 | n));
    Topology beside = board;
    make_room(beside, {{}, {}, {"0000:01:00.0", "0000:02:00.0"}});
    CHECK(beside.gpus[0].location_id == 3u << 8);
    CHECK(beside.gpus[7].location_id == (3u << 8 | 7));
    const Topology one = machine(1, "gfx90a", Partition::cpx);
    CHECK(property(text(one, root + "/nodes/1/properties"), "simd_count") == 416);
    CHECK(names(one, root + "/nodes/1/caches").size() == 2);
}

TEST_CASE("an APU's memory is half of the host's, or a carve-out", "[kfdemu][sysfs]") {
    Topology shared = machine(1, "gfx1151");
    shared.used = [](unsigned) { return MemoryUse{.vram = 12288, .system = 4096}; };
    const std::string device = "/sys/class/drm/card0/device/";
    const auto bytes = [](const std::string& said) { return std::stoull(said); };
    const auto bank = [](const Topology& one) {
        return property(text(one, root + "/nodes/1/mem_banks/0/properties"), "size_in_bytes");
    };
    CHECK(bank(shared) == shared.system_memory_bytes / 2 / 4096 * 4096);
    CHECK(bytes(text(shared, device + "mem_info_gtt_total")) == bank(shared));
    CHECK(bytes(text(shared, device + "mem_info_gtt_used")) == 16384);
    CHECK(bytes(text(shared, device + "mem_info_vram_total")) == 512u << 20);
    CHECK(bytes(text(shared, device + "mem_info_vram_used")) == 0);
    Topology carved = make_topology(std::get<Options>(parse_options("gpu=gfx1151,vram=4G,strict")));
    carved.used = shared.used;
    CHECK(bank(carved) == std::uint64_t{4} << 30);
    CHECK(bytes(text(carved, device + "mem_info_vram_total")) == bank(carved));
    CHECK(bytes(text(carved, device + "mem_info_vis_vram_total")) == bank(carved));
    CHECK(bytes(text(carved, device + "mem_info_vram_used")) == 12288);
    CHECK(bytes(text(carved, device + "mem_info_gtt_used")) == 4096);
}

TEST_CASE("node 0 is the CPU, each GPU is a node after it", "[kfdemu][sysfs]") {
    const Topology two = machine(2);
    CHECK(names(two, root + "/nodes") == std::vector<std::string>{"0", "1", "2"});
    CHECK(text(two, root + "/nodes/0/gpu_id") == "0\n");
    CHECK(text(two, root + "/nodes/1/gpu_id") != text(two, root + "/nodes/2/gpu_id"));
    CHECK(property(text(two, root + "/nodes/0/properties"), "cpu_cores_count") > 0);
    CHECK(property(text(two, root + "/nodes/2/properties"), "gfx_target_version") == 90010);
    CHECK(property(text(two, root + "/nodes/2/properties"), "drm_render_minor") == 129);
}

TEST_CASE("the counts of a node's properties agree with its folders", "[kfdemu][sysfs]") {
    const Topology topology = machine(3);
    for (const std::string node : {"0", "1", "2", "3"}) {
        const std::string folder = root + "/nodes/" + node, properties = text(topology, folder + "/properties");
        CHECK(names(topology, folder + "/mem_banks").size() == property(properties, "mem_banks_count"));
        CHECK(names(topology, folder + "/io_links").size() == property(properties, "io_links_count"));
        CHECK(names(topology, folder + "/caches").size() == property(properties, "caches_count"));
    }
}

TEST_CASE("the CPU's node lists the host's caches as the thunk reads them", "[kfdemu][sysfs]") {
    Topology topology = machine(1);
    topology.host = []() -> const HostCpus& {
        static const HostCpus host{
            .cpus = {{.number = 4, .apic_id = 8, .vendor = "AuthenticAMD", .model = "AMD EPYC"},
                     {.number = 5, .apic_id = 300, .vendor = "AuthenticAMD", .model = "AMD EPYC"}},
            .caches =
                {{.level = 1, .type = kCacheData, .size_bytes = 32 << 10, .line_bytes = 64, .ways = 8, .apic_ids = {8}},
                 {.level = 3,
                  .type = kCacheData | kCacheInstruction,
                  .size_bytes = 32 << 20,
                  .line_bytes = 64,
                  .ways = 16,
                  .apic_ids = {8, 300}}},
        };
        return host;
    };
    const std::string properties = text(topology, root + "/nodes/0/properties");
    CHECK(property(properties, "cpu_cores_count") == 2);
    CHECK(property(properties, "cpu_core_id_base") == 8);  // how the thunk finds the CPU's name in cpuinfo
    REQUIRE(property(properties, "caches_count") == 2);
    const std::string cache = text(topology, root + "/nodes/0/caches/1/properties");
    CHECK(property(cache, "processor_id_low") == 8);
    CHECK(property(cache, "level") == 3);
    CHECK(property(cache, "size") == 32 << 20);
    CHECK(property(cache, "cache_line_size") == 64);
    CHECK(property(cache, "association") == 16);
    CHECK(property(cache, "type") == 7);  // HSA_CACHE_TYPE: data, instruction, CPU
    // HSA_CPU_SIBLINGS: an APIC ID from 256 on has no place.
    std::string siblings = "sibling_map ";
    for (int i = 0; i < 256; ++i) siblings += i == 8 ? "1," : "0,";
    siblings.back() = '\n';
    CHECK(cache.substr(cache.find("sibling_map")) == siblings);
    CHECK(text(topology, "/proc/cpuinfo") == cpuinfo_text(topology.host()));
}

TEST_CASE("there is no link from the CPU to memory that it cannot touch", "[kfdemu][sysfs]") {
    Topology topology = machine(2);
    for (auto& gpu : topology.gpus) gpu.private_vram = true;
    CHECK(names(topology, root + "/nodes/0/io_links").empty());
    CHECK(property(text(topology, root + "/nodes/0/properties"), "io_links_count") == 0);
    CHECK(names(topology, root + "/nodes/1/io_links").size() == 2);
}

TEST_CASE("links join each GPU with the CPU and with every other GPU, both ways", "[kfdemu][sysfs]") {
    const Topology topology = machine(3);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> links;
    for (const std::string node : {"0", "1", "2", "3"}) {
        const std::string folder = root + "/nodes/" + node + "/io_links";
        for (const auto& link : names(topology, folder)) {
            const std::string properties = text(topology, folder + "/" + link + "/properties");
            CHECK(std::to_string(property(properties, "node_from")) == node);
            links.emplace_back(property(properties, "node_from"), property(properties, "node_to"));
        }
    }
    for (const auto& [from, to] : links) {
        CHECK(from != to);
        CHECK(std::count(links.begin(), links.end(), std::make_pair(from, to)) == 1);
        CHECK(std::count(links.begin(), links.end(), std::make_pair(to, from)) == 1);
    }
    CHECK(links.size() == 12);
}

TEST_CASE("private VRAM is a private heap", "[kfdemu][sysfs]") {
    Options options;
    CHECK(property(text(make_topology(options), root + "/nodes/1/mem_banks/0/properties"), "heap_type") == 1);
    options.behaviours.set(Behaviour::private_vram);
    CHECK(property(text(make_topology(options), root + "/nodes/1/mem_banks/0/properties"), "heap_type") == 2);
}

TEST_CASE("device nodes exist exactly for emulated devices", "[kfdemu][sysfs]") {
    const Topology one = machine(1);
    CHECK(std::holds_alternative<sysfs::KfdDevice>(*sysfs::lookup(one, "/dev/kfd")));
    CHECK(std::get<sysfs::RenderDevice>(*sysfs::lookup(one, "/dev/dri/renderD128")).gpu == 0);
    CHECK_FALSE(sysfs::lookup(one, "/dev/dri/renderD129"));
    CHECK_FALSE(sysfs::lookup(one, "/dev/dri/card0"));
    CHECK_FALSE(sysfs::lookup(one, "/dev/kfdx"));
    CHECK_FALSE(sysfs::lookup(one, "/dev/null"));
    CHECK_FALSE(sysfs::lookup(one, "/sys/devices/system/cpu"));
    CHECK(std::holds_alternative<sysfs::Missing>(*sysfs::lookup(one, root + "/nodes/2/properties")));
    CHECK(std::holds_alternative<sysfs::Missing>(*sysfs::lookup(one, root + "/nodes/1/nothing")));
    CHECK(std::holds_alternative<sysfs::Directory>(*sysfs::lookup(one, root + "/nodes/")));
    CHECK(std::holds_alternative<sysfs::Modules>(*sysfs::lookup(one, "/proc/modules")));
}

TEST_CASE("every emulated path passes the quick test", "[kfdemu][sysfs]") {
    for (const std::string& path : {std::string{"/dev/kfd"}, std::string{"/dev/dri/renderD128"},
                                    root + "/nodes/0/gpu_id", std::string{"/sys/class/kfd/kfd/topology/nodes"},
                                    std::string{"/sys/module/amdgpu/initstate"}, std::string{"/proc/modules"}}) {
        INFO(path);
        CHECK(sysfs::may_be_ours(path));
        CHECK(sysfs::lookup(machine(1), path));
    }
    CHECK_FALSE(sysfs::may_be_ours("/etc/passwd"));
    CHECK_FALSE(sysfs::may_be_ours("relative/path"));
    CHECK_FALSE(sysfs::may_be_ours(""));
}

TEST_CASE("libdrm finds the PCI device of a render node's number", "[kfdemu][sysfs]") {
    const Topology two = machine(2);
    CHECK(names(two, "/sys/class/drm") == std::vector<std::string>{"card0", "card1", "renderD128", "renderD129"});
    CHECK(names(two, "/sys/dev/char/226:129/device/drm") == std::vector<std::string>{"card1", "renderD129"});
    CHECK(text(two, "/sys/dev/char/226:129/device/vendor") == "0x1002\n");
    CHECK(text(two, "/sys/dev/char/226:129/uevent").find("DEVNAME=dri/renderD129\n") != std::string::npos);
    CHECK(text(two, "/sys/class/drm/renderD129/device/uevent").find("PCI_SLOT_NAME=0000:02:00.0\n") !=
          std::string::npos);
    const auto bus = sysfs::lookup(two, "/sys/dev/char/226:128/device/subsystem");
    REQUIRE(bus);
    REQUIRE(std::holds_alternative<sysfs::Link>(*bus));
    CHECK(std::get<sysfs::Link>(*bus).target == "../../../bus/pci");
}

TEST_CASE("numbers and names of other DRM devices are not emulated", "[kfdemu][sysfs]") {
    const Topology one = machine(1);
    for (const char* path :
         {"/sys/dev/char/226:0", "/sys/dev/char/226:1280/device", "/sys/dev/char/1:3", "/sys/class/drm/card1",
          "/sys/class/drm/renderD1280", "/sys/class/hwmon/hwmon1", "/dev/dri/card0", "/dev/dri/renderD129"})
        CHECK_FALSE(sysfs::lookup(one, path));
}

TEST_CASE("GPUs are on the PCI bus with the host's devices, bound to amdgpu", "[kfdemu][sysfs]") {
    const Topology two = machine(2);
    const std::string bus = "/sys/bus/pci/devices";
    const auto entry = sysfs::lookup(two, bus);
    REQUIRE(entry);
    CHECK(std::get<sysfs::Directory>(*entry).beside == bus);
    CHECK(names(two, bus) == std::vector<std::string>{"0000:01:00.0", "0000:02:00.0"});
    CHECK(text(two, bus + "/0000:02:00.0/vendor") == "0x1002\n");
    CHECK(text(two, bus + "/0000:02:00.0/class") == "0x038000\n");
    const auto driver = sysfs::lookup(two, bus + "/0000:01:00.0/driver");
    REQUIRE(driver);
    CHECK(std::get<sysfs::Link>(*driver).target == "../../../bus/pci/drivers/amdgpu");
    CHECK_FALSE(sysfs::lookup(two, bus + "/0000:03:00.0/vendor"));
    CHECK_FALSE(sysfs::lookup(two, bus + "/0000:01:00.01/vendor"));
    CHECK(text(two, "/sys/class/kfd/kfd/dev") == std::to_string(kKfdMajor) + ":0\n");
}

TEST_CASE("KFD hides a GPU that the cgroup does not allow", "[kfdemu][sysfs]") {
    Options options;
    options.gpus = 2;
    options.hidden = {1};
    const Topology two = make_topology(options);
    CHECK(text(two, root + "/nodes/1/gpu_id") != "0\n");
    for (const char* file : {"gpu_id", "name", "properties"}) {
        const auto entry = sysfs::lookup(two, root + "/nodes/2/" + file);
        REQUIRE(entry);
        CHECK(std::holds_alternative<sysfs::Denied>(*entry));
    }
}

TEST_CASE("devices of the host keep their numbers", "[kfdemu][sysfs]") {
    Topology two = machine(2);
    make_room(two, {.drm = {"card0", "card0-HDMI-A-1", "renderD128", "card2"},
                    .monitors = {"hwmon0", "hwmon1"},
                    .pci = {"0000:00:01.0", "0000:01:00.0", "0000:01:00.1"}});
    CHECK(names(two, "/sys/class/drm") == std::vector<std::string>{"card1", "card3", "renderD129", "renderD130"});
    CHECK(names(two, "/sys/class/hwmon") == std::vector<std::string>{"hwmon2", "hwmon3"});
    CHECK(names(two, "/sys/bus/pci/devices") == std::vector<std::string>{"0000:02:00.0", "0000:03:00.0"});
    CHECK(property(text(two, root + "/nodes/1/properties"), "location_id") == 0x200);
    CHECK(property(text(two, root + "/nodes/2/properties"), "drm_render_minor") == 130);
    for (const char* path : {"/sys/class/drm/card0/device/vendor", "/dev/dri/renderD128",
                             "/sys/class/hwmon/hwmon1/name", "/sys/bus/pci/devices/0000:01:00.0/vendor"})
        CHECK_FALSE(sysfs::lookup(two, path));
}

TEST_CASE("a monitor has the sensors of its model, and a fan where the driver shows one", "[kfdemu][sysfs]") {
    for (const auto& [model, fan, clock] : {std::tuple{"gfx900", false, "1500000000\n"},
                                            {"gfx906", true, "1801000000\n"},
                                            {"gfx908", true, "1502000000\n"},
                                            {"gfx90a", false, "1700000000\n"}}) {
        CAPTURE(model);
        const Topology one = machine(1, model);
        const std::string monitor = "/sys/class/drm/card0/device/hwmon/hwmon0";
        const auto files = names(one, monitor);
        for (const std::string& file : files)
            if (file != "device") CHECK(text(one, monitor + "/" + file).back() == '\n');
        for (const char* file : {"fan1_input", "fan1_max", "pwm1", "pwm1_max"})
            CHECK(std::count(files.begin(), files.end(), file) == fan);
        for (const char* file : {"temp1_label", "temp2_input", "temp3_crit", "in0_input", "power1_cap"})
            CHECK(std::count(files.begin(), files.end(), file) == 1);
        CHECK(text(one, monitor + "/freq1_input") == clock);
    }
}

TEST_CASE("used memory is what the device counts", "[kfdemu][sysfs]") {
    Topology one = machine(1);
    one.used = [](unsigned) { return MemoryUse{.vram = 12288, .system = 4096}; };
    CHECK(text(one, "/sys/class/drm/card0/device/mem_info_vram_used") == "12288\n");
    CHECK(text(one, "/sys/class/drm/card0/device/mem_info_vis_vram_used") == "12288\n");
    CHECK(text(one, "/sys/class/drm/card0/device/mem_info_gtt_used") == "4096\n");
}
