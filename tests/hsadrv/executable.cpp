// Loading on a device: a valid code object for this GPU loads, any other is refused with the reason.
#include "hsadrv/executable.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"
#include "hsadrv/queue/known_kernels.hpp"
#include "tests/hsadrv/launch_device.hpp"
#include "tests/support/turn.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

template <class E = InvalidCodeObject>
std::string refusal(AgentRef gpu, std::span<const std::byte> bytes) {
    return message_of<E>([&] { Executable::load(gpu, bytes, "test"); });
}

}  // namespace

TEST_CASE("code objects of every version load from a file, from memory and from a bundle", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string variant = GENERATE("v4.O0", "v4.O2", "v5.O0", "v5.O2");
    CAPTURE(variant);
    const std::string file = launch_file(device.gpu, variant);
    CHECK(Executable::load(device.gpu, file).kernel("saxpy").name() == "saxpy");
    CHECK(
        Executable::load(device.gpu, test_code_object("launch." + device.gpu.agent().name() + "." + variant + ".hsaco"))
            .kernel("saxpy")
            .kernel_object() != 0);
    const auto name = GENERATE(as<std::string>{}, "launch.hsaco", "launch.ccob");
    const Executable bundle = Executable::load(device.gpu, test_file(name));
    CHECK(bundle.agent() == device.gpu.agent());
    CHECK(bundle.code_object().target.processor == device.gpu.agent().name());
    CHECK(bundle.code_object().kernels.size() == 10);
    CHECK(bundle.kernel("saxpy").kernel_object() != 0);
}

TEST_CASE("V6 loads if the runtime supports it; otherwise the error names the newest supported version",
          "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const std::string file = launch_file(device.gpu, "v6.O2");
    try {
        const Kernel kernel = Executable::load(device.gpu, file).kernel("saxpy");
        CHECK(kernel.kernel_object() != 0);
    } catch (const InvalidCodeObject& error) {
        CHECK_THAT(error.what(),
                   Contains("HSA_STATUS_ERROR") && Contains("code object V6, this ROCR loads up to V5: rebuild with "
                                                            "-mcode-object-version=5"));
        CHECK_NOTHROW(Executable::load(device.gpu, launch_file(device.gpu, "v5.O2")).kernel("saxpy"));
    }
}

TEST_CASE("a code object for another GPU is refused with both targets", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    const std::string own = device.gpu.agent().name();
    const std::string other = own == "gfx900" ? "gfx90a" : "gfx900";
    const std::string file = test_file("launch." + other + ".v5.O2.hsaco");
    if (!std::filesystem::exists(file)) SKIP_BECAUSE("the tests' kernels were not compiled for " + other);
    const std::string why = message_of<InvalidCodeObject>([&] { Executable::load(device.gpu, file); });
    CHECK_THAT(why, Contains(file) && Contains("code object is for " + other + ", this agent is " + own +
                                               ": compile with -mcpu=" + own));
}

TEST_CASE("code for one setting of a feature loads on agents with that setting, and is refused on others",
          "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    const TargetId agent = TargetId::parse(device.gpu.agent().isas().front().name);
    if (agent.processor != "gfx90a") SKIP_BECAUSE("the tests' kernels with features are for gfx90a");
    struct Row {
        const char* name;
        TargetFeature TargetId::* feature;
        TargetFeature setting;
    };
    for (const Row& row :
         {Row{"xnack_on", &TargetId::xnack, TargetFeature::on}, Row{"xnack_off", &TargetId::xnack, TargetFeature::off},
          Row{"sramecc_off", &TargetId::sramecc, TargetFeature::off}}) {
        CAPTURE(row.name, agent.name());
        const std::string file = test_file(std::string("features.gfx90a.") + row.name + ".hsaco");
        if (!std::filesystem::exists(file)) SKIP_BECAUSE("the tests' kernels were not compiled for gfx90a");
        const std::string why = message_of<InvalidCodeObject>([&] { Executable::load(device.gpu, file); });
        if (agent.*row.feature == row.setting) {
            CHECK(why.empty());
        } else {
            CHECK_THAT(why, Contains("code object is for gfx90a:") && Contains("this agent is " + agent.name()) &&
                                Contains("compile with -mcpu=gfx90a (which runs with either setting)"));
        }
    }
}

TEST_CASE("files that cannot be code objects are refused by name", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    CHECK_THAT(message_of<Error>([&] { Executable::load(device.gpu, "/nowhere/k.hsaco"); }),
               Contains("/nowhere/k.hsaco") && Contains("No such file"));
    CHECK_THAT(message_of<Error>([&] { Executable::load(device.gpu, test_file("")); }), Contains("is a directory"));
    CHECK_THAT(refusal(device.gpu, {}), Contains("'test'") && Contains("is empty"));
    const std::string pipe = std::filesystem::temp_directory_path() / ("hsadrv-pipe." + std::to_string(getpid()));
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THAT(message_of<Error>([&] { Executable::load(device.gpu, pipe); }), Contains("is a pipe"));
    std::filesystem::remove(pipe);

    const Bytes whole = read_file(launch_file(device.gpu, "v5.O2"));
    for (const std::size_t size : {std::size_t{10}, std::size_t{64}, whole.size() / 2, whole.size() - 1}) {
        CAPTURE(size);
        CHECK_THAT(refusal(device.gpu, std::span(whole).first(size)), Contains("truncated"));
    }
}

TEST_CASE("an unknown kernel is refused with the names of the existing ones", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("launch.hsaco"));
    CHECK_THAT(message_of<InvalidArgument>([&] { code.kernel("daxpy"); }),
               Contains("no kernel 'daxpy'") && Contains("'saxpy', 'mixed', 'reverse'"));
}

