// Handlers that several formats share.
//
// Compiled for each executor, in its namespace; internal to its translation unit.
#pragma once

#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa::KFDEMU_EXECUTOR {
namespace {

KFDEMU_INLINE const Inst* next_of(const Inst& i) { return &i + i.size; }

[[maybe_unused]] const Inst* no_operation(Wave&, const Inst& i) { return next_of(i); }

/// A known row that is not implemented stops like an unknown one.
[[gnu::noinline, maybe_unused]] const Inst* not_implemented(Wave& w, const Inst& i) {
    return w.stop_at(Stop::Illegal, i);
}

/// Host memory is coherent, so cache control reduces to ordering, including earlier stores before later loads.
[[maybe_unused]] const Inst* fence(Wave&, const Inst& i) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return next_of(i);
}

}  // namespace
}  // namespace kfdemu::isa::KFDEMU_EXECUTOR
