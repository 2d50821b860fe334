// Registration of host memory: once, repeatedly, with valid and invalid ranges.
#include "hsadrv/registration.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "tests/hsadrv/control.hpp"
#include "tests/hsadrv/device.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

/// Anonymous pages, zeroed.
class Pages {
  public:
    explicit Pages(std::size_t count)
        : size_bytes_(count * page),
          data_(static_cast<std::uint8_t*>(
              mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        if (data_ == MAP_FAILED) throw std::runtime_error("mmap failed");
    }
    ~Pages() { munmap(data_, size_bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    std::uint8_t* at(std::size_t offset) const { return data_ + offset; }
    std::size_t size_bytes() const { return size_bytes_; }

  private:
    std::size_t size_bytes_;
    std::uint8_t* data_;
};

struct Registering : Device {
    Stream stream{gpu};
    Allocation device = Allocation::from_pool(device_pool(gpu), 64 * page);

    /// A copy engine writes through the device address; true if the host sees exactly that.
    bool reaches(std::uint8_t* host, void* at_device, std::size_t size_bytes, unsigned seed) {
        std::vector<std::uint8_t> bytes(size_bytes);
        std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(seed));
        stream.copy_async(device.data(), bytes.data(), size_bytes, patience);
        stream.copy_async(at_device, device.data(), size_bytes, patience);
        stream.synchronize(patience);
        return std::equal(bytes.begin(), bytes.end(), host);
    }
};

}  // namespace

TEST_CASE("registered host memory has a device address, until the scope ends", "[memory][register]") {
    NEEDS_DEVICE();
    Registering f;
    const Pages host(3);
    {
        const Registration pinned(host.at(0), host.size_bytes(), {f.gpu});
        CHECK(pinned);
        CHECK(pinned.host() == host.at(0));
        CHECK(pinned.size_bytes() == host.size_bytes());
        REQUIRE(pinned.device_address() != nullptr);
        const PointerInfo info = pointer_info(host.at(0));
        CHECK(info.kind == PointerInfo::Kind::registered);
        CHECK_FALSE(info.device_memory());
        CHECK(info.owner.is_cpu());
        CHECK(info.accessible == std::vector<AgentRef>{f.gpu});
        CHECK(info.agent_address(host.at(0)) == pinned.device_address());
        CHECK(info.agent_address(host.at(77)) == static_cast<std::byte*>(pinned.device_address()) + 77);
        CHECK(pointer_info(pinned.device_address()).host_base == host.at(0));
        CHECK(f.reaches(host.at(0), pinned.device_address(), host.size_bytes(), 3));
    }
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::pageable);
}

TEST_CASE("memory is registered at any address, and as any kind of host memory", "[memory][register]") {
    NEEDS_DEVICE();
    Registering f;
    const Pages host(20);
    struct Row {
        std::size_t offset, size_bytes;
    };
    for (const HostMemory kind : {HostMemory::coarse_grained, HostMemory::fine_grained})
        for (const Row row : {Row{0, page}, Row{0, 20 * page}, Row{4, 64}, Row{1001, 99}, Row{page - 3, 7},
                              Row{3 * page + 13, 11 * page}, Row{20 * page - 1, 1}}) {
            CAPTURE(row.offset, row.size_bytes);
            const Registration pinned(host.at(row.offset), row.size_bytes, {f.gpu}, kind);
            CHECK(f.reaches(host.at(row.offset), pinned.device_address(), row.size_bytes, 7));
        }
}

TEST_CASE("a Registration can be moved, and an empty one has no effect", "[memory][register]") {
    NEEDS_DEVICE();
    const Device device;
    const Pages host(2);
    Registration a(host.at(0), page, {device.gpu});
    void* const address = a.device_address();
    Registration b = std::move(a);
    CHECK_FALSE(a);  // NOLINT: moved-from is empty
    CHECK(a.host() == nullptr);
    CHECK(a.device_address() == nullptr);
    CHECK(a.size_bytes() == 0);
    CHECK(b.device_address() == address);
    b = Registration(host.at(page), page, {device.gpu});
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::pageable);
    CHECK(pointer_info(host.at(page)).kind == PointerInfo::Kind::registered);
    b = Registration();
    CHECK(pointer_info(host.at(page)).kind == PointerInfo::Kind::pageable);
}

