// For launch benchmarks: 56 bytes of arguments, and almost no work.
__kernel void seven(__global uint* out, ulong a, ulong b, ulong c, ulong d, ulong e, ulong f) {
    if (a == 1) out[0] = (uint)(a + b + c + d + e + f);
}
