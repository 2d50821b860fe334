// Kinds of memory: globals, tables, the stack, generic pointers, and misaligned addresses.
#define UNIT "memory"
#include "twin.hpp"

#if defined(__AMDGCN__) && defined(__HIP__)
#define GLOBAL_VARIABLE static __attribute__((device))
#else
#define GLOBAL_VARIABLE static
#endif
/// Unknown to the compiler.
template <class T>
static inline T hidden(T v) {
#if defined(__AMDGCN__)
    asm volatile("" : "+v"(v));
#else
    asm volatile("" : "+r"(v));
#endif
    return v;
}

struct Record {
    u8 kind;
    u16 size;
    u32 key;
    f64 weight;
    i8 name[5];
};
GLOBAL_VARIABLE Record records[4] = {{1, 20, 0x1234, 0.5, {'a', 'b'}},
                                     {2, 40, 0x5678, -1.25, {'c'}},
                                     {3, 60, 9, 1e6, {}},
                                     {4, 80, 7, 3, {-1, -2, -3, -4, -5}}};
GLOBAL_VARIABLE volatile u32 counts[512 + 64] = {5, 6, 7};
TABLE u8 kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
TABLE char kText[] = "a text of constants, which no lane changes";

/// Each item has its own element of memory shared by all dispatches.
KERNEL(initialised_globals, u32, u32, u32) {
    const u32 i = global_id();
    const Record& r = records[a[i] % 4];
    u32 sum = r.kind + r.size * 3u + r.key + u32(i32(r.weight * 4)) + u32(i32(r.name[b[i] % 5]));
    sum = sum * 31 + kPrimes[b[i] % 11] + u32(kText[a[i] % u32(sizeof kText)]);
    counts[64 + i] = sum;
    if (i >= 3) sum += counts[64 + i] + counts[a[i] % 64 % 3];
    out[i] = sum;
}

GLOBAL_VARIABLE u32 numbers[4] = {10, 20, 30, 40};
GLOBAL_VARIABLE u32* const number_pointers[4] = {numbers + 3, numbers + 1, numbers, numbers + 2};
KERNEL(globals_with_addresses, u32, u32, u32) {
    const u32 i = global_id();
    out[i] = *number_pointers[a[i] % 4] * 100 + number_pointers[b[i] % 4][0];
}

NOINLINE static u32 plus(u32 x, u32 y) { return x + y; }
NOINLINE static u32 minus(u32 x, u32 y) { return x - y; }
NOINLINE static u32 both(u32 x, u32 y) { return x & y; }
NOINLINE static u32 times(u32 x, u32 y) { return x * y + 1; }
struct Operation {
    u32 (*function)(u32, u32);
    u32 constant;
};
GLOBAL_VARIABLE const Operation operations[] = {{plus, 3}, {minus, 5}, {both, 0xff00ff}, {times, 7}};
KERNEL(function_table, u32, u32, u32, .stack_bytes = 16384) {
    const u32 i = global_id();
    u32 v = a[i];
    for (u32 k = 0; k < 5; ++k) {
        const Operation& o = operations[b[i] >> 2 * k & 3];
        v = o.function(v, o.constant + k);
    }
    out[i] = v;
}

LDS(u32, generic_words, 64 * 4);
/// One instruction, whose lanes are in memory, in LDS and on the stack.
KERNEL(generic_pointers, u32, u32, u32, .out = 8) {
    const u32 i = global_id(), l = local_id();
    u32 mine[4];
    u32* const places[] = {out + i * 8, GENERIC(u32, generic_words) + l * 4, mine, out + i * 8 + 4};
    for (u32 k = 0; k < 4; ++k) {
        mine[k] = b[i] + k;
        generic_words[l * 4 + k] = b[i] * (k + 2);
        out[i * 8 + k] = k;
        out[i * 8 + 4 + k] = a[i] + k;
    }
    barrier();
    u32* const at = places[a[i] % 4];
    const u32 old = at[1];
    at[0] = old * 3 + i;
    reinterpret_cast<u8*>(at)[9] = u8(a[i] >> 3);
    reinterpret_cast<u16*>(at)[7] = u16(b[i] >> 5);
    u64 wide;
    __builtin_memcpy(&wide, at, 8);
    wide += u64(i32(reinterpret_cast<i16*>(at)[5])) << 17;
    __builtin_memcpy(at, &wide, 8);
    barrier();
    out[i * 8 + 7] ^= mine[a[i] % 3] + generic_words[l * 4 + b[i] % 4] + u32(reinterpret_cast<i8*>(at)[13]);
}

