// A work-item's ids, from the dispatch packet itself: no hidden argument is needed.
#pragma once

static uint global_x(void) {
    const __constant ushort* packet = (const __constant ushort*)__builtin_amdgcn_dispatch_ptr();
    return __builtin_amdgcn_workgroup_id_x() * packet[2] + __builtin_amdgcn_workitem_id_x();
}
