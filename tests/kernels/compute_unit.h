// Where a wave runs, as the hardware's registers say it.
#pragma once

// The wave's compute unit, its shader array and engine, and its XCC, in one number; on RDNA the work-group processor in
// place of the compute unit. Sources: HW_ID of the "Vega" ISA manual, HW_ID1 of the "RDNA2" and "RDNA3" ISA manuals,
// XCC_ID of LLVM.
static uint compute_unit(void) {
    enum { whole_register = 31 << 11 };
#if defined(__GFX9__)
    enum { hw_id = 4, xcc_id = 20 };
    const uint unit = __builtin_amdgcn_s_getreg(hw_id | whole_register) & 0xff00;
#if defined(__gfx942__) || defined(__gfx950__)
    return unit | __builtin_amdgcn_s_getreg(xcc_id | whole_register) << 16;
#else
    return unit;
#endif
#else
    enum { hw_id1 = 23 };
    return __builtin_amdgcn_s_getreg(hw_id1 | whole_register) & 0x1d3c00;
#endif
}
