#include "tools/kfdemu/check/flow/scene.hpp"

#include "tools/kfdemu/isa/text/disassemble.hpp"

namespace kfdemu::check {

Site Scene::site(const isa::Inst& inst) const { return {inst.pc, inst.code(), isa::disassemble(target, inst), {}, {}}; }

Finding Scene::finding(Check check, const char* rule, const isa::Wave& wave, const isa::Inst& inst) const {
    Finding finding;
    finding.check = check;
    finding.rule = rule;
    finding.at = site(inst);
    finding.kernel_object = kernel_object;
    finding.gpu = gpu;
    finding.queue_id = queue_id;
    finding.dispatch_id = dispatch_id;
    finding.group = group;
    finding.wave = wave.index_in_group;
    return finding;
}

}  // namespace kfdemu::check
