// hsadrv info: what the HSA runtime reports about this machine.
#include "tools/hsadrv/info/gather.hpp"

#include "tools/hsadrv/info/report.hpp"
#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {
namespace {

int report(bool full, Session& session) {
    const hsadrv::Driver driver;
    const auto agents = session.device.empty() ? driver.agents() : std::vector{session.gpu(driver)};
    const Facts facts = gather(driver, agents);
    session.print(session.json ? json_text(as_json(facts))
                  : full       ? as_full_text(facts)
                               : as_short_text(facts, session.terminal));
    return exit_status::done;
}

}  // namespace

Run declare_info(tools::CommandSyntax& command) {
    auto full = std::make_shared<bool>(false);
    command.options = {
        {"--full", full.get(), "everything that the runtime reports: rocminfo's report, and what it omits"}};
    return [full](Session& session) { return report(*full, session); };
}

}  // namespace hsadrv_tool
