// Virtual memory, where the runtime has it: addresses and memory that are separate.
#include "hsadrv/virtual_memory.hpp"

#include <optional>
#include <utility>

#include "tests/hsadrv/places.hpp"
#include "tests/support/descriptor.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;
using test_support::Descriptor;

namespace {

struct Virtual : Copying {
    std::size_t granule = device_pool(gpu).alloc_recommended_granule_bytes();
    std::size_t size = 2 * granule;

    /// False on an old runtime, which is refused by name.
    bool offered() const {
        const bool entries = bool(optional_api().vmem_address_reserve);
        if (entries && driver.system().virtual_memory_supported.value_or(false)) return true;
        if (!entries) {
            CHECK_THROWS_AS(VirtualRange::reserve(size), NotOffered);
            CHECK_THROWS_WITH(VirtualRange::reserve(size), Contains("6.0"));
            CHECK_THROWS_AS(PhysicalMemory::create(device_pool(gpu), size), NotOffered);
            CHECK_THROWS_AS(PhysicalMemory::import(0, size), NotOffered);
        }
        return false;
    }
    PhysicalMemory memory() const { return PhysicalMemory::create(device_pool(gpu), size); }
    void put(void* data, unsigned seed) {
        const Bytes bytes = random_bytes(size, seed);
        hsadrv::copy(stream, data, bytes.data(), size, patience);
    }
    bool has(const void* data, unsigned seed) {
        Bytes bytes(size);
        hsadrv::copy(stream, bytes.data(), data, size, patience);
        return bytes == random_bytes(size, seed);
    }
};

}  // namespace

TEST_CASE("memory keeps its contents under another address", "[vmem]") {
    NEEDS_DEVICE();
    Virtual f;
    if (!f.offered()) return;
    const VirtualRange range = VirtualRange::reserve(2 * f.size);
    const PhysicalMemory first = f.memory(), second = f.memory();
    {
        const VirtualMapping low = range.map(0, first, f.gpu), high = range.map(f.size, second, f.gpu);
        CHECK(low.data() == range.data());
        CHECK(low.size_bytes() == f.size);
        f.put(low.data(), 1);
        f.put(high.data(), 2);
        CHECK_THROWS_AS(range.map(0, second, f.gpu), Error);
    }
    const VirtualMapping low = range.map(0, second, f.gpu), high = range.map(f.size, first, f.gpu);
    CHECK(f.has(low.data(), 2));
    CHECK(f.has(high.data(), 1));
}

TEST_CASE("a mapping keeps its range and its memory, and a stream keeps the mapping", "[vmem]") {
    NEEDS_DEVICE();
    Virtual f;
    if (!f.offered()) return;
    auto mapping = std::make_shared<VirtualMapping>(VirtualRange::reserve(f.size).map(0, f.memory(), f.gpu));
    f.put(mapping->data(), 1);
    CHECK(f.has(mapping->data(), 1));
    const test_support::Gate gate(f.stream);
    f.stream.fill_async(static_cast<std::uint8_t*>(mapping->data()), std::uint8_t{1}, f.size);
    f.stream.keep_alive(std::move(mapping));
    gate.open();
    f.stream.synchronize(patience);
}

TEST_CASE("shared memory is the same memory", "[vmem]") {
    NEEDS_DEVICE();
    Virtual f;
    if (!f.offered()) return;
    const VirtualRange range = VirtualRange::reserve(2 * f.size);
    const PhysicalMemory memory = f.memory();
    const Descriptor descriptor(memory.share());
    REQUIRE(descriptor >= 0);
    const PhysicalMemory imported = PhysicalMemory::import(descriptor, f.size);
    const VirtualMapping low = range.map(0, memory, f.gpu), high = range.map(f.size, imported, f.gpu);
    f.put(low.data(), 4);
    CHECK(f.has(high.data(), 4));
}

TEST_CASE("an address within a mapping has the mapping's facts", "[vmem]") {
    NEEDS_DEVICE();
    Virtual f;
    if (!f.offered()) return;
    const VirtualRange range = VirtualRange::reserve(2 * f.size);
    const PhysicalMemory memory = f.memory();
    auto* const begin = static_cast<std::byte*>(range.data());
    {
        const VirtualMapping low = range.map(0, memory, f.gpu);
        const PointerInfo info = pointer_info(begin + 4096);
        CHECK(info.kind == PointerInfo::Kind::other);
        CHECK(info.owner == f.gpu);
        CHECK(info.agent_base == begin);
        CHECK(info.bytes_after(begin + 4096) == f.size - 4096);
        CHECK(info.accessible_by(f.gpu));
        CHECK_FALSE(pointer_info(begin + f.size).accessible_by(f.gpu));
        CHECK_THROWS_WITH(f.stream.fill_async(begin + 4096, std::byte{1}, f.size), Contains("left in its allocation"));
    }
    CHECK_FALSE(pointer_info(begin).accessible_by(f.gpu));
}

TEST_CASE("sizes and offsets that do not fit are refused", "[vmem]") {
    NEEDS_DEVICE();
    Virtual f;
    if (!f.offered()) return;
    CHECK_THROWS_AS(VirtualRange::reserve(0), InvalidArgument);
    CHECK_THROWS_AS(VirtualRange::reserve(1000), InvalidArgument);
    CHECK_THROWS_WITH(PhysicalMemory::create(device_pool(f.gpu), 1000), Contains("multiple of"));
    CHECK_THROWS_AS(PhysicalMemory::import(-1, f.size), Error);
    const VirtualRange range = VirtualRange::reserve(f.size);
    const PhysicalMemory memory = f.memory();
    CHECK_THROWS_WITH(range.map(4096, memory, f.gpu), Contains("does not fit"));
    CHECK_THROWS_WITH(range.map(SIZE_MAX - 4095, memory, f.gpu), Contains("does not fit"));
    CHECK_THROWS_WITH(range.map(0, memory, std::span<const AgentRef>()), Contains("no GPU"));
    CHECK_THROWS_AS(range.map(0, memory, AgentRef(hsa_agent_t{1})), InvalidArgument);
}

TEST_CASE("what was moved from is empty, and maps nothing", "[vmem]") {
    NEEDS_DEVICE();
    Virtual f;
    if (!f.offered()) return;
    VirtualRange range = VirtualRange::reserve(f.size);
    PhysicalMemory memory = f.memory();
    const VirtualRange range_after = std::move(range);
    const PhysicalMemory memory_after = std::move(memory);
    CHECK(range.data() == nullptr);
    CHECK(range.size_bytes() == 0);
    CHECK(memory.native().handle == 0);
    CHECK(memory.size_bytes() == 0);
    CHECK_THROWS_WITH(memory.share(), Contains("moved from"));
    CHECK_THROWS_WITH(range_after.map(0, memory, f.gpu), Contains("moved from"));
    CHECK_THROWS_WITH(range.map(0, memory_after, f.gpu), Contains("does not fit"));
}
