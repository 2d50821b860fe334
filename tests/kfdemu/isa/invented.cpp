// An instruction that no model has, of which there is one row (invented.sh): it is decoded, printed, executed,
// translated, checked and counted.
#include <cstdio>
#include <span>

#include "tests/kfdemu/isa/machine.hpp"
#include "tools/kfdemu/check/flow/register_use.hpp"
#include "tools/kfdemu/check/init/data_flow.hpp"
#include "tools/kfdemu/count/kinds.hpp"
#include "tools/kfdemu/isa/text/disassemble.hpp"
#include "tools/kfdemu/jit/operation.hpp"

namespace {

using namespace kfdemu::isa;
using namespace test_isa;

unsigned failed = 0;

void check(bool yes, const char* what) {
    if (!yes) std::printf("failed: %s\n", what);
    failed += !yes;
}

void check_on(Target target) {
    const Row& row = row_of("v_invented_u32", target);
    const std::vector<u32> code = vop3("v_invented_u32", 16, v(0), v(4), 0, 0, 0, target);
    const Inst inst = Decoder{target}.decode(kCodeBase, code);
    check(inst.row == static_cast<std::size_t>(&row - rows().data()), "it is decoded");
    check(disassemble(target, inst) == "v_invented_u32 v16, v0, v4", "it is printed");
    for (const bool translated : {false, true}) {
        Machine m{target};
        if (translated) m.use_translation();
        m.number_lanes(0, 100);
        m.vgpr(4, 7);
        check(m.run(code) == Stop::End && m.lane(16, 63) == 170, "it is executed");
    }
    std::vector<kfdemu::jit::LaneOp> operations;
    check(kfdemu::jit::append_operations(inst, {kfdemu::jit::Width::bits256}, operations) && operations.size() == 1,
          "it is translated");
    unsigned reads = 0, writes = 0;
    for (const kfdemu::check::RegisterUse& use : kfdemu::check::register_uses(inst))
        (use.writes ? writes : reads) += use.first;
    check(reads == kVgpr0 + kVgpr0 + 4 && writes == kVgpr0 + 16, "its registers are known");
    const auto& flow = kfdemu::check::flow_of(static_cast<Op>(inst.row));
    const auto result = flow.result({{0, 0x100}, {0, 0}, {}, {}, 0});
    check((result.undefined & 0x1ff) == 0x100, "undefined bits flow through it");
    check(kfdemu::count::kind_of(inst) == kfdemu::count::Kind::Valu && kfdemu::count::is_vector(inst), "it is counted");
}

}  // namespace

int main() {
    for (const Target target : kTargets) check_on(target);
    std::printf("%u passed, %u failed, 0 skipped\n", failed == 0 ? 1 : 0, failed);
    return failed == 0 ? 0 : 1;
}
