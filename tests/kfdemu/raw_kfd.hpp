// KFD and a render node through their ioctls alone, without the HSA runtime.
//
//     const Descriptor kfd{open_kfd()};
//     Engine engine{kfd};
//     engine.submit({5, low(address), high(address), 1});    // a fence
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>

#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/abi.hpp"

namespace raw_kfd {

namespace abi = kfdemu::abi;

template <class Args>
int call(int fd, unsigned request, Args& args) {
    const char magic = abi::kKfdMagic;
    return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, magic, request, sizeof args), &args);
}
template <class Args>
int drm(int fd, unsigned request, Args& args) {
    return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', request, sizeof args), &args);
}

inline const std::string node = "/sys/class/kfd/kfd/topology/nodes/1/";

inline std::uint64_t number_in(const std::string& path, const std::string& wanted = {}) {
    std::ifstream file{path};
    std::string name;
    std::uint64_t value = 0;
    if (wanted.empty()) return file >> value, value;
    while (file >> name >> value)
        if (name == wanted) return value;
    return 0;
}
inline std::uint32_t gpu_id() { return static_cast<std::uint32_t>(number_in(node + "gpu_id")); }

inline int open_kfd() { return open("/dev/kfd", O_RDWR | O_CLOEXEC); }
inline int open_render() {
    const std::uint64_t minor = number_in(node + "properties", "drm_render_minor");
    return open(("/dev/dri/renderD" + std::to_string(minor)).c_str(), O_RDWR | O_CLOEXEC);
}

/// Maps pages of the program on the GPU.
inline void map_user_pages(int kfd, void* pages, std::uint64_t bytes) {
    std::uint32_t gpu = gpu_id();
    abi::AllocMemoryOfGpu memory{};
    memory.va_addr = memory.mmap_offset = reinterpret_cast<std::uint64_t>(pages);
    memory.size = bytes;
    memory.gpu_id = gpu;
    memory.flags = abi::kUserptr | abi::kWritable;
    REQUIRE(call(kfd, abi::kAllocMemoryOfGpu, memory) == 0);
    abi::MapMemory map{memory.handle, reinterpret_cast<std::uint64_t>(&gpu), 1, 0};
    REQUIRE(call(kfd, abi::kMapMemoryToGpu, map) == 0);
}

struct SystemMemory {
    std::uint64_t handle, va;
};
/// Allocates system memory at an address that is not the program's, and maps it on the GPU.
inline SystemMemory map_system_memory(int kfd, std::uint64_t bytes) {
    std::uint32_t gpu = gpu_id();
    abi::AllocMemoryOfGpu memory{};
    memory.va_addr = reinterpret_cast<std::uint64_t>(
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    memory.size = bytes;
    memory.gpu_id = gpu;
    memory.flags = abi::kGtt | abi::kWritable;
    REQUIRE(call(kfd, abi::kAllocMemoryOfGpu, memory) == 0);
    abi::MapMemory map{memory.handle, reinterpret_cast<std::uint64_t>(&gpu), 1, 0};
    REQUIRE(call(kfd, abi::kMapMemoryToGpu, map) == 0);
    return {memory.handle, memory.va_addr};
}

inline std::uint32_t wait_for_event(int kfd, std::uint32_t id, std::uint32_t timeout_ms) {
    abi::EventData data{};
    data.event_id = id;
    abi::WaitEvents wait{reinterpret_cast<std::uint64_t>(&data), 1, 1, timeout_ms, 0};
    REQUIRE(call(kfd, abi::kWaitEvents, wait) == 0);
    return wait.wait_result;
}

/// Creates the queue, and returns its doorbell.
inline volatile std::uint64_t* create_queue(int kfd, abi::CreateQueue& queue) {
    queue.gpu_id = gpu_id();
    queue.queue_percentage = 100;
    REQUIRE(call(kfd, abi::kCreateQueue, queue) == 0);
    constexpr std::uint64_t kPageBytes = 8192;
    void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kfd,
                      static_cast<off_t>(queue.doorbell_offset & ~(kPageBytes - 1)));
    REQUIRE(page != MAP_FAILED);
    return static_cast<volatile std::uint64_t*>(page) + queue.doorbell_offset % kPageBytes / 8;
}

