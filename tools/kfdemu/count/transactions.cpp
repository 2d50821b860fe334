#include "tools/kfdemu/count/transactions.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace kfdemu::count {
namespace {

constexpr unsigned kDwordBytes = 4;
/// An access has at most 16 bytes; one more dword if it is not aligned.
constexpr unsigned kMostDwords = 5;

/// Numbers, of which the distinct ones count. Neighbours usually repeat or ascend, and need no sorting.
template <std::size_t Most>
class Distinct {
  public:
    void add(std::uint64_t number) {
        if (count_ != 0 && all_[count_ - 1] == number) return;
        ascend_ &= count_ == 0 || all_[count_ - 1] < number;
        all_[count_++] = number;
    }
    unsigned count() {
        if (ascend_) return count_;
        std::sort(all_.begin(), all_.begin() + count_);
        return static_cast<unsigned>(std::unique(all_.begin(), all_.begin() + count_) - all_.begin());
    }

  private:
    std::array<std::uint64_t, Most> all_;
    unsigned count_ = 0;
    bool ascend_ = true;
};

template <class Use>
void each(std::uint64_t lanes, Use&& use) {
    for (; lanes != 0; lanes &= lanes - 1) use(static_cast<unsigned>(std::countr_zero(lanes)));
}

template <class Last>
unsigned lines_of(const Addresses& first, std::uint64_t lanes, unsigned line_bytes, Last&& last) {
    Distinct<isa::kMostLanes * 2> lines;
    each(lanes, [&](unsigned l) {
        lines.add(first[l] / line_bytes);
        lines.add(last(l) / line_bytes);
    });
    return lines.count();
}

unsigned lanes_of_pass(unsigned bytes) { return bytes <= kDwordBytes ? 32 : bytes <= 2 * kDwordBytes ? 16 : 8; }

/// The lanes of the n-th pass.
std::uint64_t lanes_of(unsigned n, unsigned width, Direction direction) {
    if (width > 8 || direction == Direction::Store) return ((std::uint64_t{1} << width) - 1) << n * width;
    // Of half a wave: four lanes of its first 16 with four of the others.
    const unsigned half = n / 4 * 32, quad = n % 4;
    return (std::uint64_t{0xf} << quad * 4 | std::uint64_t{0xf} << (16 + (quad ^ 1) * 4)) << half;
}

/// The most distinct dwords in one bank.
unsigned deepest(const Addresses& at, std::uint64_t lanes, unsigned bytes) {
    std::array<std::array<std::uint64_t, 32>, kBanks> dwords;  // a lane touches a bank once
    std::array<unsigned, kBanks> used{};
    unsigned most = 0;
    each(lanes, [&](unsigned l) {
        const std::uint64_t last = (at[l] + bytes - 1) / kDwordBytes;
        for (std::uint64_t dword = at[l] / kDwordBytes; dword <= last; ++dword) {
            auto& bank = dwords[dword % kBanks];
            unsigned& count = used[dword % kBanks];
            if (std::find(bank.begin(), bank.begin() + count, dword) != bank.begin() + count) continue;
            bank[count++] = dword;
            most = std::max(most, count);
        }
    });
    return most;
}

}  // namespace

unsigned memory_lines(const Addresses& at, std::uint64_t lanes, unsigned bytes, const Lines& lines) {
    return lines_of(at, lanes, lines.bytes, [&](unsigned l) { return at[l] + bytes - 1; });
}

unsigned memory_lines(const Addresses& first, const Addresses& last, std::uint64_t lanes, const Lines& lines) {
    return lines_of(first, lanes, lines.bytes, [&](unsigned l) { return last[l]; });
}

unsigned scratch_lines(const Addresses& at, std::uint64_t lanes, unsigned bytes, const Lines& lines) {
    Distinct<isa::kMostLanes * kMostDwords> touched;
    each(lanes, [&](unsigned l) {
        const std::uint64_t last = (at[l] + bytes - 1) / kDwordBytes;
        for (std::uint64_t dword = at[l] / kDwordBytes; dword <= last; ++dword)
            touched.add((dword * lines.lanes + l) * kDwordBytes / lines.bytes);
    });
    return touched.count();
}

unsigned scalar_lines(std::uint64_t at, unsigned bytes) {
    return static_cast<unsigned>((at + bytes - 1) / kScalarLineBytes - at / kScalarLineBytes + 1);
}

unsigned bank_conflicts(const Addresses& at, std::uint64_t lanes, unsigned bytes, Direction direction) {
    const unsigned width = lanes_of_pass(bytes);
    unsigned cycles = 0;
    for (unsigned n = 0; n < isa::kMostLanes / width; ++n)
        if (const std::uint64_t pass = lanes & lanes_of(n, width, direction); pass != 0)
            cycles += deepest(at, pass, bytes) - 1;
    return cycles;
}

}  // namespace kfdemu::count
