/* convergence_shapes.h for each operation, and work-groups' barriers in the same shapes: for C++, OpenCL C and the
 * host, which say before what the words are. */
#define SHAPE(name) SHAPE_OF(OPERATION, name)
#define SHAPE_OF(operation, name) NAMED_SHAPE(operation, name)
#define NAMED_SHAPE(operation, name) SHAPE_KERNEL(operation##_##name)
#define CALLING_SHAPE(name) CALLING_SHAPE_OF(OPERATION, name)
#define CALLING_SHAPE_OF(operation, name) NAMED_CALLING_SHAPE(operation, name)
#define NAMED_CALLING_SHAPE(operation, name) CALLING_KERNEL(operation##_##name)
#define HELPER(name) HELPER_OF(OPERATION, name)
#define HELPER_OF(operation, name) NAMED_HELPER(operation, name)
#define NAMED_HELPER(operation, name) operation##_helper_##name

#define OPERATION sum
#define OP(place, x) wave_sum(place, x)
#include "convergence_shapes.h"
#undef OP
#undef OPERATION

#define OPERATION scan
#define OP(place, x) wave_scan(place, x)
#include "convergence_shapes.h"
#undef OP
#undef OPERATION

#define OPERATION votes
#define OP(place, x) votes(place, ((x) & 1) != 0)
#include "convergence_shapes.h"
#undef OP
#undef OPERATION

/* How many are here: a constant operand. */
#define OPERATION here
#define OP(place, x) (votes(place, true) + (x) * 3)
#include "convergence_shapes.h"
#undef OP
#undef OPERATION

#define OPERATION first
#define OP(place, x) first_lane(place, x)
#include "convergence_shapes.h"
#undef OP
#undef OPERATION

#define OPERATION pull
#define OP(place, x) pull(place, x, local_id() * 5 + 3)
#include "convergence_shapes.h"
#undef OP
#undef OPERATION

#define OPERATION push
#define OP(place, x) push(place, x, local_id() ^ 21)
#include "convergence_shapes.h"
#undef OP
#undef OPERATION

/* Atomics: each lane adds once where it is, and all are through at the barrier. */
SHAPE_KERNEL(atomics_in_branches) {
    LDS_ARRAY(u32, atomics_lds, 8);
    const u32 i = global_id(), l = local_id(), x = a[i];
    if (l < 8) atomics_lds[l] = 0;
    group_barrier();
    if (x & 1) lds_add(&atomics_lds[0], x);
    if (x & 2)
        lds_add(&atomics_lds[1], x);
    else
        lds_add(&atomics_lds[2], x);
    for (u32 k = 0; k < (x & 7); ++k) lds_add(&atomics_lds[3], k + (x >> 3));
    switch (x >> 4 & 3) {
        case 0:
            lds_add(&atomics_lds[4], x);
            break;
        case 1:
            lds_add(&atomics_lds[5], x);
            FALLTHROUGH;
        default:
            lds_add(&atomics_lds[6], x);
    }
    group_barrier();
    out[i] = atomics_lds[l & 7] + x;
}

/* Barriers: every work-item comes to each of them. */
SHAPE_KERNEL(barrier_between) {
    LDS_ARRAY(u32, between_lds, 96);
    const u32 i = global_id(), l = local_id(), c = a[i] & 1;
    if (c) between_lds[l] = b[i];
    group_barrier();
    if (c) out[i] = (a[i / 96 * 96 + 95 - l] & 1) != 0 ? between_lds[95 - l] : 1;
}

SHAPE_KERNEL(barrier_between_opposites) {
    LDS_ARRAY(u32, opposites_lds, 96);
    const u32 i = global_id(), l = local_id(), c = a[i] & 1;
    opposites_lds[l] = 0;
    if (c) opposites_lds[l] = b[i];
    group_barrier();
    if (!c) out[i] = opposites_lds[95 - l];
}

SHAPE_KERNEL(barrier_in_a_loop) {
    LDS_ARRAY(u32, loop_lds, 192);
    const u32 i = global_id(), l = local_id(), x = a[i];
    u32 r = b[i];
    for (u32 k = 0; k < 2 + (a[0] & 3); ++k) {
        u32 side = (k & 1) * 96;
        if (x >> k & 1) r = r * 3 + 1;
        loop_lds[side + l] = r;
        group_barrier();
        if (x >> k & 1) r += loop_lds[side + 95 - l];
    }
    out[i] = r;
}

SHAPE_KERNEL(barrier_in_a_uniform_branch) {
    LDS_ARRAY(u32, uniform_lds, 96);
    const u32 i = global_id(), l = local_id(), x = a[i];
    u32 r = b[i];
    uniform_lds[l] = x;
    if (a[0] & 1) {
        if (x & 1) uniform_lds[l] = r;
        group_barrier();
        if (x & 1) r += uniform_lds[95 - l];
    } else {
        if (x & 2) uniform_lds[l] = r + 1;
        group_barrier();
        if (x & 2) r ^= uniform_lds[95 - l];
    }
    out[i] = r;
}

NOINLINE void users_sync(void) { group_barrier(); }
SHAPE_KERNEL(barrier_in_a_helper) {
    LDS_ARRAY(u32, helper_lds, 96);
    const u32 i = global_id(), l = local_id(), c = a[i] & 1;
    if (c) helper_lds[l] = b[i];
    users_sync();
    if (c) out[i] = (a[i / 96 * 96 + 95 - l] & 1) != 0 ? helper_lds[95 - l] : 1;
}

INLINE void users_inline_sync(void) { group_barrier(); }
SHAPE_KERNEL(barrier_in_an_inlined_helper) {
    LDS_ARRAY(u32, inline_lds, 96);
    const u32 i = global_id(), l = local_id(), c = a[i] & 1;
    if (c) inline_lds[l] = b[i];
    users_inline_sync();
    if (c) out[i] = (a[i / 96 * 96 + 95 - l] & 1) != 0 ? inline_lds[95 - l] : 1;
}
