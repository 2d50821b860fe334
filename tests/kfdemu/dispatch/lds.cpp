// LDS, barriers and moves between lanes.
#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;

TEST_CASE("a matrix product through tiles in LDS", "[dispatch][lds]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 64;
        Numbers random{1};
        std::vector<float> a(n * n), b(n * n);
        for (auto* m : {&a, &b})
            for (float& v : *m) v = float(std::int32_t(random.next() >> 60)) - 7.0f;  // small integers: sums are exact
        auto* c = gpu.allocate<float>(n * n);
        code.launch("matmul", {.grid = {n, n}, .group = {16, 16}}, gpu.copy(a), gpu.copy(b), c, n);
        bool same = true;
        for (std::uint32_t row = 0; row < n; ++row)
            for (std::uint32_t column = 0; column < n; ++column) {
                float sum = 0;
                for (std::uint32_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
                same &= c[row * n + column] == sum;
            }
        REQUIRE(same);
    });
}

TEST_CASE("LDS sized at launch", "[dispatch][lds]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        Numbers random{2};
        for (std::uint32_t group : {64u, 256u, 1024u}) {
            const auto in = random.vector<std::uint32_t>(group * 3);
            auto* sums = gpu.allocate<std::uint32_t>(3);
            code.launch("reduce", {.grid = {group * 3}, .group = {group}, .lds_bytes = group * 4}, gpu.copy(in), sums,
                        0u);
            for (unsigned g = 0; g < 3; ++g) {
                std::uint32_t sum = 0;
                for (std::uint32_t i = 0; i < group; ++i) sum += in[g * group + i];
                REQUIRE(sums[g] == sum);
            }
        }
    });
}

TEST_CASE("a histogram with atomics in LDS and memory, on several threads", "[dispatch][lds][threads]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 20'000;
        Numbers random{3};
        const auto in = random.vector<std::uint8_t>(n);
        auto* bins = gpu.allocate<std::uint32_t>(256);
        code.launch("histogram", {.grid = {1024}, .group = {256}, .threads = 4}, gpu.copy(in), n, bins);
        std::vector<std::uint32_t> expected(256);
        for (std::uint8_t v : in) ++expected[v];
        REQUIRE(std::equal(expected.begin(), expected.end(), bins));
    });
}

TEST_CASE("every width through LDS", "[dispatch][lds]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        Numbers random{4};
        const auto in = random.vector<std::uint8_t>(256);
        auto* out = gpu.allocate<std::uint64_t>(256 * 6);
        code.launch("lds_widths", {.grid = {256}, .group = {256}}, gpu.copy(in), out);
        const auto longs = [&](std::uint64_t l) { return std::uint64_t{in[l]} << 33 | l; };
        bool same = true;
        for (std::uint32_t l = 0; l < 256; ++l) {
            const std::uint32_t r = 255 - l;
            const std::uint32_t q[4] = {in[r], r, in[r] * 5u, ~r};
            const std::uint64_t* o = out + l * 6;
            same &= o[0] == in[r];
            same &= o[1] == static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(in[r] * -3)});
            same &= o[2] == longs(r) + longs(l);
            same &= o[3] == (std::uint64_t{q[0]} << 32 | q[1]);
            same &= o[4] == (std::uint64_t{q[2]} << 32 | q[3]);
            same &= o[5] == std::uint64_t{q[0]} + q[1] + q[2];
        }
        REQUIRE(same);
    });
}

TEST_CASE("two elements an instruction, near and far", "[dispatch][lds]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        Numbers random{5};
        const auto in = random.vector<std::uint32_t>(256);
        auto* out = gpu.allocate<std::uint32_t>(192);
        code.launch("lds_pairs", {.grid = {64}, .group = {64}}, gpu.copy(in), out);
        bool same = true;
        for (std::uint32_t l = 0; l < 64; ++l) {
            const std::uint32_t k = (l * 7) & 63;
            same &= out[l] == in[k] + 2 * in[k + 64] + 3 * in[k + 128] + 5 * in[k + 192];
            same &= out[l + 64] == in[k] * 3 + 2 * in[k + 64] * 5 + 3 * in[k + 128] * 7 + 5 * in[k + 192] * 9;
            same &= out[l + 128] == in[4 * l] + 3 * in[4 * l + 1] + 5 * in[4 * l + 2] + 7 * in[4 * l + 3];
        }
        REQUIRE(same);
    });
}

