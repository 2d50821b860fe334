#include "tests/fuzz/device.hpp"

#include <sys/mman.h>

#include <cstdlib>

#include "tests/fuzz/fuzz.hpp"

namespace fuzz {

using namespace kfdemu;

kfdemu::Device& device() {
    static Device* made = [] {
        setenv("KFDEMU", "on,gpu=gfx90a,gpus=2,vram=64M,workers=1,log=off", 1);
        return Device::get();
    }();
    if (!made) broken("no device");
    return *made;
}

GuardedPages::GuardedPages(std::size_t size_bytes) : size_{size_bytes} {
    constexpr std::size_t kPage = 4096;
    void* whole = mmap(nullptr, size_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) broken("no memory");
    data_ = static_cast<std::byte*>(whole) + kPage;
    if (mprotect(data_, size_, PROT_READ | PROT_WRITE) != 0) broken("no memory");
}

std::uint64_t give(const GuardedPages& pages, std::uint64_t va) {
    device();
    const std::uint32_t gpu_id = Device::topology()->gpus[0].gpu_id;
    abi::AllocMemoryOfGpu allocation{};
    allocation.va_addr = va;
    allocation.size = pages.size();
    allocation.mmap_offset = pages.address();
    allocation.gpu_id = gpu_id;
    allocation.flags = abi::kUserptr | abi::kWritable | abi::kExecutable;
    if (call(abi::kAllocMemoryOfGpu, allocation) != 0) broken("no memory for the device");
    abi::MapMemory map{};
    map.handle = allocation.handle;
    map.device_ids_array_ptr = reinterpret_cast<std::uint64_t>(&gpu_id);
    map.n_devices = 1;
    if (call(abi::kMapMemoryToGpu, map) != 0) broken("memory cannot be mapped");
    return allocation.handle;
}

volatile std::uint64_t* doorbell(unsigned gpu, std::uint64_t doorbell_offset) {
    const DeviceFile::Range& page = device().memory().doorbells(gpu);
    return reinterpret_cast<volatile std::uint64_t*>(page.host + (doorbell_offset - page.offset) % page.size / 8 * 8);
}

}  // namespace fuzz
