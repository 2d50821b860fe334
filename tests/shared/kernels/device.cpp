// The device headers in use: each kernel writes what a test then compares with the host's own computation.
#include <shared/device/device.hpp>
#include <shared/group_size.hpp>

#include "layouts.hpp"

using namespace hsadrv;

// The host's arithmetic compiles here, too.
static_assert(shared::occupancy(shared::compute_unit("gfx90a"), {.vgprs = 64}).waves_per_simd == 8);
static_assert(shared::suggest_group_size(shared::compute_unit("gfx90a"), {.vgprs = 64}, 1024).workgroup_workitems ==
              256);

HSADRV_KERNEL void work_items(WorkItem* out) {
    uint32_t flat = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    for (uint32_t d = 0; d < 4; ++d) {
        out[flat].global_id[d] = get_global_id(d);
        out[flat].local_id[d] = get_local_id(d);
        out[flat].group_id[d] = get_group_id(d);
        out[flat].global_size[d] = get_global_size(d);
        out[flat].local_size[d] = get_local_size(d);
        out[flat].num_groups[d] = get_num_groups(d);
    }
}

/// Reverses 256 elements in each work-group of 256; two static arrays, one of them of a class type.
HSADRV_KERNEL void reverse(const float* in, float* out) {
    auto plain = shared::array<float, 256>();
    auto pairs = shared::array<Pair, 16, 16>();
    const uint32_t i = get_local_id(0);
    plain[i] = in[get_global_id(0)];
    pairs(i / 16, i % 16) = Pair{in[get_global_id(0)], 1.0f};
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint32_t j = 255 - i;
    out[get_global_id(0)] = plain[j] + pairs(j / 16, j % 16).left + pairs(j / 16, j % 16).right;
}

HSADRV_KERNEL void layout_offsets(uint32_t* out, uint32_t n, uint32_t m) {
    const auto layout = mixed_layout(n, m);
    if (get_global_id(0) != 0) return;
    for (uint32_t i = 0; i < layout.count; ++i) out[i] = layout.offset_bytes(i);
    out[layout.count] = layout.size_bytes();
    out[layout.count + 1] = layout.align_bytes();
}

/// Every array of a layout at once, after a static one: each element gets a distinct value; then all are summed.
HSADRV_KERNEL void dynamic_arrays(uint64_t* sums, uint32_t n, uint32_t m, shared::LdsPointer lds) {
    auto fixed = shared::array<unsigned char, 5>();
    const auto layout = mixed_layout(n, m);
    const auto floats = shared::dynamic_array<0>(layout, lds);
    const auto bytes = shared::dynamic_array<1>(layout, lds);
    const auto pairs = shared::dynamic_array<2>(layout, lds);
    const auto longs = shared::dynamic_array<3>(layout, lds);
    const auto shorts = shared::dynamic_array<4>(layout, lds);
    const uint32_t first = get_local_id(0), step = get_local_size(0);
    for (uint32_t i = first; i < 5; i += step) fixed[i] = static_cast<unsigned char>(i);
    for (uint32_t i = first; i < n; i += step) {
        bytes[i] = static_cast<unsigned char>(i);
        for (uint32_t j = 0; j < m; ++j) {
            floats(i, j) = static_cast<float>(i * m + j);
            longs(i, 0u, j) = uint64_t{i} << 32 | j;
            longs(i, 1u, j) = uint64_t{j} << 32 | i;
        }
    }
    for (uint32_t j = first; j < m; j += step) {
        pairs[j] = Pair{static_cast<float>(j), static_cast<float>(2 * j)};
        shorts[j] = static_cast<uint16_t>(3 * j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first != 0) return;
    uint64_t sum[6] = {};
    for (uint32_t i = 0; i < 5; ++i) sum[5] += fixed[i];
    for (uint32_t i = 0; i < n; ++i) {
        sum[1] += bytes[i];
        for (uint32_t j = 0; j < m; ++j) {
            sum[0] += static_cast<uint64_t>(static_cast<uint32_t>(floats(i, j)));
            sum[3] += longs(i, 0u, j) + longs(i, 1u, j);
        }
    }
    for (uint32_t j = 0; j < m; ++j) {
        sum[2] += static_cast<uint64_t>(static_cast<uint32_t>(pairs[j].left + pairs[j].right));
        sum[4] += shorts[j];
    }
    for (uint32_t i = 0; i < 6; ++i) sums[i] = sum[i];
}

/// Adds up all global ids three ways, through LDS and directly.
HSADRV_KERNEL void atomics(uint32_t* through_lds, uint64_t* directly, int32_t* negative) {
    auto group = shared::array<uint32_t, 1>();
    if (get_local_id(0) == 0) group[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint32_t i = get_global_id(0);
    atomic_add(&group[0], i);
    atomic_add(directly, uint64_t{i} << 32);
    atomic_add(negative, -static_cast<int32_t>(i));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atomic_add(through_lds, group[0]);
}

HSADRV_KERNEL void work_dim(uint32_t* out) {
    if (get_local_id(0) == 0) out[0] = get_work_dim();
}

/// The first work-group passes a value to the second: write, release, announce; see, acquire, read.
HSADRV_KERNEL void pass_message(uint32_t* data, uint32_t* announced, uint32_t* heard) {
    const uint32_t i = get_local_id(0);
    if (get_group_id(0) == 0) {
        data[i] = 1000 + i;
        atomic_work_item_fence<MemoryOrder::release, MemoryScope::agent>(CLK_GLOBAL_MEM_FENCE);
        atomic_add(announced, 1);
    } else {
        while (atomic_load(announced) != get_enqueued_local_size(0)) __builtin_amdgcn_s_sleep(1);
        atomic_work_item_fence<MemoryOrder::acquire, MemoryScope::agent>(CLK_GLOBAL_MEM_FENCE);
        heard[i] = data[get_enqueued_local_size(0) - 1 - i];
    }
}

/// Fences that the host takes part in, and those of a work-group.
HSADRV_KERNEL void fences(uint32_t* data) {
    data[0] = 1;
    atomic_work_item_fence<MemoryOrder::seq_cst, MemoryScope::system>(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    data[1] = 2;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    data[2] = data[0] + data[1];
}
