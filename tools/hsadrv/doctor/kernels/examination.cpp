// The doctor's kernel: every work-item mixes its number into a value that another work-item of its work-group has read,
// so that the result depends on registers, LDS, barriers, loads and stores.
#include <shared/device/device.hpp>

HSADRV_KERNEL void doctor_examination(const uint32_t* from, uint32_t* to, uint32_t count) {
    constexpr uint32_t workgroup = 256;
    static __attribute__((address_space(3), loader_uninitialized)) uint32_t exchanged[workgroup];
    const auto item = static_cast<uint32_t>(hsadrv::get_global_id(0));
    const auto local = static_cast<uint32_t>(hsadrv::get_local_id(0));
    exchanged[local] = item < count ? from[item] : 0;
    hsadrv::barrier();
    if (item < count) to[item] = exchanged[workgroup - 1 - local] * 2654435761u + item;
}
