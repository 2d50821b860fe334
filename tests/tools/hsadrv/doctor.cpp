// The doctor's pure parts: facts in, rows out. Whole machines are in doctor.sh.
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/support/catch.hpp"
#include "tools/common/scratch_folder.hpp"
#include "tools/hsadrv/doctor/check_hsa.hpp"
#include "tools/hsadrv/doctor/report.hpp"

using namespace hsadrv_tool;
using namespace hsadrv_tool::doctor;
using test_support::Contains;

namespace {

constexpr gid_t render = 109;

/// A machine with one working GPU, used by alice, a member of the group render.
Machine good_machine() {
    Machine machine;
    machine.kernel_release = "6.1.0";
    machine.module.loaded = true;
    machine.module.state = "live";
    machine.sees_pci = machine.has_kfd = true;
    machine.pci_gpus = {{"0000:03:00.0", 0x740f, 0x038000, "amdgpu"}};
    TopologyNode cpu, gpu;
    gpu.number = 1;
    gpu.gpu_id = 4711;
    gpu.gfx_target_version = 90010;
    gpu.location_id = 0x300;
    gpu.render_minor = 128;
    gpu.unique_id = 0xabcdef0123456789;
    machine.nodes = {cpu, gpu};
    machine.kfd_file = {"/dev/kfd", 0, true, 0660, 0, render, 236, 0};
    machine.kfd_numbers = {236, 0};
    machine.render_files = {{"/dev/dri/renderD128", 0, true, 0660, 0, render, 226, 128}};
    machine.opened["/dev/kfd"] = {0, 0, 1, 15};
    machine.opened["/dev/dri/renderD128"] = {};
    machine.user = {1234, 1234, {1234, render}, "alice"};
    machine.groups = {{render, {"render", {}}}, {1234, {"alice", {}}}};
    machine.runtime.path = "/usr/lib/libhsa-runtime64.so.1.5.0";
    return machine;
}

Machine denied(int error) {
    Machine machine = good_machine();
    machine.user.groups = {1234};
    machine.opened["/dev/kfd"].error = error;
    return machine;
}

Row kfd_row(const Machine& machine) { return check_files(machine, {}).front(); }

const Row& find(const Rows& rows, const std::string& id) {
    for (const Row& row : rows)
        if (row.id == id) return row;
    FAIL("no row " << id);
    return rows.front();
}

std::string commands(const Row& row) {
    std::string text;
    for (const std::string& command : row.commands) text += command + "\n";
    return text;
}

Heard heard(const std::string& text, int status = 0, bool timed_out = false) {
    return hear({status, text, timed_out, false}, 2.5);
}

}  // namespace

TEST_CASE("a machine without defects has no fault", "[doctor]") {
    const Machine machine = good_machine();
    Rows rows = check_kernel(machine);
    append(rows, check_files(machine, rows));
    append(rows, check_surroundings(machine));
    append(rows, check_libraries(machine));
    rows.push_back(check_interface(machine, rows));
    append(rows, check_environment(machine));
    for (const Row& row : rows) {
        INFO(row.title << ": " << row.found);
        CHECK(row.verdict == Verdict::ok);
    }
}