TEST_CASE("invalid ranges, runtime memory and unmapped memory are not registered", "[memory][register]") {
    NEEDS_DEVICE();
    const Device device;
    const Pages host(4);
    int word = 0;
    REQUIRE(munmap(host.at(2 * page), page) == 0);
    const Allocation on_device = Allocation::from_pool(device_pool(device.gpu), page);
    const Allocation pinned = Allocation::from_pool(host_pool(), page);
    const AgentRef cpus[] = {device.driver.cpus().front()};
    CHECK_THROWS_WITH(register_memory(nullptr, 4), Contains("the pointer is null"));
    CHECK_THROWS_AS(register_memory(&word, 0), InvalidArgument);
    CHECK_THROWS_WITH(register_memory(&word, SIZE_MAX), Contains("end of the address space"));
    CHECK_THROWS_WITH(register_memory(&word, 4, cpus), Contains("none of the agents is a GPU"));
    CHECK_THROWS_WITH(register_memory(on_device.data(), 100),
                      Contains("the runtime allocated for " + device.gpu.label()));
    CHECK_THROWS_WITH(register_memory(pinned.data(), 100), Contains("the runtime allocated for cpu0"));
    for (const std::size_t from : {std::size_t{0}, page + 5, 2 * page, 2 * page + 100}) {
        CAPTURE(from);
        CHECK_THROWS_AS(register_memory(host.at(from), host.size_bytes() - from), InvalidArgument);
        CHECK_THROWS_WITH(register_memory(host.at(from), host.size_bytes() - from), Contains("is not mapped"));
    }
    // None of those locked anything; the mapped part can be locked.
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::pageable);
    CHECK_NOTHROW(Registration(host.at(0), 2 * page, {device.gpu}));
    CHECK_NOTHROW(Registration(host.at(3 * page), page, {device.gpu}));
    REQUIRE(mmap(host.at(2 * page), page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
            host.at(2 * page));
}

TEST_CASE("register_memory and deregister_memory come in pairs", "[memory][register]") {
    NEEDS_DEVICE();
    Registering f;
    const Pages host(2);
    const AgentRef gpus[] = {f.gpu};
    void* const first = register_memory(host.at(0), 2 * page, gpus);
    void* const second = register_memory(host.at(0), 2 * page);
    CHECK(f.reaches(host.at(0), first, 2 * page, 1));
    CHECK(f.reaches(host.at(0), second, 2 * page, 2));
    CHECK_NOTHROW(deregister_memory(host.at(0)));
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::registered);
    CHECK(f.reaches(host.at(0), first, 2 * page, 3));
    CHECK_NOTHROW(deregister_memory(host.at(0)));
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::pageable);
    CHECK_THROWS_AS(deregister_memory(host.at(0)), InvalidArgument);
}

