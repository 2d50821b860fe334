// KFD and a render node through their ioctls alone, without the HSA runtime: event files, buffers, an SDMA queue.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/kfdemu/raw_kfd.hpp"
#include "tests/support/descriptor.hpp"

using namespace kfdemu;
using namespace raw_kfd;

namespace {

using test_support::Descriptor;

constexpr std::uint64_t kBytes = 1 << 20, kGttDomain = 2, kVramDomain = 4;

struct SmiEvents {
    std::uint32_t gpu_id, fd;
};

}  // namespace

TEST_CASE("an SDMA queue runs packets that no runtime writes", "[raw]") {
    const Descriptor kfd{open_kfd()};
    REQUIRE(kfd >= 0);
    Engine engine{kfd};
    const std::uint64_t word = engine.address(2048);
    engine.submit({2, low(word), high(word), 1, 0x1234, 0x5678});
    CHECK(engine.drained());
    CHECK(engine.pages[2048] == 0x1234);
    CHECK(engine.pages[2049] == 0x5678);
    abi::DestroyQueue destroy{engine.queue.queue_id, 0};
    CHECK(call(kfd, abi::kDestroyQueue, destroy) == 0);
}

TEST_CASE("a GPU is busy while a queue has a packet in progress", "[raw]") {
    const Descriptor kfd{open_kfd()};
    const std::string minor = std::to_string(number_in(node + "properties", "drm_render_minor"));
    const std::string load = "/sys/class/drm/renderD" + minor + "/device/gpu_busy_percent";
    REQUIRE(std::filesystem::exists(load));
    CHECK(number_in(load) == 0);
    Engine engine{kfd};
    const std::uint64_t word = engine.address(2048);
    engine.submit({8 | 3u << 28 | 1u << 31, low(word), high(word), 7, 0xffffffff, 0xfffu << 16 | 10});  // POLL_REGMEM
    bool busy = false;
    for (int ms = 0; ms < 5000 && !busy; ++ms, usleep(1000)) busy = number_in(load) == 100;
    CHECK(busy);
    __atomic_store_n(engine.pages + 2048, 7, __ATOMIC_RELEASE);
    CHECK(engine.drained());
    CHECK(number_in(load) == 0);
    abi::DestroyQueue destroy{engine.queue.queue_id, 0};
    CHECK(call(kfd, abi::kDestroyQueue, destroy) == 0);
}

TEST_CASE("an SDMA queue is on the engine that it names", "[raw]") {  // KFD 1.17
    const Descriptor kfd{open_kfd()};
    const auto engines = static_cast<std::uint32_t>(number_in(node + "properties", "num_sdma_engines") +
                                                    number_in(node + "properties", "num_sdma_xgmi_engines"));
    REQUIRE(engines >= 2);
    // PRE_EXE names eight engines. For this engine, and for all others.
    const std::uint32_t last = std::min(engines, 8u) - 1;
    Engine engine{kfd, abi::kSdmaByEngine, last};
    const std::uint64_t word = engine.address(2048);
    engine.submit({15 | 1u << (16 + last), 4, 5, low(word), high(word), 1});
    engine.submit({15 | (0xffu & ~(1u << last)) << 16, 4, 5, low(word + 4), high(word + 4), 1});
    CHECK(engine.drained());
    CHECK(engine.pages[2048] == 1);
    CHECK(engine.pages[2049] == 0);
    abi::CreateQueue other = engine.queue;
    other.sdma_engine_id = engines;
    CHECK(call(kfd, abi::kCreateQueue, other) == -1);
    CHECK(errno == EINVAL);
}

