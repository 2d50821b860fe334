// p[i] = value + i for every work-item; the grid is as long as p.
kernel void fill(global int* p, int value) {
    const uint i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    p[i] = value + (int)i;
}