TEST_CASE("overlapping ranges are locked independently and unlocked in any order", "[memory][register]") {
    NEEDS_DEVICE();
    Registering f;
    struct Range {
        std::size_t offset, size_bytes;
    };
    struct Row {
        const char* what;
        Range a, b;
    };
    const Row rows[] = {
        {"the same", {0, 8 * page}, {0, 8 * page}},
        {"overlapping", {0, 5 * page}, {3 * page, 5 * page}},
        {"contained", {0, 8 * page}, {2 * page, page}},
        {"one beginning, the second longer", {0, page}, {0, 8 * page}},
        {"one beginning, the second shorter", {0, 8 * page}, {0, page}},
        {"one beginning within a page", {100, 3 * page}, {100, 50}},
        {"touching", {0, 4 * page}, {4 * page, 4 * page}},
        {"touching within a page", {7, 100}, {107, 2 * page}},
        {"a byte each of one page", {9, 1}, {11, 1}},
    };
    for (const Row& row : rows)
        for (const bool first_goes_first : {true, false}) {
            CAPTURE(row.what, first_goes_first);
            const Pages host(8);
            auto* const at_a = host.at(row.a.offset);
            auto* const at_b = host.at(row.b.offset);
            void* const a = register_memory(at_a, row.a.size_bytes);
            void* const b = register_memory(at_b, row.b.size_bytes);
            CHECK(f.reaches(at_a, a, row.a.size_bytes, 1));
            CHECK(f.reaches(at_b, b, row.b.size_bytes, 2));
            if (first_goes_first) {
                deregister_memory(at_a, row.a.size_bytes);
                CHECK(f.reaches(at_b, b, row.b.size_bytes, 3));
                // By its host address too, the entire range.
                CHECK(f.reaches(at_b, at_b, row.b.size_bytes, 4));
                deregister_memory(at_b, row.b.size_bytes);
            } else {
                deregister_memory(at_b, row.b.size_bytes);
                CHECK(f.reaches(at_a, a, row.a.size_bytes, 3));
                CHECK(f.reaches(at_a, at_a, row.a.size_bytes, 4));
                deregister_memory(at_a, row.a.size_bytes);
            }
            CHECK(pointer_info(at_a).kind == PointerInfo::Kind::pageable);
            CHECK(pointer_info(at_b).kind == PointerInfo::Kind::pageable);
        }
}

TEST_CASE("a range registered for one GPU can be registered for another", "[memory][register]") {
    NEEDS_DEVICE();
    Registering f;
    if (f.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    const AgentRef other = f.driver.gpus()[1];
    const Pages host(2);
    const Registration mine(host.at(0), 2 * page, {f.gpu});
    const Registration its(host.at(0), 2 * page, {other});
    CHECK(f.reaches(host.at(0), mine.device_address(), 2 * page, 1));
    Stream theirs(other);
    const Allocation there = Allocation::from_pool(device_pool(other), 2 * page);
    const std::vector<std::uint8_t> bytes(2 * page, 0x5a);
    theirs.copy_async(there.data(), bytes.data(), bytes.size(), patience);
    theirs.copy_async(its.device_address(), there.data(), bytes.size(), patience);
    theirs.synchronize(patience);
    CHECK(std::equal(bytes.begin(), bytes.end(), host.at(0)));
}

TEST_CASE("a wrong pointer is not deregistered, and nothing is unlocked", "[memory][register]") {
    NEEDS_DEVICE();
    Registering f;
    const Pages host(4);
    int own = 0;
    const Registration scoped(host.at(2 * page), page, {f.gpu});
    void* const address = register_memory(host.at(0), 2 * page);
    CHECK_THROWS_AS(deregister_memory(nullptr), InvalidArgument);
    CHECK_THROWS_AS(deregister_memory(&own), InvalidArgument);
    CHECK_THROWS_AS(deregister_memory(host.at(page)), InvalidArgument);                       // inside a range
    CHECK_THROWS_AS(deregister_memory(host.at(0), page), InvalidArgument);                    // another size
    CHECK_THROWS_AS(deregister_memory(host.at(2 * page)), InvalidArgument);                   // a scope's
    if (address != host.at(0)) CHECK_THROWS_AS(deregister_memory(address), InvalidArgument);  // the device's view
    CHECK_THROWS_WITH(deregister_memory(&own), Contains("deregister_memory(0x"));
    CHECK(f.reaches(host.at(0), address, 2 * page, 5));
    CHECK(f.reaches(host.at(2 * page), scoped.device_address(), page, 6));
    CHECK_NOTHROW(deregister_memory(host.at(0), 2 * page));
}

TEST_CASE("memory that is unmapped while it is registered can be deregistered", "[memory][register]") {
    NEEDS_DEVICE();
    Registering f;
    const Pages other(1);
    const Registration kept(other.at(0), page, {f.gpu});
    {
        const Pages host(4);
        register_memory(host.at(0), 4 * page);
        REQUIRE(munmap(host.at(0), 4 * page) == 0);
        CHECK_NOTHROW(deregister_memory(host.at(0)));
        REQUIRE(mmap(host.at(0), 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                host.at(0));
        const Registration again(host.at(0), 4 * page, {f.gpu});
        CHECK(f.reaches(host.at(0), again.device_address(), 4 * page, 1));
    }
    CHECK(f.reaches(other.at(0), kept.device_address(), page, 2));
}

TEST_CASE("memory still registered ends with the runtime", "[memory][register]") {
    NEEDS_DEVICE();
    const Pages host(2);
    {
        const Device device;
        register_memory(host.at(0), page);
        register_memory(host.at(0), 2 * page);
    }
    const Device device;
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::pageable);
    CHECK_THROWS_AS(deregister_memory(host.at(0)), InvalidArgument);
}

TEST_CASE("a Registration outlives the driver it was made under", "[memory][register]") {
    NEEDS_DEVICE();
    const Pages host(2);
    Registration pinned;
    {
        const Device device;
        pinned = Registration(host.at(0), page, {device.gpu});
    }
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::registered);
    pinned = Registration();
}