TEST_CASE("requests of newer interfaces are as in a kernel that has them", "[raw]") {
    const Descriptor kfd{open_kfd()};
    std::uint32_t gpu = gpu_id();
    abi::AllocMemoryOfGpu memory{};  // KFD 1.16
    memory.size = 1 << 20;
    memory.gpu_id = gpu;
    memory.va_addr = std::uint64_t{1} << 40;
    memory.flags = abi::kVram | abi::kWritable | abi::kContiguous;
    CHECK(call(kfd, abi::kAllocMemoryOfGpu, memory) == 0);
    abi::FreeMemoryOfGpu free_memory{memory.handle};
    CHECK(call(kfd, abi::kFreeMemoryOfGpu, free_memory) == 0);
    abi::SetMemoryPolicy policy{};  // KFD 1.18
    policy.gpu_id = gpu;
    policy.misc_process_flag = 1;
    CHECK(call(kfd, abi::kSetMemoryPolicy, policy) == 0);
}

TEST_CASE("requests that this kernel does not have are refused", "[raw]") {
    const Descriptor kfd{open_kfd()};
    std::array<std::uint32_t, 12> arguments{};
    for (const unsigned request : {unsigned{abi::kCreateProcess}, unsigned{abi::kPcSample}, unsigned{abi::kProfiler},
                                   unsigned{abi::kInfinityStorage}}) {
        CHECK(call(kfd, request, arguments) == -1);
        CHECK(errno == EINVAL);
    }
}

TEST_CASE("an interrupt with 8 bits of an event's id reaches the event", "[raw]") {
    const Descriptor kfd{open_kfd()};
    Engine engine{kfd};
    constexpr std::uint64_t kPageBytes = 8 * abi::kSignalEventLimit;
    abi::CreateEvent create{};
    const SystemMemory page = map_system_memory(kfd, kPageBytes);
    create.event_page_offset = page.handle;
    create.event_type = abi::kEventSignal;
    create.auto_reset = 1;
    std::vector<std::uint32_t> ids;
    for (int n = 0; n < 300; ++n, create.event_page_offset = 0) {
        REQUIRE(call(kfd, abi::kCreateEvent, create) == 0);
        ids.push_back(create.event_id);
    }
    const std::uint32_t id = ids.back(), named = id & 0xff;
    REQUIRE(id > 255);
    const std::uint64_t slot = page.va + 8 * id;
    engine.submit({5, low(slot), high(slot), id});  // a fence
    engine.submit({6, named});                      // a trap
    REQUIRE(engine.drained());
    CHECK(wait_for_event(kfd, named, 0) == abi::kWaitTimeout);
    CHECK(wait_for_event(kfd, id, 5000) == abi::kWaitComplete);
    for (std::uint32_t each : ids) {
        abi::EventId destroy{each, 0};
        CHECK(call(kfd, abi::kDestroyEvent, destroy) == 0);
    }
}

TEST_CASE("an event page is system memory with a slot for each event", "[raw]") {
    const Descriptor kfd{open_kfd()};
    abi::CreateEvent create{};
    create.event_page_offset = map_system_memory(kfd, 4096).handle;
    CHECK(call(kfd, abi::kCreateEvent, create) == -1);
    CHECK(errno == EINVAL);
    create.event_page_offset = 12345;
    CHECK(call(kfd, abi::kCreateEvent, create) == -1);
    CHECK(errno == EINVAL);
}

TEST_CASE("the SVM interface is announced where it is implemented", "[raw]") {
    constexpr std::uint64_t kSvmApiSupported = 1u << 27;  // HSA_CAP_SVMAPI_SUPPORTED
    CHECK((number_in(node + "properties", "capability") & kSvmApiSupported) != 0);
}

