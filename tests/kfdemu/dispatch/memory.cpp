// Loads, stores, work-item ids and edges of the grid.
#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;

TEST_CASE("a vector addition with a partial last work-group", "[dispatch][memory]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        for (std::uint32_t n : {1u, 63u, 64u, 65u, 1000u, 4096u}) {
            Numbers random{n};
            const auto a = random.floats(n), b = random.floats(n);
            auto* c = gpu.allocate<float>(n);
            const std::uint32_t grid = std::max(n, 256u);
            code.launch("vector_add", {.grid = {grid}, .group = {256}}, gpu.copy(a), gpu.copy(b), c, n);
            bool same = true;
            for (std::uint32_t i = 0; i < n; ++i) same &= c[i] == a[i] + b[i];
            CAPTURE(n);
            REQUIRE(same);
        }
    });
}

TEST_CASE("scattered addresses, in any order", "[dispatch][memory]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 1024;
        Numbers random{1};
        const auto from = random.vector<std::uint32_t>(n);
        std::vector<std::uint32_t> index(n), expected(n);
        for (std::uint32_t i = 0; i < n; ++i) index[i] = i;
        for (std::uint32_t i = n - 1; i > 0; --i) std::swap(index[i], index[random.next() % (i + 1)]);
        for (std::uint32_t i = 0; i < n; ++i) expected[index[i]] = from[n - 1 - index[i]] + i;
        auto* to = gpu.allocate<std::uint32_t>(n);
        code.launch("gather", {.grid = {n}, .group = {128}}, gpu.copy(from), gpu.copy(index), to, n);
        REQUIRE(std::equal(expected.begin(), expected.end(), to));
    });
}

TEST_CASE("structures are copied whole", "[dispatch][memory]") {
    struct Particle {
        float position[3];
        std::uint32_t id;
        double mass;
        std::uint8_t flags[5];
    };
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 100;
        std::vector<Particle> from(n);
        for (std::uint32_t i = 0; i < n; ++i)
            from[i] = {{float(i), float(i) * 2, -1.5f}, i * 3, i / 8.0, {std::uint8_t(i), 1, 2, 3, std::uint8_t(~i)}};
        auto* to = gpu.allocate<Particle>(n);
        code.launch("copy_structs", {.grid = {128}, .group = {64}}, gpu.copy(from), to, n);
        for (std::uint32_t i = 0; i < n; ++i) {
            Particle expected = from[n - 1 - i];
            expected.position[1] += 1.0f;
            REQUIRE(to[i].position[1] == expected.position[1]);
            REQUIRE(to[i].id == expected.id);
            REQUIRE(to[i].mass == expected.mass);
            REQUIRE(std::memcmp(to[i].flags, expected.flags, 5) == 0);
        }
    });
}

TEST_CASE("bytes, halves and 64-bit words, signed and unsigned", "[dispatch][memory]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 192;
        Numbers random{2};
        const auto a = random.vector<std::int8_t>(n);
        const auto b = random.vector<std::uint8_t>(n);
        const auto c = random.vector<std::int16_t>(n);
        const auto d = random.vector<std::uint16_t>(n);
        const auto e = random.vector<std::int64_t>(n);
        auto* sums = gpu.allocate<std::int64_t>(n);
        auto* bytes = gpu.allocate<std::uint8_t>(n);
        auto* halves = gpu.allocate<std::uint16_t>(n);
        code.launch("widths", {.grid = {n}, .group = {64}}, gpu.copy(a), gpu.copy(b), gpu.copy(c), gpu.copy(d),
                    gpu.copy(e), sums, bytes, halves);
        for (std::uint32_t i = 0; i < n; ++i) {
            REQUIRE(static_cast<std::uint64_t>(sums[i]) ==
                    static_cast<std::uint64_t>(std::int64_t{a[i]} + b[i] * 3 + c[i] * 5 + d[i] * 7) +
                        static_cast<std::uint64_t>(e[i]) * 11);
            REQUIRE(bytes[i] == static_cast<std::uint8_t>(a[i] ^ b[i]));
            REQUIRE(halves[i] == static_cast<std::uint16_t>(c[i] - d[i]));
        }
    });
}

TEST_CASE("halves loaded into either half of a register", "[dispatch][memory]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 100;
        Numbers random{3};
        const auto a = random.vector<std::uint16_t>(n), b = random.vector<std::uint16_t>(n);
        auto* packed = gpu.allocate<std::uint32_t>(n);
        code.launch("halves_into_registers", {.grid = {n}, .group = {50}}, gpu.copy(a), gpu.copy(b), packed);
        for (std::uint32_t i = 0; i < n; ++i)
            REQUIRE(packed[i] ==
                    (std::uint32_t(std::uint16_t(a[i] * 2)) | std::uint32_t(std::uint16_t(b[i] * 2)) << 16));
    });
}

TEST_CASE("four dwords a lane, adjacent and permuted", "[dispatch][memory]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 256;
        Numbers random{4};
        const auto a = random.floats(n * 4);
        std::vector<double> c(n * 2);
        for (std::size_t i = 0; i < c.size(); ++i) c[i] = double(i) / 3;
        for (std::uint32_t shift : {0u, 1u, 63u, 128u}) {
            auto* b = gpu.allocate<float>(n * 4);
            auto* d = gpu.allocate<double>(n * 2);
            code.launch("wide", {.grid = {n}, .group = {64}}, gpu.copy(a), b, gpu.copy(c), d, shift);
            for (std::uint32_t i = 0; i < n; ++i) {
                for (unsigned k = 0; k < 4; ++k) REQUIRE(b[(i ^ shift) * 4 + k] == a[i * 4 + k] * 2.0f);
                for (unsigned k = 0; k < 2; ++k) REQUIRE(d[(i ^ shift) * 2 + k] == c[i * 2 + k] + 1.0);
            }
        }
    });
}

