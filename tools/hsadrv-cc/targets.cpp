#include "tools/hsadrv-cc/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "hsadrv/error.hpp"
#include "tools/hsadrv-cc/failure.hpp"

namespace hsadrv_cc {
namespace {

using hsadrv::TargetFeature;
using hsadrv::TargetId;

constexpr const char* nodes = "/sys/devices/virtual/kfd/kfd/topology/nodes/";

bool one_leaves_open(TargetFeature a, TargetFeature b) {
    return (a == TargetFeature::any) != (b == TargetFeature::any);
}

void refuse_conflict(const TargetId& a, const TargetId& b) {
    if (a.processor != b.processor || (!one_leaves_open(a.xnack, b.xnack) && !one_leaves_open(a.sramecc, b.sramecc)))
        return;
    throw Failure(
        ExitStatus::usage,
        fmt::format("--target {} and --target {} conflict: a GPU may run both; specify {} in both or in neither",
                    a.name(), b.name(), one_leaves_open(a.xnack, b.xnack) ? "xnack" : "sramecc"));
}

void add_once(std::vector<TargetId>& targets, const TargetId& target) {
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
}

/// 0 for a CPU.
std::uint32_t gfx_target_version(std::istream& properties) {
    for (std::string name, value; properties >> name >> value;)
        if (name == "gfx_target_version") return static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    return 0;
}

}  // namespace

std::vector<TargetId> parse_targets(std::span<const std::string> texts) {
    std::vector<TargetId> targets;
    for (const std::string& text : texts) {
        try {
            add_once(targets, TargetId::parse(text));
        } catch (const hsadrv::InvalidArgument& error) {
            throw Failure(ExitStatus::usage, fmt::format("--target: {}", error.what()));
        }
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
        for (std::size_t j = i + 1; j < targets.size(); ++j) refuse_conflict(targets[i], targets[j]);
    return targets;
}

std::vector<TargetId> targets_of_this_machine() {
    std::vector<TargetId> targets;
    for (unsigned node = 0;; ++node) {
        std::ifstream properties(nodes + std::to_string(node) + "/properties");
        if (!properties) break;
        if (const std::uint32_t version = gfx_target_version(properties))
            add_once(targets, TargetId{processor_of(version)});
    }
    if (!targets.empty()) return targets;
    throw Failure(ExitStatus::usage,
                  fmt::format("no --target, and this machine has no AMD GPU to compile for ({} lists none): name "
                              "one, such as --target gfx90a or --target gfx90a,gfx1100",
                              nodes));
}

}  // namespace hsadrv_cc
