// The same expressions on the host and on the device.
#include "tests/kfdemu/dispatch/kernels/arithmetic.hpp"

#include "tests/kfdemu/dispatch/machine.hpp"

using namespace dispatch_test;

namespace {

/// Random values of every kind: small, large, floats of all exponents, and the special ones.
std::vector<std::uint64_t> inputs(std::uint64_t seed, std::size_t count) {
    const std::uint64_t special[] = {0,
                                     1,
                                     2,
                                     ~std::uint64_t{0},
                                     0x80000000,
                                     0x7fffffff,
                                     0x8000000000000000,
                                     0x7fffffffffffffff,
                                     0x3f800000,
                                     0xbf800000,
                                     0x7f800000,
                                     0xff800000,
                                     0x7fc00000,
                                     0x80000001,
                                     0x007fffff,
                                     0x00800000,
                                     0x7f7fffff,
                                     0x3ff0000000000000,
                                     0xbff0000000000000,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000000,
                                     0x000fffffffffffff,
                                     0x0010000000000000,
                                     0x7fefffffffffffff,
                                     0x3fe0000000000000,
                                     0x3f000000,
                                     0xc0200000,
                                     0x4b000001};
    Numbers random{seed};
    std::vector<std::uint64_t> values(count);
    for (std::uint64_t& v : values) {
        const std::uint64_t r = random.next();
        switch (random.next() >> 20 & 7) {
            case 0:
                v = special[(r >> 9) % std::size(special)];
                break;
            case 1:
                v = r >> 40;
                break;
            case 2:
                v = 0 - (r >> 40);
                break;
            case 3:
                v = r >> 33;
                break;
            case 4:
                v = __builtin_bit_cast(std::uint64_t, double(std::int64_t(r)) / 4294967296.0);
                break;
            case 5:
                v = __builtin_bit_cast(std::uint32_t, float(std::int32_t(r >> 32)) / 65536.0f);
                break;
            default:
                v = r ^ random.next() << 31;
        }
    }
    return values;
}

}  // namespace

TEST_CASE("host and device compute the same, bit for bit", "[dispatch][arithmetic]") {
    const std::uint32_t n = 2000;
    const auto a = inputs(1, n), b = inputs(2, n), c = inputs(3, n);
    on_each("arithmetic", [&](Machine& gpu, const CodeObject& code) {
        const auto *da = gpu.copy(a), *db = gpu.copy(b), *dc = gpu.copy(c);
        auto* out = gpu.allocate<std::uint64_t>(n);
        const auto check = [&](const char* name, u64_t (*host)(u64_t, u64_t, u64_t)) {
            std::fill_n(out, n, 0xdead);
            const Outcome outcome = code.try_launch(
                std::string{"k_"} + name, {.grid = {n}, .group = {256}, .stack_bytes = 512}, da, db, dc, out, n);
            INFO(name << ": " << kfdemu::describe(outcome.fault));
            CHECK(outcome.state == kfdemu::Dispatch::State::Finished);
            unsigned differ = 0, first = 0;
            for (std::uint32_t i = 0; i < n; ++i)
                if (out[i] != host(a[i], b[i], c[i]) && differ++ == 0) first = i;
            if (differ == 0) return;
            FAIL_CHECK(name << ": " << differ << " of " << n << " differ; " << std::hex << a[first] << ", " << b[first]
                            << ", " << c[first] << " gives " << out[first] << ", not "
                            << host(a[first], b[first], c[first]));
        };
#define CHECK_OPERATION(name, expression) check(#name, op_##name);
        OPERATIONS(CHECK_OPERATION)
    });
}
