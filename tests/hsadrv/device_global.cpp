// Variables of code objects, read and written by name.
#include "hsadrv/device_global.hpp"

#include <array>

#include "hsadrv/error.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

struct Globals {
    Device device;
    Executable code = Executable::load(device.gpu, test_file("globals.hsaco"));
};

}  // namespace

#define NEEDS_GLOBALS()                            \
    NEEDS_DEVICE();                                \
    NEEDS_LAUNCH_KERNELS(Driver().gpus().front()); \
    Globals globals;                               \
    [[maybe_unused]] Stream& stream = globals.device.stream

TEST_CASE("a global's facts are those of its symbol", "[device_global][device]") {
    NEEDS_GLOBALS();
    const DeviceGlobal counter = globals.code.global("counter");
    CHECK(counter.name() == "counter");
    CHECK(counter.size_bytes() == 4);
    CHECK(counter.scope() == Symbol::Scope::agent);
    CHECK(counter.address() != nullptr);
    CHECK(counter.agent() == globals.device.gpu.agent());
    CHECK_FALSE(counter.read_only());
    CHECK(globals.code.global("table").size_bytes() == 16);
    CHECK(globals.code.global("constants").read_only());
}

TEST_CASE("an unknown global is refused with the names of the existing ones", "[device_global][device]") {
    NEEDS_GLOBALS();
    CHECK_THAT(
        message_of<InvalidArgument>([&] { globals.code.global("count"); }),
        Contains("globals.hsaco': no variable 'count'; there are: ") && Contains("'counter'") && Contains("'table'"));
    CHECK_THROWS_AS(globals.code.global("read_globals.kd"), InvalidArgument);  // a kernel is not a variable
    CHECK_THROWS_AS(globals.code.global(""), InvalidArgument);
}

TEST_CASE("a global has its initial value, and what kernels write to it", "[device_global][device]") {
    NEEDS_GLOBALS();
    const DeviceGlobal counter = globals.code.global("counter");
    CHECK(counter.read<int>() == 7);
    CHECK(counter.read<int>(stream) == 7);
    CHECK(globals.code.global("table").read<std::array<int, 4>>() == std::array{10, 20, 30, 40});
    CHECK(globals.code.global("constants").read<std::array<int, 3>>(stream) == std::array{1, 2, 3});
    globals.code.kernel("add_to_counter").launch(stream, {.grid = 1, .workgroup = 1}, 10);
    CHECK(counter.read<int>(stream) == 30);
}

TEST_CASE("kernels see earlier writes to a global, and no later ones", "[device_global][device]") {
    NEEDS_GLOBALS();
    const DeviceGlobal counter = globals.code.global("counter");
    const Kernel read = globals.code.kernel("read_globals");
    Shared<int> out(globals.device.gpu, 2);
    counter.write(stream, 100);
    read.launch(stream, {.grid = 1, .workgroup = 1}, out.data(), 0);
    counter.write(stream, 200);
    read.launch(stream, {.grid = 1, .workgroup = 1}, out.data() + 1, 0);
    stream.synchronize(std::chrono::seconds(60));
    CHECK(out[0] == 100);
    CHECK(out[1] == 200);
}

TEST_CASE("without a stream a write is complete on return", "[device_global][device]") {
    NEEDS_GLOBALS();
    const DeviceGlobal counter = globals.code.global("counter");
    counter.write(1000, std::chrono::seconds(60));
    CHECK(counter.read<int>(std::chrono::seconds(60)) == 1000);
    globals.code.kernel("add_to_counter").launch(stream, {.grid = 1, .workgroup = 1}, 0);
    stream.synchronize(std::chrono::seconds(60));
    CHECK(counter.read<int>() == 1003);
}

TEST_CASE("parts of a global are copied, smaller and larger than a staging chunk", "[device_global][device]") {
    NEEDS_GLOBALS();
    const DeviceGlobal table = globals.code.global("table");
    const int two[] = {7, 8};
    table.write_bytes(std::as_bytes(std::span(two)), 4);
    CHECK(table.read<std::array<int, 4>>() == std::array{10, 7, 8, 40});
    int last = 0;
    table.read_bytes(stream, std::as_writable_bytes(std::span(&last, 1)), 12);
    CHECK(last == 40);

    const DeviceGlobal big = globals.code.global("big");
    std::vector<float> values(std::size_t{1} << 18), again(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    big.write_bytes(stream, std::as_bytes(std::span(values)));
    big.read_bytes(stream, std::as_writable_bytes(std::span(again)));
    CHECK(again == values);
}

TEST_CASE("sizes, ranges, constants and foreign streams are refused", "[device_global][device]") {
    NEEDS_GLOBALS();
    const DeviceGlobal counter = globals.code.global("counter");
    CHECK_THAT(message_of<InvalidArgument>([&] { counter.read<double>(); }),
               Contains("'counter' has 4 bytes, the type given has 8"));
    CHECK_THROWS_AS(counter.read<double>(stream), InvalidArgument);
    CHECK_THROWS_AS(counter.write(short{1}), InvalidArgument);
    CHECK_THROWS_AS(counter.write(stream, short{1}), InvalidArgument);
    std::array<std::byte, 8> bytes{};
    struct Row {
        std::size_t offset, size;
    };
    for (const Row row : {Row{0, 5}, Row{1, 4}, Row{5, 0}, Row{~std::size_t{0}, 2}}) {
        CAPTURE(row.offset, row.size);
        const auto part = std::span(bytes).first(row.size);
        CHECK_THROWS_AS(counter.read_bytes(part, row.offset), InvalidArgument);
        CHECK_THROWS_AS(counter.read_bytes(stream, part, row.offset), InvalidArgument);
        CHECK_THROWS_AS(counter.write_bytes(part, row.offset), InvalidArgument);
        CHECK_THROWS_AS(counter.write_bytes(stream, part, row.offset), InvalidArgument);
    }
    CHECK(counter.read<int>() == 7);
    const DeviceGlobal constants = globals.code.global("constants");
    CHECK_THAT(message_of<InvalidArgument>([&] { constants.write(std::array{4, 5, 6}); }),
               Contains("'constants' is constant"));
    CHECK_THROWS_AS(constants.write(stream, std::array{4, 5, 6}), InvalidArgument);
    if (globals.device.driver.gpus().size() < 2) return;
    Stream other(globals.device.driver.gpus()[1]);
    CHECK_THROWS_AS(counter.read<int>(other), InvalidArgument);
    CHECK_THROWS_AS(counter.write(other, 1), InvalidArgument);
}

TEST_CASE("a global keeps its executable alive", "[device_global][device]") {
    NEEDS_GLOBALS();
    const DeviceGlobal table = [&] {
        return Executable::load(globals.device.gpu, test_file("globals.hsaco")).global("table");
    }();
    CHECK(table.read<std::array<int, 4>>() == std::array{10, 20, 30, 40});
}
