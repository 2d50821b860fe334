// The exports of each x86 level's executor: functions that enter one format's handlers into tables indexed by Op.
//
//     v3::fill_vop2(general, plain);
//
// A vector row has a general handler for all forms, and a faster one for plain operands and results: no modifiers, no
// SDWA, no DPP.
//
// Thread safety: pure functions on the caller's table.
#pragma once

#include "../encodings/inst.hpp"

#define KFDEMU_EXECUTOR(level)                         \
    namespace kfdemu::isa::level {                     \
    void fill_sop(Handler* handlers);                  \
    void fill_vop1(Handler* general, Handler* plain);  \
    void fill_vop2(Handler* general, Handler* plain);  \
    void fill_vopc(Handler* general, Handler* plain);  \
    void fill_vop3(Handler* general, Handler* plain);  \
    void fill_vop3p(Handler* general, Handler* plain); \
    void fill_mfma(Handler* handlers);                 \
    void fill_smem(Handler* handlers);                 \
    void fill_flat(Handler* handlers);                 \
    void fill_mubuf(Handler* handlers);                \
    void fill_ds(Handler* handlers);                   \
    }

KFDEMU_EXECUTOR(v2)
KFDEMU_EXECUTOR(v3)
KFDEMU_EXECUTOR(v4)
#undef KFDEMU_EXECUTOR