TEST_CASE("a stripped code object's kernels are found, or the remedy is named", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Executable code = Executable::load(device.gpu, test_file("stripped." + device.gpu.agent().name() + ".hsaco"));
    CHECK_FALSE(code.code_object().has_symbol_table);
    CHECK(code.code_object().find("read_globals"));
    const std::string why = message_of<InvalidCodeObject>([&] { code.kernel("read_globals"); });
    if (!why.empty()) CHECK_THAT(why, Contains("kernel 'read_globals'") && Contains("link without -s"));
    CHECK(why.empty() == !code.symbols().empty());
}

TEST_CASE("a kernel keeps its executable alive", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel kernel = [&] { return Executable::load(device.gpu, test_file("launch.hsaco")).kernel("saxpy"); }();
    CHECK(kernel.metadata().kernarg_size_bytes >= 24);
    CHECK(kernel.agent() == device.gpu.agent());
}

TEST_CASE("an executable destroyed while its kernels run is unloaded after them", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu);
    Stream other = device.gpu.stream();
    const Shared<float> x(device.gpu, 64, 3.0f), y(device.gpu, 64, 1.0f), z(device.gpu, 64, 2.0f);
    const LaunchConfig config{.grid = 64, .workgroup = 64};
    const Signal gate = Signal::create(1);
    std::uint64_t object = 0;
    {
        const Kernel kernel = Executable::load(device.gpu, launch_file(device.gpu, "v5.O2")).kernel("saxpy");
        object = kernel.kernel_object();
        for (Stream* stream : {&device.stream, &other}) stream->wait(gate, Condition::equal, 0);
        kernel.launch(device.stream, config, y.data(), x.data(), 2.0f, 64u);
        kernel.launch(other, config, z.data(), x.data(), 2.0f, 64u);
    }
    CHECK(detail::kernel_name(object) == "saxpy");  // still loaded
    gate.store(0);
    for (Stream* stream : {&device.stream, &other}) stream->synchronize(std::chrono::seconds(20));
    CHECK(y[63] == 7.0f);
    CHECK(z[63] == 8.0f);
    CHECK(detail::kernel_name(object) != "saxpy");  // unloaded
}

TEST_CASE("threads load, launch and release executables concurrently", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu);
    const auto bytes = read_file(launch_file(device.gpu, "v5.O2"));
    constexpr unsigned threads = 4, rounds = 20;
    const Shared<float> x(device.gpu, 64, 3.0f), y(device.gpu, threads * 64, 0.0f);
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) {
        workers.emplace_back([&, i] {
            Stream stream = device.gpu.stream();
            for (unsigned round = 0; round < rounds; ++round) {
                Executable::load(device.gpu, bytes, "launch")
                    .kernel("saxpy")
                    .launch(stream, {.grid = 64, .workgroup = 64}, y.data() + i * 64, x.data(), 1.0f, 64u);
            }
            stream.synchronize(std::chrono::seconds(60));
        });
    }
    for (std::thread& worker : workers) worker.join();
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == 3.0f * rounds);
}

TEST_CASE("the runtime's loader survives every code object that validation accepts", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const TargetId target = TargetId::parse(device.gpu.agent().name());
    const Bytes bundle = test_code_object(GENERATE(as<std::string>{}, "launch.hsaco", "globals.hsaco"));
    const auto code_object = select_code_object(bundle, std::span(&target, 1));
    const Bytes good(code_object.begin(), code_object.end());
    const auto header = peek<Elf64_Ehdr>(good, 0);
    const std::size_t table_bytes = header.e_shnum * sizeof(Elf64_Shdr);
    std::size_t loaded = 0, refused = 0;
    const auto attempt = [&](const Bytes& bytes) {
        try {
            const Executable code = Executable::load(device.gpu, bytes, "test");
            for (const KernelMetadata& kernel : code.code_object().kernels) code.kernel(kernel.name);
            ++loaded;
        } catch (const Error&) {
            ++refused;
        }
    };
    const auto change_all = [&](std::size_t begin, std::size_t end, std::size_t step) {
        for (std::size_t at = begin; at + 8 <= end; at += step) {
            const std::uint64_t values[] = {0, std::uint64_t{1} << 31, ~std::uint64_t{0},
                                            peek<std::uint64_t>(good, at) + 64};
            for (std::size_t i = 0; i < std::size(values); ++i) {
                if (!test_support::has_turn(at / step + i, std::size(values))) continue;  // one a place
                Bytes bad = good;
                patch(std::span(bad), at, values[i]);
                attempt(bad);
            }
        }
    };
    change_all(0, 64, 8);
    change_all(header.e_phoff, header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr), 8);
    change_all(header.e_shoff, header.e_shoff + table_bytes, 8);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const auto section = peek<Elf64_Shdr>(good, header.e_shoff + i * sizeof(Elf64_Shdr));
        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM || section.sh_type == SHT_DYNAMIC ||
            section.sh_type == SHT_RELA)
            change_all(section.sh_offset, section.sh_offset + section.sh_size, 8);
    }
    CHECK(loaded > 0);
    CHECK(refused > 0);
}

TEST_CASE("device globals are relocated to where they were loaded", "[executable][device]") {
    NEEDS_DEVICE();
    Device device;
    NEEDS_LAUNCH_KERNELS(device.gpu.agent());
    const Kernel kernel = Executable::load(device.gpu, test_file("globals.hsaco")).kernel("read_globals");
    Shared<int> out(device.gpu, 2);
    kernel.launch(device.stream, {.grid = 1, .workgroup = 1}, out.data(), 0);
    kernel.launch(device.stream, {.grid = 1, .workgroup = 1}, out.data() + 1, 1);
    device.stream.synchronize(std::chrono::seconds(60));
    CHECK(out[0] == 7);
    CHECK(out[1] == 30);
}
