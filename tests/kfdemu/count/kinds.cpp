// The class of an instruction.
#include "tools/kfdemu/count/kinds.hpp"

#include "tests/support/catch.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

using namespace kfdemu;
using count::Kind;

namespace {

isa::Inst instruction(isa::Op op) {
    isa::Inst inst{};
    inst.row = isa::index(op);
    inst.format = isa::rows()[inst.row].format;
    return inst;
}

}  // namespace

TEST_CASE("classes of instructions", "[kfdemu][count]") {
    using isa::Op;
    const struct {
        Op op;
        Kind kind;
        bool vector;
    } rows[] = {
        {Op::s_barrier_signal, Kind::Other, false},
        {Op::s_barrier_wait, Kind::Barrier, false},
        {Op::s_load_dword, Kind::Smem, false},
        {Op::s_atomic_add, Kind::Atomic, false},
        {Op::s_buffer_atomic_swap_x2, Kind::Atomic, false},
        {Op::buffer_load_dword, Kind::VmemLoad, true},
        {Op::buffer_store_dword, Kind::VmemStore, true},
        {Op::buffer_store_lds_dword, Kind::VmemStore, true},
        {Op::buffer_atomic_add, Kind::Atomic, true},
        {Op::buffer_wbinvl1, Kind::Other, false},
        {Op::buffer_wbl2, Kind::Other, false},
        {Op::ds_read_b128, Kind::Lds, true},
        {Op::ds_bpermute_b32, Kind::Lds, true},
        {Op::ds_add_u32, Kind::Atomic, true},
        {Op::ds_gws_barrier, Kind::Other, false},
        {Op::v_dual_mov_b32, Kind::Valu, true},
        {Op::v_wmma_f32_16x16x16_f16, Kind::Matrix, true},
    };
    for (const auto& row : rows) {
        const isa::Inst inst = instruction(row.op);
        INFO(isa::rows()[inst.row].name);
        CHECK(count::kind_of(inst) == row.kind);
        CHECK(count::is_vector(inst) == row.vector);
    }
}
