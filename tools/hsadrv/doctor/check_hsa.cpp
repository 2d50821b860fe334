#include "tools/hsadrv/doctor/check_hsa.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace hsadrv_tool::doctor {
namespace {

void advise_start(const Machine& machine, Row& row) {
    if (machine.wsl) {
        row.advise("install the runtime of ROCm for WSL, which knows /dev/dxg",
                   {"amdgpu-install --usecase=wsl,rocm --no-dkms"});
        return;
    }
    if (!machine.libraries_beside_emulation("HSA_TOOLS_LIB").empty()) {
        row.advise("HSA_TOOLS_LIB loads libraries into the runtime: try without", {"unset HSA_TOOLS_LIB"});
        return;
    }
    if (const auto finding = explain_log(machine, "")) {
        row.because("kernel log", finding->line)
            .advise(fmt::format("the kernel log has \"{}\": {}", finding->line, finding->remedy));
        return;
    }
    row.advise("let the thunk say what fails, and look into the kernel log",
               {"HSAKMT_DEBUG_LEVEL=7 hsadrv doctor", look_at_log});
}

/// The last step that a child began and did not finish.
std::string begun(const Heard& heard, const std::string& otherwise) {
    const Json* begin = heard.find("begin");
    return begin ? begin->get<std::string>() : otherwise;
}

Row row_of_start(const Machine& machine, const Heard& heard) {
    const std::string title = "start of the runtime";
    if (const Json* refused = heard.find("refused")) {
        Row row = fault("start", title, "hsa_init() is refused: " + heard.find("status")->get<std::string>());
        row.because("message", refused->get<std::string>());
        if (!heard.last_words.empty()) row.found += fmt::format("; it says \"{}\"", heard.last_words);
        advise_start(machine, row);
        return row;
    }
    if (const auto ended = heard.how_it_ended()) {
        Row row = fault("start", title, "hsa_init() " + *ended);
        advise_start(machine, row);
        return row;
    }
    const Json* runtime = heard.find("runtime");
    if (!runtime) return fault("start", title, "the child that started it printed nothing");
    return ok(
        "start", title,
        fmt::format("{}, HSA {}: {} agents, after {:.1f} s", runtime->at("build").get<std::string>(),
                    runtime->at("version").get<std::string>(), runtime->at("agents").get<unsigned>(), heard.seconds));
}

/// KFD's nodes without an agent.
std::vector<const TopologyNode*> unseen(const Machine& machine, const Json& gpus) {
    std::vector<const TopologyNode*> nodes;
    for (const TopologyNode* node : machine.gpu_nodes())
        if (std::none_of(gpus.begin(), gpus.end(), [&](const Json& gpu) { return gpu.at("node") == node->number; }))
            nodes.push_back(node);
    return nodes;
}

/// A release that knows a processor, the oldest of Debian's.
struct KnownSince {
    std::string_view target, release;
};
constexpr KnownSince known_since[] = {{"gfx942", "6.1.2 (Debian 13)"},
                                      {"gfx950", "6.4.3 (Debian sid)"},
                                      {"gfx1200", "6.4.3 (Debian sid)"},
                                      {"gfx1201", "6.4.3 (Debian sid)"}};

/// "1.5.0 does not know gfx942", and where to get one that does.
std::string older_runtime(const Machine& machine) {
    return fmt::format("the runtime, {}, does not know {}", machine.runtime.version(),
                       fmt::join(machine.unknown_targets, ", "));
}
std::string newer_runtime(const Machine& machine) {
    const auto* known = std::ranges::find(known_since, machine.unknown_targets.back(), &KnownSince::target);
    if (known == std::end(known_since)) return "take a newer ROCm";
    return fmt::format("take a newer ROCm: ROCR {} knows {}", known->release, known->target);
}

Row no_gpu(const Machine& machine) {
    Row row = fault("agents", "GPUs of the runtime", "none");
    const auto nodes = machine.gpu_nodes();
    const auto hidden =
        std::count_if(nodes.begin(), nodes.end(), [](const TopologyNode* node) { return node->error != 0; });
    if (hidden > 0) {
        row.found += fmt::format(": the device cgroup hides {} of KFD's {}", hidden, nodes.size());
        advise_passing(machine, row);
    } else if (nodes.empty()) {
        row.found += ", as KFD has none";
        row.advise("the kernel log says why", {look_at_log});
    } else {
        row.found += fmt::format(", of KFD's {}", nodes.size());
        if (!machine.unknown_targets.empty()) {
            row.found += ": " + older_runtime(machine);
            return row.advise(newer_runtime(machine));
        }
        row.advise("let the thunk say why; a GPU newer than the runtime takes a newer runtime",
                   {"HSAKMT_DEBUG_LEVEL=7 hsadrv doctor"});
    }
    return row;
}

Rows rows_of_agents(const Machine& machine, const Json& gpus) {
    if (gpus.empty()) return {no_gpu(machine)};
    std::string names;
    for (const Json& gpu : gpus)
        names += fmt::format("{}{} at {}", names.empty() ? "" : ", ", gpu.at("label").get<std::string>(),
                             gpu.at("pci_address").get<std::string>());
    Rows rows{ok("agents", "GPUs of the runtime", fmt::format("{}: {}", gpus.size(), names))};
    for (const Json& gpu : gpus)
        rows.front().because(gpu.at("label"),
                             fmt::format("{}, {}, node {}", gpu.at("product").get<std::string>(),
                                         gpu.at("uuid").get<std::string>(), gpu.at("node").get<unsigned>()));
    for (const TopologyNode* node : unseen(machine, gpus)) {
        if (node->error != 0) continue;  // already reported: the cgroup
        const std::string title = fmt::format("KFD's node {} ({})", node->number, node->target());
        if (machine.environment.contains("ROCR_VISIBLE_DEVICES"))
            rows.push_back(note("unseen", title, "not shown, since ROCR_VISIBLE_DEVICES does not name it"));
        else if (std::ranges::count(machine.unknown_targets, node->target()) != 0)
            rows.push_back(warning("unseen", title, older_runtime(machine)).advise(newer_runtime(machine)));
        else
            rows.push_back(warning("unseen", title, "the runtime does not show it")
                               .advise("it may be newer or older than what the runtime supports; let the thunk say why",
                                       {"HSAKMT_DEBUG_LEVEL=7 hsadrv doctor"}));
    }
    return rows;
}

}  // namespace

