// The values of a kernel's hidden arguments, whichever the compiler lists, and the flat addresses of LDS and scratch.

__kernel void dump(__global uint* out, __local uint* tile, uint count) {
    const __constant uint* words = (const __constant uint*)__builtin_amdgcn_implicitarg_ptr();
    tile[0] = count;
    const uint x = __builtin_amdgcn_workgroup_id_x() | __builtin_amdgcn_workitem_id_x();
    const uint y = __builtin_amdgcn_workgroup_id_y() | __builtin_amdgcn_workitem_id_y();
    const uint z = __builtin_amdgcn_workgroup_id_z() | __builtin_amdgcn_workitem_id_z();
    if (x | y | z) return;
    for (uint i = 0; i < tile[0]; ++i) out[i] = words[i];
}

__kernel void apertures(__global uint* out) {
    __local volatile uint in_lds;
    volatile uint in_scratch = 3;
    in_lds = 2;
    volatile uint* common = (volatile uint*)&in_lds;
    volatile uint* own = (volatile uint*)&in_scratch;
    out[0] = (uint)((ulong)common >> 32);
    out[1] = (uint)((ulong)own >> 32);
    out[2] = *common + in_scratch;
}
