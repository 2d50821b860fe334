// Pageable arrays, locked for a scope: GPUs use them during the scope, and they are pageable after it; all or none.
#include "devicearray/registered_arrays.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <numeric>
#include <optional>

#include "devicearray/devicearray.hpp"
#include "tests/devicearray/scale_add.hpp"
#include "tests/support/control.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {

using MemoryKind = PointerInfo::Kind;

MemoryKind kind_of(const void* pointer) { return pointer_info(pointer).kind; }

/// Pages whose second half can be unmapped.
class Pages {
  public:
    Pages() : data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        REQUIRE(data_ != MAP_FAILED);
    }
    ~Pages() { munmap(data_, bytes); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    void lose_half() const { munmap(static_cast<char*>(data_) + bytes / 2, bytes / 2); }
    HostNDArray array() const { return HostNDArray(nullptr, data_, dtypes::uint32, Layout::contiguous(bytes / 4, 4)); }

  private:
    static constexpr std::size_t bytes = 8 * 4096;
    void* data_;
};

}  // namespace

TEST_CASE("arrays are registered during the scope and pageable after it", "[registered_arrays]") {
    NEEDS_DEVICE();
    ScaleAdd device;
    std::vector<std::uint32_t> a(5000, 3);
    HostNDArray b = host_array({64, 64}, dtypes::uint32);
    b.fill(4u);
    {
        const RegisteredArrays scope = pinned(a, b);
        CHECK(scope.size() == 2);
        CHECK(scope[1].data() == b.data());
        for (const void* data : {static_cast<const void*>(a.data()), b.data()}) {
            const PointerInfo info = pointer_info(data);
            CHECK(info.kind == MemoryKind::registered);
            CHECK(info.host_memory());
            for (const AgentRef gpu : device.driver.gpus()) CHECK(info.accessible_by(gpu));
        }
        CHECK(kind_of(a.data() + 4999) == MemoryKind::registered);
        CHECK(pointer_info(a.data()).agent_address(a.data()) == scope.device_address(0));
        device.run(scope.device_address(0), 5000, 2, 1);
        device.run(scope.device_address(1), 4096, 2, 1);
    }
    CHECK(kind_of(a.data()) == MemoryKind::pageable);
    CHECK(kind_of(b.data()) == MemoryKind::pageable);
    CHECK(a == std::vector<std::uint32_t>(5000, 7));
    CHECK(b.get<std::uint32_t>({63, 63}) == 9);
}

TEST_CASE("memory of any form is registered, read-only memory too", "[registered_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    std::array<float, 100> array{};
    int table[10][20] = {};
    const std::vector<double> constant(50);
    std::vector<std::uint8_t> bytes(1000);
    const auto scope = register_memory(array, table, constant, std::span(bytes), host_view(bytes),
                                       NDView({.data = bytes.data(), .shape = 10, .typestr = "|u1"}));
    CHECK(scope.size() == 6);
    for (const void* data : {static_cast<const void*>(array.data()), static_cast<const void*>(table),
                             static_cast<const void*>(constant.data()), static_cast<const void*>(bytes.data())})
        CHECK(kind_of(data) == MemoryKind::registered);
}

TEST_CASE("the whole extent of a strided array is locked; an empty array locks no page", "[registered_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    const HostNDArray whole = host_array({16, 4096}, dtypes::uint8);
    const HostNDArray part = whole.slice({Slice{12, 4, -4}, Slice{0, 8}});  // rows 12 and 8
    const auto* const bytes = static_cast<const char*>(whole.data());
    {
        const RegisteredArrays scope = pinned(part, host_array({0, 3}), std::vector<int>());
        const PointerInfo info = pointer_info(part.data());
        CHECK(info.kind == MemoryKind::registered);
        CHECK(info.host_base == bytes + 8 * 4096);
        CHECK(info.size_bytes == 4 * 4096 + 8);
        CHECK(scope.device_address(0) == info.agent_address(part.data()));
        CHECK(scope.device_address(1) == nullptr);
        CHECK(kind_of(bytes + 10 * 4096) == MemoryKind::registered);
    }
    CHECK(kind_of(part.data()) == MemoryKind::pageable);
}

