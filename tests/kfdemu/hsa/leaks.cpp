// A program leaks no resource of the device: threads, descriptors, mappings, files.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    if (DIR* listing = opendir(folder.c_str())) {
        while (const dirent* entry = readdir(listing))
            if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
        closedir(listing);
    }
    return names;
}

/// Threads that are not the emulated device's own, which serve every later start of the runtime, too.
std::size_t count_threads() {
    std::size_t count = 0;
    for (const std::string& id : names_in("/proc/self/task")) {
        std::string name;
        std::ifstream{"/proc/self/task/" + id + "/comm"} >> name;
        count += name != "kfdemu";
    }
    return count;
}

std::size_t count_descriptors() { return names_in("/proc/self/fd").size(); }

std::size_t count_mappings() {
    std::ifstream maps{"/proc/self/maps"};
    std::size_t count = 0;
    for (std::string text; std::getline(maps, text);) ++count;
    return count;
}

std::size_t resident_kib() {
    std::ifstream status{"/proc/self/status"};
    std::size_t kib = 0;
    for (std::string key; status >> key;)
        if (key == "VmRSS:") status >> kib;
    return kib;
}

/// Files with names of the device; not those that AMD's thunk shares among all processes, here as on hardware.
std::set<std::string> files_that_last() {
    std::set<std::string> names;
    for (const char* folder : {"/tmp", "/dev/shm", "/run", "/var/tmp"})
        for (const std::string& name : names_in(folder))
            if (name.find("hsakmt") != std::string::npos)
                continue;
            else if (name.find("kfd") != std::string::npos || name.find("hsa") != std::string::npos ||
                     name.find("amdgpu") != std::string::npos)
                names.insert(std::string{folder} + "/" + name);
    return names;
}

void use_everything() {
    Machine machine;
    Queue queue{machine.gpu()}, second{machine.gpu()};
    const Executable work{machine.gpu(), "work"}, scratch{machine.gpu(), "scratch"};
    const Memory host{machine.cpu().fine, 1 << 20, machine.agents()}, device{machine.gpu().coarse, 8 << 20, {}};
    run(machine, queue, scratch.kernel("medium"), line(256), host.data());
    const Signal up, down;
    HSA_CHECK(hsa_amd_memory_async_copy(device.data(), machine.gpu().agent, host.data(), machine.cpu().agent, 1 << 20,
                                        0, nullptr, up));
    const hsa_signal_t first = up;
    HSA_CHECK(hsa_amd_memory_async_copy(host.data(), machine.cpu().agent, device.data(), machine.gpu().agent, 1 << 20,
                                        1, &first, down));
    if (!down.completed()) throw std::runtime_error{"the copies did not complete"};
    std::vector<std::byte> pageable(100'000);
    HSA_CHECK(hsa_memory_copy(device.data(), pageable.data(), pageable.size()));
    const Launch endless = launch(machine, second, work.kernel("endless"), line(4096), host.data());
    second.destroy();
    auto bad = barrier_and({});
    bad.header = header(99);
    queue.submit(bad);
    if (queue.wait_for_error() == HSA_STATUS_SUCCESS) throw std::runtime_error{"no error came"};
}

}  // namespace

TEST_CASE("twenty rounds of all operations leak no thread, descriptor or mapping", "[device][leaks]") {
    NEEDS_GPUS(1);
    for (int i = 0; i < 3; ++i) use_everything();
    const std::size_t threads = count_threads(), descriptors = count_descriptors(), mappings = count_mappings(),
                      kib = resident_kib();
    for (int i = 0; i < 20; ++i) use_everything();
    CHECK(eventually([&] { return count_threads() <= threads; }));
    CHECK(count_descriptors() <= descriptors);
    // The allocator's own mappings vary.
    CHECK(count_mappings() <= mappings + 20);
    if (!kSanitized) CHECK(resident_kib() <= kib + 64 * 1024);
}

TEST_CASE("hundreds of launches and errors take no more memory than the first", "[device][leaks]") {
    NEEDS_GPUS(1);
    Machine machine;
    const Executable code{machine.gpu(), "work"};
    const Memory total{machine.cpu().fine, 4096, machine.agents()};
    const Kernel count = code.kernel("count");
    const Memory counting = arguments(machine, count, total.data());
    const auto round = [&] {
        Queue queue{machine.gpu()};
        const Signal done{500};
        for (int i = 0; i < 500; ++i) queue.submit(kernel_packet(count, line(64), counting, done));
        if (!done.completed(kDeadline)) throw std::runtime_error{"the kernels did not complete"};
    };
    for (int i = 0; i < 5; ++i) round();
    const std::size_t kib = resident_kib(), descriptors = count_descriptors(), mappings = count_mappings();
    for (int i = 0; i < 20; ++i) round();
    if (!kSanitized) CHECK(resident_kib() <= kib + 16 * 1024);
    CHECK(count_descriptors() <= descriptors);
    CHECK(count_mappings() <= mappings + 20);
}

TEST_CASE("child: is killed in the middle", "[.child]") {
    Machine machine;
    Queue queue{machine.gpu()};
    const Executable code{machine.gpu(), "work"};
    const Memory words{machine.cpu().fine, 4096, machine.agents()}, device{machine.gpu().coarse, 64 << 20, {}};
    const Launch endless = launch(machine, queue, code.kernel("endless"), line(4096), words.data());
    REQUIRE(eventually([&] { return *words.as<volatile std::uint32_t>() == 1; }));
    raise(SIGKILL);
}

TEST_CASE("a process that is killed leaves no file", "[device][leaks]") {
    NEEDS_GPUS(1);
    const auto before = files_that_last();
    const ChildResult child = run_child("child: is killed in the middle");
    CHECK(child.signal == SIGKILL);
    std::set<std::string> more;
    for (const std::string& name : files_that_last())
        if (!before.count(name)) more.insert(name);
    // Concurrent tests have folders with such names, too, and remove them.
    std::set<std::string> left;
    CHECK(eventually([&] {
        const auto now = files_that_last();
        left.clear();
        std::set_intersection(more.begin(), more.end(), now.begin(), now.end(), std::inserter(left, left.end()));
        return left.empty();
    }));
    CHECK(left == std::set<std::string>{});
}