TEST_CASE("a buffer of a render node is created, mapped and counted", "[raw]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    REQUIRE(render >= 0);
    const std::uint64_t domain = GENERATE(kGttDomain, kVramDomain);
    const std::string used = domain == kGttDomain ? "gtt" : "vram";
    const std::string minor = std::to_string(number_in(node + "properties", "drm_render_minor"));
    const std::string file = "/sys/class/drm/renderD" + minor + "/device/mem_info_" + used + "_used";
    const std::uint64_t before = number_in(file);

    std::array<std::uint64_t, 4> create{kBytes, 4096, domain, 0};  // drm_amdgpu_gem_create
    REQUIRE(drm(render, 0x40, create) == 0);
    const auto handle = static_cast<std::uint32_t>(create[0]);
    CHECK(handle != 0);
    CHECK(number_in(file) == before + kBytes);

    std::uint64_t offset = handle;
    REQUIRE(drm(render, 0x41, offset) == 0);
    if (domain == kGttDomain) {  // VRAM may be private
        auto* bytes = static_cast<unsigned char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, render, static_cast<off_t>(offset)));
        REQUIRE(bytes != MAP_FAILED);
        CHECK(bytes[kBytes - 1] == 0);
        bytes[kBytes - 1] = 7;
        munmap(bytes, kBytes);
    }
    std::uint64_t close_handle = handle;
    CHECK(drm(render, 0x09, close_handle) == 0);
    CHECK(number_in(file) == before);
}

TEST_CASE("a render node counts no blocks of graphics and video", "[raw]") {  // AMDGPU_INFO_HW_IP_COUNT
    const Descriptor kfd{open_kfd()}, render{open_render()};
    std::uint32_t count = 7;
    struct {
        std::uint64_t answer;
        std::uint32_t size, query, parameters[4];
    } args{reinterpret_cast<std::uint64_t>(&count), sizeof count, 3, {}};
    CHECK(drm(render, 0x45, args) == 0);
    CHECK(count == 0);
}

TEST_CASE("a buffer that the device cannot have is refused", "[raw]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    const auto create = [&](std::uint64_t bytes, std::uint64_t domains, std::uint64_t flags) {
        std::array<std::uint64_t, 4> args{bytes, 4096, domains, flags};
        return drm(render, 0x40, args) == 0 ? 0 : errno;
    };
    CHECK(create(0, 4, 0) == EINVAL);
    CHECK(create(4096, 8, 0) == EINVAL);         // GDS
    CHECK(create(4096, 4, 1u << 10) == EINVAL);  // encrypted
    CHECK(create(std::uint64_t{1} << 40, 4, 0) == ENOMEM);
}

TEST_CASE("a buffer without host access has no place to map", "[raw]") {
    const Descriptor kfd{open_kfd()}, render{open_render()};
    std::array<std::uint64_t, 4> create{4096, 4096, 4, 2};  // NO_CPU_ACCESS
    REQUIRE(drm(render, 0x40, create) == 0);
    std::uint64_t offset = create[0];
    CHECK(drm(render, 0x41, offset) == -1);
    CHECK(errno == EPERM);
}

TEST_CASE("an event file needs a GPU", "[raw]") {
    const Descriptor kfd{open_kfd()};
    SmiEvents args{7, 0};
    CHECK(call(kfd, abi::kSmiEvents, args) == -1);
    CHECK(errno == EINVAL);
}

TEST_CASE("event files that are closed leave no descriptors", "[raw]") {
    const Descriptor kfd{open_kfd()};
    const auto descriptors = [] { return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}); };
    SmiEvents args{gpu_id(), 0};
    const auto before = descriptors();
    for (int n = 0; n < 100; ++n) {
        REQUIRE(call(kfd, abi::kSmiEvents, args) == 0);
        close(static_cast<int>(args.fd));
    }
    CHECK(descriptors() < before + 3);
}