LDS(u32, generic_atomics_lds, 64 * 4);
LDS(u64, generic_wide_lds, 64);
KERNEL(generic_atomics, u32, u32, u32, .out = 10) {
    const u32 i = global_id(), l = local_id();
    u32* o = out + i * 10;
    for (u32 k = 0; k < 4; ++k) generic_atomics_lds[l * 4 + k] = o[k] = b[i] + k;
    generic_wide_lds[l] = b[i];
    u32* const at = a[i] & 1 ? GENERIC(u32, generic_atomics_lds) + l * 4 : o;
    o[4] = atomic_add(at, a[i]);
    o[5] = atomic_max(at + 1, a[i]);
    u32 seen = a[i] & 2 ? b[i] + 2 : a[i];
    o[6] = atomic_replace(at + 2, &seen, a[i]);
    o[7] = atomic_exchange(at + 3, seen);
    u64* const wide = a[i] & 1 ? GENERIC(u64, generic_wide_lds) + l : reinterpret_cast<u64*>(out + i * 10 + 8);
    if (a[i] & 1) o[8] = u32(atomic_add<u64>(wide, a[i]) >> 3);
    o[9] = at[0] + at[1] + at[2] + at[3];
}

/// A pointer into the stack of the caller, and one to the caller's caller's.
NOINLINE static void fill(u32* to, u32 count, u32 with, u32* last) {
    for (u32 k = 0; k < count; ++k) to[k] = with + k;
    *last = to[count / 2];
}
NOINLINE static u32 sum_up(u32 count, u32 with, u32* last) {
    u32 mine[24];
    fill(mine, count, with, last);
    u32 sum = 0;
    for (u32 k = 0; k < count; ++k) sum = sum * 5 + mine[k];
    return sum;
}
KERNEL(stack_pointers, u32, u32, u32, .out = 2, .stack_bytes = 16384) {
    const u32 i = global_id();
    u32 last[3] = {1, 2, 3};
    out[i * 2] = sum_up(a[i] % 24 + 1, b[i], last + a[i] % 3);
    out[i * 2 + 1] = last[0] + last[1] * 7 + last[2] * 11;
}

#pragma pack(push, 1)
struct Packed {
    u8 first;
    u16 second;
    u32 third;
    u64 fourth;
    f32 fifth;
    f64 sixth;
    i16 seventh;
};
#pragma pack(pop)
static_assert(sizeof(Packed) == 29, "no gaps");
KERNEL(unaligned_fields, u8, u32, u64, .a = 29, .out = 7) {
    const u32 i = global_id();
    Packed p = reinterpret_cast<const Packed*>(a)[i];
    u64* o = out + i * 7;
    o[0] = p.first + p.second;
    o[1] = p.third;
    o[2] = p.fourth;
    o[3] = p.fifth == p.fifth ? bits_as<u32>(f32(p.fifth)) : 0;
    o[4] = p.sixth == p.sixth ? bits_as<u64>(f64(p.sixth)) : 0;
    o[5] = u64(i64(p.seventh));
    p.third += b[i];
    p.fourth *= 3;
    p.seventh = i16(b[i]);
    const u8* bytes = reinterpret_cast<const u8*>(&p);
    u64 sum = 0;
    for (u32 k = 0; k < 29; ++k) sum = sum * 131 + bytes[k];
    o[6] = sum;
}

typedef u32 __attribute__((aligned(1), may_alias)) unaligned_u32;
typedef u64 __attribute__((aligned(1), may_alias)) unaligned_u64;
typedef u16 __attribute__((aligned(1), may_alias)) unaligned_u16;
LDS(u8, unaligned_lds, 64 * 16 + 16);
KERNEL(unaligned_addresses, u8, u8, u64, .a = 16, .b = 1, .out = 6) {
    const u32 i = global_id(), l = local_id();
    const u8* from = a + i * 16 + b[i] % 8;
    u64* o = out + i * 6;
    o[0] = *reinterpret_cast<const unaligned_u32*>(from);
    o[1] = *reinterpret_cast<const unaligned_u64*>(from);
    o[2] = *reinterpret_cast<const unaligned_u16*>(from + 1);
    u8 mine[32];
    for (u32 k = 0; k < 16; ++k) mine[k] = mine[16 + k] = unaligned_lds[l * 16 + k] = a[i * 16 + k];
    *reinterpret_cast<unaligned_u32*>(mine + b[i] % 13) = 0x12345678;
    *reinterpret_cast<unaligned_u64*>(mine + 16 + b[i] % 7) += 0x123456789abcdef;
    u64 sum = 0;
    for (u32 k = 0; k < 32; ++k) sum = sum * 33 + mine[k];
    o[3] = sum;
    u8* lds = GENERIC(u8, unaligned_lds) + l * 16;
    o[4] = *reinterpret_cast<unaligned_u64*>(lds + b[i] % 8);
    *reinterpret_cast<unaligned_u32*>(lds + b[i] % 11) += i;
    o[5] = *reinterpret_cast<unaligned_u64*>(lds + b[i] % 9) + *reinterpret_cast<unaligned_u16*>(lds + 3);
}

/// A private segment of 72 KB for each lane.
KERNEL(large_stack, u32, u32, u32, .items = 128) {
    const u32 i = global_id();
    u32 table[18000];
    u16 far[100];
    for (u32 k = 0; k < 100; ++k) far[k] = u16(b[i] * k);
    for (u32 k = 0; k < 300; ++k) table[(a[i] + k * 61) % 18000] = b[i] + k;
    u32 at = (a[i] + 7 * 61) % 18000, sum = far[a[i] % 100];
    table[0] = i;
    table[17999] = b[i];
    for (u32 k = 0; k < 40; ++k) {
        table[(at + 1) % 18000] = table[at] * 1664525u + 1013904223u;
        at = (at + 1) % 18000;
        sum ^= table[at];
    }
    out[i] = sum + table[0] + table[17999] + far[b[i] % 100];
}