Rows take_opened(Machine& machine, const Heard& heard) {
    for (const Json& message : heard.messages) {
        if (!message.contains("opened")) continue;
        const Json& opened = message.at("opened");
        machine.opened[opened.at("path")] = {opened.at("error"), opened.at("ioctl_error"), opened.at("version_major"),
                                             opened.at("version_minor")};
    }
    const auto ended = heard.how_it_ended();
    if (!ended) return {};
    Row row = fault("open", "opening device files",
                    fmt::format("the process that opened {} {}", begun(heard, "/dev/kfd"), *ended));
    return {row.advise("the driver hangs or crashes: the kernel log says so; reboot", {look_at_log})};
}

Rows check_runtime(const Machine& machine, const Heard& heard) {
    Rows rows{row_of_start(machine, heard)};
    if (rows.front().verdict == Verdict::fault) return rows;
    append(rows, rows_of_agents(machine, heard.find("runtime")->at("gpus")));
    // It printed all messages and failed afterwards, at shutdown.
    if (const auto ended = heard.how_it_ended())
        rows.push_back(fault("shutdown", "end of the runtime", "the process " + *ended)
                           .advise("the kernel log may say why", {look_at_log}));
    return rows;
}

std::vector<std::string> labels_of(const Heard& heard) {
    std::vector<std::string> labels;
    if (const Json* runtime = heard.find("runtime"))
        for (const Json& gpu : runtime->at("gpus")) labels.push_back(gpu.at("label"));
    return labels;
}

Rows check_gpu(const Heard& heard, const std::string& label) {
    Rows rows;
    for (const Json& message : heard.messages)
        if (message.contains("row")) rows.push_back(row_from(message.at("row")));
    const auto ended = heard.how_it_ended();
    if (!ended) return rows;
    Row row = fault("shutdown", label + ": end of the runtime", "");
    row.advise("the GPU or the runtime hangs or crashes there: the kernel log says more; reboot after a hang",
               {look_at_log});
    const Json* begun = heard.find("begun");
    if (!begun) {
        row.id = "examination";
        row.title = label + ": examination";
    } else if (rows.empty() || begun->at("id") != rows.back().id) {
        row = row_from(*begun);
        row.verdict = Verdict::fault;
        if (const Json* doing = heard.find("doing")) row.because("it was at", doing->get<std::string>());
    }
    row.found = (row.evidence.empty() ? "" : row.evidence.back().second + ": ") + "the process " + *ended;
    rows.push_back(row);
    return rows;
}

}  // namespace hsadrv_tool::doctor
