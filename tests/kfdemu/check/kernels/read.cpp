// A kernel that reads one word where the caller chooses.
#include "../../dispatch/kernels/kernel.hpp"

KERNEL void read_word(const u32* in, u32* out, i32 index) { out[local_x()] = in[index]; }
