// Whole algorithms: hashes, ciphers, sparse matrices, text.
#define UNIT "applications"
#include "twin.hpp"

#include "cipher_tables.hpp"

KERNEL(sha256, u32, u32, u32, .items = 256, .a = 16, .out = 8) {
    const u32 i = global_id();
    u32 w[64], h[8];
    for (u32 k = 0; k < 16; ++k) w[k] = a[i * 16 + k];
    for (u32 k = 16; k < 64; ++k) {
        const u32 s0 = rotate_right(w[k - 15], 7) ^ rotate_right(w[k - 15], 18) ^ w[k - 15] >> 3;
        const u32 s1 = rotate_right(w[k - 2], 17) ^ rotate_right(w[k - 2], 19) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    for (u32 k = 0; k < 8; ++k) h[k] = kSha256Start[k];
    for (u32 k = 0; k < 64; ++k) {
        const u32 s1 = rotate_right(h[4], 6) ^ rotate_right(h[4], 11) ^ rotate_right(h[4], 25);
        const u32 t1 = h[7] + s1 + ((h[4] & h[5]) ^ (~h[4] & h[6])) + kSha256Rounds[k] + w[k];
        const u32 s0 = rotate_right(h[0], 2) ^ rotate_right(h[0], 13) ^ rotate_right(h[0], 22);
        const u32 t2 = s0 + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        for (u32 j = 7; j > 0; --j) h[j] = h[j - 1];
        h[4] += t1;
        h[0] = t1 + t2;
    }
    for (u32 k = 0; k < 8; ++k) out[i * 8 + k] = h[k] + kSha256Start[k];
}

static inline u8 doubled(u8 v) { return u8(v << 1 ^ (v & 0x80 ? 0x1b : 0)); }
KERNEL(aes128, u8, u8, u8, .items = 128, .a = 16, .b = 16, .out = 16) {
    const u32 i = global_id();
    u8 state[16], key[16], next = 1;
    for (u32 k = 0; k < 16; ++k) {
        key[k] = b[i * 16 + k];
        state[k] = a[i * 16 + k] ^ key[k];
    }
    for (u32 round = 1; round <= 10; ++round) {
        for (u32 k = 0; k < 4; ++k) key[k] ^= u8(kAesSubstitutes[key[12 + (k + 1) % 4]] ^ (k == 0 ? next : 0));
        for (u32 k = 4; k < 16; ++k) key[k] ^= key[k - 4];
        next = doubled(next);
        u8 t[16];
        for (u32 k = 0; k < 16; ++k) t[k] = kAesSubstitutes[state[(k + k % 4 * 4) % 16]];
        for (u32 c = 0; c < 16; c += 4) {
            const u8 all = u8(t[c] ^ t[c + 1] ^ t[c + 2] ^ t[c + 3]);
            for (u32 k = 0; k < 4; ++k) {
                const u8 mixed = u8(t[c + k] ^ all ^ doubled(u8(t[c + k] ^ t[c + (k + 1) % 4])));
                state[c + k] = u8((round < 10 ? mixed : t[c + k]) ^ key[c + k]);
            }
        }
    }
    for (u32 k = 0; k < 16; ++k) out[i * 16 + k] = state[k];
}

static inline void quarter(u32& a, u32& b, u32& c, u32& d) {
    a += b;
    d = rotate_left(d ^ a, 16);
    c += d;
    b = rotate_left(b ^ c, 12);
    a += b;
    d = rotate_left(d ^ a, 8);
    c += d;
    b = rotate_left(b ^ c, 7);
}
KERNEL(chacha20, u32, u32, u32, .items = 128, .a = 12, .out = 16) {
    const u32 i = global_id();
    u32 start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, s[16];
    for (u32 k = 0; k < 12; ++k) start[4 + k] = a[i * 12 + k];
    for (u32 k = 0; k < 16; ++k) s[k] = start[k];
    for (u32 round = 0; round < 10; ++round) {
        for (u32 c = 0; c < 4; ++c) quarter(s[c], s[4 + c], s[8 + c], s[12 + c]);
        for (u32 c = 0; c < 4; ++c) quarter(s[c], s[4 + (c + 1) % 4], s[8 + (c + 2) % 4], s[12 + (c + 3) % 4]);
    }
    for (u32 k = 0; k < 16; ++k) out[i * 16 + k] = s[k] + start[k];
}

KERNEL(siphash, u64, u64, u64, .a = 4, .b = 2) {
    const u32 i = global_id();
    const u64 k0 = b[i * 2], k1 = b[i * 2 + 1];
    u64 v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u};
    for (u32 block = 0; block < 6; ++block) {
        const u64 m = block < 4 ? a[i * 4 + block] : u64{32} << 56;
        if (block < 5)
            v[3] ^= m;
        else
            v[2] ^= 0xff;
        for (u32 round = 0; round < (block < 5 ? 2 : 4); ++round) {
            v[0] += v[1];
            v[1] = rotate_left64(v[1], 13) ^ v[0];
            v[0] = rotate_left64(v[0], 32);
            v[2] += v[3];
            v[3] = rotate_left64(v[3], 16) ^ v[2];
            v[0] += v[3];
            v[3] = rotate_left64(v[3], 21) ^ v[0];
            v[2] += v[1];
            v[1] = rotate_left64(v[1], 17) ^ v[2];
            v[2] = rotate_left64(v[2], 32);
        }
        if (block < 5) v[0] ^= m;
    }
    out[i] = v[0] ^ v[1] ^ v[2] ^ v[3];
}

