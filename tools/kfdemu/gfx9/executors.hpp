// What each x86 level's executor exports: functions that enter one format's handlers into a table indexed by
// Op.
//
//     v3::fill_vop2(table);
//
// Thread safety: pure functions on the caller's table.
#pragma once

#include "inst.hpp"

#define KFDEMU_EXECUTOR(level)          \
    namespace kfdemu::gfx9::level {     \
    void fill_sop(Handler* handlers);   \
    void fill_vop1(Handler* handlers);  \
    void fill_vop2(Handler* handlers);  \
    void fill_vopc(Handler* handlers);  \
    void fill_vop3(Handler* handlers);  \
    void fill_vop3p(Handler* handlers); \
    void fill_mfma(Handler* handlers);  \
    void fill_smem(Handler* handlers);  \
    void fill_flat(Handler* handlers);  \
    void fill_mubuf(Handler* handlers); \
    void fill_ds(Handler* handlers);    \
    }

KFDEMU_EXECUTOR(v2)
KFDEMU_EXECUTOR(v3)
KFDEMU_EXECUTOR(v4)
#undef KFDEMU_EXECUTOR
