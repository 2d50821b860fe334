// Launches whose types are known at run time: they do what launches of C++ values do, and refuse the same arguments in
// the same words.
#include "hsadrv/launch_argument.hpp"

#include <array>
#include <memory>
#include <vector>

#include "hsadrv/error.hpp"
#include "hsadrv/graph.hpp"
#include "tests/hsadrv/launch_device.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

using Arguments = std::vector<LaunchArgument>;

struct RunTime {
    Device device;
    Executable code;

    explicit RunTime(const std::string& variant = "v5.O2")
        : code(Executable::load(device.gpu, launch_file(device.gpu, variant))) {}

    void run(const char* kernel, const LaunchConfig& config, const Arguments& arguments) {
        code.kernel(kernel).launch(device.stream, config, arguments);
        device.stream.synchronize(patience);
    }

    /// The refusal of the run-time launch, which must be that of the typed one.
    template <class... Args>
    std::string refusal(const char* name, const Args&... args) {
        const Kernel kernel = code.kernel(name);
        const Arguments arguments = {LaunchArgument::of(args)...};
        const LaunchConfig config{.grid = 64, .workgroup = 64};
        const auto before = device.stream.progress().submitted;
        const std::string typed = message_of<InvalidArgument>([&] { kernel.launch(device.stream, config, args...); });
        const std::string described =
            message_of<InvalidArgument>([&] { kernel.launch(device.stream, config, arguments); });
        CHECK(described == typed);
        CHECK(device.stream.progress().submitted == before);
        return described;
    }
};

template <class T>
std::span<const std::byte> bytes_of_value(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

}  // namespace

#define NEEDS_RUN_TIME(...)                        \
    NEEDS_DEVICE();                                \
    NEEDS_LAUNCH_KERNELS(Driver().gpus().front()); \
    RunTime t { __VA_ARGS__ }

