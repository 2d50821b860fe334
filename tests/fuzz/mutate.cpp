#include "tests/fuzz/mutate.hpp"

namespace fuzz {
namespace {

constexpr std::size_t kLongestNoise = 256;
constexpr std::size_t kLongest = 1 << 20;
// Values at the edges of fields, and addresses at which the targets' memory begins or that no process can map.
constexpr std::uint64_t kEdges[] = {0,
                                    1,
                                    2,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x100,
                                    0xfff,
                                    0x1000,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x10000,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x100000000,
                                    0x7ffffffff000,
                                    0x7fffffffffff,
                                    0x800000000000,
                                    0x1000000000000,
                                    0xffff800000000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    ~std::uint64_t{0}};

}  // namespace

/// PCG-like: a 64-bit congruential generator whose high bits are mixed into the low ones.
std::uint64_t Mutator::random() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ ^ state_ >> 29) >> 7;
}

Bytes Mutator::next(const std::vector<Bytes>& seeds) {
    Bytes bytes;
    if (seeds.empty() || below(32) == 0) {
        bytes.resize(below(kLongestNoise));
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        return bytes;
    }
    bytes = seeds[below(seeds.size())];
    for (std::size_t changes = 1 + below(8); changes; --changes) change(bytes, seeds);
    if (bytes.size() > kLongest) bytes.resize(kLongest);
    return bytes;
}

void Mutator::change(Bytes& bytes, const std::vector<Bytes>& seeds) {
    if (bytes.empty()) return bytes.push_back(static_cast<std::uint8_t>(random()));
    const std::size_t at = below(bytes.size());
    switch (below(8)) {
        case 0:
            bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 1u << below(8));
            return;
        case 1:
            bytes[at] = static_cast<std::uint8_t>(random());
            return;
        case 2:
        case 3:
            return overwrite(bytes);
        case 4: {  // a piece of another seed
            const Bytes& other = seeds[below(seeds.size())];
            if (other.empty()) return;
            const std::size_t from = below(other.size());
            const std::size_t count = std::min({1 + below(64), other.size() - from, bytes.size() - at});
            std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), count,
                        bytes.begin() + static_cast<std::ptrdiff_t>(at));
            return;
        }
        case 5: {  // another seed after this one
            const Bytes& other = seeds[below(seeds.size())];
            bytes.insert(bytes.end(), other.begin(), other.end());
            return;
        }
        case 6:
            bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(at + std::min(1 + below(16), bytes.size() - at)));
            return;
        default:
            bytes.resize(below(4) == 0 ? at : bytes.size());
            return;
    }
}

/// An edge value over 1, 2, 4 or 8 bytes, mostly at the offset of such a field.
void Mutator::overwrite(Bytes& bytes) {
    const std::size_t width = std::size_t{1} << below(4);
    std::size_t at = below(bytes.size());
    if (below(4)) at -= at % width;
    std::uint64_t value = kEdges[below(std::size(kEdges))];
    if (below(4) == 0) value += static_cast<std::uint64_t>(below(16)) - 8;
    std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
}

}  // namespace fuzz