TEST_CASE("addresses need no alignment", "[dispatch][memory]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 64;
        Numbers random{5};
        const auto from = random.vector<std::uint8_t>(n * 13);
        std::vector<std::uint8_t> expected(n * 13);
        for (std::uint32_t i = 0; i < n; ++i) {
            std::uint32_t word;
            std::uint64_t longer;
            std::memcpy(&word, &from[i * 13 + 1], 4);
            std::memcpy(&longer, &from[i * 13 + 5], 8);
            word += 1;
            longer += 2;
            std::memcpy(&expected[i * 13 + 1], &word, 4);
            std::memcpy(&expected[i * 13 + 5], &longer, 8);
        }
        auto* to = gpu.allocate<std::uint8_t>(n * 13);
        code.launch("misaligned", {.grid = {n}, .group = {64}}, gpu.copy(from), to);
        REQUIRE(std::equal(expected.begin(), expected.end(), to));
    });
}

TEST_CASE("an access may straddle two adjacent mappings", "[dispatch][memory]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 64;
        const std::vector<std::uint8_t> from(n * 13, 9);
        auto* whole = gpu.allocate<std::uint8_t>(n * 13);
        const auto va = reinterpret_cast<std::uint64_t>(whole);
        gpu.space.unmap(va, va + n * 13 + 15);
        const std::uint64_t cut = va + 13 * 31 + 7;  // inside a lane's 8 bytes
        REQUIRE(gpu.space.map({va, cut, reinterpret_cast<std::byte*>(whole), kfdemu::kRead | kfdemu::kWrite, 3}));
        REQUIRE(
            gpu.space.map({cut, va + n * 13, reinterpret_cast<std::byte*>(cut), kfdemu::kRead | kfdemu::kWrite, 4}));
        code.launch("misaligned", {.grid = {n}, .group = {64}}, gpu.copy(from), whole);
        REQUIRE(whole[13 * 31 + 5] == 11);
        REQUIRE(whole[13 * 31 + 12] == 9);
        REQUIRE(whole[13 * 32 + 5] == 11);
    });
}

namespace {
struct Ids {
    std::uint32_t local[3], group[3], lane, group_size[3];
};
}  // namespace

TEST_CASE("work-item and work-group ids in one, two and three dimensions, partial at every edge", "[dispatch][ids]") {
    struct Row {
        std::vector<std::uint32_t> grid, group;
    };
    const Row rows[] = {
        {{100}, {64}},          {{1000}, {100}},        {{1024}, {1024}},
        {{10, 7}, {4, 3}},      {{64, 64}, {16, 16}},   {{33, 9}, {32, 8}},
        {{5, 6, 7}, {2, 4, 3}}, {{8, 8, 8}, {8, 8, 8}}, {{70, 3, 2}, {70, 1, 1}},
    };
    on_each("memory", [&](Machine& gpu, const CodeObject& code) {
        for (const Row& row : rows) {
            std::uint32_t grid[3] = {1, 1, 1}, group[3] = {1, 1, 1};
            std::copy(row.grid.begin(), row.grid.end(), grid);
            std::copy(row.group.begin(), row.group.end(), group);
            auto* out = gpu.allocate<Ids>(grid[0] * grid[1] * grid[2]);
            code.launch("ids", {.grid = row.grid, .group = row.group}, out, grid[0], grid[1]);
            bool same = true;
            for (std::uint32_t z = 0; z < grid[2]; ++z)
                for (std::uint32_t y = 0; y < grid[1]; ++y)
                    for (std::uint32_t x = 0; x < grid[0]; ++x) {
                        const Ids& id = out[(z * grid[1] + y) * grid[0] + x];
                        const std::uint32_t at[3] = {x, y, z};
                        std::uint32_t size[3];
                        for (unsigned d = 0; d < 3; ++d) {
                            same &= id.group[d] == at[d] / group[d] && id.local[d] == at[d] % group[d];
                            size[d] = std::min(group[d], grid[d] - id.group[d] * group[d]);
                            same &= id.group_size[d] == group[d];
                        }
                        same &=
                            id.lane == (id.local[0] + size[0] * (id.local[1] + size[1] * id.local[2])) % gpu.lanes();
                    }
            CAPTURE(row.grid, row.group);
            REQUIRE(same);
        }
    });
}

TEST_CASE("the packet, the arguments and the dispatch id are in the ABI's registers", "[dispatch][ids]") {
    on_each("memory", [](Machine& gpu, const CodeObject& code) {
        gpu.queue.dispatch_id = 77;
        auto* out = gpu.allocate<std::uint64_t>(4);
        code.launch("special_registers", {.grid = {64}, .group = {64}}, out);
        const auto* packet = reinterpret_cast<kfdemu::KernelDispatchPacket*>(out[0]);
        REQUIRE(packet->kernel_object == code.symbol("special_registers.kd"));
        REQUIRE(out[1] == 77);
        REQUIRE(out[2] == packet->kernarg_address);
        REQUIRE(out[3] < 1'000'000'000);
    });
}