/// An SDMA queue on pages that the GPU maps: a ring and the read and write pointers after it.
struct Engine {
    static constexpr std::uint32_t kRingBytes = 4096;

    int kfd;
    std::uint32_t* pages;
    abi::CreateQueue queue{};
    volatile std::uint64_t* doorbell = nullptr;
    std::uint64_t written = 0;

    explicit Engine(int device, std::uint32_t type = abi::kSdma, std::uint32_t engine_id = 0) : kfd{device} {
        pages = static_cast<std::uint32_t*>(
            mmap(nullptr, 4 * kRingBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        map_user_pages(kfd, pages, 4 * kRingBytes);
        queue.ring_base_address = address(0);
        queue.ring_size = kRingBytes;
        queue.read_pointer_address = address(1024);
        queue.write_pointer_address = address(1026);
        queue.queue_type = type;
        queue.sdma_engine_id = engine_id;
        doorbell = create_queue(kfd, queue);
    }

    std::uint64_t address(unsigned dword) const { return reinterpret_cast<std::uint64_t>(pages + dword); }
    void submit(std::initializer_list<std::uint32_t> packet) {
        for (std::uint32_t dword : packet) pages[written++ % (kRingBytes / 4)] = dword;
        __atomic_store_n(doorbell, written * 4, __ATOMIC_RELEASE);
    }
    bool drained() const {
        for (int ms = 0; ms < 5000; ++ms, usleep(1000))
            if (__atomic_load_n(reinterpret_cast<std::uint64_t*>(pages + 1024), __ATOMIC_ACQUIRE) == written * 4)
                return true;
        return false;
    }
};

/// An AQL queue on pages that the GPU maps: the runtime's structure, then a ring. The program has the same memory at
/// another address, which it can use while it protects the first.
struct AqlRing {
    static constexpr std::uint32_t kPackets = 64, kPacketBytes = 64, kPage = 4096, kReadIndex = 128;

    char *pages, *alias;
    abi::CreateQueue queue{};
    volatile std::uint64_t* doorbell;
    std::uint64_t written = 0;

    explicit AqlRing(int kfd) {
        const int file = memfd_create("ring", 0);
        REQUIRE(ftruncate(file, 2 * kPage) == 0);
        for (char** at : {&pages, &alias})
            *at = static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        close(file);
        for (std::uint32_t n = 0; n < kPackets; ++n) *header(n) = 1;  // INVALID
        map_user_pages(kfd, pages, 2 * kPage);
        queue.ring_base_address = reinterpret_cast<std::uint64_t>(pages + kPage);
        queue.ring_size = kPackets * kPacketBytes;
        queue.read_pointer_address = reinterpret_cast<std::uint64_t>(pages + kReadIndex);
        queue.write_pointer_address = queue.read_pointer_address - 72;
        queue.queue_type = abi::kComputeAql;
        doorbell = create_queue(kfd, queue);
    }

    std::uint16_t* header(std::uint64_t index) const {
        return reinterpret_cast<std::uint16_t*>(alias + kPage + index % kPackets * kPacketBytes);
    }
    std::uint64_t read_index() const {
        return __atomic_load_n(reinterpret_cast<std::uint64_t*>(alias + kReadIndex), __ATOMIC_ACQUIRE);
    }
    /// A barrier packet without dependencies. False: the ring is full.
    bool submit_barrier() {
        if (written - read_index() >= kPackets) return false;
        __atomic_store_n(header(written), std::uint16_t{3}, __ATOMIC_RELEASE);
        __atomic_store_n(doorbell, written++, __ATOMIC_RELEASE);
        return true;
    }
};

inline std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
inline std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace raw_kfd
