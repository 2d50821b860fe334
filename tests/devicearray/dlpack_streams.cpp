// The consumer of a tensor is ordered after its producer, and the tensor is deleted after its last use.
#include "hsadrv/executable.hpp"
#include "tests/devicearray/dlpack_fixture.hpp"
#include "tests/support/test_file.hpp"

#if defined(WITH_DLPACK)
using namespace dlpack_test;

namespace {

/// A kernel that writes into an array when released.
struct Writer : Device {
    Executable code = Executable::load(gpu, test_support::test_file("nd_span.hsaco"));
    Kernel write = code.kernel("write_when_told");
    Allocation flag = gpu.allocate_host(4);

    Writer() { *flag.as<std::uint32_t>() = 0; }
    ~Writer() { tell(); }
    void tell() const { std::atomic_ref(*flag.as<std::uint32_t>()).store(1); }
    void write_later(const DeviceNDArray& array, std::int32_t value) {
        write.launch(stream, {.grid = static_cast<std::uint32_t>(array.size()), .workgroup = 64}, flag,
                     nd_span<std::int32_t, 1>(array), value);
    }
};

}  // namespace

TEMPLATE_TEST_CASE("the consumer's stream waits on the device for the producer's work", "[dlpack][device]",
                   DLPACK_FORMS) {
    NEEDS_DEVICE();
    Writer writer;
    Stream consumer = writer.gpu.stream();
    const DeviceNDArray array = to_device(std::vector<std::int32_t>(256, -1), writer.stream);
    const Allocation out = writer.gpu.allocate_host(1024);
    writer.write_later(array, 7);

    const DeviceNDArray taken = std::get<DeviceNDArray>(from_dlpack(TestType::of(array, writer.stream, &consumer)));
    consumer.copy_async(out.data(), taken.data(), 1024);
    CHECK_FALSE(consumer.query());  // the host did not wait for the kernel
    CHECK_FALSE(writer.stream.query());
    writer.tell();
    consumer.synchronize(patience);
    const std::vector<std::int32_t> got(out.as<std::int32_t>(), out.as<std::int32_t>() + 256);
    CHECK(got == std::vector<std::int32_t>(256, 7));
}

TEMPLATE_TEST_CASE("for an unknown consumer stream the host waits for the producer's, up to a deadline",
                   "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Writer writer;
    const DeviceNDArray array = to_device(std::vector<std::int32_t>(64, -1), writer.stream);
    writer.write_later(array, 7);
    const auto within = [&](std::chrono::milliseconds time) {
#if defined(DLPACK_MAJOR_VERSION)
        if constexpr (std::is_same_v<TestType, Versioned>)
            return to_dlpack_versioned(array, writer.stream, nullptr, DlpackAccess::read_write, time);
        else
#endif
            return to_dlpack(array, writer.stream, nullptr, time);
    };
    CHECK_THROWS_AS(within(std::chrono::milliseconds(20)), Timeout);
    writer.tell();
    const auto tensor = within(patience);
    CHECK(writer.stream.query());
}

TEST_CASE("one stream as producer and consumer needs no wait", "[dlpack][device]") {
    NEEDS_DEVICE();
    Writer writer;
    const DeviceNDArray array = to_device(std::vector<std::int32_t>(64, -1), writer.stream);
    writer.write_later(array, 7);
    const DeviceNDArray taken = std::get<DeviceNDArray>(from_dlpack(to_dlpack(array, writer.stream, &writer.stream)));
    writer.tell();
    CHECK(taken.copy_to_host<std::int32_t>(writer.stream) == std::vector<std::int32_t>(64, 7));
}

TEMPLATE_TEST_CASE("the deleter is called after the work that uses the array", "[dlpack][device]", DLPACK_FORMS) {
    NEEDS_DEVICE();
    Writer writer;
    const Allocation memory = writer.gpu.allocate(256);
    Foreign<typename TestType::Tensor> foreign(memory.data(), rocm, 0, int32, {64});
    {
        const DeviceNDArray array = std::get<DeviceNDArray>(from_dlpack(foreign.raw()));
        writer.write_later(array, 3);
    }
    CHECK_FALSE(writer.stream.query());
    CHECK(foreign.deleted == 0);
    writer.tell();
    writer.stream.synchronize(patience);
    CHECK(foreign.deleted == 1);
}

TEST_CASE("an array of a failed producer stream is not exported", "[dlpack][device]") {
    NEEDS_DEVICE();
    Writer writer;
    Stream consumer = writer.gpu.stream();
    Stream producer = writer.gpu.stream({.exclusive_queue = true});
    const DeviceNDArray array = device_array<std::int32_t>(64, producer);
    producer.call([] { throw std::runtime_error("the producer's own"); });
    CHECK_THROWS_WITH(producer.synchronize(patience), Contains("the producer's own"));
    CHECK_THROWS(to_dlpack(array, producer, &consumer));
    CHECK_THROWS(to_dlpack(array, producer, nullptr));
    CHECK(array.keep_alive().use_count() == 1);  // no tensor leaked
    consumer.synchronize(patience);
}
#endif