TEST_CASE("a tree of files becomes facts", "[doctor]") {
    const tools::ScratchFolder folder;
    const auto write = [&](const std::string& path, const std::string& text) {
        const std::filesystem::path place = folder / path;
        std::filesystem::create_directories(place.parent_path());
        std::ofstream(place) << text;
    };
    write("proc/sys/kernel/osrelease", "6.1.0-test\n");
    write("proc/cmdline", "quiet module_blacklist=nouveau,amdgpu\n");
    write("etc/group", "root:x:0:\nrender:x:109:alice,bob\n");
    write("etc/modprobe.d/a.conf", "# blacklist amdgpu\nblacklist radeon\ninstall amdgpu /bin/false\n");
    write("lib/modules/6.1.0-test/modules.dep", "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.xz: kernel/x.ko\n");
    write("boot/config-6.1.0-test", "CONFIG_HSA_AMD=y\n");
    write("sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
    write("sys/bus/pci/devices/0000:03:00.0/class", "0x120000\n");
    write("sys/bus/pci/devices/0000:03:00.1/vendor", "0x1002\n");
    write("sys/bus/pci/devices/0000:03:00.1/class", "0x040300\n");  // its audio device
    write("sys/bus/pci/devices/0000:04:00.0/vendor", "0x10de\n");
    write("sys/bus/pci/devices/0000:04:00.0/class", "0x030000\n");
    write("sys/devices/virtual/kfd/kfd/topology/nodes/10/gpu_id", "9\n");
    write("sys/devices/virtual/kfd/kfd/topology/nodes/10/properties",
          "gfx_target_version 100300\nlocation_id 769\ndomain 1\n");
    write("sys/devices/virtual/kfd/kfd/topology/nodes/10/mem_banks/0/properties", "heap_type 2\n");
    write("sys/devices/virtual/kfd/kfd/topology/nodes/2/gpu_id", "0\n");
    write("dev/kmsg", "6,1,1,-;usb 1-1: new device\n4,2,2,-;kfd kfd: skipped device\n SUBSYSTEM=amdgpu\n");
    write("run/.containerenv", "");

    const Machine machine = look_at_files(folder / "");
    CHECK(machine.kernel_release == "6.1.0-test");
    CHECK_FALSE(machine.module.loaded);
    CHECK(machine.module.kernel_options == std::vector<std::string>{"module_blacklist=nouveau,amdgpu"});
    CHECK(machine.module.forbidden == std::vector<std::string>{"/etc/modprobe.d/a.conf: install amdgpu /bin/false"});
    CHECK(machine.module.file == "/lib/modules/6.1.0-test/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.xz");
    CHECK(machine.module.kfd_configured == true);
    REQUIRE(machine.pci_gpus.size() == 1);
    CHECK(machine.pci_gpus.front().driver.empty());
    REQUIRE(machine.nodes.size() == 2);
    CHECK(machine.nodes[0].number == 2);  // by number, not by name
    CHECK(machine.nodes[1].target() == "gfx1030");
    CHECK(machine.nodes[1].pci_address() == "0001:03:00.1");
    CHECK(machine.nodes[1].private_memory);
    CHECK(machine.groups.at(render).members == std::vector<std::string>{"alice", "bob"});
    CHECK(machine.kfd_file.error == ENOENT);
    CHECK(machine.container.kind == "podman");
    CHECK(machine.kernel_log == std::vector<std::string>{"kfd kfd: skipped device"});
    const Rows rows = check_kernel(machine);
    CHECK_THAT(find(rows, "module").found, Contains("module_blacklist=nouveau,amdgpu"));
    CHECK_THAT(find(rows, "module").remedy, Contains("on the host: "));
}

TEST_CASE("a user without access to a device gets the remedy", "[doctor]") {
    SECTION("in no group of its") {
        const Row row = kfd_row(denied(EACCES));
        CHECK_THAT(row.found, Contains("group render (109); alice (1234) is not in that group"));
        CHECK(commands(row) == "sudo usermod -aG render alice\n");
    }
    SECTION("in the group since this session began") {
        Machine machine = denied(EACCES);
        machine.groups[render].members = {"alice"};
        CHECK(commands(kfd_row(machine)) == "newgrp render\n");
    }
    SECTION("a user without a name") {
        Machine machine = denied(EACCES);
        machine.user.name.clear();
        CHECK(commands(kfd_row(machine)) == "sudo usermod -aG render $USER\n");
    }
    SECTION("another mode than the group's") {
        Machine machine = denied(EACCES);
        machine.kfd_file.mode = 0600;
        CHECK_THAT(commands(kfd_row(machine)), Contains("70-kfd.rules"));
    }
    SECTION("a group that the user namespace does not map") {
        Machine machine = denied(EACCES);
        machine.container = {"podman", "/run/.containerenv", true, false};
        machine.kfd_file.group = 65534;
        CHECK_THAT(commands(kfd_row(machine)), Contains("--group-add keep-groups"));
    }
    SECTION("a pod") {
        Machine machine = denied(EACCES);
        machine.container.kind = "kubernetes";
        CHECK_THAT(kfd_row(machine).remedy, Contains("supplementalGroups: [109]"));
    }
    SECTION("EPERM in a service: the device cgroup") {
        Machine machine = denied(EPERM);
        machine.user.groups = {render};
        CHECK_THAT(kfd_row(machine).remedy, Contains("DeviceAllow=/dev/kfd rw"));
    }
    SECTION("EACCES although the mode allows it") {
        Machine machine = denied(EACCES);
        machine.user.groups = {render};
        CHECK_THAT(kfd_row(machine).found, Contains("security module"));
    }
}

TEST_CASE("each kind of container has a remedy for missing devices", "[doctor]") {
    Machine machine = good_machine();
    machine.kfd_file.error = ENOENT;
    machine.opened["/dev/kfd"].error = ENOENT;
    const auto advice = [&](const char* kind) {
        machine.container.kind = kind;
        const Row row = kfd_row(machine);
        return row.remedy + "\n" + commands(row);
    };
    CHECK_THAT(advice("docker"), Contains("docker run --device=/dev/kfd --device=/dev/dri"));
    CHECK_THAT(advice("podman"), Contains("podman run --device=/dev/kfd"));
    CHECK_THAT(advice("lxc"), Contains("lxc.cgroup2.devices.allow"));
    CHECK_THAT(advice("kubernetes"), Contains("amd.com/gpu: 1"));
    CHECK_THAT(advice("flatpak"), Contains("--device=all"));
    CHECK_THAT(advice("snap"), Contains("classic snap"));
    CHECK_THAT(advice("apptainer"), Contains("apptainer exec --rocm"));
}

TEST_CASE("one render node of two that does not open is not the fault", "[doctor]") {
    Machine machine = good_machine();
    machine.nodes.push_back(machine.nodes.back());
    machine.nodes.back().render_minor = 129;
    machine.render_files.push_back({"/dev/dri/renderD129", ENOENT});
    Rows rows = check_files(machine, {});
    REQUIRE(rows.size() == 3);
    CHECK(rows[2].verdict == Verdict::warning);
    machine.opened["/dev/dri/renderD128"].error = EACCES;
    machine.user.groups = {1234};
    rows = check_files(machine, {});
    CHECK(rows[1].verdict == Verdict::fault);
    CHECK(rows[2].verdict == Verdict::fault);
}

TEST_CASE("one GPU of two bound to another driver is not a fault", "[doctor]") {
    Machine machine = good_machine();
    machine.pci_gpus.push_back({"0000:44:00.0", 0x73bf, 0x030000, "vfio-pci"});
    CHECK(find(check_kernel(machine), "driver").verdict == Verdict::note);
    machine.pci_gpus.back().driver = "radeon";
    CHECK(find(check_kernel(machine), "driver").verdict == Verdict::warning);
    machine.pci_gpus.back().driver = "";
    CHECK(find(check_kernel(machine), "driver").verdict == Verdict::warning);
}

TEST_CASE("the kernel log's line of another GPU is ignored", "[doctor]") {
    Machine machine = good_machine();
    machine.kernel_log = {"amdgpu 0000:44:00.0: amdgpu: Fatal error during GPU init"};
    CHECK_FALSE(explain_log(machine, "0000:03:00.0"));
    CHECK(explain_log(machine, "0000:44:00.0"));
    CHECK(explain_log(machine, ""));
    machine.kernel_log = {"kfd kfd: amdgpu: skipped device 1002:740f, PCI rejects atomics 730<0"};
    REQUIRE(explain_log(machine, "0000:03:00.0"));
    CHECK_THAT(explain_log(machine, "0000:03:00.0")->meaning, Contains("atomic"));
    machine.kernel_log.reset();
    CHECK_FALSE(explain_log(machine, ""));
}

TEST_CASE("ROCR_VISIBLE_DEVICES is read as the runtime reads it", "[doctor]") {
    Machine machine = good_machine();
    machine.nodes.push_back(machine.nodes.back());
    machine.nodes.back().unique_id += 1;
    const auto row = [&](const char* value) {
        machine.environment["ROCR_VISIBLE_DEVICES"] = value;
        return check_environment(machine).front();
    };
    for (const char* good : {"0", "1,0", "GPU-ABCDEF0123456789", "gpu-abcdef012345678a,0", " 1 ", "0x1"}) {
        INFO(good);
        CHECK(row(good).verdict == Verdict::note);
    }
    for (const char* partly : {"0,7", "0,0", "1,x,0", "1,-1"}) {
        INFO(partly);
        CHECK(row(partly).verdict == Verdict::warning);
        CHECK_THAT(row(partly).found, Contains("shows 1 of 2 GPUs"));
    }
    for (const char* bad : {"", "2", "-1", "x", "GPU-", "GPU-ABCDEF", "GPU-1111111111111111", ",0"}) {
        INFO(bad);
        CHECK(row(bad).verdict == Verdict::fault);
        CHECK(commands(row(bad)) == "unset ROCR_VISIBLE_DEVICES\n");
    }
}

TEST_CASE("versions of the kernel's interface", "[doctor]") {
    Machine machine = good_machine();
    const auto verdict = [&](unsigned major, unsigned minor) {
        machine.opened["/dev/kfd"].version_major = major;
        machine.opened["/dev/kfd"].version_minor = minor;
        return check_interface(machine, {}).verdict;
    };
    CHECK(verdict(0, 98) == Verdict::fault);
    CHECK(verdict(0, 99) == Verdict::ok);
    CHECK(verdict(1, 0) == Verdict::note);
    CHECK(verdict(1, 17) == Verdict::ok);
    CHECK(verdict(2, 0) == Verdict::ok);
}

TEST_CASE("limits too low for the runtime are faults", "[doctor]") {
    Machine machine = good_machine();
    machine.limits.open_files = 1024;
    machine.limits.files_open = 4;
    CHECK(find(check_limits(machine), "descriptors").verdict == Verdict::ok);
    machine.limits.files_open = 1000;
    CHECK(find(check_limits(machine), "descriptors").verdict == Verdict::warning);
    machine.limits.files_open = 2000;  // a limit may be set below what is open
    CHECK(find(check_limits(machine), "descriptors").verdict == Verdict::fault);
    machine.limits.address_space_bytes = std::uint64_t{64} << 30;
    CHECK(find(check_limits(machine), "address-space").verdict == Verdict::warning);
    machine.limits.address_space_bytes = std::uint64_t{2} << 30;
    CHECK(find(check_limits(machine), "address-space").verdict == Verdict::fault);
}

TEST_CASE("an old runtime on a machine that shows no CPU caches is a fault", "[doctor]") {
    Machine machine = good_machine();
    const auto faults = [&] {
        const Rows rows = check_libraries(machine);
        return std::count_if(rows.begin(), rows.end(),
                             [](const Row& row) { return row.id == "cpu-caches" && row.verdict == Verdict::fault; });
    };
    CHECK(faults() == 0);
    machine.shows_cpu_caches = false;
    CHECK(faults() == 1);
    machine.runtime.path = "/opt/rocm/lib/libhsa-runtime64.so.1.13.60102";
    CHECK(faults() == 0);
}

TEST_CASE("each GPU needs separate address space", "[doctor]") {
    Machine machine = good_machine();
    machine.limits.address_space_bytes = std::uint64_t{6} << 30;
    CHECK(find(check_limits(machine), "address-space").verdict == Verdict::warning);
    machine.nodes.push_back(machine.nodes.back());
    const Row row = find(check_limits(machine), "address-space");
    CHECK(row.verdict == Verdict::fault);
    CHECK(row.found == "limited to 6.0 GiB; the runtime needs 8.5 GiB for 2 GPUs, and their memory on top");
}

TEST_CASE("an emulated GPU on a CPU that kfdemu cannot use is a fault", "[doctor]") {
    Machine machine = good_machine();
    machine.emulation.active = true;
    CHECK(find(check_emulation(machine), "emulation").verdict == Verdict::note);
    machine.emulation.cpu_suffices = false;
    const Row row = find(check_emulation(machine), "emulation");
    CHECK(row.verdict == Verdict::fault);
    CHECK_FALSE(row.remedy.empty());
    machine.environment["KFDEMU"] = "off";
    CHECK(find(check_emulation(machine), "emulation").verdict == Verdict::note);
}

TEST_CASE("kfdemu's own libraries are no finding; others beside them are", "[doctor]") {
    Machine machine = good_machine();
    machine.environment["LD_PRELOAD"] = "/usr/lib/libkfdemu.so.0.1.0";
    machine.environment["HSA_TOOLS_LIB"] = "/usr/lib/libkfdemu-tool.so";
    for (const Row& row : check_environment(machine)) CHECK(row.title == "environment");
    machine.environment["LD_PRELOAD"] += ":/opt/first.so /opt/second.so";
    machine.environment["HSA_TOOLS_LIB"] += " /opt/libtracer.so";
    REQUIRE(check_environment(machine).size() == 2);
    CHECK(check_environment(machine)[0].found.starts_with("/opt/libtracer.so: "));
    CHECK(check_environment(machine)[1].found.starts_with("/opt/first.so /opt/second.so: "));
}

TEST_CASE("messages are separated from other output of a child", "[doctor]") {
    const Heard all =
        heard("hello\n\x1e{\"begin\":\"hsa_init()\"}\nhalf a line\x1e{\"chosen\":1}\nmore\n\x1e{\"cut of");
    REQUIRE(all.messages.size() == 2);
    CHECK(*all.find("chosen") == 1);
    CHECK(all.last_words == "more");
    CHECK_FALSE(all.how_it_ended());
    CHECK(heard("", 139).how_it_ended() == "died of SIGSEGV after 2.5 s");
    CHECK(heard("bad\nworse\n\n", 134).how_it_ended() == "died of SIGABRT after 2.5 s; it last said \"worse\"");
    CHECK(heard("", 137, true).how_it_ended() == "did not end within 2 s, and was killed");
    CHECK_THAT(*heard("", 1).how_it_ended(), Contains("ended with status 1"));
    CHECK_THAT(*heard("", 127).how_it_ended(), Contains("could not be started"));
    CHECK_THAT(*hear({137, "", true, true}, 35).how_it_ended(), Contains("cannot be killed"));
}

TEST_CASE("a GPU's step that never ended is the fault", "[doctor]") {
    const auto message = [](const char* key, const Row& row) {
        return "\x1e" + Json{{key, as_json(row)}}.dump() + "\n";
    };
    Row begun = ok("copy", "gpu0: copies", "");
    begun.advise("update the firmware", {"true"});
    const std::string text = message("row", ok("queue", "gpu0: queue", "created")) + message("begun", begun) +
                             "\x1e{\"doing\":\"a fill\"}\n";
    const Rows rows = check_gpu(heard(text, 137, true), "gpu0");
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].id == "copy");
    CHECK(rows[1].verdict == Verdict::fault);
    CHECK_THAT(rows[1].found, Contains("a fill: the process did not end within"));
    CHECK(rows[1].remedy == "update the firmware");
    const Rows late = check_gpu(heard(text + message("row", begun), 139), "gpu0");
    REQUIRE(late.size() == 3);
    CHECK(late[2].id == "shutdown");
    const Rows none = check_gpu(heard("", 139), "gpu0");
    REQUIRE(none.size() == 1);
    CHECK(none[0].id == "examination");
}

