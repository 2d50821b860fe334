// Atomics, from many work-groups on several threads.
#include <numeric>

#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;

namespace {

template <class T>
std::vector<T> cells_before() {
    std::vector<T> cells(10);
    cells[3] = cells[6] = ~T{0};
    return cells;
}

template <class T>
void check_cells(const T* cells, std::uint32_t n, T (*value)(std::uint32_t)) {
    T sum = 0, all_and = ~T{0}, all_or = 0, all_xor = 0, least = ~T{0}, most = 0, chained = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const T v = value(i);
        sum += v;
        all_and &= ~(T{1} << (i % (sizeof(T) * 8)));
        all_or |= T{1} << (i % 29);
        all_xor ^= v;
        least = std::min(least, v);
        most = std::max(most, v);
        chained = chained * 3 + 1;
    }
    REQUIRE(cells[0] == n);
    REQUIRE(cells[1] == sum);
    REQUIRE(cells[2] == T{0} - sum);
    REQUIRE(cells[3] == all_and);
    REQUIRE(cells[4] == all_or);
    REQUIRE(cells[5] == all_xor);
    REQUIRE(cells[6] == least);
    REQUIRE(cells[7] == most);
    REQUIRE(cells[8] == chained);
}

/// The old values of n additions of 1 are 0 to n - 1, each once.
template <class T>
void check_tickets(const T* tickets, std::uint32_t n) {
    std::vector<T> sorted(tickets, tickets + n);
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < n; ++i) REQUIRE(sorted[i] == i);
}

template <class T, class S>
void integers(Machine& gpu, const CodeObject& code, const char* kernel) {
    const std::uint32_t n = 1000;
    auto* cells = gpu.copy(cells_before<T>());
    auto* signed_cells = gpu.allocate<S>(2);
    auto* tickets = gpu.allocate<T>(n);
    code.launch(kernel, {.grid = {n}, .group = {128}, .threads = 4, .quantum = 500}, cells, signed_cells, tickets);
    const auto value = +[](std::uint32_t i) { return static_cast<T>(static_cast<T>(i) * 2654435761u); };
    check_cells<T>(cells, n, value);
    check_tickets(tickets, n);
    REQUIRE((cells[9] & 1) == 1);
    S least = 0, most = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const S v = static_cast<S>(value(i) << (sizeof(T) == 8 ? 32 : 0));
        least = std::min(least, v);
        most = std::max(most, v);
    }
    REQUIRE(signed_cells[0] == least);
    REQUIRE(signed_cells[1] == most);
}

}  // namespace

TEST_CASE("32-bit atomics on memory", "[dispatch][atomics][threads]") {
    on_each("atomics", [](Machine& gpu, const CodeObject& code) {
        integers<std::uint32_t, std::int32_t>(gpu, code, "integers_32");
    });
}

TEST_CASE("64-bit atomics on memory", "[dispatch][atomics][threads]") {
    on_each("atomics", [](Machine& gpu, const CodeObject& code) {
        integers<std::uint64_t, std::int64_t>(gpu, code, "integers_64");
    });
}

TEST_CASE("increments and decrements wrap at their limit", "[dispatch][atomics]") {
    on_each("atomics", [](Machine& gpu, const CodeObject& code) {
        auto* cells = gpu.copy(std::vector<std::uint32_t>{0, 50});
        code.launch("wrapping", {.grid = {130}, .group = {130}}, cells);
        REQUIRE(cells[0] == 30);
        REQUIRE(cells[1] == 20);  // 50 down to 0, 99, and 79 more
    });
}

TEST_CASE("float additions by compare and swap", "[dispatch][atomics][threads]") {
    on_each("atomics", [](Machine& gpu, const CodeObject& code) {
        auto* single = gpu.allocate<float>(1);
        auto* twice = gpu.allocate<double>(1);
        code.launch("floats", {.grid = {512}, .group = {64}, .threads = 2}, single, twice);
        REQUIRE(*single == 256.0f);
        REQUIRE(*twice == 128.0);
    });
}

TEST_CASE("float atomics of gfx90a", "[dispatch][atomics][threads]") {
    on_each("atomics", [](Machine& gpu, const CodeObject& code) {
        if (gpu.target() != Target::gfx90a) return;
        const std::uint32_t n = 512;
        auto* single = gpu.allocate<float>(1);
        auto* twice = gpu.allocate<double>(3);
        auto* halves = gpu.allocate<std::uint16_t>(2);
        auto* old = gpu.allocate<float>(n);
        code.launch("hardware_floats", {.grid = {n}, .group = {64}, .threads = 2}, single, twice, halves, old);
        REQUIRE(*single == 256.0f);
        REQUIRE(std::accumulate(old, old + n, 0.0f) == 0.5f * (n - 1) * n / 2);
        REQUIRE(twice[0] == 128.0);
        REQUIRE(twice[1] == -511.0);
        REQUIRE(twice[2] == 1.5 * 511);
        REQUIRE(halves[0] == 0x6000);  // 512
        REQUIRE(halves[1] == 0x5c00);  // 256
    });
}

TEST_CASE("atomics on LDS", "[dispatch][atomics][lds]") {
    on_each("atomics", [](Machine& gpu, const CodeObject& code) {
        const std::uint32_t n = 256;
        auto* out32 = gpu.allocate<std::uint32_t>(10);
        auto* out64 = gpu.allocate<std::uint64_t>(10);
        auto* out_float = gpu.allocate<float>(1);
        auto* tickets = gpu.allocate<std::uint32_t>(2 * n);
        code.launch("lds_atomics", {.grid = {n}, .group = {n}, .quantum = 100}, out32, out64, out_float, tickets);
        check_cells<std::uint32_t>(out32, n, +[](std::uint32_t i) { return (i + 1) * 2654435761u; });
        check_cells<std::uint64_t>(
            out64, n, +[](std::uint32_t i) { return std::uint64_t{(i + 1) * 2654435761u} << 16; });
        check_tickets(tickets, n);
        check_tickets(tickets + n, n);
        REQUIRE(*out_float == 129.0f);
    });
}
