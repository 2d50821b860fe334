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

#include "base/abi.hpp"
#include "support/catch.hpp"

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

/// An SDMA queue on pages that the GPU maps: a ring and the read and write pointers after it.
struct Engine {
    static constexpr std::uint32_t kRingBytes = 4096;

    int kfd;
    std::uint32_t* pages;
    abi::CreateQueue queue{};
    volatile std::uint64_t* doorbell = nullptr;
    std::uint64_t written = 0;

    explicit Engine(int device) : kfd{device} {
        pages = static_cast<std::uint32_t*>(
            mmap(nullptr, 4 * kRingBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::uint32_t gpu = gpu_id();
        abi::AllocMemoryOfGpu memory{};
        memory.va_addr = memory.mmap_offset = address(0);
        memory.size = 4 * kRingBytes;
        memory.gpu_id = gpu;
        memory.flags = abi::kUserptr | abi::kWritable;
        REQUIRE(call(kfd, abi::kAllocMemoryOfGpu, memory) == 0);
        abi::MapMemory map{memory.handle, reinterpret_cast<std::uint64_t>(&gpu), 1, 0};
        REQUIRE(call(kfd, abi::kMapMemoryToGpu, map) == 0);
        queue.ring_base_address = address(0);
        queue.ring_size = kRingBytes;
        queue.read_pointer_address = address(1024);
        queue.write_pointer_address = address(1026);
        queue.gpu_id = gpu;
        queue.queue_type = abi::kSdma;
        queue.queue_percentage = 100;
        REQUIRE(call(kfd, abi::kCreateQueue, queue) == 0);
        constexpr std::uint64_t kPageBytes = 8192;
        void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kfd,
                          static_cast<off_t>(queue.doorbell_offset & ~(kPageBytes - 1)));
        REQUIRE(page != MAP_FAILED);
        doorbell = static_cast<volatile std::uint64_t*>(page) + queue.doorbell_offset % kPageBytes / 8;
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

inline std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
inline std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace raw_kfd
