// Device files that cannot be used, or that the caller may not choose: the exception and its remedy.
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/hsadrv/control.hpp"
#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

TEST_CASE("child: prints why there is no device", "[.child]") {
    for (int round = 0; round < 2; ++round) {  // the first failure does not change the second
        CHECK_THROWS_AS(Driver(), NoDevice);
        try {
            Driver();
        } catch (const NoDevice& error) {
            std::printf("says: %s\n", error.what());
        }
    }
}

TEST_CASE("a device file that is forbidden, missing, old or silent: NoDevice with the reason and the remedy",
          "[driver][process][failures]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    struct Row {
        const char* device;
        const char* reason;
        const char* remedy;
    };
    const Row rows[] = {
        {"on,fail=open:1-:EACCES", "/dev/kfd: Permission denied", "render and video"},
        {"on,fail=open:1-:EPERM", "/dev/kfd: Operation not permitted", "render and video"},
        {"on,fail=open:1-:ENOENT", "/dev/kfd: No such file", "amdgpu kernel driver loaded"},
        {"on,fail=open:1-:ENODEV", "/dev/kfd: No such device", "not bound to a GPU"},
        {"on,fail=open:1-:EMFILE", "/dev/kfd: Too many open files", "ulimit -n"},
        {"on,fail=open:1-:ENOMEM", "/dev/kfd: Cannot allocate memory", "no memory left"},
        {"on,kfd=0.9", "its interface is 0.9", "newer kernel"},
        {"on,fail=ioctl:1-:ENOTTY", "gives no version", "Inappropriate ioctl"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.device);
        const ChildResult child = run_test_in_child("child: prints why there is no device", "KFDEMU", row.device);
        CHECK(child.status == 0);
        CHECK_THAT(child.output, Contains("hsa_init()") && Contains(row.reason) && Contains(row.remedy));
    }
}

TEST_CASE("child: a driver in a setuid program", "[.child]") {
    REQUIRE(::getauxval(AT_SECURE) == 1);
    try {
        const Driver driver;
        for (const AgentRef gpu : driver.gpus()) std::printf("GPU: %s\n", gpu.label().c_str());
    } catch (const NoDevice& error) {
        std::printf("none: %s\n", error.what());
    }
}

// The environment is the caller's.
TEST_CASE("a setuid program ignores the caller's environment: devices and reports", "[driver][process]") {
    NEEDS_DEVICE();
    if (::geteuid() != 0) SKIP_BECAUSE("only root can make a setuid program");
    if (::system("command -v setpriv >/dev/null") != 0) SKIP_BECAUSE("setpriv is not installed (Debian: util-linux)");
    char folder[] = "/tmp/hsadrv-setuid-XXXXXX";
    REQUIRE(::mkdtemp(folder));
    struct statvfs mounted{};
    if (::statvfs(folder, &mounted) == 0 && mounted.f_flag & ST_NOSUID) {
        std::filesystem::remove(folder);
        SKIP_BECAUSE("/tmp is mounted without setuid programs");
    }
    const std::string copy = std::string(folder) + "/program";
    REQUIRE(::chmod(folder, 0755) == 0);
    std::filesystem::copy_file(std::filesystem::read_symlink("/proc/self/exe"), copy);
    REQUIRE(::chmod(copy.c_str(), 04755) == 0);
    int status = 0;
    const auto start = [&](const std::string& environment) {
        const std::string command = "env -u KFDEMU " + environment +
                                    " setpriv --reuid=65534 --regid=65534 --clear-groups " + copy +
                                    " 'child: a driver in a setuid program' --rng-seed 1 2>&1";
        std::string output;
        FILE* pipe = ::popen(command.c_str(), "r");
        REQUIRE(pipe != nullptr);
        for (int c; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
        status = ::pclose(pipe);
        return output;
    };
    const std::string plain = start("");
    if (plain.find("error while loading shared libraries") != plain.npos) {
        std::filesystem::remove_all(folder);
        SKIP_BECAUSE("the libraries are in no folder that the loader searches for a setuid program");
    }
    // Not ROCR_VISIBLE_DEVICES: the runtime reads that itself, whichever user set it.
    const std::string hostile = start("KFDEMU=on,gpus=2 HIP_VISIBLE_DEVICES=7 HSADRV_LEAK_REPORT=1");
    std::filesystem::remove_all(folder);
    CAPTURE(plain);
    CHECK(status == 0);
    CHECK_THAT(plain, Contains("1 passed, 0 failed"));
    CHECK_THAT(plain, Contains("GPU: ") || Contains("none: hsa_init()"));
    CHECK(hostile == plain);
}