TEST_CASE("permutes, swizzles, DPP and readfirstlane", "[dispatch][lanes]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        if (gpu.lanes() != 64) return;  // the differential corpus has them in waves of 32
        Numbers random{6};
        const auto in = random.vector<std::uint32_t>(64);
        auto* out = gpu.allocate<std::uint32_t>(576);
        code.launch("between_lanes", {.grid = {64}, .group = {64}}, gpu.copy(in), out);
        for (std::uint32_t l = 0; l < 64; ++l) {
            CAPTURE(l);
            REQUIRE(out[l] == in[(l * 5 + 3) % 64]);
            REQUIRE(out[64 + l] == in[63 - l]);
            REQUIRE(out[128 + l] == in[l ^ 1]);
            REQUIRE(out[192 + l] == in[l ^ 3]);
            REQUIRE(out[256 + l] == in[0]);
            REQUIRE(out[320 + l] == (l % 16 == 0 ? in[l] : in[l - 1]));
            REQUIRE(out[384 + l] == in[l ^ 15]);
            REQUIRE(out[448 + l] == 0);  // from a lane that was switched off
            REQUIRE(out[512 + l] == in[(l & 32) | ((l + 3) & 31)]);
        }
    });
}

TEST_CASE("append and consume count the active lanes", "[dispatch][lds]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        if (gpu.lanes() != 64) return;  // waves of 32 add after each other
        auto* out = gpu.allocate<std::uint32_t>(65);
        code.launch("append_and_consume", {.grid = {64}, .group = {64}}, out);
        for (std::uint32_t l = 0; l < 64; ++l) REQUIRE(out[l] == (l % 4 == 0 ? 122 : l % 3 == 0 ? 100 : 0));
        REQUIRE(out[64] == 106);
    });
}

TEST_CASE("a work-group's LDS is rounded to the GPU's granule, up to all that a compute unit has", "[dispatch][lds]") {
    struct Row {
        std::uint32_t unit_bytes, granule_bytes, wanted_bytes, ends_at;
    };
    constexpr Row rows[] = {
        {64 * 1024, 512, 4, 512},         {64 * 1024, 512, 516, 1024},
        {64 * 1024, 512, 65536, 65536},   {160 * 1024, 1280, 4, 1280},
        {160 * 1024, 1280, 1280, 1280},   {160 * 1024, 1280, 1284, 2560},
        {160 * 1024, 1280, 65536, 66560}, {160 * 1024, 1280, 160 * 1024, 160 * 1024},
    };
    on_each("lds", [&](Machine& gpu, const CodeObject& code) {
        for (const Row& r : rows) {
            CAPTURE(r.granule_bytes, r.wanted_bytes);
            gpu.gpu.lds_bytes = r.unit_bytes;
            gpu.gpu.lds_granule_bytes = r.granule_bytes;
            auto* out = gpu.allocate<std::uint32_t>(1);
            code.launch("kept", {.grid = {1}, .group = {1}, .lds_bytes = r.wanted_bytes}, out, r.ends_at - 4);
            REQUIRE(*out == 7);
            code.launch("kept", {.grid = {1}, .group = {1}, .lds_bytes = r.wanted_bytes}, out, r.ends_at);
            REQUIRE(*out == 0);
        }
    });
}

TEST_CASE("outside its LDS a work-group reads zero, and its writes are dropped", "[dispatch][lds]") {
    on_each("lds", [](Machine& gpu, const CodeObject& code) {
        auto* out = gpu.allocate<std::uint32_t>(64);
        code.launch("outside_lds", {.grid = {64}, .group = {64}}, out);
        for (std::uint32_t l = 0; l < 64; ++l) REQUIRE(out[l] == l);
    });
}