TEST_CASE("overlapping and repeated arrays are registered separately", "[registered_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    std::vector<int> values(10000);
    std::optional<RegisteredArrays> outer = pinned(values, values, std::span(values).subspan(100, 2000));
    {
        const auto inner = register_memory(values);
        CHECK(kind_of(values.data()) == MemoryKind::registered);
    }
    CHECK(kind_of(values.data()) == MemoryKind::registered);
    outer.reset();
    CHECK(kind_of(values.data()) == MemoryKind::pageable);
    CHECK(kind_of(values.data() + 200) == MemoryKind::pageable);
}

TEST_CASE("if one of the arrays cannot be registered, none is", "[registered_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    std::vector<std::uint32_t> a(2000, 1), b(3000, 2);
    const Pages pages;
    const HostNDArray broken = pages.array();
    pages.lose_half();
    CHECK_THROWS_WITH(pinned(a, b, broken), Contains("not mapped"));
    CHECK_THROWS_AS(mapped(a, b, broken), InvalidArgument);
    const HostNDArray own_kind = pinned_array(10);  // locked by its kind
    CHECK_THROWS_AS(register_memory(a, b, own_kind), InvalidArgument);
    CHECK(kind_of(a.data()) == MemoryKind::pageable);
    CHECK(kind_of(b.data()) == MemoryKind::pageable);
    CHECK(a == std::vector<std::uint32_t>(2000, 1));
}

TEST_CASE("if the driver refuses one of the locks, the others are undone", "[registered_arrays]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL_AS(test_support::Control, control);
    const test_support::Device device;
    std::vector<std::uint32_t> a(20000, 1), b(30000, 2), c(40000, 3);
    for (std::uint64_t nth = 1; nth <= 3; ++nth) {
        CAPTURE(nth);
        // From 6.1 on, the runtime locks with the ioctl SVM, and if that fails as older ones do.
        REQUIRE(control->fail(KFDEMU_IOCTL_NUMBER(0x20), 1, KFDEMU_ALL, ENOMEM) == 0);
        REQUIRE(control->fail(KFDEMU_ALLOCATION, nth, 1, ENOMEM) == 0);
        CHECK_THROWS_AS(pinned(a, b, c), Error);
        REQUIRE(control->fail(KFDEMU_ALLOCATION, nth, 1, ENOMEM) == 0);
        CHECK_THROWS_AS(mapped(a, b, c), Error);
        control->reset();
        for (const auto* values : {&a, &b, &c}) CHECK(kind_of(values->data()) == MemoryKind::pageable);
    }
    const auto scope = pinned(a, b, c);
    CHECK(kind_of(c.data()) == MemoryKind::registered);
}

TEST_CASE("explicitly registered arrays stay registered until they are deregistered", "[registered_arrays]") {
    NEEDS_DEVICE();
    ScaleAdd device;
    std::vector<std::uint32_t> a(1000, 5), b(1000, 6), c(1000), empty;
    register_memory(a, b, empty).until_deregistered();
    CHECK(kind_of(a.data()) == MemoryKind::registered);
    CHECK(kind_of(b.data() + 999) == MemoryKind::registered);
    {
        const auto scope = pinned(a);  // a separate registration
    }
    CHECK(kind_of(a.data()) == MemoryKind::registered);
    device.run(pointer_info(a.data()).agent_address(a.data()), 1000, 1, 1);
    CHECK(a.back() == 6);
    CHECK_THROWS_AS(deregister_memory(c, a, empty), InvalidArgument);
    CHECK(kind_of(a.data()) == MemoryKind::pageable);  // still pageable
    CHECK(kind_of(b.data()) == MemoryKind::registered);
    deregister_memory(b);
    CHECK(kind_of(b.data()) == MemoryKind::pageable);
    CHECK_THROWS_AS(deregister_memory(b), InvalidArgument);
}

TEST_CASE("mapped arrays are written by kernels in place", "[registered_arrays]") {
    NEEDS_DEVICE();
    ScaleAdd device;
    std::vector<std::uint32_t> a(1000, 1);
    HostNDArray b = host_array({10, 20}, dtypes::uint32);
    b.fill(2u);
    {
        auto [d_a, d_b] = mapped(a, b);
        CHECK(d_a.shape() == Dims{1000});
        CHECK(d_b.data() == b.data());
        CHECK(d_a.agent() == device.gpu.agent());
        const PointerInfo info = pointer_info(a.data());
        CHECK(info.kind == MemoryKind::registered);
        CHECK(info.flags.fine_grained);
        CHECK(info.accessible_by(device.gpu));
        device.run(d_a, 1000, 3, 1);
        device.run(d_b.slice({9}), 20, 3, 1);  // the last row
        CHECK(d_b.get<std::uint32_t>({9, 19}) == 7);
    }
    CHECK(a == std::vector<std::uint32_t>(1000, 4));
    CHECK(b.get<std::uint32_t>({8, 19}) == 2);
    CHECK(kind_of(a.data()) == MemoryKind::pageable);
    CHECK(kind_of(b.data()) == MemoryKind::pageable);
}

