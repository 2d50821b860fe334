// What a program must leave unchanged: resources of the process and of the emulator, and the runtime shut down.
//
//   const Remains before = Remains::now();
//   … CHECK(Remains::soon(before));
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <filesystem>
#include <iterator>

#include "tests/hsadrv/device.hpp"
#include "tools/kfdemu/kfdemu.h"

namespace device_test {

inline bool runtime_is_up() {
    std::uint16_t version = 0;
    return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version) == HSA_STATUS_SUCCESS;
}

/// What a program must leave unchanged.
struct Remains {
    std::uint64_t buffers = 0;
    long descriptors = 0, threads = 0;
    bool runtime_up = false;
    static Remains now() {
        Remains remains;
        const auto entries = [](const char* folder) {
            return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
        };
        if (const kfdemu_control* emulator = kfdemu_find_control()) {
            kfdemu_counters counters{};
            emulator->counters(&counters, sizeof counters);
            remains.buffers = counters.buffers;
        }
        remains.descriptors = entries("/proc/self/fd");
        remains.threads = entries("/proc/self/task");
        remains.runtime_up = runtime_is_up();
        return remains;
    }
    bool operator==(const Remains&) const = default;

    /// True if it becomes so soon: the last owner may be a callback, which ends on its own thread.
    static bool soon(const Remains& before) {
        return eventually([&] { return now() == before; });
    }
};

}  // namespace device_test
