#include "tools/kfdemu/check/race/kernel_access.hpp"

#include <fmt/format.h>

#include "tools/kfdemu/isa/text/disassemble.hpp"

namespace kfdemu::check {
namespace {

Site site_of(const Operations::Kernel& kernel, const MemoryShadow::Record& access) {
    const isa::Inst inst = kernel.memory->site(access.site);
    return {inst.pc, inst.code(), isa::disassemble(kernel.target, inst), {}, {}};
}

}  // namespace

void tell_access(Finding& finding, const Operations::Kernel& kernel, const MemoryShadow::Record& access) {
    finding.at = site_of(kernel, access);
    finding.kernel_object = kernel.kernel_object;
    finding.gpu = kernel.gpu;
    finding.queue_id = kernel.queue_id;
    finding.dispatch_id = kernel.dispatch_id;
    finding.group = kernel.memory->group_id(access.group);
    finding.wave = access.wave;
    finding.lane = access.lane;
}

Related other_access(const Operations::Kernel& kernel, const MemoryShadow::Record& access, bool wrote) {
    return {fmt::format("{} of dispatch {} in queue {} of GPU {} at", kernel.memory->told(access, wrote),
                        kernel.dispatch_id, kernel.queue_id, kernel.gpu),
            site_of(kernel, access)};
}

}  // namespace kfdemu::check
