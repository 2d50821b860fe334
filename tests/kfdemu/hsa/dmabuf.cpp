// Device memory as file descriptors: hsa_ext_amd.h, hsa_amd_portable_export_dmabuf,
// hsa_amd_interop_map_buffer, and the hsa_amd_vmem_* calls, which reserve addresses, make memory and map one
// to the other.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/kfdemu/hsa/child.hpp"
#include "tests/kfdemu/hsa/exchange.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

#if HSA_AMD_INTERFACE_VERSION_MAJOR > 1 || HSA_AMD_INTERFACE_VERSION_MINOR >= 4

namespace {

struct DmaBuf {
    explicit DmaBuf(const Memory& memory) {
        HSA_CHECK(hsa_amd_portable_export_dmabuf(memory.data(), memory.size_bytes(), &fd, &offset));
    }
    ~DmaBuf() { close(fd); }
    DmaBuf(const DmaBuf&) = delete;
    DmaBuf& operator=(const DmaBuf&) = delete;
    int fd = -1;
    std::uint64_t offset = 0;
};

/// A descriptor that a child process inherits.
int inheritable(int fd) {
    const int copy = dup(fd);
    if (copy < 0) throw std::runtime_error{"no descriptor"};
    return copy;
}

bool has_virtual_memory() {
    bool supported = false;
    HSA_CHECK(hsa_system_get_info(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, &supported));
    return supported;
}

/// Memory without an address, and addresses without memory, both released at the end.
struct Handle {
    explicit Handle(const Machine& machine, std::size_t bytes) {
        HSA_CHECK(hsa_amd_vmem_handle_create(machine.gpu().coarse, bytes, MEMORY_TYPE_NONE, 0, &value));
    }
    explicit Handle(int dmabuf) { HSA_CHECK(hsa_amd_vmem_import_shareable_handle(dmabuf, &value)); }
    ~Handle() { hsa_amd_vmem_handle_release(value); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    hsa_amd_vmem_alloc_handle_t value{};
};

struct Reservation {
    explicit Reservation(std::size_t size) : bytes{size} {
        HSA_CHECK(hsa_amd_vmem_address_reserve(&address, bytes, 0, 0));
    }
    ~Reservation() { hsa_amd_vmem_address_free(address, bytes); }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    void* at(std::size_t offset) const { return static_cast<std::byte*>(address) + offset; }
    void* address = nullptr;
    std::size_t bytes;
};

void map(const Machine& machine, void* address, std::size_t bytes, const Handle& handle) {
    HSA_CHECK(hsa_amd_vmem_map(address, bytes, 0, handle.value, 0));
    const hsa_amd_memory_access_desc_t access{HSA_ACCESS_PERMISSION_RW, machine.gpu().agent};
    HSA_CHECK(hsa_amd_vmem_set_access(address, bytes, &access, 1));
}

}  // namespace

TEST_CASE("a dma-buf's bytes are those of the allocation it was made of", "[device][memory][dmabuf]") {
    NEEDS_GPUS(1);
    Machine machine;
    for (const std::size_t bytes : {std::size_t{64} << 10, kOwnAllocationBytes}) {
        CAPTURE(bytes);
        const Memory memory{machine.gpu().coarse, bytes, {}};
        fill(machine, memory.data(), pattern(bytes, 1));
        const DmaBuf dmabuf{memory};
        const auto size = static_cast<std::uint64_t>(lseek(dmabuf.fd, 0, SEEK_END));
        CHECK(size >= dmabuf.offset + bytes);
        auto* mapped =
            static_cast<std::uint32_t*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf.fd, 0));
        REQUIRE(mapped != MAP_FAILED);
        std::uint32_t* begin = mapped + dmabuf.offset / sizeof *mapped;
        CHECK(difference(Words(begin, begin + bytes / sizeof *begin), pattern(bytes, 1)) == "");
        begin[5] = 55;
        CHECK(read_back(machine, memory.data(), bytes)[5] == 55);
        CHECK(munmap(mapped, size) == 0);
    }
}

TEST_CASE("child: maps a dma-buf", "[.child]") {
    Machine machine;
    hsa_agent_t gpu = machine.gpu().agent;
    std::size_t bytes = 0;
    void* address = nullptr;
    HSA_CHECK(hsa_amd_interop_map_buffer(1, &gpu, std::stoi(row()), 0, &bytes, &address, nullptr, nullptr));
    REQUIRE(bytes == kOwnAllocationBytes);
    CHECK(difference(read_back(machine, address, bytes), pattern(bytes, 1)) == "");
    fill(machine, address, pattern(bytes, 2));
    HSA_CHECK(hsa_amd_interop_unmap_buffer(address));
}

