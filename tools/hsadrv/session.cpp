#include "tools/hsadrv/session.hpp"

#include <fmt/format.h>

#include "hsadrv/error.hpp"
#include "tools/common/standard_streams.hpp"

namespace hsadrv_tool {

hsadrv::AgentRef Session::gpu(const hsadrv::Driver& driver) const {
    if (device.empty()) return driver.default_gpu();
    try {
        return driver.gpu(device);
    } catch (const hsadrv::InvalidArgument& error) {
        throw tools::Failure(exit_status::usage, fmt::format("--device {}: {}", device, error.what()));
    } catch (const hsadrv::NoDevice& error) {
        throw tools::Failure(exit_status::no_device, fmt::format("--device {}: {}", device, error.what()));
    }
}

void Session::print(std::string_view text) const { tools::print_or_fail(text); }

}  // namespace hsadrv_tool