TEST_CASE("arguments described at run time reach the kernel", "[launch_argument][device]") {
    const std::string variant = GENERATE("v4.O0", "v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    NEEDS_RUN_TIME(variant);
    const unsigned n = GENERATE(1u, 100u, 1000u);
    Shared<float> x(t.device.gpu, n, 3.0f), y(t.device.gpu, n + 1, 1.0f);
    const float a = 2.0f;
    t.run(
        "saxpy", {.grid = n, .workgroup = 256},
        {LaunchArgument::pointer({y.data(), {}, 0, element_type<float>}), LaunchArgument::of(x.data()),
         LaunchArgument::value(bytes_of_value(a), ArgumentClass::floating), LaunchArgument::value(bytes_of_value(n))});
    bool right = true;
    for (unsigned i = 0; i < n; ++i) right = right && y[i] == 7.0f;
    CHECK(right);
    CHECK(y[n] == 1.0f);
}

TEST_CASE("every scalar and a struct given as bytes are packed where the kernel reads them",
          "[launch_argument][device]") {
    const std::string variant = GENERATE("v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    NEEDS_RUN_TIME(variant);
    Shared<std::uint64_t> out(t.device.gpu, 9);
    const signed char c = -3;
    const short s = -300;
    const int i = -70000;
    const long l = -5000000000L;
    const float f = 2.25f;
    const double d = -1.125;
    const Triple triple{-7, 12.0f, -99.0};
    t.run(
        "mixed", {.grid = 1, .workgroup = 1},
        {LaunchArgument::of(out.data()), LaunchArgument::value(bytes_of_value(c)),
         LaunchArgument::value(bytes_of_value(s), ArgumentClass::integer), LaunchArgument::of(i), LaunchArgument::of(l),
         LaunchArgument::value(bytes_of_value(f), ArgumentClass::floating), LaunchArgument::value(bytes_of_value(d)),
         LaunchArgument::value(bytes_of_value(triple), ArgumentClass::object)});
    const auto value = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    const std::uint64_t wanted[] = {value(-3), value(-300), value(-70000), value(-5000000000L), 9, value(-9),
                                    value(-7), 12,          value(-99)};
    for (std::size_t k = 0; k < 9; ++k) {
        CAPTURE(k);
        CHECK(out[k] == wanted[k]);
    }
}

TEST_CASE("dynamic LDS and hidden arguments are filled in as in a typed launch", "[launch_argument][device]") {
    NEEDS_RUN_TIME();
    constexpr unsigned n = 512, group = 128;
    Shared<std::uint32_t> described(t.device.gpu, n), typed(t.device.gpu, n);
    for (unsigned i = 0; i < n; ++i) described[i] = typed[i] = i;
    const LaunchConfig with_lds{.grid = n, .workgroup = group, .lds = group * sizeof(std::uint32_t)};
    t.code.kernel("reverse").launch(t.device.stream, with_lds, typed.data(), 1000u);
    const unsigned bias = 1000;
    t.run("reverse", with_lds, {LaunchArgument::of(described.data()), LaunchArgument::of(bias)});
    CHECK(std::equal(typed.data(), typed.data() + n, described.data()));
    CHECK(described[0] == group - 1 + 1000);

    const LaunchConfig config{.grid = {10, 4}, .workgroup = {4, 2}};
    const unsigned count = 52;
    t.code.kernel("hidden").launch(t.device.stream, config, typed.data(), count);
    t.run("hidden", config, {LaunchArgument::of(described.data()), LaunchArgument::of(count)});
    CHECK(std::equal(typed.data(), typed.data() + count, described.data()));
}

TEST_CASE("a kernel without arguments takes an empty list", "[launch_argument][device]") {
    NEEDS_RUN_TIME();
    t.run("no_arguments", {.grid = 64, .workgroup = 64}, {});
    t.code.kernel("no_arguments").launch(t.device.stream, {.grid = 64, .workgroup = 64}, std::span<LaunchArgument>());
    t.device.stream.synchronize(patience);
    CHECK(t.device.stream.progress().submitted == 2);
}

TEST_CASE("a described launch is refused in the words of a typed one", "[launch_argument][device]") {
    NEEDS_RUN_TIME();
    Shared<float> x(t.device.gpu, 4);
    Shared<double> wide(t.device.gpu, 4);
    float* const p = x.data();
    const double* const d = wide.data();
    const unsigned* const u = nullptr;
    CHECK_THAT(t.refusal("saxpy", p, p, 2.0f), Contains("takes 4 arguments, given 3"));
    CHECK_THAT(t.refusal("saxpy", p, p, 2.0f, 4u, 5), Contains("takes 4 arguments, given 5"));
    CHECK_THAT(t.refusal("saxpy", p, p, 2.0, 4u), Contains("argument 3 of 4") && Contains("of 8 bytes"));
    CHECK_THAT(t.refusal("saxpy", p, p, 2, 4u), Contains("argument 3 of 4") && Contains("an integer"));
    CHECK_THAT(t.refusal("saxpy", p, 2.0f, 2.0f, 4u), Contains("argument 2 of 4"));
    CHECK_THAT(t.refusal("saxpy", p, p, 2.0f, p), Contains("argument 4 of 4") && Contains("a pointer"));
    CHECK_THAT(t.refusal("saxpy", p, d, 2.0f, 4u),
               Contains("argument 2 of 4 (float*): wanted a pointer to elements that are a floating-point number of 4 "
                        "bytes, given a pointer to a floating-point number of 8 bytes"));
    CHECK_THAT(t.refusal("saxpy", u, p, 2.0f, 4u), Contains("argument 1 of 4") && Contains("an integer of 4 bytes"));
    CHECK_THAT(t.refusal("hidden", d, 4u), Contains("argument 1 of 2 (uint*)"));
    CHECK_THAT(t.refusal("no_arguments", 1), Contains("takes 0 arguments, given 1"));
}

TEST_CASE("what is not known of an argument is not compared", "[launch_argument][device]") {
    NEEDS_RUN_TIME();
    Shared<float> x(t.device.gpu, 1, 3.0f), y(t.device.gpu, 1, 1.0f);
    const void* const address = x.data();
    const float a = 2.0f;
    const unsigned n = 1;
    constexpr ArgumentClass unknown = ArgumentClass::any_value | ArgumentClass::pointer;
    t.run("saxpy", {.grid = 1, .workgroup = 1},
          {LaunchArgument::pointer({y.data()}), LaunchArgument::value(bytes_of_value(address), unknown),
           LaunchArgument::value(bytes_of_value(a), unknown), LaunchArgument::value(bytes_of_value(n), unknown)});
    CHECK(y[0] == 7.0f);
    const std::string why = message_of<InvalidArgument>([&] {
        t.run("saxpy", {.grid = 1, .workgroup = 1},
              {LaunchArgument::pointer({y.data()}), LaunchArgument::value(bytes_of_value(address)),
               LaunchArgument::of(a), LaunchArgument::of(n)});
    });
    CHECK_THAT(why, Contains("argument 2 of 4 (float*): wanted a pointer of 8 bytes, given a value of 8 bytes"));
}

TEST_CASE("sizes and streams are checked as in a typed launch", "[launch_argument][device]") {
    NEEDS_RUN_TIME();
    Shared<std::uint32_t> out(t.device.gpu, 4);
    const Arguments arguments = {LaunchArgument::of(out.data())};
    for (const LaunchConfig& config :
         {LaunchConfig{.grid = 0, .workgroup = 64}, {.grid = 64}, {.grid = 4, .workgroup = 257}}) {
        CHECK(message_of<InvalidArgument>([&] { t.run("shape", config, arguments); }) ==
              message_of<InvalidArgument>([&] { t.code.kernel("shape").launch(t.device.stream, config, out.data()); }));
        CHECK_THROWS_AS(t.run("shape", config, arguments), InvalidArgument);
    }
    if (t.device.driver.gpus().size() < 2) SKIP_BECAUSE("there is one GPU");
    const AgentRef second = t.device.driver.gpus()[1];
    Stream other(second);
    const Kernel shape = t.code.kernel("shape");
    CHECK_THROWS_WITH(shape.launch(other, {.grid = 1, .workgroup = 1}, arguments), Contains("gpu1"));
    const Allocation far = Allocation::from_pool(device_pool(second), 4096);
    const Arguments out_of_reach = {LaunchArgument::pointer({far.data(), {}, second.native().handle})};
    CHECK_THROWS_WITH(shape.launch(t.device.stream, {.grid = 1, .workgroup = 1}, out_of_reach),
                      Contains("does not reach"));
}

TEST_CASE("the memory of a described pointer is held until the kernel is complete", "[launch_argument][device]") {
    NEEDS_RUN_TIME();
    const auto memory = std::make_shared<Shared<std::uint32_t>>(t.device.gpu, std::size_t{4});
    t.code.kernel("exactly").launch(t.device.stream, {.grid = {64, 2}, .workgroup = {64, 2}},
                                    Arguments{LaunchArgument::pointer({memory->data(), memory})});
    t.device.stream.synchronize(patience);
    CHECK((*memory)[0] == 1);
    t.run("no_arguments", {.grid = 1, .workgroup = 1}, {});
    CHECK(memory.use_count() == 1);
}

TEST_CASE("described launches are captured, and described arguments update a graph",
          "[launch_argument][graph][device]") {
    NEEDS_RUN_TIME();
    constexpr unsigned n = 64;
    Shared<float> x(t.device.gpu, n, 1.0f), y(t.device.gpu, n), z(t.device.gpu, n);
    const Kernel saxpy = t.code.kernel("saxpy");
    const LaunchConfig config{.grid = n, .workgroup = n};
    const float two = 2.0f, five = 5.0f;
    const unsigned count = n;
    const auto arguments = [&](const Shared<float>& to, const float& a) {
        return std::array{LaunchArgument::of(to.data()), LaunchArgument::of(x.data()), LaunchArgument::of(a),
                          LaunchArgument::of(count)};
    };
    t.device.stream.begin_capture();
    saxpy.launch(t.device.stream, config, arguments(y, two));
    Graph graph = t.device.stream.end_capture();
    CHECK(y[0] == 0.0f);
    graph.launch(t.device.stream);
    graph.update(0, saxpy, config, arguments(z, five));
    graph.launch(t.device.stream);
    t.device.stream.synchronize(patience);
    CHECK(y[n - 1] == 2.0f);
    CHECK(z[n - 1] == 5.0f);

    const Arguments wrong = {LaunchArgument::of(z.data()), LaunchArgument::of(x.data()), LaunchArgument::of(count),
                             LaunchArgument::of(count)};
    CHECK_THROWS_AS(graph.update(0, saxpy, config, wrong), InvalidArgument);
    graph.launch(t.device.stream);
    t.device.stream.synchronize(patience);
    CHECK(z[n - 1] == 10.0f);  // unchanged by the update that was refused
}

TEST_CASE("a C++ kernel whose types are stated refuses others, typed and described", "[launch_argument][device]") {
    NEEDS_RUN_TIME();
    const AgentRef gpu = t.device.gpu;
    const Executable code = Executable::load(gpu, test_file("typed." + gpu.name() + ".hsaco"));
    const Kernel add_counts = code.kernel("add_counts");
    struct {
        int a = 1;
        float b = 0;
    } const pair;
    const std::int64_t bias = 2;
    const unsigned n = 4;
    Shared<std::uint32_t> counts(t.device.gpu, n, 10);
    Shared<double> values(t.device.gpu, n, 30.0);
    const LaunchConfig config{.grid = n, .workgroup = n};
    const auto launch = [&](const auto* first, const auto* second) {
        add_counts.launch(t.device.stream, config,
                          Arguments{LaunchArgument::of(first), LaunchArgument::of(second), LaunchArgument::of(pair),
                                    LaunchArgument::of(bias), LaunchArgument::of(n)});
    };
    CHECK_THROWS_WITH(launch(values.data(), values.data()), Contains("argument 1 of 5 (uint*)"));
    CHECK_THROWS_WITH(launch(counts.data(), counts.data()), Contains("argument 2 of 5 (double*)"));
    CHECK_THROWS_WITH(add_counts.launch(t.device.stream, config, counts.data(), values.data(), pair, 2.0, n),
                      Contains("argument 4 of 5 (long): wanted an integer"));
    launch(counts.data(), values.data());
    t.device.stream.synchronize(patience);
    CHECK(counts[n - 1] == 43);
}
