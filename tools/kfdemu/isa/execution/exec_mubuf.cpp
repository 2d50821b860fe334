// MUBUF and MTBUF instructions ("Vega" ISA manual, "Vector Memory Buffer Instructions").
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/execution/simple_handlers.hpp"
#include "tools/kfdemu/isa/memory/buffer_format.hpp"
#include "tools/kfdemu/isa/memory/memory_operations.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

/// The buffer may end within a lane's data, so each dword is range-checked separately.
template <class Operation>
struct ByDword {
    static bool run(Wave& wave, const Inst& inst, Lanewise& lanes) {
        return Operation::memory(wave, inst, lanes.access);
    }
};
template <template <unsigned> class Move, unsigned N>
KFDEMU_INLINE bool move_by_dword(Wave& wave, const Inst& inst, Lanewise& lanes) {
    const std::uint64_t mask = lanes.access.mask;
    for (unsigned k = 0; k < N; ++k) {
        Inst part = inst;
        part.dst = static_cast<Operand>(inst.dst + k);
        part.src[1] = static_cast<Operand>(inst.src[1] + k);
        LaneAccess a = lanes.access;
        for (unsigned l = 0; l < kLanes; ++l) a.at[l] += k * 4;
        a.mask = lanes_inside(lanes, k * 4 + 4);
        if ((mask & ~a.mask) != 0) Move<1>::outside(wave, part, mask & ~a.mask);
        if (a.mask != 0 && !Move<1>::memory(wave, part, a)) return false;
    }
    return true;
}
template <unsigned N>
struct ByDword<Load<N>> {
    static bool run(Wave& wave, const Inst& inst, Lanewise& lanes) { return move_by_dword<Load, N>(wave, inst, lanes); }
};
template <unsigned N>
struct ByDword<Store<N>> {
    static bool run(Wave& wave, const Inst& inst, Lanewise& lanes) {
        return move_by_dword<Store, N>(wave, inst, lanes);
    }
};

/// Loads directly into LDS; lanes outside the buffer write 0.
template <class Operation>
const Inst* buffer_to_lds(Wave& wave, const Inst& inst) {
    if constexpr (!kLoadsToLds<Operation>) {
        return wave.stop_at(Stop::Illegal, inst);
    } else {
        const std::uint64_t exec = exec_of(wave);
        if (exec == 0) return &inst + inst.size;
        Lanewise lanes;
        if (!buffer_lanes(wave, inst, buffer_of(wave, inst), lanes)) return nullptr;
        lanes.access.mask = lanes_inside(lanes, Operation::kBytes);
        constexpr unsigned N = kWords<Operation>;
        alignas(64) std::uint32_t values[N * kLanes] = {};
        if (lanes.access.mask != 0 && !Operation::fetch(wave, inst, lanes.access, values)) return nullptr;
        lds_store<N>(wave, direct_lds<N>(wave, inst, exec), values);
        return &inst + inst.size;
    }
}

/// The inverse: stores from LDS to memory.
const Inst* store_lds(Wave& wave, const Inst& inst) {
    const std::uint64_t exec = exec_of(wave);
    if (!inst.has(kLds)) return wave.stop_at(Stop::Illegal, inst);
    if (exec == 0) return &inst + inst.size;
    Lanewise lanes;
    if (!buffer_lanes(wave, inst, buffer_of(wave, inst), lanes)) return nullptr;
    lanes.access.mask = lanes_inside(lanes, 4);
    if (lanes.access.mask == 0) return &inst + inst.size;
    alignas(64) std::uint32_t values[kLanes];
    lds_load<1>(wave, direct_lds(wave, inst, exec), values);
    return store_dwords<1>(wave, inst, lanes.access, values) ? &inst + inst.size : nullptr;
}

template <class Operation>
const Inst* buffer(Wave& wave, const Inst& inst) {
    if (inst.has(kLds)) return buffer_to_lds<Operation>(wave, inst);
    const std::uint64_t exec = exec_of(wave);
    if (exec == 0) return &inst + inst.size;

    const Resource b = buffer_of(wave, inst);
    const bool swizzled = b.element_bytes != 0;
    Lanewise lanes;
    if (!buffer_lanes(wave, inst, b, lanes)) return nullptr;
    const std::uint64_t inside = lanes_inside(lanes, Operation::kBytes);
    if (inside != exec) {
        if (Operation::kAccess != (kRead | kWrite) && Operation::kBytes > 4 && !swizzled)
            return ByDword<Operation>::run(wave, inst, lanes) ? &inst + inst.size : nullptr;
        Operation::outside(wave, inst, exec & ~inside);
        if (inside == 0) return &inst + inst.size;
        lanes.access.mask = inside;
    }
    if (swizzled && b.add_lane && !in_own_scratch(wave, inst, lanes.access, Operation::kBytes, Operation::kAccess))
        return nullptr;
    return Operation::memory(wave, inst, lanes.access) ? &inst + inst.size : nullptr;
}

}  // namespace

void fill_mubuf(Handler* handlers) {
#define MUBUF(op, name, on, dst, data, attributes, element, code, ...) handlers[index(Op::name)] = __VA_ARGS__;
#include "tools/kfdemu/isa/rows/mubuf.inc"
#undef MUBUF
#define MTBUF(op, name, on, dst, data, attributes, element, code, ...) handlers[index(Op::name)] = __VA_ARGS__;
#include "tools/kfdemu/isa/rows/mtbuf.inc"
#undef MTBUF
}

}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
