__kernel void fill(__global int* p, int v) { p[__builtin_amdgcn_workitem_id_x()] = v; }