KERNEL(crc32, u8, u32, u32, .a = 32) {
    const u32 i = global_id();
    u32 crc = ~0u;
    for (u32 k = 0; k < 32; ++k) {
        crc ^= a[i * 32 + k];
        for (u32 bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    }
    out[i] = ~crc ^ b[i];
}

KERNEL(philox, u32, u32, f32, .out = 4) {
    const u32 i = global_id();
    u32 c[4] = {i, a[i], b[i], 7}, k0 = a[i], k1 = b[i];
    for (u32 round = 0; round < 10; ++round) {
        const u64 p = u64{0xd2511f53} * c[0], q = u64{0xcd9e8d57} * c[2];
        const u32 x = u32(q >> 32) ^ c[1] ^ k0, y = u32(p >> 32) ^ c[3] ^ k1;
        c[0] = x;
        c[1] = u32(q);
        c[2] = y;
        c[3] = u32(p);
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
    for (u32 k = 0; k < 4; ++k) out[i * 4 + k] = f32(c[k] >> 8) * 0x1p-24f;
}

/// Rows of different lengths: row i has i % 13 elements, whose columns b names.
KERNEL(sparse_product, f64, u32, f64, .a = 13, .b = 13, .a_values = differential::Values::Tame) {
    const u32 i = global_id();
    f64 sum = 0;
    for (u32 k = 0; k < i % 13; ++k) {
        const u32 column = b[i * 13 + k] % n;
        sum += a[i * 13 + k] * a[column * 13 + 12];
    }
    out[i] = sum;
}

/// Horspool's search for three letters of an alphabet of four.
KERNEL(string_search, u8, u8, u32, .items = 256, .a = 64, .b = 3) {
    const u32 i = global_id();
    u8 text[64], word[3], skip[4];
    for (u32 k = 0; k < 64; ++k) text[k] = (a[i * 64 + k] >> 2) & 3;
    for (u32 k = 0; k < 3; ++k) word[k] = b[i * 3 + k] & 3;
    for (u32 k = 0; k < 4; ++k) skip[k] = 3;
    for (u32 k = 0; k < 2; ++k) skip[word[k]] = u8(2 - k);
    u32 found = 0, first = 99;
    for (u32 at = 0; at + 3 <= 64;) {
        u32 k = 3;
        while (k > 0 && text[at + k - 1] == word[k - 1]) --k;
        if (k == 0) {
            ++found;
            first = smaller(first, at);
        }
        at += skip[text[at + 2]];
    }
    out[i] = found * 100 + first;
}

KERNEL(edit_distance, u8, u8, u32, .items = 128, .a = 16, .b = 16) {
    const u32 i = global_id();
    u32 row[17];
    for (u32 k = 0; k <= 16; ++k) row[k] = k;
    for (u32 y = 0; y < 16; ++y) {
        u32 diagonal = row[0];
        row[0] = y + 1;
        for (u32 x = 0; x < 16; ++x) {
            const u32 change = diagonal + ((a[i * 16 + y] & 3) != (b[i * 16 + x] & 3));
            diagonal = row[x + 1];
            row[x + 1] = smaller(smaller(row[x], row[x + 1]) + 1, change);
        }
    }
    out[i] = row[16];
}

/// Whether a text is a number such as -12.5e+3: a table of states.
KERNEL(number_grammar, u8, u8, u32, .a = 12) {
    TABLE i8 kNext[7][5] = {{1, -1, -1, 2, -1}, {-1, -1, -1, 2, -1}, {-1, 3, 5, 2, -1},  {-1, -1, 5, 4, -1},
                            {-1, -1, 5, 4, -1}, {6, -1, -1, 6, -1},  {-1, -1, -1, 6, -1}};
    const u32 i = global_id();
    i32 state = 0;
    u32 read = 0;
    for (; read < 12 && state >= 0; ++read) {
        const u8 c = a[i * 12 + read] % 16;  // '+' '.' 'e' digits, others
        state = kNext[state][c == 0 ? 0 : c == 1 ? 1 : c == 2 ? 2 : c < 15 ? 3 : 4];
    }
    out[i] = read * 16 + u32(state + 1);
}

KERNEL(convolution, f32, f32, f32, .b = 1, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    const u32 i = global_id();
    f32 sum = 0;
    for (i32 k = -4; k <= 4; ++k) {
        const i32 at = i32(i) + k;
        if (at < 0 || at >= i32(n)) continue;
        sum += a[at] * b[k + 4];
    }
    out[i] = sum;
}

KERNEL(damped_newton, f64, f64, f64, .items = 128, .a_values = differential::Values::Tame,
       .b_values = differential::Values::Tame) {
    // The least of (x - p)^4 + (x - q)^2 by damped Newton steps.
    const u32 i = global_id();
    const f64 p = a[i] / 100, q = b[i] / 100;
    f64 x = 0, damping = 1;
    for (u32 step = 0; step < 50; ++step) {
        const f64 u = x - p, v = x - q, slope = 4 * u * u * u + 2 * v, bend = 12 * u * u + 2;
        const f64 next = x - slope / (bend + damping);
        const f64 un = next - p, vn = next - q;
        if (un * un * un * un + vn * vn < u * u * u * u + v * v) {
            x = next;
            damping *= 0.5;
        } else {
            damping *= 4;
        }
        if (__builtin_fabs(slope) < 1e-12) break;
    }
    out[i] = x;
}

#undef UNIT