TEST_CASE("the last sentence has the first cause and its remedy", "[doctor]") {
    Row cause = fault("a", "first", "broken");
    cause.advise("mend it", {"mend", "try"});
    const Diagnosis bad = conclude({warning("w", "odd", "x"), cause, fault("b", "second", "broken, too")}, {});
    CHECK(bad.sentence == "The cause: first: broken. What to do: mend it: mend; try");
    CHECK_FALSE(bad.healthy());
    CHECK(report_json(bad)["cause"] == "a");
    const Diagnosis good = conclude({warning("w", "odd", "x")}, {"gpu0", "gpu1"});
    CHECK(good.sentence == "All is well: gpu0, gpu1 work; 1 warning above.");
    CHECK(report_json(good)["cause"].is_null());
}

TEST_CASE("a report fits its terminal, and does not break commands", "[doctor]") {
    Row row = fault("a", "title", std::string(30, 'x') + " " + std::string(30, 'y') + " " + std::string(30, 'z'));
    row.advise("do that", {"sudo " + std::string(90, 'c')}).because("mode", "0660");
    Terminal terminal;
    terminal.columns = 72;
    const std::string text = report_text(conclude({row}, {}), terminal, false);
    CHECK_THAT(text, Contains("fault    title  " + std::string(30, 'x') + "\n"));
    CHECK_THAT(text, Contains("\n                sudo " + std::string(90, 'c') + "\n"));
    CHECK(text.find("mode: 0660") == text.npos);
    CHECK_THAT(report_text(conclude({row}, {}), terminal, true), Contains("mode: 0660"));
    terminal.colour = true;
    CHECK_THAT(report_text(conclude({row}, {}), terminal, false), Contains("\033[1;31mfault    \033[0m"));
}