TEST_CASE("another process maps a dma-buf, also when the memory was freed", "[device][memory][dmabuf]") {
    NEEDS_GPUS(1);
    Machine machine;
    std::optional<Memory> memory{std::in_place, machine.gpu().coarse, kOwnAllocationBytes, std::vector<hsa_agent_t>{}};
    fill(machine, memory->data(), pattern(kOwnAllocationBytes, 1));
    const DmaBuf dmabuf{*memory};
    const int fd = inheritable(dmabuf.fd);
    const auto first = run_child("child: maps a dma-buf", std::to_string(fd));
    INFO(first.output);
    REQUIRE(first.passed());
    CHECK(difference(read_back(machine, memory->data(), kOwnAllocationBytes), pattern(kOwnAllocationBytes, 2)) == "");

    fill(machine, memory->data(), pattern(kOwnAllocationBytes, 1));
    memory.reset();
    const Memory other{machine.gpu().coarse, kOwnAllocationBytes, {}};
    fill(machine, other.data(), pattern(kOwnAllocationBytes, 3));
    const auto second = run_child("child: maps a dma-buf", std::to_string(fd));
    close(fd);
    INFO(second.output);
    CHECK(second.passed());
    CHECK(difference(read_back(machine, other.data(), kOwnAllocationBytes), pattern(kOwnAllocationBytes, 3)) == "");
}

TEST_CASE("a descriptor that is no dma-buf is refused", "[device][memory][dmabuf]") {
    NEEDS_GPUS(1);
    Machine machine;
    hsa_agent_t gpu = machine.gpu().agent;
    std::size_t bytes = 0;
    void* address = nullptr;
    const Pipe pipe;
    for (const int fd : {-1, pipe.read_end})
        CHECK(hsa_amd_interop_map_buffer(1, &gpu, fd, 0, &bytes, &address, nullptr, nullptr) != HSA_STATUS_SUCCESS);
}

TEST_CASE("reserved addresses reach the memory that is mapped there", "[device][memory][vmem]") {
    NEEDS_GPUS(1);
    Machine machine;
    if (!has_virtual_memory()) SKIP_BECAUSE("the runtime does not support virtual memory here");
    const Handle first{machine, kOwnAllocationBytes}, second{machine, kOwnAllocationBytes};
    const Reservation space{2 * kOwnAllocationBytes};
    map(machine, space.at(0), kOwnAllocationBytes, first);
    map(machine, space.at(kOwnAllocationBytes), kOwnAllocationBytes, second);
    fill(machine, space.address, pattern(2 * kOwnAllocationBytes, 4));
    CHECK(difference(read_back(machine, space.address, 2 * kOwnAllocationBytes), pattern(2 * kOwnAllocationBytes, 4)) ==
          "");

    // The two halves exchanged: the memory keeps its contents.
    HSA_CHECK(hsa_amd_vmem_unmap(space.at(0), kOwnAllocationBytes));
    HSA_CHECK(hsa_amd_vmem_unmap(space.at(kOwnAllocationBytes), kOwnAllocationBytes));
    map(machine, space.at(0), kOwnAllocationBytes, second);
    map(machine, space.at(kOwnAllocationBytes), kOwnAllocationBytes, first);
    Words both = read_back(machine, space.address, 2 * kOwnAllocationBytes);
    std::rotate(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2), both.end());
    CHECK(difference(both, pattern(2 * kOwnAllocationBytes, 4)) == "");
    HSA_CHECK(hsa_amd_vmem_unmap(space.at(0), kOwnAllocationBytes));
    HSA_CHECK(hsa_amd_vmem_unmap(space.at(kOwnAllocationBytes), kOwnAllocationBytes));
}

TEST_CASE("child: maps a shareable handle", "[.child]") {
    Machine machine;
    const Handle handle{std::stoi(row())};
    const Reservation space{kOwnAllocationBytes};
    map(machine, space.address, kOwnAllocationBytes, handle);
    CHECK(difference(read_back(machine, space.address, kOwnAllocationBytes), pattern(kOwnAllocationBytes, 1)) == "");
    fill(machine, space.address, pattern(kOwnAllocationBytes, 2));
    HSA_CHECK(hsa_amd_vmem_unmap(space.address, kOwnAllocationBytes));
}

TEST_CASE("another process maps the memory of a shareable handle", "[device][memory][vmem]") {
    NEEDS_GPUS(1);
    Machine machine;
    if (!has_virtual_memory()) SKIP_BECAUSE("the runtime does not support virtual memory here");
    const Handle handle{machine, kOwnAllocationBytes};
    const Reservation space{kOwnAllocationBytes};
    map(machine, space.address, kOwnAllocationBytes, handle);
    fill(machine, space.address, pattern(kOwnAllocationBytes, 1));
    int dmabuf = -1;
    HSA_CHECK(hsa_amd_vmem_export_shareable_handle(&dmabuf, handle.value, 0));
    const int fd = inheritable(dmabuf);
    close(dmabuf);
    const auto child = run_child("child: maps a shareable handle", std::to_string(fd));
    close(fd);
    INFO(child.output);
    CHECK(child.passed());
    CHECK(difference(read_back(machine, space.address, kOwnAllocationBytes), pattern(kOwnAllocationBytes, 2)) == "");
    HSA_CHECK(hsa_amd_vmem_unmap(space.address, kOwnAllocationBytes));
}

#else

TEST_CASE("dma-bufs and virtual memory", "[device][memory]") {
    SKIP_BECAUSE("this HSA runtime is too old to have them");
}

#endif
