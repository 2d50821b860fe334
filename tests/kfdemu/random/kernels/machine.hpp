// Instructions that the compiler's builtins name: on the device the builtins, on the host the ISA manual's definitions
// ("Vega" ISA, chapter 12, by mnemonic).
#pragma once

#include "integers.hpp"

FN u32 byte(u32 a, u32 n) { return a >> 8 * n & 0xff; }

#if ON_DEVICE
FN u32 bfe(u32 a, u32 offset, u32 bits) { return __builtin_amdgcn_ubfe(a, offset, bits); }
FN i32 bfe(i32 a, u32 offset, u32 bits) { return i32(__builtin_amdgcn_sbfe(u32(a), offset, bits)); }
FN u32 align_bit(u32 a, u32 b, u32 by) { return __builtin_amdgcn_alignbit(a, b, by); }
FN u32 align_byte(u32 a, u32 b, u32 by) { return __builtin_amdgcn_alignbyte(a, b, by); }
FN u32 permute(u32 a, u32 b, u32 select) { return __builtin_amdgcn_perm(a, b, select); }
FN u32 average(u32 a, u32 b, u32 round) { return __builtin_amdgcn_lerp(a, b, round); }
FN u32 sad_8(u32 a, u32 b, u32 c) { return __builtin_amdgcn_sad_u8(a, b, c); }
FN u32 sad_16(u32 a, u32 b, u32 c) { return __builtin_amdgcn_sad_u16(a, b, c); }
FN u32 sad_high(u32 a, u32 b, u32 c) { return __builtin_amdgcn_sad_hi_u8(a, b, c); }
FN u32 sad_masked(u32 a, u32 b, u32 c) { return __builtin_amdgcn_msad_u8(a, b, c); }
#else
FN u32 bfe(u32 a, u32 offset, u32 bits) { return a >> (offset & 31) & u32((u64(1) << (bits & 31)) - 1); }
FN i32 bfe(i32 a, u32 offset, u32 bits) {
    bits &= 31;
    if (bits == 0) return 0;
    const u32 taken = u32(a >> (offset & 31)) << (32 - bits);
    return i32(taken) >> (32 - bits);
}
FN u32 align_bit(u32 a, u32 b, u32 by) { return u32((u64(a) << 32 | b) >> (by & 31)); }
FN u32 align_byte(u32 a, u32 b, u32 by) { return u32((u64(a) << 32 | b) >> 8 * (by & 3)); }
FN u32 permuted_byte(u64 data, u32 select) {
    if (select > 12) return 0xff;
    if (select == 12) return 0;
    if (select >= 8) return data >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    return u32(data >> 8 * select) & 0xff;
}
FN u32 permute(u32 a, u32 b, u32 select) {
    u32 result = 0;
    for (u32 n = 0; n < 4; ++n) result |= permuted_byte(u64(a) << 32 | b, byte(select, n)) << 8 * n;
    return result;
}
FN u32 average(u32 a, u32 b, u32 round) {
    u32 result = 0;
    for (u32 n = 0; n < 4; ++n) result |= (byte(a, n) + byte(b, n) + (byte(round, n) & 1)) / 2 << 8 * n;
    return result;
}
FN u32 sad_8(u32 a, u32 b, u32 c) {
    for (u32 n = 0; n < 4; ++n) c += distance(byte(a, n), byte(b, n));
    return c;
}
FN u32 sad_16(u32 a, u32 b, u32 c) { return c + distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16); }
FN u32 sad_high(u32 a, u32 b, u32 c) { return (sad_8(a, b, 0) << 16) + c; }
/// Bytes of the reference, which is the second, that are 0 do not count.
FN u32 sad_masked(u32 a, u32 b, u32 c) {
    for (u32 n = 0; n < 4; ++n)
        if (byte(b, n) != 0) c += distance(byte(a, n), byte(b, n));
    return c;
}
#endif

// Dot products: V_DOT* of the targets that have them, sums of products elsewhere. None of them saturates here.
#if ON_DEVICE && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
FN u32 dot_8(u32 a, u32 b, u32 c) { return __builtin_amdgcn_udot4(a, b, c, false); }
FN i32 dot_8(i32 a, i32 b, i32 c) { return __builtin_amdgcn_sdot4(a, b, c, false); }
FN u32 dot_4(u32 a, u32 b, u32 c) { return __builtin_amdgcn_udot8(a, b, c, false); }
FN i32 dot_4(i32 a, i32 b, i32 c) { return __builtin_amdgcn_sdot8(a, b, c, false); }
#else
// unknown(): from a shift to the right by 24 bits and more, clang 19 takes V_DOT4's bytes at places that the shifted
// number does not have (SIISelLowering.cpp, calculateSrcByte); and a byte that is subtracted from c is added.
FN u32 dot_8(u32 a, u32 b, u32 c) {
    a = unknown(a), b = unknown(b), c = unknown(c);
    for (u32 n = 0; n < 4; ++n) c += byte(a, n) * byte(b, n);
    return c;
}
FN i32 dot_8(i32 a, i32 b, i32 c) {
    u32 sum = u32(c);
    const u32 x = unknown(u32(a)), y = unknown(u32(b));
    for (u32 n = 0; n < 4; ++n) sum += u32(i32(i8(byte(x, n))) * i8(byte(y, n)));
    return i32(sum);
}
FN u32 nibble(u32 a, u32 n) { return a >> 4 * n & 15; }
FN u32 dot_4(u32 a, u32 b, u32 c) {
    for (u32 n = 0; n < 8; ++n) c += nibble(a, n) * nibble(b, n);
    return c;
}
FN i32 signed_nibble(i32 a, u32 n) { return i32(u32(a) << (28 - 4 * n)) >> 28; }
FN i32 dot_4(i32 a, i32 b, i32 c) {
    u32 sum = u32(c);
    for (u32 n = 0; n < 8; ++n) sum += u32(signed_nibble(a, n) * signed_nibble(b, n));
    return i32(sum);
}
#endif
