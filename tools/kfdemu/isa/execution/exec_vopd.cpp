// Execution of VOPD: two operations, each a VOP1 or VOP2 of its own.
#include <array>

#include "tools/kfdemu/isa/encodings/dual.hpp"
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/lanes.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

constexpr std::size_t kFirst = index(Op::v_dual_fmac_f32);

/// The handlers of the operations' rows; filled once, with the executor's table.
std::array<Handler, kRowCount - kFirst> singles{};

bool reads(const Inst& operation, Operand vgpr) {
    return operation.src[0] == vgpr || operation.src[1] == vgpr || operation.src[2] == vgpr;
}

/// The second operation reads what the first writes: its old value.
void after_both_read(Wave& w, const Inst& first, const Inst& second) {
    u32* const written = lanes_of(w, first.dst);
    Room<1> before, after;
    copy_lanes(before.lane, written);
    singles[first.row - kFirst](w, first);
    copy_lanes(after.lane, written);
    copy_lanes(written, before.lane);
    singles[second.row - kFirst](w, second);
    copy_lanes(written, after.lane);
}

const Inst* dual(Wave& w, const Inst& i) {
    const Inst second = second_of(i);
    if (KFDEMU_UNLIKELY(reads(second, i.dst))) {
        after_both_read(w, i, second);
    } else {
        singles[i.row - kFirst](w, i);
        singles[second.row - kFirst](w, second);
    }
    return next_of(i);
}

}  // namespace

void fill_vopd(Handler* general, Handler* plain) {
#define VOPD(op, name, same, ...)                               \
    singles[index(Op::name) - kFirst] = plain[index(Op::same)]; \
    general[index(Op::name)] = plain[index(Op::name)] = &dual;
#include "tools/kfdemu/isa/rows/vopd.inc"
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
