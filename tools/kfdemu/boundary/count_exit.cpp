#include "tools/kfdemu/boundary/count_exit.hpp"

#include <cstdlib>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/count/write.hpp"
#include "tools/kfdemu/kfd/device.hpp"

namespace kfdemu {

void write_counters() {
    const Options& options = Device::options();
    if (const std::string error = count::write_counters(options); !error.empty())
        write_log(LogLevel::error, fmt::format("counters={}: cannot be written: {}", options.counters, error));
}

void prepare_counters(const Options& options) {
    if (options.counters.empty()) return;
    std::atexit(write_counters);
    std::at_quick_exit(write_counters);
}

}  // namespace kfdemu
