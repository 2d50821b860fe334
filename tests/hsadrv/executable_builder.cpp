// Several code objects in one executable, and variables that the program defines for them.
#include "hsadrv/executable_builder.hpp"

#include <algorithm>
#include <utility>

#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

std::string file_for(AgentRef gpu, const std::string& name) { return test_file(name + "." + gpu.name() + ".hsaco"); }

}  // namespace

TEST_CASE("code objects use each other's variables, in any order of addition", "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const bool user_first = GENERATE(true, false);
    CAPTURE(user_first);
    Shared<int> given(device.gpu, 2), out(device.gpu, 3);
    given[1] = 77;
    ExecutableBuilder builder(device.gpu);
    if (user_first) builder.add(file_for(device.gpu, "uses"));
    ExecutableBuilder moved = std::move(builder);  // with the added code objects
    builder = std::move(moved);
    builder.add(test_file("globals.hsaco"));
    if (!user_first) builder.add(file_for(device.gpu, "uses"));
    builder.define("given", given.data(), 2 * sizeof(int));
    const Executable code = builder.build();

    CHECK(code.code_object_count() == 2);
    CHECK(code.code_object(0).find("read_globals"));
    CHECK(code.code_object(1).find("count_up"));
    CHECK_THROWS_AS(code.code_object(2), InvalidArgument);
    code.kernel("count_up").launch(device.stream, {.grid = 1, .workgroup = 1}, out.data());
    device.stream.synchronize(std::chrono::seconds(60));
    CHECK(out[0] == 8);
    CHECK(out[1] == 40);
    CHECK(out[2] == 77);
    CHECK(code.global("counter").read<int>() == 8);
    CHECK(code.global("given").size_bytes() == 8);
    CHECK(code.global("given").address() == given.data());
    CHECK(code.kernel("read_globals").kernel_object() != 0);
}

TEST_CASE("all symbols are listed", "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("globals.hsaco"));
    const auto symbols = code.symbols();
    const auto kind_of = [&](const std::string& name) -> std::string {
        for (const Symbol& symbol : symbols) {
            if (symbol.name == name) return std::string(to_string(symbol.kind));
        }
        return "missing";
    };
    CHECK(kind_of("counter") == "variable");
    CHECK(kind_of("constants") == "variable");
    CHECK(kind_of("read_globals.kd") == "kernel");
    CHECK(kind_of("add_to_counter.kd") == "kernel");
    CHECK(std::all_of(symbols.begin(), symbols.end(), [](const Symbol& s) { return s.address != 0; }));
    CHECK(code.code_object().functions == std::vector<std::string>{"twice"});
    CHECK(to_string(Symbol::Kind::indirect_function) == "indirect function");
}

TEST_CASE("a symbol that two code objects define is refused with both names", "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    ExecutableBuilder builder(device.gpu);
    builder.add(test_file("globals.hsaco"));
    const Bytes again = read_file(test_file("globals.hsaco"));
    CHECK_THAT(message_of<InvalidCodeObject>([&] { builder.add(again, "second"); }),
               Contains("'second' and '") && Contains("globals.hsaco' both define '"));
    CHECK_THAT(
        message_of<InvalidCodeObject>([&] {
            ExecutableBuilder(device.gpu).add(launch_file(device.gpu, "v5.O2")).add(launch_file(device.gpu, "v5.O0"));
        }),
        Contains("v5.O2.hsaco' both define 'saxpy.kd'"));
    CHECK(builder.build().global("counter").read<int>() == 7);  // earlier additions are kept
}

TEST_CASE("undefined variables are refused by name", "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    CHECK_THAT(message_of<InvalidCodeObject>([&] { Executable::load(device.gpu, file_for(device.gpu, "uses")); }),
               Contains("uses.") && Contains(" needs '") && Contains("define() it"));
    ExecutableBuilder builder(device.gpu);
    builder.add(file_for(device.gpu, "uses")).add(test_file("globals.hsaco"));
    CHECK_THAT(message_of<InvalidCodeObject>([&] { builder.build(); }), Contains("needs 'given'"));
}

TEST_CASE("cyclic dependencies of code objects are refused, unless the program defines a variable of the cycle",
          "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const auto first = file_for(device.gpu, "circle_first"), second = file_for(device.gpu, "circle_second");
    CHECK_THAT(message_of<InvalidCodeObject>([&] { ExecutableBuilder(device.gpu).add(first).add(second).build(); }),
               Contains("circle_first") && Contains("circle_second") && Contains("each needs a variable"));
    Shared<int> value(device.gpu, 1, 5), out(device.gpu, 1);
    const Executable code =
        ExecutableBuilder(device.gpu).add(first).define("second", value.data(), sizeof(int)).build();
    code.kernel("read_second").launch(device.stream, {.grid = 1, .workgroup = 1}, out.data());
    device.stream.synchronize(std::chrono::seconds(60));
    CHECK(out[0] == 5);
}

TEST_CASE("unsuitable definitions are refused", "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    ExecutableBuilder builder(device.gpu);
    builder.add(test_file("globals.hsaco"));
    Allocation memory = device.gpu.allocate(4096);
    int on_host = 0;
    const auto why = [&](const char* name, void* address, std::size_t size) {
        return message_of<InvalidArgument>([&] { builder.define(name, address, size); });
    };
    CHECK_THAT(why("x", &on_host, 4), Contains("define(x, 4 B)") && Contains("pageable"));
    CHECK_THAT(why("x", nullptr, 4), Contains("no address"));
    CHECK_THAT(why("", memory.data(), 4), Contains("no name"));
    CHECK_THAT(why("x", memory.data(), std::size_t{1} << 40), Contains("are left in its block"));
    CHECK_THAT(why("counter", memory.data(), 4), Contains("globals.hsaco' already defines it"));
    builder.define("x", memory.data(), 4096);
    CHECK_THAT(why("x", memory.data(), 4096), Contains("already defined"));
    CHECK_THAT(message_of<InvalidCodeObject>([&] {
                   ExecutableBuilder(device.gpu).define("counter", memory.data(), 4).add(test_file("globals.hsaco"));
               }),
               Contains("globals.hsaco' defines 'counter', which the program has given an address"));
}

TEST_CASE("an owner given with a definition lives as long as the code", "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    auto memory = std::make_shared<Allocation>(device.gpu.allocate(64));
    const std::weak_ptr<Allocation> watched = memory;
    {
        ExecutableBuilder builder(device.gpu);
        builder.define("given", memory->data(), 64, memory);
        const Executable code = builder.add(test_file("globals.hsaco")).build();
        memory.reset();
        CHECK_FALSE(watched.expired());
        CHECK_THROWS_AS(builder.build(), InvalidArgument);  // its contents were moved to the executable
    }
    CHECK(watched.expired());
}

TEST_CASE("an unsupported version is named even if definitions are missing, too", "[executable_builder][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    Shared<int> given(device.gpu, 4);
    ExecutableBuilder builder(device.gpu);
    for (const char* name : {"given", "table", "counter"}) builder.define(name, given.data(), 4 * sizeof(int));
    builder.add(file_for(device.gpu, "uses_v6"));
    const std::string why = message_of<InvalidCodeObject>([&] { builder.build(); });
    if (!why.empty()) CHECK_THAT(why, Contains("code object V6, this ROCR loads up to V5"));
}
