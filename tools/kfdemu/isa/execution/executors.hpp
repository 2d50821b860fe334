// The exports of each executor, one a level of x86 and a width of waves: functions that enter one format's handlers
// into tables indexed by Op.
//
//     v3_64::fill_vop2(general, plain);
//
// A vector row has a general handler for all forms, and a faster one for plain operands and results: no modifiers, no
// SDWA, no DPP.
//
// Thread safety: pure functions on the caller's table.
#pragma once

#include "tools/kfdemu/isa/encodings/inst.hpp"

#define KFDEMU_EXPORTS(Level, lanes, executor)         \
    namespace kfdemu::isa::executor {                  \
    void fill_sop(Handler* handlers);                  \
    void fill_vop1(Handler* general, Handler* plain);  \
    void fill_vop2(Handler* general, Handler* plain);  \
    void fill_vopc(Handler* general, Handler* plain);  \
    void fill_vop3(Handler* general, Handler* plain);  \
    void fill_vop3p(Handler* general, Handler* plain); \
    void fill_mfma(Handler* handlers);                 \
    void fill_wmma(Handler* handlers);                 \
    void fill_vopd(Handler* general, Handler* plain);  \
    void fill_smem(Handler* handlers);                 \
    void fill_flat(Handler* handlers);                 \
    void fill_mubuf(Handler* handlers);                \
    void fill_ds(Handler* handlers);                   \
    }

#ifdef KFDEMU_EXECUTOR
KFDEMU_EXPORTS(, KFDEMU_WIDTH, KFDEMU_EXECUTOR)
#else
KFDEMU_EACH_EXECUTOR(KFDEMU_EXPORTS)
#endif
#undef KFDEMU_EXPORTS