TEST_CASE("a mapped view keeps the lock, and memory that its array owns", "[registered_arrays]") {
    NEEDS_DEVICE();
    ScaleAdd device;
    std::vector<std::uint32_t> lent(100, 1);
    std::optional<MappedNDArray> view, owned;
    {
        HostNDArray array = host_array({100}, dtypes::uint32);
        array.fill(1u);
        auto [d_lent, d_array] = mapped(lent, array);
        view = d_lent.slice({Slice{50, 100}});
        owned = d_array;
    }
    CHECK(kind_of(lent.data()) == MemoryKind::registered);
    device.run(*view, 50, 5, 0);
    device.run(*owned, 100, 5, 0);
    CHECK(lent[49] == 1);
    CHECK(lent[50] == 5);
    CHECK(owned->get<std::uint32_t>({99}) == 5);
    device.launch(*view, 50, 5, 0);
    view.reset();  // the launch holds the memory
    device.stream.synchronize();
    device.stream.synchronize();
    CHECK(lent[99] == 25);
    CHECK(kind_of(lent.data()) == MemoryKind::pageable);
}

TEST_CASE("mapped read-only memory stays read-only; empty arrays are mapped to null", "[registered_arrays]") {
    NEEDS_DEVICE();
    const test_support::Device device;
    const std::vector<int> constant(10, 3);
    auto [d_constant] = mapped(constant);
    CHECK_FALSE(d_constant.writable());
    CHECK_THROWS_AS(d_constant.fill(1), InvalidArgument);
    auto [d_empty] = mapped(device.gpu.agent(), host_array({3, 0}));
    CHECK(d_empty.size() == 0);
    CHECK(d_empty.device().data() == nullptr);
    CHECK(d_empty.slice({Slice{0, 2}}).shape() == Dims{2, 0});
}

TEST_CASE("arrays are mapped for the given or the current GPU", "[registered_arrays]") {
    NEEDS_DEVICE();
    const Driver driver;
    std::vector<std::uint32_t> a(100, 2);
    CHECK_THROWS_AS(mapped(a), Error);  // without a Context
    for (const AgentRef gpu : driver.gpus()) {
        ScaleAdd device(gpu);
        auto [d_a] = mapped(gpu, a);
        CHECK(pointer_info(a.data()).accessible == std::vector<AgentRef>{gpu});
        device.run(d_a, 100, 1, 1);
    }
    CHECK(a.front() == 2 + driver.gpus().size());
    CHECK_THROWS_AS(mapped(driver.cpus().front(), a), InvalidArgument);
    CHECK(kind_of(a.data()) == MemoryKind::pageable);
}

TEST_CASE("a transfer from registered memory is in stream order, with the right result", "[registered_arrays]") {
    NEEDS_DEVICE();
    test_support::Device device;
    std::vector<int> from(100000), to(100000);
    std::iota(from.begin(), from.end(), 0);
    const auto scope = pinned(from, to);
    const DeviceNDArray array = to_device(from, device.stream);
    array.copy_to_host(to, device.stream);
    device.stream.synchronize();
    CHECK(to == from);
}

TEST_CASE("foreign arrays are copied to the device and back", "[registered_arrays]") {
    NEEDS_DEVICE();
    test_support::Device device;
    int table[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, back[3][4] = {};
    const NDView view({.data = table, .shape = {3, 4}, .typestr = "<i4"});
    const DeviceNDArray array = to_device(view, device.stream);
    CHECK(array.shape() == Dims{3, 4});
    array.copy_to_host(back, device.stream);
    device.stream.synchronize();
    CHECK(back[2][3] == 12);
    CHECK(to_device(table, device.stream).shape() == Dims{3, 4});
    const NDView fixed({.data = table, .read_only = true, .shape = {3, 4}, .typestr = "<i4"});
    CHECK_THROWS_WITH(array.copy_to_host(MutableHostView(fixed), device.stream), Contains("read-only"));
}
