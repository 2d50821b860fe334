#include "scene.hpp"

#include "../gfx9/disassemble.hpp"

namespace kfdemu::check {

Site Scene::site(const gfx9::Inst& inst) const {
    return {inst.pc, inst.code(), gfx9::disassemble(target, inst), {}, {}};
}

Finding Scene::finding(Check check, const char* rule, const gfx9::Wave& wave, const gfx9::Inst& inst) const {
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
