// The child's side: the device files, the runtime, one GPU.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "hsadrv/base/device_file.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/optional_api.hpp"
#include "tools/hsadrv/doctor/examination.hpp"
#include "tools/hsadrv/doctor/file_tree.hpp"
#include "tools/hsadrv/doctor/probe.hpp"

namespace hsadrv_tool::doctor {
namespace {

int open_error(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return errno;
    close(file);
    return 0;
}

Json opened(const std::string& path, const OpenFacts& facts) {
    return {{"opened",
             {{"path", path},
              {"error", facts.error},
              {"ioctl_error", facts.ioctl_error},
              {"version_major", facts.version_major},
              {"version_minor", facts.version_minor}}}};
}

int answer_files() {
    say({{"begin", "/dev/kfd"}});
    const auto kfd = hsadrv::detail::DeviceFile::probe();
    say(opened("/dev/kfd", {kfd.open_error, kfd.ioctl_error, kfd.version_major, kfd.version_minor}));
    for (const std::string& name : FileTree("").names("/dev/dri")) {
        if (!name.starts_with("renderD")) continue;
        const std::string path = "/dev/dri/" + name;
        say({{"begin", path}});
        say(opened(path, {open_error(path), 0, 0, 0}));
    }
    return 0;
}

Json facts_of(const hsadrv::AgentRef agent, std::size_t ordinal) {
    return {{"ordinal", ordinal},   {"label", agent.label()},
            {"name", agent.name()}, {"product", agent.product_name()},
            {"node", agent.node()}, {"pci_address", agent.pci_address().text()},
            {"uuid", agent.uuid()}};
}

int answer_runtime() {
    say({{"begin", "hsa_init()"}});
    try {
        const hsadrv::Driver driver;
        const auto& system = driver.system();
        Json gpus = Json::array();
        for (const hsadrv::AgentRef agent : driver.agents())
            if (agent.is_gpu() && agent.dispatches_kernels()) gpus.push_back(facts_of(agent, gpus.size()));
        say({{"runtime",
              {{"version", fmt::format("{}.{}", system.version_major, system.version_minor)},
               {"build", hsadrv::runtime_version_text()},
               {"agents", driver.agents().size()},
               {"gpus", gpus}}}});
    } catch (const hsadrv::Error& error) {
        say({{"refused", error.what()}, {"status", hsadrv::status_name(error.status())}});
    }
    return 0;
}

int answer_gpu(const std::string& device, std::chrono::seconds limit) {
    const hsadrv::Driver driver;
    examine(driver.gpu(device), limit);
    return 0;
}

/// Which GPU --device means, as an ordinal.
int answer_choice(const std::string& device) {
    try {
        const hsadrv::Driver driver;
        const hsadrv::AgentRef meant = driver.gpu(device);
        for (std::size_t i = 0; i < driver.gpus().size(); ++i)
            if (driver.gpus()[i] == meant) say({{"chosen", i}});
    } catch (const hsadrv::NoDevice& error) {
        say({{"no_such_gpu", error.what()}});
    } catch (const hsadrv::InvalidArgument& error) {
        say({{"unclear", error.what()}});
    }
    return 0;
}

}  // namespace

int answer(const std::string& what, const std::string& device, std::chrono::seconds limit) {
    if (what == "files") return answer_files();
    if (what == "runtime") return answer_runtime();
    if (what == "choice") return answer_choice(device);
    return answer_gpu(device, limit);
}

}  // namespace hsadrv_tool::doctor