TEST_CASE("a hint is accepted, and does not lock", "[memory][register]") {
    NEEDS_DEVICE();
    const Device device;
    const Pages host(2);
    CHECK_NOTHROW(register_hint(host.at(100), 5000));
    CHECK_NOTHROW(register_hint(host.at(100), 5000));
    CHECK_NOTHROW(deregister_hint(host.at(100), 5000));
    CHECK_NOTHROW(deregister_hint(host.at(100), 5000));
    CHECK(pointer_info(host.at(100)).kind == PointerInfo::Kind::pageable);
    CHECK_THROWS_AS(register_hint(host.at(0), 0), InvalidArgument);
    CHECK_THROWS_AS(register_hint(nullptr, 10), InvalidArgument);
    CHECK_THROWS_AS(deregister_hint(nullptr, 10), InvalidArgument);
}

TEST_CASE("threads register the same and overlapping ranges concurrently", "[memory][register][stress]") {
    NEEDS_DEVICE();
    const Device device;
    const Pages host(16);
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (unsigned i = 0; i < 50; ++i) try {
                    const std::size_t from = (t + i) % 3 * page, size = (1 + i % 4) * page;
                    const Registration scoped(host.at(from), size, {device.gpu});
                    register_memory(host.at(from), size);
                    if (pointer_info(host.at(from)).bytes_after(host.at(from)) < size) ++failures;
                    deregister_memory(host.at(from), size);
                } catch (const std::exception&) {
                    ++failures;
                }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::pageable);
}

TEST_CASE("a registration whose N-th kernel request fails is an error, and locks nothing",
          "[memory][register][failures]") {
    NEEDS_DEVICE();
    NEEDS_CONTROL(control);
    Registering f;
    const Pages host(4);
    const auto use = [&] { const Registration pinned(host.at(0), 4 * page, {f.gpu}); };
    use();
    for (const Failure& failure : control.kinds()) {
        CAPTURE(failure.what);
        const std::uint64_t calls = control.calls(failure, use);
        for (std::uint64_t nth = 1; nth <= calls; ++nth) {
            CAPTURE(nth);
            const auto held = control.held();
            control.fail(failure, nth);
            try {
                use();
            } catch (const Error& error) {
                CHECK_THAT(error.what(), Contains("hsa_amd_memory_lock_to_pool(0x"));
            }
            control.reset();
            CHECK(pointer_info(host.at(0)).kind == PointerInfo::Kind::pageable);
            CHECK(control.held() == held);
            CHECK_NOTHROW(use());
            const Registration pinned(host.at(0), 4 * page, {f.gpu});
            CHECK(f.reaches(host.at(0), pinned.device_address(), 4 * page, static_cast<unsigned>(nth)));
        }
    }
}
