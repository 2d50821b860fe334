#include "hsadrv/code/md5.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hsadrv {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t length_bytes = 8;  // of the message's length in bits, at the end of the last block

using Words = std::array<std::uint32_t, 4>;

// RFC 1321, 3.4: T[i] = floor(2^32 * |sin(i + 1)|).
constexpr std::uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

/// The function of a round and which word of the block its step takes.
struct Mixed {
    std::uint32_t value;
    unsigned word;
};

Mixed mix(unsigned step, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    switch (step / 16) {
        case 0:
            return {(b & c) | (~b & d), step};
        case 1:
            return {(b & d) | (c & ~d), (5 * step + 1) % 16};
        case 2:
            return {b ^ c ^ d, (3 * step + 5) % 16};
        default:
            return {c ^ (b | ~d), 7 * step % 16};
    }
}

void add_block(Words& state, const std::byte* block) {
    std::uint32_t words[16];
    std::memcpy(words, block, sizeof words);  // little endian, as the host is
    auto [a, b, c, d] = state;
    for (unsigned step = 0; step < 64; ++step) {
        const Mixed mixed = mix(step, b, c, d);
        const std::uint32_t sum = a + mixed.value + sines[step] + words[mixed.word];
        a = d;
        d = c;
        c = b;
        b += std::rotl(sum, rotations[step / 16][step % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

}  // namespace

std::array<std::uint32_t, 4> md5(std::span<const std::byte> bytes) noexcept {
    Words state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
    while (bytes.size() >= block_bytes) {
        add_block(state, bytes.data());
        bytes = bytes.subspan(block_bytes);
    }
    std::byte last[2 * block_bytes] = {};
    std::copy(bytes.begin(), bytes.end(), last);
    last[bytes.size()] = std::byte{0x80};
    const std::size_t end = bytes.size() + 1 + length_bytes <= block_bytes ? block_bytes : 2 * block_bytes;
    std::memcpy(last + end - length_bytes, &bits, length_bytes);
    for (std::size_t at = 0; at < end; at += block_bytes) add_block(state, last + at);
    return state;
}

}  // namespace hsadrv
