#include "tests/kfdemu/isa/matrix_samples.hpp"

#include "tools/kfdemu/isa/encodings/family.hpp"

namespace test_isa {

using namespace kfdemu::isa;
using u32 = std::uint32_t;

namespace {

u32 addend(const Row& row, Random& random) {
    if (row.is(kSparse) || random.one_in(2)) return 256 + 2 * random.below((256 - dwords(row.src[2])) / 2 + 1);
    return random.one_in(2) ? 128 + random.below(81) : 240 + random.below(9);
}

}  // namespace

Words matrix_sample(const Row& row, Target target, Random& random, bool first) {
    const u32 d = 2 * random.below((256 - dwords(row.dst)) / 2 + 1);
    const auto factor = [&](unsigned n) { return 256 + 2 * random.below((256 - dwords(row.src[n])) / 2 + 1); };
    const u32 a = factor(0), b = factor(1);
    u32 low = 0xd3800000 | opcode_of(row, target) << 16 | d, high = a | b << 9 | addend(row, random) << 18;
    high |= random.bits(2) << 27;                                          // ACC
    if (traits_of(target).unified_registers) low |= random.bits(1) << 15;  // ACC_CD
    if (first) return {low, high};
    if (row.is(kMixedFormats)) return {low | random.below(5) << 8, high | random.below(5) << 29};
    low |= random.bits(3) << 8 | random.bits(4) << 11;
    return {low, row.is(kSparse) ? high : high | random.bits(3) << 29};
}

}  // namespace test_isa
