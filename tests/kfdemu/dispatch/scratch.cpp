// The private segment.
#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;

namespace {
std::int32_t fibonacci(std::int32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
}  // namespace

TEST_CASE("recursion", "[dispatch][scratch][threads]") {
    on_each("scratch", [](Machine& gpu, const CodeObject& code) {
        auto* out = gpu.allocate<std::int32_t>(1024);
        code.launch("recursion", {.grid = {1024}, .group = {256}, .stack_bytes = 2048, .threads = 3}, out);
        for (unsigned i = 0; i < 1024; ++i) REQUIRE(out[i] == fibonacci(static_cast<std::int32_t>(i % 256 % 9)));
    });
}

TEST_CASE("arrays on the stack, indexed at run time", "[dispatch][scratch]") {
    on_each("scratch", [](Machine& gpu, const CodeObject& code) {
        Numbers random{1};
        const std::uint32_t n = 200;
        const auto in = random.vector<std::uint32_t>(n);
        auto* out = gpu.allocate<std::uint32_t>(n);
        code.launch("stack_array", {.grid = {n}, .group = {64}}, gpu.copy(in), out);
        for (std::uint32_t i = 0; i < n; ++i) {
            std::uint32_t words[40];
            std::uint8_t bytes[40];
            std::uint64_t longs[20], sum = 0;
            for (std::uint32_t k = 0; k < 40; ++k) {
                words[(k * 7 + i) % 40] = in[i] + k;
                bytes[(k * 3 + i) % 40] = static_cast<std::uint8_t>(in[i] * k);
            }
            for (std::uint32_t k = 0; k < 20; ++k) longs[(k * 9 + i) % 20] = std::uint64_t{words[k]} * bytes[k + 20];
            for (std::uint32_t k = 0; k < 20; ++k) sum = sum * 31 + longs[(k + in[i]) % 20] + words[(k + in[i]) % 40];
            REQUIRE(out[i] == static_cast<std::uint32_t>(sum ^ sum >> 32));
        }
    });
}

TEST_CASE("structures by value", "[dispatch][scratch]") {
    struct Block {
        std::uint16_t odd[3];
        std::uint8_t more[7];
        double value;
    };
    on_each("scratch", [](Machine& gpu, const CodeObject& code) {
        std::vector<Block> in(64);
        for (unsigned i = 0; i < 64; ++i)
            in[i] = {{std::uint16_t(i), 65530, 3}, {1, 2, 3, 4, 5, 6, std::uint8_t(i)}, i / 4.0};
        auto* out = gpu.allocate<Block>(64);
        code.launch("structs_by_value", {.grid = {64}, .group = {64}}, gpu.copy(in), out);
        for (unsigned i = 0; i < 64; ++i) {
            Block b = in[i];
            b.odd[1] = static_cast<std::uint16_t>(b.odd[1] + i);
            b.more[i % 7] = 42;
            REQUIRE(std::memcmp(out[i].odd, b.odd, sizeof b.odd) == 0);
            REQUIRE(std::memcmp(out[i].more, b.more, sizeof b.more) == 0);
            REQUIRE(out[i].value == b.value * 2);
        }
    });
}

TEST_CASE("one instruction reaches LDS, scratch and memory", "[dispatch][scratch][lds]") {
    on_each("scratch", [](Machine& gpu, const CodeObject& code) {
        auto* global = gpu.allocate<std::uint32_t>(256);
        auto* out = gpu.allocate<std::uint32_t>(192);
        code.launch("generic_pointers", {.grid = {64}, .group = {64}}, global, out);
        for (std::uint32_t l = 0; l < 64; ++l) {
            std::uint32_t sum = 0;
            for (unsigned k = 0; k < 4; ++k) sum = sum * 3 + l * 10 + k;
            CAPTURE(l);
            REQUIRE(out[l] == sum);
            REQUIRE(out[64 + l] == (l * 10 + 1) + (l * 10 + 6));
            const std::uint64_t longer = (l * 10 + 2) | std::uint64_t{l * 10 + 3} << 32;
            REQUIRE(out[128 + l] == static_cast<std::uint32_t>(longer + longer + 7));
        }
    });
}

TEST_CASE("the stack needs no alignment", "[dispatch][scratch]") {
    on_each("scratch", [](Machine& gpu, const CodeObject& code) {
        Numbers random{2};
        const auto in = random.vector<std::uint8_t>(64);
        auto* out = gpu.allocate<std::uint64_t>(128);
        code.launch("unaligned_stack", {.grid = {128}, .group = {64}}, gpu.copy(in), out);
        for (std::uint32_t i = 0; i < 128; ++i) {
            std::uint8_t bytes[32];
            for (std::uint32_t k = 0; k < 32; ++k) bytes[k] = in[(i + k) % 64];
            std::uint64_t longer;
            std::uint16_t half;
            std::memcpy(&longer, bytes + i % 19, 8);
            std::memcpy(&half, bytes + i % 19 + 3, 2);
            REQUIRE(out[i] == longer + half);
        }
    });
}

TEST_CASE("values that do not fit into the registers", "[dispatch][scratch]") {
    constexpr unsigned kAlive = 160;
    on_each("scratch", [](Machine& gpu, const CodeObject& code) {
        std::vector<float> in(4096);
        for (unsigned i = 0; i < in.size(); ++i) in[i] = float(i % 7) / 8.0f;
        auto* out = gpu.allocate<float>(64);
        code.launch("spills", {.grid = {64}, .group = {64}}, gpu.copy(in), out);
        for (unsigned i = 0; i < 64; ++i) {
            double v[kAlive];
            for (unsigned k = 0; k < kAlive; ++k) v[k] = in[(i * kAlive + k) % 4096];
            for (unsigned r = 0; r < 3; ++r)
                for (unsigned k = 0; k < kAlive; ++k) v[k] = v[k] * v[(k + 17) % kAlive] + v[(k + 41) % kAlive];
            double sum = 0;
            for (double value : v) sum += value;
            REQUIRE(out[i] == Approx(sum).epsilon(1e-4));  // contraction and rounding differ
        }
    });
}

TEST_CASE("no more waves are resident than there are scratch slots", "[dispatch][scratch][threads]") {
    for (Target target : targets()) {
        Machine gpu{target, 2048, 5};
        const CodeObject code = gpu.load("scratch", "O0");
        auto* out = gpu.allocate<std::int32_t>(4096);
        const unsigned group = 4 * gpu.lanes();
        code.launch("recursion", {.grid = {4096}, .group = {group}, .stack_bytes = 2048, .threads = 4}, out);
        for (unsigned i = 0; i < 4096; ++i) REQUIRE(out[i] == fibonacci(static_cast<std::int32_t>(i % group % 9)));
    }
}

TEST_CASE("a stack that leaves its own scratch is a fault", "[dispatch][scratch][faults]") {
    on_each("scratch", [](Machine& gpu, const CodeObject& code) {
        auto* out = gpu.allocate<std::uint32_t>(64);
        const Outcome outcome = code.try_launch("stack_overflow", {.grid = {64}, .group = {64}}, out, 1'000'000u);
        REQUIRE(outcome.state == kfdemu::Dispatch::State::Failed);
        REQUIRE(outcome.fault.what == kfdemu::isa::Stop::Aperture);
    });
}

TEST_CASE("work-groups with scratch start in order, for later ones hold slots while they wait", "[dispatch][scratch]") {
    using kfdemu::Dispatch;
    Machine gpu{targets().front(), 4096, 4};
    const CodeObject code = gpu.load("scratch", "O2");
    constexpr unsigned groups = 4000, first = 40;
    auto* out = gpu.allocate<std::int32_t>(64 * groups);
    auto packet = code.packet("recursion", {.grid = {64 * groups}, .group = {64}, .stack_bytes = 2048});
    std::vector<std::byte> arguments(sizeof out);
    std::memcpy(arguments.data(), &out, sizeof out);
    append_hidden_arguments(arguments, packet);
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(gpu.copy(arguments));
    const auto dispatch = gpu.start(packet);
    kfdemu::WorkGroup group, another;
    const auto run = [&](Dispatch::Batch& batch) {
        REQUIRE(dispatch->start_group(group, batch) == Dispatch::Start::Started);
        while (group.run(1'000'000) != kfdemu::WorkGroup::Progress::Ended) continue;
    };
    Dispatch::Batch ours{*dispatch}, theirs{*dispatch};
    for (unsigned n = 0; n < first; ++n) run(ours);
    REQUIRE(dispatch->start_group(another, ours) == Dispatch::Start::Started);
    std::fill_n(out, 64 * groups, -1);
    run(theirs);
    CHECK(out[64 * (first + 1)] != -1);
    another.leave();
}
