// The boundary as programs of other people meet it, through libc alone: what rocm_smi, hwloc and libpciaccess look for
// in /sys, the event files of KFD, buffers of a render node.
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/descriptor.hpp"

// What stat(), lstat(), fstat() and fstatat() are in programs that were linked to glibc before 2.33.
extern "C" {
int __xstat(int version, const char* path, struct stat* status) noexcept;
int __lxstat(int version, const char* path, struct stat* status) noexcept;
int __fxstat(int version, int fd, struct stat* status) noexcept;
int __fxstatat(int version, int folder, const char* path, struct stat* status, int flags) noexcept;
int __fxstat64(int version, int fd, struct stat64* status) noexcept;
}

namespace {

std::vector<std::string> names_in(DIR* folder) {
    std::vector<std::string> names;
    if (!folder) return names;
    while (const dirent* entry = readdir(folder)) names.emplace_back(entry->d_name);
    closedir(folder);
    std::sort(names.begin(), names.end());
    return names;
}
std::vector<std::string> names_in(const std::string& path) { return names_in(opendir(path.c_str())); }

std::string text(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string link(const std::string& path) {
    char target[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    return {target, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

/// The folders in /sys/class/drm of AMD's cards.
std::vector<std::string> cards() {
    std::vector<std::string> found;
    for (const std::string& name : names_in("/sys/class/drm"))
        if (name.rfind("card", 0) == 0 && text("/sys/class/drm/" + name + "/device/vendor") == "0x1002\n")
            found.push_back("/sys/class/drm/" + name);
    return found;
}

std::string monitor_of(const std::string& card) {
    for (const std::string& name : names_in(card + "/device/hwmon"))
        if (name.rfind("hwmon", 0) == 0) return name;
    return {};
}

std::pair<dev_t, ino_t> identity(const std::string& path) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino};
}

std::pair<dev_t, ino_t> identity_of(int fd) {
    struct stat status{};
    REQUIRE(fstat(fd, &status) == 0);
    return {status.st_dev, status.st_ino};
}

using test_support::Descriptor;

}  // namespace

TEST_CASE("a card has an attribute for each question that rocm_smi asks", "[boundary]") {
    REQUIRE_FALSE(cards().empty());
    for (const std::string& card : cards()) {
        const std::string device = card + "/device/";
        CAPTURE(device);
        CHECK(text(device + "class") == "0x038000\n");
        CHECK(text(device + "subsystem_vendor") == "0x1002\n");
        for (const char* name : {"device",
                                 "subsystem_device",
                                 "revision",
                                 "unique_id",
                                 "numa_node",
                                 "local_cpulist",
                                 "local_cpus",
                                 "vbios_version",
                                 "mem_info_vram_total",
                                 "mem_info_vram_used",
                                 "mem_info_vis_vram_total",
                                 "mem_info_vis_vram_used",
                                 "mem_info_gtt_total",
                                 "mem_info_gtt_used",
                                 "max_link_speed",
                                 "max_link_width",
                                 "current_link_speed",
                                 "current_link_width",
                                 "pcie_replay_count",
                                 "power_dpm_force_performance_level",
                                 "pp_dpm_sclk",
                                 "pp_dpm_mclk",
                                 "uevent"}) {
            CAPTURE(name);
            CHECK_FALSE(text(device + name).empty());
        }
        // Measurements that a virtual device does not have.
        for (const char* name : {"mem_busy_percent", "gpu_metrics", "pcie_bw"})
            CHECK(access((device + name).c_str(), F_OK) != 0);
    }
}

TEST_CASE("each card has a monitor, which is found from both sides", "[boundary]") {
    std::set<std::pair<dev_t, ino_t>> devices;
    for (const std::string& card : cards()) {
        const std::string monitor = monitor_of(card);
        REQUIRE_FALSE(monitor.empty());
        CHECK(text(card + "/device/hwmon/" + monitor + "/name") == "amdgpu\n");
        CHECK(text("/sys/class/hwmon/" + monitor + "/name") == "amdgpu\n");
        CHECK(text("/sys/class/hwmon/" + monitor + "/in0_label") == "vddgfx\n");  // rocm_smi 5.2 requires it
        CHECK(text("/sys/class/hwmon/" + monitor + "/power1_average") == "40000000\n");
        CHECK(text("/sys/class/hwmon/" + monitor + "/power1_cap") == "300000000\n");
        for (const char* limit : {"power1_cap_min", "power1_cap_max", "power1_cap_default"})
            CHECK_FALSE(text("/sys/class/hwmon/" + monitor + "/" + limit).empty());
        CHECK(text("/sys/class/hwmon/" + monitor + "/temp1_label") == "edge\n");
        CHECK(text("/sys/class/hwmon/" + monitor + "/temp1_input") == "35000\n");
        CHECK(identity("/sys/class/hwmon/" + monitor + "/device") == identity(card + "/device"));
        devices.insert(identity(card + "/device"));
    }
    CHECK_FALSE(cards().empty());
    CHECK(devices.size() == cards().size());
}

TEST_CASE("a card is a link to its PCI device", "[boundary]") {
    REQUIRE_FALSE(cards().empty());
    for (const std::string& card : cards()) {
        const std::string target = link(card);
        CAPTURE(target);
        REQUIRE(target.rfind("../../devices/pci", 0) == 0);
        const std::string slot = target.substr(target.find("/0000:") + 1, 12);
        CHECK(link("/sys/bus/pci/devices/" + slot).rfind("../../../devices/pci", 0) == 0);
        CHECK(link(card + "/device") == "../../../" + slot);
        CHECK(identity("/sys/bus/pci/devices/" + slot) == identity(card + "/device"));
        char* path = realpath((card + "/device").c_str(), nullptr);
        REQUIRE(path);
        CHECK(std::string{path}.find("/sys/devices/pci") == 0);
        CHECK(std::string{path}.substr(std::string{path}.rfind('/') + 1) == slot);
        std::free(path);
    }
}

TEST_CASE("the PCI configuration header agrees with the attributes", "[boundary]") {
    REQUIRE_FALSE(cards().empty());
    const std::string device = cards()[0] + "/device/", config = text(device + "config");
    REQUIRE(config.size() >= 64);
    const auto word = [&](std::size_t at) {
        return static_cast<unsigned>(static_cast<unsigned char>(config[at]) | static_cast<unsigned char>(config[at + 1])
                                                                                  << 8);
    };
    CHECK(word(0) == 0x1002);
    CHECK(word(2) == std::stoul(text(device + "device"), nullptr, 16));
    CHECK(static_cast<unsigned char>(config[8]) == std::stoul(text(device + "revision"), nullptr, 16));
    CHECK(word(10) == 0x0380);
    CHECK(config[14] == 0);
    const std::string resource = text(device + "resource");
    CHECK(std::count(resource.begin(), resource.end(), '\n') == 13);
}

TEST_CASE("a folder that is opened lists its names, and is a place to open from", "[boundary]") {
    const Descriptor folder{open("/sys/class/drm", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    REQUIRE(folder >= 0);
    struct stat status{};
    CHECK(fstat(folder, &status) == 0);
    CHECK(S_ISDIR(status.st_mode));
    REQUIRE_FALSE(cards().empty());
    const std::string name = cards()[0].substr(15);
    const Descriptor vendor{openat(folder, (name + "/device/vendor").c_str(), O_RDONLY)};
    char read_back[16] = "";
    CHECK(read(vendor, read_back, sizeof read_back - 1) == 7);
    CHECK(std::string{read_back} == "0x1002\n");
    CHECK(faccessat(folder, name.c_str(), F_OK, 0) == 0);
    CHECK(names_in(fdopendir(dup(folder))) == names_in("/sys/class/drm"));
}

TEST_CASE("programs walk the emulated folders, and all that is listed is there", "[boundary]") {
    REQUIRE_FALSE(cards().empty());
    for (const std::string& root :
         {std::string{"/sys/devices/virtual/kfd"}, std::string{"/sys/module/amdgpu"}, cards()[0] + "/"}) {
        CAPTURE(root);
        std::set<std::pair<dev_t, ino_t>> folders{identity(root)};
        std::size_t entries = 0;
        // Opens each folder relative to its parent's descriptor, as find and ls do, too.
        for (const auto& entry : std::filesystem::recursive_directory_iterator{root}) {
            CAPTURE(entry.path());
            CHECK(entry.exists());
            if (entry.is_directory() && !entry.is_symlink())  // find takes equal ones for a loop
                CHECK(folders.insert(identity(entry.path())).second);
            ++entries;
        }
        CHECK(entries >= 3);
    }
}

TEST_CASE("a folder's descriptors describe the same folder as its path", "[boundary]") {
    const char* path = "/sys/class/kfd/kfd/topology/nodes/1";
    DIR* listing = opendir(path);
    REQUIRE(listing);
    const Descriptor folder{open(path, O_RDONLY | O_DIRECTORY)};
    for (const int fd : {dirfd(listing), static_cast<int>(folder)}) {
        struct stat status{};
        struct statx more{};
        REQUIRE(fstat(fd, &status) == 0);
        CHECK(S_ISDIR(status.st_mode));
        CHECK(std::pair{status.st_dev, status.st_ino} == identity(path));
        REQUIRE(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more) == 0);
        CHECK(S_ISDIR(more.stx_mode));
        CHECK(more.stx_ino == status.st_ino);
        CHECK(faccessat(fd, "properties", R_OK, 0) == 0);
    }
    const int fd = dirfd(listing);
    CHECK(closedir(listing) == 0);
    CHECK(fcntl(fd, F_GETFD) == -1);
    CHECK(identity(path) == identity("/sys/devices/virtual/kfd/kfd/topology/nodes/1"));
    CHECK(link("/sys/class/kfd/kfd") == "../../devices/virtual/kfd/kfd");
}

TEST_CASE("paths may go up and stay", "[boundary]") {
    REQUIRE_FALSE(cards().empty());
    CHECK(text(cards()[0] + "//./device/vendor") == "0x1002\n");
    CHECK(text("/sys/class/kfd/kfd/topology/nodes/../generation_id") ==
          text("/sys/class/kfd/kfd/topology/generation_id"));
    // From where the link leads.
    CHECK(identity(cards()[0] + "/..") == identity(cards()[0] + "/device/drm"));
    const Descriptor folder{open("/sys/class/kfd/kfd/topology/nodes/1", O_RDONLY | O_DIRECTORY)};
    const Descriptor parent{openat(folder, "..", O_RDONLY | O_DIRECTORY)};
    CHECK(faccessat(parent, "1/properties", R_OK, 0) == 0);
    const Descriptor top{openat(folder, "../../../..", O_RDONLY | O_DIRECTORY)};
    CHECK(faccessat(top, "kfd/dev", R_OK, 0) == 0);
    const Descriptor hosts{openat(top, "..", O_RDONLY | O_DIRECTORY)};
    CHECK(hosts >= 0);
    CHECK(identity("/sys/devices/virtual") == identity_of(hosts));
}

TEST_CASE("programs that were linked to an old libc see the same files", "[boundary]") {
    const Descriptor kfd{open("/dev/kfd", O_RDWR | O_CLOEXEC)}, null{open("/dev/null", O_RDONLY | O_CLOEXEC)};
    REQUIRE(kfd >= 0);
    REQUIRE_FALSE(cards().empty());
    const std::string name = cards()[0];
    const char *card = name.c_str(), *kfd_path = "/dev/kfd";
    struct stat status{};
    struct stat64 status64{};
    CHECK(__fxstat(1, kfd, &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
    CHECK(__fxstat64(1, kfd, &status64) == 0);
    CHECK(S_ISCHR(status64.st_mode));
    CHECK(status64.st_rdev == status.st_rdev);
    CHECK(__xstat(1, kfd_path, &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
    CHECK(__xstat(1, card, &status) == 0);
    CHECK(S_ISDIR(status.st_mode));
    CHECK(__lxstat(1, card, &status) == 0);
    CHECK(S_ISLNK(status.st_mode));
    CHECK(__fxstatat(1, AT_FDCWD, card, &status, AT_SYMLINK_NOFOLLOW) == 0);
    CHECK(S_ISLNK(status.st_mode));
    CHECK(__fxstat(1, null, &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
    CHECK(__fxstat(3, kfd, &status) == -1);
    CHECK(errno == EINVAL);
}

TEST_CASE("patterns of paths match what is listed", "[boundary]") {
    const auto matches = [](const char* pattern) {
        glob_t found{};
        glob64_t found64{};
        std::vector<std::string> paths;
        if (glob(pattern, 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
        CHECK((glob64(pattern, 0, nullptr, &found64) == 0 ? found64.gl_pathc : 0) == paths.size());
        globfree(&found);
        globfree64(&found64);
        return paths;
    };
    REQUIRE_FALSE(cards().empty());
    const auto vendors = matches("/sys/class/drm/card*/device/vendor");
    CHECK(std::count(vendors.begin(), vendors.end(), cards()[0] + "/device/vendor") == 1);
    CHECK(matches("/sys/class/kfd/kfd/topology/nodes/*/gpu_id").size() == cards().size() + 1);
    CHECK(matches("/sys/class/kfd/kfd/topology/nodes/none*").empty());
    CHECK(matches("/etc/pass[w]d") == std::vector<std::string>{"/etc/passwd"});
}

TEST_CASE("a file is not opened as a folder", "[boundary]") {
    CHECK(open("/sys/class/kfd/kfd/topology/generation_id", O_RDONLY | O_DIRECTORY) == -1);
    CHECK(errno == ENOTDIR);
    CHECK(open("/dev/kfd", O_RDWR | O_DIRECTORY) == -1);
    CHECK(errno == ENOTDIR);
}

TEST_CASE("an emulated file takes the lowest free descriptor, as every file does", "[boundary]") {
    const int lowest = open("/dev/null", O_RDONLY);
    REQUIRE(close(lowest) == 0);
    for (const char* path : {"/sys/class/kfd/kfd/topology/generation_id", "/sys/class/drm", "/proc/modules"}) {
        CAPTURE(path);
        const Descriptor fd{open(path, O_RDONLY)};
        CHECK(fd == lowest);
    }
}

TEST_CASE("a descriptor of an emulated file or folder cannot be written to", "[boundary]") {
    for (const char* path : {"/sys/class/kfd/kfd/topology/generation_id", "/sys/class/drm", "/proc/modules"}) {
        CAPTURE(path);
        const Descriptor fd{open(path, O_RDONLY | O_CLOEXEC)};
        REQUIRE(fd >= 0);
        CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
        CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
        CHECK(write(fd, "7", 1) == -1);
        CHECK(errno == EBADF);
        CHECK(ftruncate(fd, 0) == -1);
        CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
        const Descriptor again{open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR)};  // as root
        CHECK(write(again, "7", 1) == -1);
    }
    const Descriptor fd{open("/sys/class/kfd/kfd/topology/generation_id", O_RDONLY)};
    CHECK(fcntl(fd, F_GETFD) == 0);
    struct stat status{};
    CHECK(fstat(fd, &status) == 0);
    CHECK((status.st_mode & 07777) == 0444);
    char content[4] = "";
    CHECK(read(fd, content, sizeof content) == 2);
    CHECK(std::string{content} == "1\n");
}

TEST_CASE("a folder that is opened for writing is refused", "[boundary]") {
    CHECK(open("/sys/class/drm", O_RDWR) == -1);
    CHECK(errno == EISDIR);
}

TEST_CASE("folders that the host has are listed with the host's names", "[boundary]") {
    for (const char* path : {"/sys/bus/pci/devices", "/sys/class/hwmon", "/sys/class/drm", "/dev/dri"}) {
        const auto names = names_in(path);
        CAPTURE(path);
        CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
        CHECK(names.size() > 2);
    }
    CHECK(names_in("/sys/class/kfd/kfd/proc") == std::vector<std::string>{".", ".."});
}
