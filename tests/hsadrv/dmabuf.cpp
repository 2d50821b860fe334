// Device memory as a dma-buf: exported where the runtime can, and imported from the graphics driver.
#include "hsadrv/dmabuf.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "hsadrv/optional_api.hpp"
#include "tests/hsadrv/places.hpp"
#include "tests/support/descriptor.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;
using test_support::Descriptor;

namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

// include/uapi/drm/amdgpu_drm.h and drm.h of Linux.
union GemCreate {
    struct {
        std::uint64_t bo_size, alignment, domains, domain_flags;
    } in;
    struct {
        std::uint32_t handle, pad;
    } out;
};
struct PrimeHandle {
    std::uint32_t handle, flags;
    std::int32_t fd;
};
constexpr std::uint64_t domain_vram = 4;

/// A dma-buf that another driver of the GPU made, as Vulkan's do; -1 if there is none. `agent` owns the memory.
int graphics_dmabuf(AgentRef agent) {
    const PciAddress pci = agent.pci_address();
    const std::string path = "/dev/dri/by-path/pci-" + pci.text() + "-render";
    // Without such a link, as in a container: the first node, which is the first GPU's.
    const std::string node = std::filesystem::exists(path) ? path : "/dev/dri/renderD128";
    const Descriptor render(::open(node.c_str(), O_RDWR | O_CLOEXEC));
    if (render < 0) return -1;
    GemCreate create{.in = {buffer_bytes, 4096, domain_vram, 0}};
    if (::ioctl(render, _IOWR('d', 0x40, GemCreate), &create) != 0) return -1;
    PrimeHandle prime{create.out.handle, O_CLOEXEC | O_RDWR, -1};
    return ::ioctl(render, _IOWR('d', 0x2d, PrimeHandle), &prime) == 0 ? prime.fd : -1;
}

struct Exchange : Copying {
    Allocation memory = Allocation::from_pool(device_pool(gpu), buffer_bytes);
    Bytes bytes = random_bytes(buffer_bytes, 3);

    Bytes get(const void* data) {
        Bytes found(buffer_bytes);
        hsadrv::copy(stream, found.data(), data, buffer_bytes, patience);
        return found;
    }
    void put(void* data) { hsadrv::copy(stream, data, bytes.data(), buffer_bytes, patience); }
    bool exports() const {
        if (optional_api().portable_export_dmabuf) return true;
        CHECK_THROWS_AS(DmaBuf::of(memory.data(), buffer_bytes), NotOffered);
        CHECK_THROWS_WITH(DmaBuf::of(memory.data(), buffer_bytes), Contains("5.6"));
        return false;
    }
};

}  // namespace

TEST_CASE("an exported dma-buf is imported as the same memory, unless the runtime is too old", "[dmabuf]") {
    NEEDS_DEVICE();
    Exchange f;
    if (!f.exports()) return;
    const DmaBuf out = DmaBuf::of(f.memory.data(), buffer_bytes);
    const DmaBufMemory in = DmaBufMemory::import(out.descriptor(), f.gpu);
    REQUIRE(in.size_bytes() >= out.offset_bytes() + buffer_bytes);
    f.put(f.memory.data());
    CHECK(f.get(static_cast<std::byte*>(in.data()) + out.offset_bytes()) == f.bytes);
}

TEST_CASE("a dma-buf owns its descriptor and keeps the memory", "[dmabuf]") {
    NEEDS_DEVICE();
    Exchange f;
    if (!f.exports()) return;
    f.put(f.memory.data());
    DmaBuf out = DmaBuf::of(f.memory.data(), buffer_bytes);
    f.memory = {};
    const DmaBufMemory in = DmaBufMemory::import(out.descriptor(), f.gpu);
    CHECK(f.get(static_cast<std::byte*>(in.data()) + out.offset_bytes()) == f.bytes);
    const Descriptor descriptor(out.descriptor());
    CHECK(out.release() == descriptor);
    CHECK(out.descriptor() == -1);
    CHECK(::fcntl(descriptor, F_GETFD) != -1);
}

TEST_CASE("a range that cannot be exported is refused", "[dmabuf]") {
    NEEDS_DEVICE();
    Exchange f;
    if (!f.exports()) return;
    CHECK_THROWS_WITH(DmaBuf::of(f.bytes.data(), buffer_bytes), Contains("no memory of a pool"));
    CHECK_THROWS_WITH(DmaBuf::of(f.memory.data(), size_t{1} << 40), Contains("B from there"));
    CHECK_THROWS_AS(DmaBuf::of(f.memory.data(), 0), InvalidArgument);
}

TEST_CASE("memory of the graphics driver is used by kernels and copies", "[dmabuf]") {
    NEEDS_DEVICE();
    Exchange f;
    const Descriptor descriptor(graphics_dmabuf(f.gpu));
    if (descriptor < 0) SKIP_BECAUSE("the render node makes no dma-buf");
    auto in = std::make_shared<DmaBufMemory>(DmaBufMemory::import(descriptor, f.gpu));
    DmaBufMemory moved = DmaBufMemory::import(descriptor, f.gpu);
    const DmaBufMemory again = std::move(moved);
    CHECK(moved.data() == nullptr);
    CHECK(moved.size_bytes() == 0);
    REQUIRE(in->size_bytes() == buffer_bytes);
    f.put(in->data());
    CHECK(f.get(again.data()) == f.bytes);
    {
        const test_support::Gate gate(f.stream);
        f.stream.fill_async(static_cast<std::uint8_t*>(in->data()), std::uint8_t{7}, buffer_bytes);
        f.stream.keep_alive(std::move(in));
    }
    f.stream.synchronize(patience);
    CHECK(f.get(again.data()) == Bytes(buffer_bytes, 7));
}

TEST_CASE("a descriptor of anything else is refused", "[dmabuf]") {
    NEEDS_DEVICE();
    Exchange f;
    const Descriptor file(::memfd_create("no-dmabuf", MFD_CLOEXEC));
    for (const int descriptor : {-1, int(file)})
        CHECK_THROWS_WITH(DmaBufMemory::import(descriptor, f.gpu), Contains("must be a dma-buf"));
    CHECK_THROWS_WITH(DmaBufMemory::import(file, std::span<const AgentRef>()), Contains("no GPU"));
    CHECK_THROWS_AS(DmaBufMemory::import(file, AgentRef(hsa_agent_t{1})), InvalidArgument);
    CHECK_THROWS_WITH(DmaBufMemory::import(file, f.driver.cpus().front()), Contains("is not a GPU"));
}