struct Large {
    u32 words[40];
    f64 scale;
    u8 tail[7];
};
NOINLINE static Large changed(Large from, u32 by) {
    for (u32 k = 0; k < 40; ++k) from.words[k] = from.words[(k + by) % 40] + k;
    from.scale = from.scale * 0.5 + by;
    from.tail[by % 7] = u8(by);
    return from;
}
KERNEL(large_structs, u32, u32, u64, .items = 128, .a = 4, .stack_bytes = 16384) {
    const u32 i = global_id();
    Large large = {};
    for (u32 k = 0; k < 40; ++k) large.words[k] = a[i * 4 + k % 4] >> k / 4;
    for (u32 k = 0; k < 3; ++k) large = changed(large, b[i] >> k & 31);
    u64 sum = u64(i64(large.scale * 16));
    for (u32 k = 0; k < 40; ++k) sum = sum * 31 + large.words[k];
    for (u32 k = 0; k < 7; ++k) sum = sum * 31 + large.tail[k];
    out[i] = sum;
}

union Number {
    f32 single;
    u32 bits;
    u8 bytes[4];
    struct {
        u32 fraction : 23, exponent : 8, sign : 1;
    } parts;
};
KERNEL(unions, f32, u8, u32, .out = 2) {
    const u32 i = global_id();
    Number v;
    v.single = a[i] == a[i] ? a[i] : 1;
    v.parts.sign ^= 1;
    v.bytes[b[i] % 3] ^= b[i];
    v.parts.exponent = (v.parts.exponent + 3) & 0xff;
    out[i * 2] = v.bits;
    out[i * 2 + 1] = v.parts.fraction >> 3 | v.parts.sign << 31;
}

struct BitSets {
    u64 first : 5, wide : 40, last : 19;
    i64 negative : 33, rest : 31;
    u8 flag : 1, nibble : 4;
    bool truth : 1;
};
KERNEL(wide_bit_fields, u64, u64, u64, .out = 4) {
    const u32 i = global_id();
    BitSets s = {};
    s.first = a[i];
    s.wide = a[i] >> 3;
    s.last = b[i];
    s.negative = i64(b[i]);
    s.rest = i64(a[i] >> 9) << 33 >> 33;
    s.nibble = u8(b[i] >> 60);
    s.truth = a[i] > b[i];
    s.wide += s.first;
    u64* o = out + i * 4;
    o[0] = s.wide * 3 + s.last;
    o[1] = u64(i64(s.negative)) ^ u64(i64(s.rest)) << 5;
    o[2] = s.nibble | u64(s.truth) << 8 | u64(s.flag) << 9;
    __builtin_memcpy(o + 3, &s, 8);
}

KERNEL(strings, u8, u8, u32, .a = 24, .b = 24, .out = 3) {
    const u32 i = global_id();
    u8 x[24], y[24];
    for (u32 k = 0; k < 24; ++k) {
        x[k] = a[i * 24 + k] & 3 ? u8('a' + (a[i * 24 + k] & 1)) : 0;
        y[k] = b[i * 24 + k] & 7 ? u8('a' + (b[i * 24 + k] & 1)) : 0;
    }
    x[23] = y[23] = 0;
    u32 length = 0;
    while (x[length] != 0) ++length;
    i32 order = 0;
    for (u32 k = 0; order == 0 && k < 24; ++k) {
        order = i32(x[k]) - i32(y[k]);
        if (x[k] == 0) break;
    }
    u32 hash = 5381;
    for (const u8* at = y; *at != 0; ++at) hash = hash * 33 ^ *at;
    out[i * 3] = length;
    out[i * 3 + 1] = u32(order);
    out[i * 3 + 2] = hash;
}

/// A list whose links are indices, and a tree made of it.
KERNEL(lists_and_trees, u32, u32, u32, .items = 128, .a = 20) {
    const u32 i = global_id();
    struct Node {
        u32 key;
        i8 left, right;
    } nodes[20];
    for (i32 k = 0; k < 20; ++k) {
        nodes[k] = {a[i * 20 + u32(k)], -1, -1};
        for (i32 at = 0; k != 0;) {
            i8& next = nodes[k].key < nodes[at].key ? nodes[at].left : nodes[at].right;
            if (next < 0) {
                next = i8(k);
                break;
            }
            at = next;
        }
    }
    i8 stack[20];
    u32 depth = 0, sum = 0, most = 0;
    i32 at = 0;
    while (depth != 0 || at >= 0) {
        while (at >= 0) {
            stack[depth++] = i8(at);
            at = nodes[at].left;
        }
        most = larger(most, depth);
        at = stack[--depth];
        sum = sum * 31 + nodes[at].key;
        at = nodes[at].right;
    }
    out[i] = sum + most + hidden(b[i]);
}

#undef UNIT