TEST_CASE("an event file reports the pages that a program prefetches and unmaps", "[raw]") {
    const Descriptor kfd{open_kfd()};
    SmiEvents args{gpu_id(), 0};
    REQUIRE(call(kfd, abi::kSmiEvents, args) == 0);
    const Descriptor events{static_cast<int>(args.fd)};
    const std::uint64_t all = 0x7ff;
    REQUIRE(write(events, &all, sizeof all) == sizeof all);
    constexpr std::size_t kPages = 20;
    void* pages = mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const auto set = [&](std::uint32_t type, std::uint32_t value) {
        struct {
            abi::Svm svm;
            abi::SvmAttribute attribute;
        } request{{reinterpret_cast<std::uint64_t>(pages), kPages * 4096, abi::kSvmSet, 1}, {type, value}};
        return call(kfd, abi::kSvm, request);
    };
    // The next line, without its time.
    const auto line = [&]() -> std::string {
        char text[128] = "";
        char* end = text;
        while (end < text + sizeof text - 1 && read(events, end, 1) == 1 && *end != '\n') ++end;
        const std::string read_line(text, end);
        const std::size_t time = read_line.find(' ');
        if (time == std::string::npos) return read_line;
        return read_line.substr(0, time) + read_line.substr(std::min(read_line.size(), read_line.find(' ', time + 1)));
    };
    const auto written = [&](const char* format, std::uint64_t page, auto... values) {
        char text[128];
        std::snprintf(text, sizeof text, format, getpid(), page, values...);
        return std::string{text};
    };
    const std::uint64_t page = reinterpret_cast<std::uint64_t>(pages) / 4096;
    const std::uint32_t gpu = gpu_id();
    REQUIRE(set(abi::kSvmAccess, gpu) == 0);
    CHECK(line().empty());
    REQUIRE(set(abi::kSvmPreferredLocation, gpu) == 0);
    REQUIRE(set(abi::kSvmPrefetchLocation, gpu) == 0);
    CHECK(line() == written("5 -%d @%lx(14) 0->%x %x:%x 0", page, gpu, gpu, gpu));
    CHECK(line() == written("6 -%d @%lx(14) 0->%x 0", page, gpu));
    REQUIRE(set(abi::kSvmPrefetchLocation, gpu) == 0);  // they are there
    CHECK(line().empty());
    REQUIRE(set(abi::kSvmPrefetchLocation, abi::kSvmSystem) == 0);
    CHECK(line() == written("5 -%d @%lx(14) %x->0 0:%x 0", page, gpu, gpu));
    CHECK(line() == written("6 -%d @%lx(14) %x->0 0", page, gpu));
    munmap(static_cast<char*>(pages) + 4 * 4096, (kPages - 4) * 4096);
    CHECK(line() == written("b -%d @%lx(10) %x 2", page + 4, gpu));
    munmap(pages, 4 * 4096);
    CHECK(line() == written("b -%d @%lx(4) %x 2", page, gpu));
    CHECK(line().empty());
}

// The last: after a memory fault this process has lost the GPU.
TEST_CASE("an event file reports the process's memory faults, if it is asked to", "[raw]") {
    const Descriptor kfd{open_kfd()};
    SmiEvents args{gpu_id(), 0};
    REQUIRE(call(kfd, abi::kSmiEvents, args) == 0);
    const Descriptor events{static_cast<int>(args.fd)};
    REQUIRE(call(kfd, abi::kSmiEvents, args) == 0);
    const Descriptor not_asked{static_cast<int>(args.fd)};
    char text[128] = "";
    CHECK(read(events, text, sizeof text) == -1);
    CHECK(errno == EAGAIN);
    const std::uint64_t faults = 1;  // KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_VMFAULT)
    REQUIRE(write(events, &faults, sizeof faults) == sizeof faults);
    pollfd wait{events, POLLIN, 0};
    CHECK(poll(&wait, 1, 0) == 0);

    Engine engine{kfd};
    engine.submit({5, 0x1000, 0x7, 1});  // a fence where nothing is mapped
    REQUIRE(poll(&wait, 1, 10000) == 1);
    CHECK(wait.revents == POLLIN);
    const ssize_t size = read(events, text, sizeof text - 1);
    REQUIRE(size > 0);
    char name[16] = "", wanted[64];
    prctl(PR_GET_NAME, name);
    std::snprintf(wanted, sizeof wanted, "1 %x:%s\n", static_cast<unsigned>(getpid()), name);
    CHECK(std::string(text, static_cast<std::size_t>(size)) == wanted);
    CHECK(read(not_asked, text, sizeof text) == -1);
}
